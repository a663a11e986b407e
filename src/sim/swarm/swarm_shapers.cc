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

}  // namespace

void draw_shapers(Swarm& swarm, Random random) {
  if (!one_in(random, 3)) return;
  Topology& topology = swarm.setup.topology;
  for (uint16_t index = 0; index < topology.nodes.size(); ++index) {
    std::vector<TopologyPort>& ports = topology.nodes[index].ports;
    PortShapers& shapers = swarm.setup.nodes[index].shapers;
    if (one_in(random, 3)) continue;
    shapers.resize(ports.size());
    for (size_t port = 0; port < ports.size(); ++port) {
      if (one_in(random, 2)) continue;
      if (ports[port].rate_bps == 0) ports[port].rate_bps = pick(random, {100'000'000, 1'000'000'000});
      shapers[port] = policy(ports[port].rate_bps, topology.classes.size(), random);
    }
  }
}

}  // namespace heddle::sim
