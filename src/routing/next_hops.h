// SPDX-License-Identifier: Apache-2.0
// Which ports of a neighbour lead on, as configured (R8): whose load counts for what goes by that neighbour. Nodes are
// told by their addresses. Owned by one worker.
#pragma once

#include "topology/destinations.h"
#include "topology/distances.h"

namespace heddle {

// To a node, and from there on to another one: the same, unless it is a longer way (R4).
struct Heading {
  uint16_t first, then;
};

class NextHops {
 public:
  // They outlive it.
  NextHops(const Topology& topology, uint16_t node_index, const Destinations& index, const Distances& distances)
      : topology_(topology), self_(node_index), index_(index), distances_(distances) {}

  // Of the node at the other end of `port`; 0 if that is where it ends.
  PortSet behind(PortIndex port, Heading heading) const;

 private:
  const Topology& topology_;
  const uint16_t self_;
  const Destinations& index_;
  const Distances& distances_;
};

}  // namespace heddle
