// SPDX-License-Identifier: Apache-2.0
// Longer ways for flows that begin at this node (R4): by another node first, and on from there. Nodes are told by their
// addresses. Owned by one worker.
#pragma once

#include <vector>

#include "topology/destinations.h"
#include "topology/distances.h"
#include "wire/random.h"

namespace heddle {

class Detours {
 public:
  // They outlive it.
  Detours(const Topology& topology, uint16_t node_index, const Destinations& index, const Distances& distances);

  // Are there any in this fabric?
  bool any() const { return distances_.detours(); }
  // The destination is not just beside this node: a path there costs two usual links or more.
  bool lead_to(uint16_t destination) const { return distances_.of(self_, index_.node(destination)) >= 2; }
  // A node to go by that chance says; 0 if none was found in a few tries.
  uint16_t draw(uint16_t destination, Random& random) const;
  // Does the way by `via` pass that node?
  bool passes(uint16_t destination, uint16_t via, uint16_t node) const {
    const uint16_t by = index_.node(via), at = index_.node(node);
    return distances_.passes(at, self_, by) || distances_.passes(at, by, index_.node(destination));
  }

 private:
  bool turns_back(uint16_t via, uint16_t to) const;

  const Topology& topology_;
  const uint16_t self_;
  const Destinations& index_;
  const Distances& distances_;
  std::vector<PortSet> arrivals_;  // by node: its ports that shortest paths from here come in by
};

}  // namespace heddle
