// SPDX-License-Identifier: Apache-2.0
// Flow IDs in the order in which their flows came to rest, for whoever needs an ID (K11). A flow that goes on leaves
// its ID in here, and who takes one out looks whether it rests still: so each coming to rest costs at most one entry,
// and finding an ID at rest is amortised O(1). An ID stands here once. Owned by the worker of its table. Allocates in
// its constructor only.
#pragma once

#include <vector>

#include "wire/types.h"

namespace heddle {

class RestQueue {
 public:
  explicit RestQueue(uint32_t flow_ids) : next_(flow_ids + 1, kNoFlow) {}

  bool empty() const { return first_ == kNoFlow; }
  bool has(FlowId id) const { return next_[id] != kNoFlow; }
  void enter(FlowId id) {
    if (has(id)) return;
    next_[id] = id;  // the last one names itself
    if (empty())
      first_ = id;
    else
      next_[last_] = id;
    last_ = id;
  }
  // The one that has stood here longest; kNoFlow if there is none.
  FlowId take() {
    const FlowId id = first_;
    if (id == kNoFlow) return kNoFlow;
    first_ = id == last_ ? kNoFlow : next_[id];
    next_[id] = kNoFlow;
    return id;
  }

 private:
  std::vector<FlowId> next_;
  FlowId first_ = kNoFlow;
  FlowId last_ = kNoFlow;
};

}  // namespace heddle
