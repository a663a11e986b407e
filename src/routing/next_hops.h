// SPDX-License-Identifier: Apache-2.0
// Which ports of a neighbour lead on (R8): whose load counts for what goes by that neighbour. Nodes are told by their
// addresses. Owned by one worker.
#pragma once

#include "routing/distances.h"
#include "topology/destinations.h"

namespace heddle {

// To a node, and from there on to another one: the same, unless it is a longer way (R4).
struct Heading {
  uint16_t first, then;
};

class NextHops {
 public:
  // They outlive it.
  NextHops(const Topology& topology, uint16_t node_index, const Destinations& index, Distances& distances)
      : topology_(topology), self_(node_index), index_(index), distances_(distances) {}

  // Of the node at the other end of `port`; 0 if that is where it ends, or that is not known yet.
  PortSet behind(PortIndex port, Heading heading, Nanos now) const;
  // Of the link of one of them.
  uint64_t rate_bps(PortIndex port, PortIndex there) const {
    return shared_rate_bps(topology_.nodes[neighbour(port)].ports[there]);
  }

 private:
  uint16_t neighbour(PortIndex port) const { return topology_.nodes[self_].ports[port].peer.node_index; }

  const Topology& topology_;
  const uint16_t self_;
  const Destinations& index_;
  Distances& distances_;
};

}  // namespace heddle
