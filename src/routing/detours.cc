// SPDX-License-Identifier: Apache-2.0
#include "routing/detours.h"

#include <bit>

namespace heddle {

Detours::Detours(const Topology& topology, uint16_t node_index, const Destinations& index, const Distances& distances)
    : topology_(topology),
      self_(node_index),
      index_(index),
      distances_(distances),
      arrivals_(topology.nodes.size(), 0) {
  for (uint16_t via = 0; via < topology.nodes.size(); ++via) {
    const auto& ports = topology.nodes[via].ports;
    for (size_t port = 0; port < ports.size(); ++port)
      if (ports[port].fabric &&
          distances_.of(self_, ports[port].peer.node_index) + ports[port].cost == distances_.of(self_, via))
        arrivals_[via] |= PortSet{1} << port;
  }
}

// A frame does not leave by the port that it came in by.
bool Detours::turns_back(uint16_t via, uint16_t to) const {
  for (PortSet rest = arrivals_[via]; rest != 0; rest &= rest - 1) {
    const TopologyPort& port = topology_.nodes[via].ports[static_cast<size_t>(std::countr_zero(rest))];
    if (distances_.of(port.peer.node_index, to) + port.cost == distances_.of(via, to)) return true;
  }
  return false;
}

uint16_t Detours::draw(uint16_t destination, Random& random) const {
  constexpr int kTries = 8;
  const uint16_t to = index_.node(destination);
  for (int tries = 0; tries < kTries; ++tries) {
    const auto via = static_cast<uint16_t>(random.below(topology_.nodes.size()));
    if (distances_.leads_by(via, self_, to) && !turns_back(via, to)) return topology_.nodes[via].address;
  }
  return 0;
}

}  // namespace heddle
