// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

// Parts of a rate, for nobody so little that all frames die while they wait for those before them.
uint64_t part(uint64_t rate_bps, Random& random) {
  constexpr uint64_t kSlowestPort = 20'000'000;
  return std::max(rate_bps / pick(random, {1, 2, 4, 16}), std::min(rate_bps, kSlowestPort));
}

ShaperPolicy::Bandwidth bandwidth(uint64_t rate_bps, Random& random) {
  ShaperPolicy::Bandwidth bandwidth;
  if (one_in(random, 2)) bandwidth.maximum_bps = part(rate_bps, random);
  if (one_in(random, 2)) bandwidth.minimum_bps = part(rate_bps, random);
  if (bandwidth.maximum_bps != 0) bandwidth.minimum_bps = std::min(bandwidth.minimum_bps, bandwidth.maximum_bps);
  bandwidth.priority = static_cast<uint8_t>(random.below(kShaperPriorityMax + 1));
  return bandwidth;
}

ShaperPolicy policy(uint64_t rate_bps, size_t classes, Random& random) {
  ShaperPolicy policy;
  policy.configured = true;
  if (one_in(random, 3)) policy.maximum_bps = part(rate_bps, random);
  for (uint64_t branch = random.below(kBranchesMax + 1); branch != 0; --branch)
    policy.branches.push_back({numbered("b", branch), bandwidth(rate_bps, random)});
  for (size_t index = 0; index < classes; ++index) {
    ShaperPolicy::Leaf& leaf = policy.leaves[index];
    leaf.bandwidth = bandwidth(rate_bps, random);
    leaf.weight = static_cast<uint8_t>(pick(random, {1, 1, 3, kShaperWeightMax}));
    if (const uint64_t branch = random.below(kBranchesMax + 1); branch < policy.branches.size())
      leaf.branch = static_cast<uint8_t>(branch);
  }
  return policy;
}

// A node's, for some of the ports that have a rate.
PortShapers shapers(const std::vector<TopologyPort>& ports, size_t classes, Random& random) {
  PortShapers shapers(ports.size());
  for (size_t port = 0; port < ports.size(); ++port)
    if (ports[port].rate_bps != 0 && !one_in(random, 4)) shapers[port] = policy(ports[port].rate_bps, classes, random);
  return shapers;
}

}  // namespace

void draw_shapers(Swarm& swarm, Random random) {
  if (!one_in(random, 3)) return;
  Topology& topology = swarm.setup.topology;
  const bool reshapes = one_in(random, 2);
  swarm.faults.shapers.resize(topology.nodes.size());
  for (uint16_t index = 0; index < topology.nodes.size(); ++index) {
    std::vector<TopologyPort>& ports = topology.nodes[index].ports;
    if (one_in(random, 3)) continue;
    for (TopologyPort& port : ports)
      if (port.rate_bps == 0 && one_in(random, 2)) port.rate_bps = pick(random, {100'000'000, 1'000'000'000});
    const auto drawn = [&] { return shapers(ports, topology.classes.size(), random); };
    swarm.setup.nodes[index].shapers = drawn();
    if (reshapes) swarm.faults.shapers[index] = {drawn(), drawn(), swarm.setup.nodes[index].shapers, {}};
  }
  if (reshapes) swarm.faults.kinds |= 1u << static_cast<unsigned>(FaultKind::reshape);
}

}  // namespace heddle::sim
