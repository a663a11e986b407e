// SPDX-License-Identifier: Apache-2.0
// The topology of a fabric that a few numbers describe: node i has address i + 1, and its hosts' ports stand before its
// links.
#pragma once

#include "memory_ports.h"
#include "topology/fabric_plan.h"
#include "topology/longer_ways.h"

namespace heddle::test {

inline Topology topology_of(const FabricPlan& plan) {
  Topology topology;
  topology.classes.emplace_back();
  std::vector<uint32_t> hosts(plan.nodes.size());
  for (const FabricPlan::Host& host : plan.hosts) ++hosts[host.end.node];
  for (size_t node = 0; node < plan.nodes.size(); ++node) {
    add_node(topology, static_cast<uint16_t>(node + 1), hosts[node]);
    topology.nodes.back().name = plan.nodes[node];
  }
  for (const FabricPlan::Link& link : plan.links) {
    const auto one = static_cast<uint16_t>(link.ends[0].node), other = static_cast<uint16_t>(link.ends[1].node);
    add_link(topology, one, other);
    for (const uint16_t end : {one, other}) topology.nodes[end].ports.back().cost = link.cost;
  }
  topology.longer_way_cost_most = longer_way_cost_most(topology);
  return topology;
}

// The port of one node that leads to the other.
inline PortIndex port_to(const Topology& topology, uint16_t from, uint16_t to) {
  const auto& ports = topology.nodes[from].ports;
  for (PortIndex port = 0; port < ports.size(); ++port)
    if (ports[port].fabric && ports[port].peer.node_index == to) return port;
  return kNoPort;
}

// `nodes` with an edge port each, in a ring.
inline Topology ring_of(uint16_t nodes) {
  Topology topology;
  topology.classes.emplace_back();
  for (uint16_t node = 0; node < nodes; ++node) add_node(topology, static_cast<uint16_t>(node + 1), 1);
  for (uint16_t node = 0; node < nodes; ++node) add_link(topology, node, static_cast<uint16_t>((node + 1) % nodes));
  topology.longer_way_cost_most = longer_way_cost_most(topology);
  return topology;
}

// 9 groups of 4 routers with 2 hosts and 2 links to other groups each.
inline Topology dragonfly() {
  return topology_of(dragonfly_plan({.groups = 9, .routers = 4, .globals = 2, .hosts = 2}));
}

}  // namespace heddle::test
