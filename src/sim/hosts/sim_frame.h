// SPDX-License-Identifier: Apache-2.0
// The frames of the simulator's hosts: Ethernet, IPv4 or IPv6 with UDP, a content pattern, and at the very end a
// trailer that tells whose frame it is. Also how a checker finds the trailer in a frame on any link. Written apart from
// the switch's own parsers on purpose.
#pragma once

#include <cstdint>

#include "sim/hosts/traffic.h"
#include "wire/types.h"

namespace heddle::sim {

constexpr uint32_t kTrailerBytes = 18;
constexpr uint16_t kSimEtherType = 0x88b6;      // IEEE local experimental EtherType 2
constexpr uint16_t kAnnouncementFlow = 0xffff;  // trailer of broadcasts: sequence = host << 16 | VLAN
constexpr uint16_t kHostileFlow = 0xfffe;       // and of hostile frames that look right
constexpr uint16_t kLeastLength = 60;
constexpr uint16_t kLeastLengthIpv6 = 14 + 40 + 8 + kTrailerBytes;

struct Trailer {
  uint16_t flow;
  uint32_t sequence;
  uint32_t time_ns;  // when it was sent, modulo 2^32
};

struct StationAddress {
  uint64_t mac;
  uint16_t host;
};

// Writes a frame at `bytes`: `length` bytes without tag, four more with `tagged`; returns the bytes written.
// `pattern`: fill the content, so that a receiver can compare it.
uint32_t write_frame(uint8_t* bytes, const HostFlow& flow, const StationAddress& from, const StationAddress& to,
                     bool tagged, uint16_t length, uint32_t sequence, Nanos now, bool pattern);

// The trailer at the end of `length` bytes; false if there is none or it is damaged.
bool read_trailer(const uint8_t* bytes, uint32_t length, Trailer& trailer);

// Is the rest of the frame what write_frame() wrote, but for its priority? `length` with tag if `tagged`. nullptr if it
// is, else what is wrong.
const char* compare_frame(const uint8_t* bytes, uint32_t length, const HostFlow& flow, FramePriority priority,
                          const StationAddress& from, const StationAddress& to, bool tagged, const Trailer& trailer);

// Is a frame of that flow marked with congestion experienced (C10)?
bool is_marked(const uint8_t* bytes, uint32_t length, const HostFlow& flow, bool tagged);

// What a fabric data frame carries, read from its own bytes; false if these are not a whole data frame.
struct WireData {
  bool again;    // sent before, link retry sends it again
  bool in_turn;  // in a retry channel
  uint32_t tag;
  uint32_t sequence;
  uint16_t flow_id;
  uint32_t data_flow;
  uint16_t destination_node, destination_port;
  uint16_t vni;
  uint16_t length;  // of the original frame
};
bool read_wire_data(const uint8_t* bytes, uint32_t length, WireData& data);

// Kind and numbers of any fabric frame; false if it is none.
struct WireLink {
  uint8_t kind, channel, flags;
  uint32_t tag, sequence;
};
bool read_wire_link(const uint8_t* bytes, uint32_t length, WireLink& link);

}  // namespace heddle::sim
