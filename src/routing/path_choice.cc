// SPDX-License-Identifier: Apache-2.0
#include "routing/path_choice.h"

namespace heddle {

PathChoice::PathChoice(const Topology& topology, uint16_t node_index, const Lanes& lanes, const LoadBoard& board)
    : lanes_(lanes),
      board_(board),
      routes_(topology, node_index),
      up_ports_(up_ports(topology)[node_index]),
      node_address_(topology.nodes[node_index].address) {
  const std::vector<TopologyPort>& ports = topology.nodes[node_index].ports;
  for (PortIndex port = 0; port < ports.size(); ++port)
    if (!ports[port].fabric) edge_ports_ |= PortSet{1} << port;
}

}  // namespace heddle
