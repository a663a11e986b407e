// SPDX-License-Identifier: Apache-2.0
// Ids in turn, each of them once: of flows that have come to rest, for whoever needs an ID (K11), or of those that
// somebody is to be told of (G1). Entering and taking are O(1), and one that is no longer meant when its turn comes is
// passed over by whoever takes it. 0 is nobody's. Owned by the worker of its table. Allocates in its constructor only.
#pragma once

#include <vector>

#include "wire/types.h"

namespace heddle {

template <typename Id>
class IdQueue {
 public:
  explicit IdQueue(uint32_t most) : next_(most + 1, kNone) {}

  bool empty() const { return first_ == kNone; }
  bool has(Id id) const { return next_[id] != kNone; }
  void enter(Id id) {
    if (has(id)) return;
    next_[id] = id;  // the last one names itself
    if (empty())
      first_ = id;
    else
      next_[last_] = id;
    last_ = id;
  }
  // The one that has stood here longest; kNone if there is none.
  Id first() const { return first_; }
  Id take() {
    const Id id = first_;
    if (id == kNone) return kNone;
    first_ = id == last_ ? kNone : next_[id];
    next_[id] = kNone;
    return id;
  }

 private:
  static constexpr Id kNone = 0;
  std::vector<Id> next_;
  Id first_ = kNone;
  Id last_ = kNone;
};

}  // namespace heddle
