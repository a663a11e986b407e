// SPDX-License-Identifier: Apache-2.0
// What one flow's frames must look like where they arrive: each once, in the order of their numbers.
#pragma once

#include <cstdint>

#include "wire/types.h"

namespace heddle::traffic {

struct OrderCounts {
  uint64_t missing = 0;     // not seen although a later frame of their flow was
  uint64_t late = 0;        // seen behind a later one: out of order
  uint64_t duplicates = 0;  // seen before
};

class FlowOrder {
 public:
  void take(uint32_t number, OrderCounts& counts) {
    const uint32_t ahead = number - next_;
    if (ahead == 0) {
      seen_ = seen_ << 1 | 1;
      ++next_;
    } else if (!serial_before(number, next_)) {
      counts.missing += ahead;
      seen_ = ahead + 1 < kRemembered ? seen_ << (ahead + 1) | 1 : 1;
      next_ = number + 1;
    } else {
      take_late(next_ - 1 - number, counts);
    }
  }
  // `sent` frames have been sent so far: whatever has not come by now is missing.
  void settle(uint32_t sent, OrderCounts& counts) {
    const uint32_t behind = sent - next_;
    if (behind == 0) return;
    counts.missing += behind;
    seen_ = behind < kRemembered ? seen_ << behind : 0;
    next_ = sent;
  }

 private:
  static constexpr uint32_t kRemembered = 32;

  // What is too long ago to be remembered is held to have been missing. What came after it was given up, and before any
  // later one, has kept its order.
  void take_late(uint32_t ago, OrderCounts& counts) {
    const uint32_t bit = ago < kRemembered ? 1u << ago : 0;
    if ((seen_ & bit) != 0) {
      ++counts.duplicates;
      return;
    }
    counts.late += (seen_ & (bit - 1)) != 0;
    seen_ |= bit;
    if (counts.missing != 0) --counts.missing;
  }

  uint32_t next_ = 0;  // one past the highest number seen
  uint32_t seen_ = 0;  // bit n: number next_ - 1 - n has been seen
};

}  // namespace heddle::traffic
