// SPDX-License-Identifier: Apache-2.0
// Positions and sequence numbers start at values that both nonces of a session decide (K4), and the nonces come from
// the nodes' seeds. So a seed is looked for with which a link's first session starts near the wrap of its numbers. This
// leans on the order in which a worker draws: a change there makes wraps rare and breaks nothing; the coverage table
// tells.
#include "sim/swarm/swarm.h"
#include "wire/fabric_frame.h"

namespace heddle::sim {

namespace {

constexpr unsigned kDrawsBefore = 4;  // a worker's hash key

// The nonce that a port draws in its worker's first turn.
uint64_t first_nonce(const Swarm& swarm, uint64_t node_seed, LinkEnd end) {
  const uint32_t workers = swarm.setup.nodes[end.node_index].workers;
  const uint32_t worker = end.port % workers;
  Random random(Random(node_seed).next() + worker);
  for (unsigned i = 0; i < kDrawsBefore; ++i) random.next();
  const auto& ports = swarm.setup.topology.nodes[end.node_index].ports;
  for (PortIndex port = PortIndex::of(worker); port < end.port; port = PortIndex::of(port + workers))
    if (ports[port].fabric) random.nonzero();
  return random.nonzero();
}

bool near_wrap(uint64_t sender, uint64_t receiver, bool sequence) {
  constexpr uint32_t kBytes = 30'000, kFrames = 600;
  if (sequence) return first_position(sender, receiver, kNoFlow) > ~kFrames;
  for (FlowId id = 1; id <= 3; ++id)
    if (first_position(sender, receiver, id) > ~kBytes) return true;
  return false;
}

}  // namespace

void draw_node_seeds(Swarm& swarm, Random& random) {
  const Topology& topology = swarm.setup.topology;
  for (size_t i = 0; i < topology.nodes.size(); ++i) swarm.setup.node_seeds.push_back(random.next() >> 8);
  const TopologyLink& link = topology.links[random.below(topology.links.size())];
  const bool sequence = random.below(8) == 0;
  const uint64_t tries = sequence ? 1'500'000 : 40'000;
  uint64_t& seed = swarm.setup.node_seeds[link.ends[0].node_index];
  const uint64_t other = first_nonce(swarm, swarm.setup.node_seeds[link.ends[1].node_index], link.ends[1]);
  for (uint64_t i = 0; i < tries; ++i, ++seed) {
    const uint64_t own = first_nonce(swarm, seed, link.ends[0]);
    if (near_wrap(own, other, sequence) || near_wrap(other, own, sequence)) return;
  }
}

}  // namespace heddle::sim
