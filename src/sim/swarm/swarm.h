// SPDX-License-Identifier: Apache-2.0
// One seed, one fabric: everything about a fuzz run is drawn from its seed, and can be printed.
#pragma once

#include <string>
#include <vector>

#include "sim/checker/checker.h"
#include "sim/engine/setup.h"
#include "sim/faults/faults.h"
#include "sim/hosts/hostile.h"
#include "sim/hosts/traffic.h"

namespace heddle::sim {

struct Swarm {
  SimSetup setup;
  std::vector<HostFlow> flows;
  std::vector<HostileOptions> hostile;       // by host; no kinds = a good one
  std::vector<std::vector<uint16_t>> vlans;  // by host: those it announces itself in
  FaultPlan faults;
  CheckerOptions checker;
  Nanos faults_ns = 100 * kMillisecond;  // how long the first phase takes
  std::string shape;

  // All that was drawn, one option per line.
  std::string text() const;
};

Swarm draw_swarm(uint64_t seed);

// swarm_topology.cc: nodes, links and edge ports.
void draw_topology(Swarm& swarm, Random& random);
// swarm_traffic.cc: hosts and what they send.
void draw_traffic(Swarm& swarm, Random& random);
// C1: in some seeds ports know their rate, and most flows send as fast as their window lets them.
void draw_crowd(Swarm& swarm, Random random);
// In some seeds flows send for moments as fast as their hosts' links are, whatever comes of it.
void draw_floods(Swarm& swarm, Random random);

// swarm_applications.cc: in some seeds some nodes share their ports by application (A1-A3, A6), and some change how
// (A9), or get some, or have none any more.
void draw_applications(Swarm& swarm, Random random);

// swarm_shapers.cc: in some seeds classes have their part of some ports (X4).
void draw_shapers(Swarm& swarm, Random random);
// Of its edge ports, in some seeds (E2).
void draw_port_limits(Swarm& swarm, Random random);
void draw_fgfc(Swarm& swarm, Random random);

// wraparound.cc: seeds of nodes with which positions or sequence numbers of a link start close to where they wrap.
void draw_node_seeds(Swarm& swarm, Random& random);

// As in h12.
inline std::string numbered(const char* prefix, uint64_t number) {
  std::string text(prefix);
  return text.append(std::to_string(number));
}

// True once in `of` draws.
inline bool one_in(Random& random, uint64_t of) { return random.below(of) == 0; }
inline uint64_t draw(Random& random, uint64_t low, uint64_t high) { return low + random.below(high - low + 1); }
template <size_t kCount>
uint64_t pick(Random& random, const uint64_t (&values)[kCount]) {
  return values[random.below(kCount)];
}

}  // namespace heddle::sim
