// SPDX-License-Identifier: Apache-2.0
#include "routing/route_table.h"

#include <algorithm>
#include <bit>

#include "topology/graph.h"

namespace heddle {

RouteTable::RouteTable(const Topology& topology, uint16_t self_index) : topology_(topology), self_(self_index) {
  uint16_t highest = 0;
  for (const TopologyNode& node : topology.nodes) highest = std::max(highest, node.address);
  by_address_.resize(highest + size_t{1});
}

void RouteTable::compile(const std::vector<PortSet>& ports_up) {
  const std::vector<PortSet> paths = shortest_path_ports(topology_, self_, ports_up);
  for (size_t i = 0; i < topology_.nodes.size(); ++i) by_address_[topology_.nodes[i].address] = paths[i];
  tree_ = spanning_tree_ports(topology_, ports_up)[self_];
}

PortIndex least_loaded(PortSet ports, const LoadBoard& board, uint64_t random, PortIndex had) {
  PortIndex best = kNoPort;
  uint32_t best_bytes = 0, ties = 0;
  for (PortSet rest = ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    if (!board.up(port)) continue;
    const uint32_t bytes = board.queue_bytes(port);
    if (best == kNoPort || bytes < best_bytes) {
      best = port;
      best_bytes = bytes;
      ties = 1;
    } else if (bytes == best_bytes && best != had) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (port == had || (random >> 33) % ++ties == 0) best = port;  // each of the ties is as likely
    }
  }
  return best;
}

}  // namespace heddle
