// SPDX-License-Identifier: Apache-2.0
#include "routing/distances.h"

#include <utility>

#include "topology/graph.h"

namespace heddle {

const std::vector<uint16_t>* Distances::to(uint16_t node, Nanos now) {
  Row& row = rows_[node];
  if (version_ == 0) return nullptr;
  if (row.version == version_) return &row.distances;
  if (std::exchange(turn_, now) != now) met_ = 0;
  if (met_ >= kNodesInTurn) return nullptr;
  met_ += rows_.size();
  row.distances = distances_from(topology_, node, ports_up_);
  row.version = version_;
  return &row.distances;
}

}  // namespace heddle
