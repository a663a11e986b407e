// SPDX-License-Identifier: Apache-2.0
// What a simulation is made of, as plain values: drawn from a seed or read from a scenario.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/memory_link.h"
#include "topology/application_policy.h"
#include "topology/shaper_policy.h"
#include "topology/topology.h"

namespace heddle::sim {

struct NodeSetup {
  uint32_t workers = 1;
  ApplicationPolicy applications;
  PortShapers shapers;
  uint32_t match_entries = 4096;  // per worker
  uint32_t station_entries = 4096;
  uint32_t copies_max = 512;
  uint32_t waiting_max = 256;
  uint32_t pool_packets = 65536;   // held in all; above it the node makes no copies
  uint32_t control_packets = ~0u;  // frames of its own
};

// What a host does about fine-grained flow control (G1).
enum class FgfcConduct : uint8_t {
  silent,    // it knows nothing of it
  obeys,     // says that it obeys, and does
  pretends,  // says so, and does not
};

constexpr std::array<std::string_view, 3> kFgfcConductNames = {"silent", "obeys", "pretends"};

struct HostSetup {
  std::string name;
  LinkEnd port;
  uint64_t mac = 0;
  MemoryLinkOptions to_switch, from_switch;
  Nanos announce_interval_ns = 1 * kSecond;  // broadcasts by which it is learned
  FgfcConduct fgfc = FgfcConduct::silent;
  uint32_t fgfc_lost_every = 0;  // of so many frames about its flows it never gets one; 0 = it gets all
};

// What a turn of a worker costs in virtual time; from measurements of the real thing on one core.
struct TurnCosts {
  Nanos turn_ns = 300;
  Nanos packet_ns = 60;
  Nanos crossing_ns = 40;
};

struct SimSetup {
  Topology topology;
  std::vector<NodeSetup> nodes;                         // by node index
  std::vector<std::array<MemoryLinkOptions, 2>> links;  // by topology link; [0] leaves ends[0]
  std::vector<HostSetup> hosts;
  TurnCosts costs;
  uint64_t seed = 1;
  std::vector<uint64_t> node_seeds;  // of the first start, by node; empty = from `seed`
  Nanos start_ns = kSecond;
  uint32_t room_bytes = 2048;  // of a packet
  bool complete_checksums = false;
  bool checked = false;  // every frame is watched, packets are poisoned, contents filled and compared
};

}  // namespace heddle::sim
