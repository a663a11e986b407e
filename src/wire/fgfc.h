// SPDX-License-Identifier: Apache-2.0
// Fine-grained flow control between an edge port and its host (G1, G2), as read and written. Both readers take what is
// hostile: they say false of whatever is not exactly such a frame.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

#include "heddle/fgfc.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

constexpr uint32_t kFgfcPauseBytes = HEDDLE_ETHERNET_BYTES + sizeof(heddle_fgfc_pause);

// What the frames of a flow have in common, as their host sends them.
struct FgfcFlow {
  uint8_t fields = 0;  // HEDDLE_FGFC_ADDRESSES and so on: of those below vlan that count
  uint8_t l3 = 0;
  uint8_t protocol = 0;
  uint8_t dscp = 0;
  uint16_t vlan = 0;  // 0 = untagged
  uint16_t source_port = 0, destination_port = 0;
  uint32_t flow_label = 0;
  uint64_t destination = 0;  // MAC address
  std::array<uint8_t, 16> source_address{}, destination_address{};
  auto operator<=>(const FgfcFlow&) const = default;
};

struct FgfcPause {
  FgfcFlow flow;
  uint32_t number = 0;
  Nanos timer_ns = 0;   // in whole us on the wire; 0 = over
  uint64_t credit = 0;  // bytes of original frames since the pause with this number began
  FabricAddress by;     // port of the switch
};

// Of an untagged frame, `length` bytes: is it one of these, whatever its kind and version?
bool is_fgfc(const uint8_t* bytes, uint32_t length);
// `obeys`: what the host says of its source address.
bool read_fgfc_announcement(const uint8_t* bytes, uint32_t length, bool& obeys);
bool read_fgfc_pause(const uint8_t* bytes, uint32_t length, FgfcPause& pause);
// At packet.data, which has room for 60 bytes.
void write_fgfc_announcement(Packet& packet, bool obeys, uint64_t source_mac);
// At packet.data, which has room for kFgfcPauseBytes.
void write_fgfc_pause(Packet& packet, const FgfcPause& pause, uint64_t host_mac, uint64_t source_mac);

}  // namespace heddle
