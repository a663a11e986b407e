// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

void add_port(TopologyNode& node, bool fabric, uint16_t mtu) {
  TopologyPort port;
  port.fabric = fabric;
  port.name = numbered(fabric ? "f" : "e", node.ports.size());
  port.mtu_bytes = mtu;
  node.ports.push_back(port);
}

void add_edge_port(Topology& topology, uint16_t node, Random& random) {
  add_port(topology.nodes[node], false, one_in(random, 12) ? 600 : 1500);
  TopologyPort& port = topology.nodes[node].ports.back();
  if (one_in(random, 4)) port.rate_bps = pick(random, {20'000'000, 100'000'000, 1'000'000'000});
  port.flood_frames_per_second = static_cast<uint32_t>(pick(random, {1000, 1000, 20'000, 0}));
  port.stations_max = static_cast<uint32_t>(pick(random, {4, 64, 16384}));
  port.forward_reserved = one_in(random, 8);
}

void link(Topology& topology, uint16_t a, uint16_t b) {
  constexpr uint16_t kFabricMtu = 1600;
  TopologyLink made;
  const uint16_t ends[2] = {a, b};
  for (unsigned side = 0; side < 2; ++side) {
    add_port(topology.nodes[ends[side]], true, kFabricMtu);
    made.ends[side] = {ends[side], PortIndex::of(topology.nodes[ends[side]].ports.size() - 1)};
  }
  for (unsigned side = 0; side < 2; ++side) {
    TopologyPort& port = topology.nodes[ends[side]].ports.back();
    port.peer = {made.ends[1 - side].node_index, made.ends[1 - side].port};
  }
  topology.links.push_back(made);
}

void link_line(Topology& topology, bool closed) {
  const auto count = static_cast<uint16_t>(topology.nodes.size());
  for (uint16_t node = 0; node + 1 < count; ++node) link(topology, node, node + 1);
  if (closed && count > 2) link(topology, count - 1, 0);
}

void link_leaf_spine(Topology& topology, uint16_t spines) {
  for (uint16_t leaf = spines; leaf < topology.nodes.size(); ++leaf)
    for (uint16_t spine = 0; spine < spines; ++spine) link(topology, leaf, spine);
}

void link_tree(Topology& topology, Random& random, uint64_t more) {
  const auto count = static_cast<uint16_t>(topology.nodes.size());
  for (uint16_t node = 1; node < count; ++node) link(topology, node, static_cast<uint16_t>(random.below(node)));
  for (; more > 0; --more) {
    const auto a = static_cast<uint16_t>(random.below(count)), b = static_cast<uint16_t>(random.below(count));
    if (a != b) link(topology, a, b);  // links side by side happen too
  }
}

void link_all(Topology& topology) {
  for (uint16_t a = 0; a < topology.nodes.size(); ++a)
    for (uint16_t b = 0; b < a; ++b) link(topology, a, b);
}

void draw_links(Swarm& swarm, Random& random) {
  Topology& topology = swarm.setup.topology;
  const auto count = static_cast<uint16_t>(topology.nodes.size());
  switch (random.below(6)) {
    case 0:
      swarm.shape = "line";
      return link_line(topology, false);
    case 1:
      swarm.shape = "ring";
      return link_line(topology, true);
    case 2:
      if (count < 3) break;
      swarm.shape = "leaf-spine";
      return link_leaf_spine(topology, static_cast<uint16_t>(draw(random, 1, std::min(3, count / 2))));
    case 3:
      if (count > 5) break;
      swarm.shape = "full mesh";
      return link_all(topology);
    default:
      break;
  }
  swarm.shape = "tree with cross links";
  link_tree(topology, random, random.below(count + 1u));
}

void draw_vlans(Topology& topology, Random& random) {
  if (!one_in(random, 3)) return;
  constexpr uint64_t kVlans[] = {1, 10, 20};
  for (TopologyNode& node : topology.nodes) {
    for (TopologyPort& port : node.ports) {
      if (port.fabric) continue;
      port.vlans.native = static_cast<uint16_t>(pick(random, kVlans));
      if (!one_in(random, 3)) continue;
      port.vlans.trunk = true;
      if (one_in(random, 4)) port.vlans.native = 0;
      for (const uint64_t vlan : kVlans)
        if (vlan != port.vlans.native && !one_in(random, 3)) port.vlans.tagged.set(vlan);
    }
  }
}

}  // namespace

void draw_topology(Swarm& swarm, Random& random) {
  Topology& topology = swarm.setup.topology;
  const uint64_t count = one_in(random, 3) ? draw(random, 2, 16) : draw(random, 2, 5);
  for (uint64_t i = 0; i < count; ++i) {
    TopologyNode node;
    node.name = numbered("n", i);
    node.address = static_cast<uint16_t>(1 + i + random.below(3) * 100);
    topology.nodes.push_back(node);
  }
  std::vector<uint16_t> taken;
  for (TopologyNode& node : topology.nodes) {
    while (std::find(taken.begin(), taken.end(), node.address) != taken.end()) ++node.address;
    taken.push_back(node.address);
  }
  const bool edge_first = one_in(random, 2);
  const auto add_edges = [&](bool first) {
    for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
      uint64_t ports = first == edge_first ? draw(random, topology.nodes.size() <= 3 ? 1 : 0, 2) : 0;
      for (; ports > 0; --ports) add_edge_port(topology, node, random);
    }
  };
  add_edges(true);
  draw_links(swarm, random);
  add_edges(false);
  add_edge_port(topology, 0, random);  // two hosts at least, far from each other
  add_edge_port(topology, static_cast<uint16_t>(topology.nodes.size() - 1), random);
  draw_vlans(topology, random);
}

}  // namespace heddle::sim
