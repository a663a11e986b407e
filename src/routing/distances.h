// SPDX-License-Identifier: Apache-2.0
// How far all nodes are from some, over the links that are up (R4, R8): searched for when it is asked for, once for
// each change of the links. In a turn so many searches are made as meet some thousand nodes, so that none is held up
// for long; a search allocates, as compiling routes does. Nodes are indices. Owned by one worker; whoever only asks
// what would be makes it remember, too.
#pragma once

#include <vector>

#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

class Distances {
 public:
  explicit Distances(const Topology& topology) : topology_(topology), rows_(topology.nodes.size()) {}

  void compile(const std::vector<PortSet>& ports_up) {
    ports_up_ = ports_up;
    ++version_;
  }
  // To the node, from each; nullptr if that is not known yet, and enough searches were made in this turn.
  const std::vector<uint16_t>* to(uint16_t node, Nanos now);
  const std::vector<PortSet>& ports_up() const { return ports_up_; }

 private:
  struct Row {
    uint32_t version = 0;
    std::vector<uint16_t> distances;
  };
  const Topology& topology_;
  std::vector<PortSet> ports_up_;
  uint32_t version_ = 0;
  std::vector<Row> rows_;
  static constexpr size_t kNodesInTurn = 1024;
  Nanos turn_ = kNever;
  size_t met_ = 0;  // nodes, in this turn
};

}  // namespace heddle
