// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

namespace heddle {

int Topology::find_node(const std::string& node_name) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == node_name) return static_cast<int>(i);
  }
  return -1;
}

int Topology::node_of_address(uint16_t address) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].address == address) return static_cast<int>(i);
  }
  return -1;
}

int Topology::find_port(uint16_t node_index, const std::string& port_name) const {
  if (node_index >= nodes.size()) return -1;
  const std::vector<TopologyPort>& ports = nodes[node_index].ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == port_name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace heddle
