// SPDX-License-Identifier: Apache-2.0
// Flow IDs in turn, each of them once: those whose flows have come to rest, for whoever needs an ID (K11), or those
// that somebody is to be told of (G1). Entering and taking are O(1), and an ID that is no longer meant when its turn
// comes is passed over by whoever takes it. Owned by the worker of its table. Allocates in its constructor only.
#pragma once

#include <vector>

#include "wire/types.h"

namespace heddle {

class FlowIdQueue {
 public:
  explicit FlowIdQueue(uint32_t flow_ids) : next_(flow_ids + 1, kNoFlow) {}

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
  FlowId first() const { return first_; }
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
