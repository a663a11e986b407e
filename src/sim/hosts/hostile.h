// SPDX-License-Identifier: Apache-2.0
// What a hostile or broken host sends: frames that no host should, and good ones in bad numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "sim/engine/setup.h"
#include "sim/hosts/sim_frame.h"
#include "wire/packet.h"
#include "wire/random.h"

namespace heddle::sim {

class Fabric;

// X(name): kinds of hostile frames.
// clang-format off
#define HEDDLE_HOSTILE_KINDS(X)                                                                        \
  X(fabric_data)                                                                                       \
  X(fabric_ack)                                                                                        \
  X(fabric_hello)                                                                                      \
  X(runt)                                                                                              \
  X(stacked_tags)                                                                                      \
  X(too_long)                                                                                          \
  X(mac_control)                                                                                       \
  X(reserved_address)                                                                                  \
  X(group_source) X(malformed_ip) X(malformed_l4) X(checksum_impossible) X(many_sources) X(wrong_vlan) \
      X(moving_station) X(same_port) X(many_flows) X(unknown_unicast) X(broadcast_storm) X(noise) X(pause_storm) \
      X(fgfc)
// clang-format on

enum class HostileKind : uint8_t {
#define HEDDLE_X(name) name,
  HEDDLE_HOSTILE_KINDS(HEDDLE_X)
#undef HEDDLE_X
      count,
};
constexpr unsigned kHostileKinds = static_cast<unsigned>(HostileKind::count);
constexpr std::string_view kHostileKindNames[] = {
#define HEDDLE_X(name) #name,
    HEDDLE_HOSTILE_KINDS(HEDDLE_X)
#undef HEDDLE_X
};

struct HostileOptions {
  uint32_t kinds = 0;  // bit per HostileKind
  Nanos starts_ns = 0, stops_ns = kNever;
  Nanos interval_ns = 10 * kMicrosecond;
  uint32_t burst_frames = 1;
  uint32_t sources = 10'000;  // MAC addresses of many_sources
  uint32_t flows = 10'000;    // of many_flows
};

class HostileSender {
 public:
  struct Result {
    uint32_t frames;
    Nanos next_ns;
  };
  HostileSender(const HostileOptions& options, uint64_t seed) : options_(options), random_(seed) {}
  const HostileOptions& options() const { return options_; }
  // How many frames it is time to send, and when it is time again.
  Result next(const HostSetup& host, const TopologyPort& port, Nanos now);
  // Writes one into a fresh packet of the host.
  void write(Packet& packet, Fabric& fabric, uint16_t host, Nanos now);
  const uint64_t* sent() const { return sent_; }  // by kind

 private:
  void write_fgfc(Packet& packet, uint64_t source, uint64_t victim);
  void write_storm(Packet& packet, uint64_t source);
  void write_fabric(Packet& packet, HostileKind kind, uint64_t victim);
  void write_ip(Packet& packet, HostileKind kind, uint64_t source, uint64_t destination);
  void write_plain(Packet& packet, HostileKind kind, uint64_t source, uint64_t destination, uint16_t vlan, bool tagged,
                   uint32_t length, Nanos now);
  uint64_t some_mac(Fabric& fabric);

  HostileOptions options_;
  Random random_;
  uint64_t sent_[kHostileKinds] = {};
};

}  // namespace heddle::sim
