// SPDX-License-Identifier: Apache-2.0
#include "routing/route_table.h"

#include <algorithm>

namespace heddle {

RouteTable::RouteTable(const Topology& topology, uint16_t self_index) : topology_(topology), self_(self_index) {
  uint16_t highest = 0;
  for (const TopologyNode& node : topology.nodes) highest = std::max(highest, node.address);
  by_address_.resize(highest + size_t{1});
  costs_.resize(highest + size_t{1}, kNoDistance);
}

void RouteTable::compile(const std::vector<PortSet>& ports_up) {
  const std::vector<PortSet> paths = shortest_path_ports(topology_, self_, ports_up);
  const std::vector<uint16_t> costs = distances_from(topology_, self_, ports_up);
  for (size_t i = 0; i < topology_.nodes.size(); ++i) {
    by_address_[topology_.nodes[i].address] = paths[i];
    costs_[topology_.nodes[i].address] = costs[i];
  }
  tree_ = spanning_tree_ports(topology_, ports_up)[self_];
}

}  // namespace heddle
