// SPDX-License-Identifier: Apache-2.0
#include "topology/graph.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace heddle {

namespace {

// Calls visit(port, peer) for the usable ports of a node, in port order.
template <typename Visit>
void for_each_usable(const Topology& topology, const std::vector<PortSet>& ports_up, uint16_t node_index, Visit visit) {
  const std::vector<TopologyPort>& ports = topology.nodes[node_index].ports;
  for (PortIndex port = 0; port < ports.size(); ++port) {
    if (port_usable(topology, ports_up, node_index, port)) visit(port, ports[port].peer);
  }
}

// Nearest first from `start`: fills `distances` (kNoDistance = not met before) and returns the nodes in that order.
std::vector<uint16_t> nearest_first(const Topology& topology, const std::vector<PortSet>& ports_up, uint16_t start,
                                    std::vector<uint16_t>& distances) {
  constexpr size_t kRing = kLinkCostMax + 1;
  std::array<std::vector<uint16_t>, kRing> met;  // by distance: nobody is met farther ahead than a link costs
  std::vector<uint16_t> order;
  size_t waiting = 1;
  met[0] = {start};
  distances[start] = 0;
  for (uint32_t distance = 0; waiting != 0; ++distance) {
    std::vector<uint16_t>& nearest = met[distance % kRing];
    waiting -= nearest.size();
    for (const uint16_t node : nearest) {
      if (distances[node] != distance) continue;  // a shorter path was found since
      order.push_back(node);
      for_each_usable(topology, ports_up, node, [&](PortIndex port, const PortPeer& peer) {
        const uint32_t there = distance + topology.nodes[node].ports[port].cost;
        if (distances[peer.node_index] <= there) return;
        distances[peer.node_index] = static_cast<uint16_t>(there);
        met[there % kRing].push_back(peer.node_index);
        ++waiting;
      });
    }
    nearest.clear();
  }
  return order;
}

// Hangs a node on its neighbour on a shortest path to the root: sets the bit of the link at both ends.
void hang_on_tree(const Topology& topology, const std::vector<PortSet>& ports_up,
                  const std::vector<uint16_t>& distances, uint16_t node, std::vector<PortSet>& tree) {
  PortIndex up = kNoPort;
  PortPeer parent{0xffff, kNoPort};
  for_each_usable(topology, ports_up, node, [&](PortIndex port, const PortPeer& peer) {
    if (distances[peer.node_index] + topology.nodes[node].ports[port].cost != distances[node]) return;
    const bool better =
        peer.node_index != parent.node_index ? peer.node_index < parent.node_index : peer.port < parent.port;
    if (up != kNoPort && !better) return;
    up = port;
    parent = peer;
  });
  tree[node] |= PortSet{1} << up;
  tree[parent.node_index] |= PortSet{1} << parent.port;
}

}  // namespace

std::vector<PortSet> all_fabric_ports(const Topology& topology) {
  std::vector<PortSet> ports_up(topology.nodes.size(), 0);
  for (size_t node = 0; node < topology.nodes.size(); ++node) {
    const std::vector<TopologyPort>& ports = topology.nodes[node].ports;
    for (size_t port = 0; port < ports.size(); ++port) {
      if (ports[port].fabric) ports_up[node] |= PortSet{1} << port;
    }
  }
  return ports_up;
}

bool port_usable(const Topology& topology, const std::vector<PortSet>& ports_up, uint16_t node_index, PortIndex port) {
  const TopologyPort& own = topology.nodes[node_index].ports[port];
  if (!own.fabric) return false;
  return (ports_up[node_index] >> port & 1) != 0 && (ports_up[own.peer.node_index] >> own.peer.port & 1) != 0;
}

std::vector<uint16_t> distances_from(const Topology& topology, uint16_t node_index,
                                     const std::vector<PortSet>& ports_up) {
  std::vector<uint16_t> distances(topology.nodes.size(), kNoDistance);
  nearest_first(topology, ports_up, node_index, distances);
  return distances;
}

PortSet ports_towards(const Topology& topology, const std::vector<PortSet>& ports_up,
                      const std::vector<uint16_t>& distances, uint16_t node_index) {
  PortSet found = 0;
  for_each_usable(topology, ports_up, node_index, [&](PortIndex port, const PortPeer& peer) {
    if (uint32_t{distances[peer.node_index]} + topology.nodes[node_index].ports[port].cost == distances[node_index])
      found |= PortSet{1} << port;
  });
  return found;
}

bool is_transit(const Topology& topology, uint16_t node_index) {
  const std::vector<PortSet> all = all_fabric_ports(topology);
  const std::vector<uint16_t> onwards = distances_from(topology, node_index, all);
  const auto has_hosts = [&](size_t node) {
    const std::vector<TopologyPort>& ports = topology.nodes[node].ports;
    return std::any_of(ports.begin(), ports.end(), [](const TopologyPort& port) { return !port.fabric; });
  };
  for (const TopologyPort& port : topology.nodes[node_index].ports) {
    if (!port.fabric) continue;
    const std::vector<uint16_t> from_there = distances_from(topology, port.peer.node_index, all);
    for (size_t to = 0; to < onwards.size(); ++to)
      if (to != node_index && from_there[to] == port.cost + onwards[to] && has_hosts(to)) return true;
  }
  return false;
}

std::vector<uint16_t> unreachable_nodes(const Topology& topology) {
  std::vector<uint16_t> unreachable;
  if (topology.nodes.empty()) return unreachable;
  const std::vector<uint16_t> distances = distances_from(topology, 0, all_fabric_ports(topology));
  for (uint16_t node = 0; node < distances.size(); ++node) {
    if (distances[node] == kNoDistance) unreachable.push_back(node);
  }
  return unreachable;
}

std::vector<PortSet> spanning_tree_ports(const Topology& topology, const std::vector<PortSet>& ports_up) {
  std::vector<uint16_t> roots(topology.nodes.size());
  std::iota(roots.begin(), roots.end(), uint16_t{0});
  std::sort(roots.begin(), roots.end(),
            [&](uint16_t a, uint16_t b) { return topology.nodes[a].address < topology.nodes[b].address; });
  std::vector<PortSet> tree(topology.nodes.size(), 0);
  std::vector<uint16_t> distances(topology.nodes.size(), kNoDistance);
  for (uint16_t root : roots) {
    if (distances[root] != kNoDistance) continue;  // in the tree of a lower address
    for (uint16_t node : nearest_first(topology, ports_up, root, distances)) {
      if (node != root) hang_on_tree(topology, ports_up, distances, node, tree);
    }
  }
  return tree;
}

std::vector<PortSet> shortest_path_ports(const Topology& topology, uint16_t node_index,
                                         const std::vector<PortSet>& ports_up) {
  std::vector<uint16_t> distances(topology.nodes.size(), kNoDistance);
  std::vector<PortSet> first_hops(topology.nodes.size(), 0);
  // In this order a node's own set is complete before it is handed on to the nodes behind it.
  for (uint16_t node : nearest_first(topology, ports_up, node_index, distances)) {
    for_each_usable(topology, ports_up, node, [&](PortIndex port, const PortPeer& peer) {
      if (distances[peer.node_index] != distances[node] + topology.nodes[node].ports[port].cost) return;
      first_hops[peer.node_index] |= node == node_index ? PortSet{1} << port : first_hops[node];
    });
  }
  return first_hops;
}

}  // namespace heddle
