// SPDX-License-Identifier: Apache-2.0
// What the paths between the nodes of the configured fabric cost, all links up; and which of them a flow may go by on a
// longer way (R4). Nodes are indices in the topology. A byte for each pair.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace heddle {

class Distances {
 public:
  explicit Distances(const Topology& topology);

  uint8_t of(uint16_t from, uint16_t to) const { return links_[from * nodes_ + to]; }
  // Some node with hosts has links that are on no shortest path to another one that is not just beside it: without
  // longer ways these would stand idle, whatever the others have to carry. Not so in trees.
  bool detours() const { return detours_; }
  // May a flow go by `via`? It is longer than the shortest, but than the longest shortest path of the fabric by no more
  // than its costliest link and one usual one, and passes neither end twice.
  bool leads_by(uint16_t via, uint16_t from, uint16_t to) const {
    const uint32_t first = of(from, via), second = of(via, to), shortest = of(from, to);
    const uint32_t links = first + second;
    return shortest >= 2 && links > shortest && links <= diameter_ + costliest_ + 1u && shortest + second > first &&
           first + shortest > second && second != 0 && first != 0;
  }
  // Does a shortest path between the two pass `node`, an end of it among them?
  bool passes(uint16_t node, uint16_t from, uint16_t to) const {
    return uint32_t{of(from, node)} + of(node, to) == of(from, to);
  }

 private:
  static constexpr uint8_t kFar = 0xff;  // or farther, or not to be reached
  bool has_idle_links(const Topology& topology, uint16_t from, uint16_t to) const;

  size_t nodes_;
  std::vector<uint8_t> links_;
  uint8_t diameter_ = 0;   // between nodes with hosts
  uint8_t costliest_ = 0;  // link
  bool detours_ = false;
};

}  // namespace heddle
