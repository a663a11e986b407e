// SPDX-License-Identifier: Apache-2.0
// Free flow IDs of an edge input port (F4). Oldest freed first.
#pragma once

#include <vector>

#include "wire/types.h"

namespace heddle {

class FlowIdPool {
 public:
  explicit FlowIdPool(uint32_t flow_ids) : ids_(flow_ids), free_(flow_ids) {
    for (uint32_t i = 0; i < flow_ids; ++i) ids_[i] = static_cast<FlowId>(i + 1);
  }
  uint32_t available() const { return free_; }
  FlowId take() {
    if (free_ == 0) return kNoFlow;
    const FlowId id = ids_[head_];
    head_ = next(head_);
    --free_;
    return id;
  }
  void put(FlowId id) {
    ids_[tail_] = id;
    tail_ = next(tail_);
    ++free_;
  }

 private:
  uint32_t next(uint32_t index) const { return index + 1 == ids_.size() ? 0 : index + 1; }
  std::vector<FlowId> ids_;
  uint32_t head_ = 0, tail_ = 0, free_;
};

}  // namespace heddle
