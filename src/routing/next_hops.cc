// SPDX-License-Identifier: Apache-2.0
#include "routing/next_hops.h"

#include "topology/graph.h"

namespace heddle {

PortSet NextHops::behind(PortIndex port, Heading heading, Nanos now) const {
  const uint16_t first = index_.node(heading.first), by = neighbour(port);
  const uint16_t to = by == first ? index_.node(heading.then) : first;
  const std::vector<uint16_t>* const distances = by == to ? nullptr : distances_.to(to, now);
  return distances == nullptr ? 0 : ports_towards(topology_, distances_.ports_up(), *distances, by);
}

}  // namespace heddle
