// SPDX-License-Identifier: Apache-2.0
// Which ports lead towards a destination (R2, R12): all equal-cost ports of the shortest paths over the links that are
// up, and this node's ports of the one spanning tree that floods follow (E1). Compiled from the configured graph and
// the link states whenever those change; looked up by index.
#pragma once

#include <vector>

#include "topology/graph.h"
#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

class RouteTable {
 public:
  RouteTable(const Topology& topology, uint16_t self_index);

  void compile(const std::vector<PortSet>& ports_up);

  // Primary ports towards a node address; 0 if it is unknown, unreachable or this node.
  PortSet primary(uint16_t node_address) const {
    return node_address < by_address_.size() ? by_address_[node_address] : 0;
  }
  // What a path there costs; kNoDistance if there is none.
  uint16_t cost(uint16_t node_address) const {
    return node_address < costs_.size() ? costs_[node_address] : kNoDistance;
  }
  PortSet tree() const { return tree_; }

 private:
  const Topology& topology_;
  uint16_t self_;
  std::vector<PortSet> by_address_;
  std::vector<uint16_t> costs_;
  PortSet tree_ = 0;
};

}  // namespace heddle
