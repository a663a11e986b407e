// SPDX-License-Identifier: Apache-2.0
#include "routing/next_hops.h"

namespace heddle {

PortSet NextHops::behind(PortIndex port, Heading heading) const {
  const uint16_t neighbour = topology_.nodes[self_].ports[port].peer.node_index;
  const uint16_t first = index_.node(heading.first), to = neighbour == first ? index_.node(heading.then) : first;
  const auto& ports = topology_.nodes[neighbour].ports;
  PortSet found = 0;
  for (PortIndex next = 0; next < ports.size(); ++next)
    if (ports[next].fabric &&
        distances_.of(ports[next].peer.node_index, to) + ports[next].cost == distances_.of(neighbour, to))
      found |= PortSet{1} << next;
  return found;
}

}  // namespace heddle
