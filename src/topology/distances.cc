// SPDX-License-Identifier: Apache-2.0
#include "topology/distances.h"

#include <algorithm>

#include "topology/graph.h"

namespace heddle {

Distances::Distances(const Topology& topology) : nodes_(topology.nodes.size()), links_(nodes_ * nodes_) {
  const std::vector<PortSet> ports_up = all_fabric_ports(topology);
  std::vector<uint16_t> with_hosts;
  for (uint16_t node = 0; node < nodes_; ++node) {
    const std::vector<uint16_t> distances = distances_from(topology, node, ports_up);
    for (size_t to = 0; to < nodes_; ++to)
      links_[node * nodes_ + to] = static_cast<uint8_t>(std::min<uint16_t>(distances[to], kFar));
    const auto& ports = topology.nodes[node].ports;
    if (std::any_of(ports.begin(), ports.end(), [](const TopologyPort& port) { return !port.fabric; }))
      with_hosts.push_back(node);
  }
  for (const TopologyNode& node : topology.nodes)
    for (const TopologyPort& port : node.ports)
      if (port.fabric) costliest_ = std::max(costliest_, port.cost);
  for (const uint16_t from : with_hosts)
    for (const uint16_t to : with_hosts) {
      if (of(from, to) != kFar) diameter_ = std::max(diameter_, of(from, to));
      detours_ = detours_ || (of(from, to) >= 2 && of(from, to) != kFar && has_idle_links(topology, from, to));
    }
}

bool Distances::has_idle_links(const Topology& topology, uint16_t from, uint16_t to) const {
  const auto& ports = topology.nodes[from].ports;
  return std::any_of(ports.begin(), ports.end(), [&](const TopologyPort& port) {
    return port.fabric && of(port.peer.node_index, to) + port.cost > of(from, to);
  });
}

}  // namespace heddle
