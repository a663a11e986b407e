// SPDX-License-Identifier: Apache-2.0
// Longer ways for flows that begin at this node (R4): by which other node. Nodes are told by their addresses. Owned by
// one worker.
#pragma once

#include "routing/distances.h"
#include "topology/destinations.h"
#include "wire/random.h"

namespace heddle {

class Detours {
 public:
  // They outlive it.
  Detours(const Topology& topology, uint16_t node_index, const Destinations& index, Distances& distances)
      : topology_(topology), self_(node_index), index_(index), distances_(distances) {}

  // Are there any in this fabric?
  bool any() const { return topology_.longer_way_cost_most != 0; }
  // A node to go by that chance says; 0 if none was found in a few tries, or not enough is known since the links have
  // changed.
  uint16_t draw(uint16_t destination, Random& random, Nanos now) const;
  // May the way by `via` pass that node?
  bool may_pass(uint16_t destination, uint16_t via, uint16_t node, Nanos now) const;

 private:
  const Topology& topology_;
  const uint16_t self_;
  const Destinations& index_;
  Distances& distances_;
};

}  // namespace heddle
