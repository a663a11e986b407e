// SPDX-License-Identifier: Apache-2.0
// Coarse timers for table entries (decision 4): 64 slots of one tick. An item is a number; its link lives in its entry,
// reached through the caller's `next(item)`. An item is in the wheel at most once and is never taken out early: when it
// comes due its owner looks whether there is still something to do. A time beyond the wheel comes due early and is put
// back by its owner.
#pragma once

#include <cstdint>

#include "wire/types.h"

namespace heddle {

constexpr uint32_t kNoItem = ~0u;

class TimerWheel {
 public:
  explicit TimerWheel(Nanos tick_ns) : tick_ns_(tick_ns) {
    for (uint32_t& head : heads_) head = kNoItem;
  }

  // Due at the first advance() at or after `due` rounded up to a tick.
  template <typename Next>
  void add(uint32_t item, Nanos due, Next next) {
    uint64_t tick = due / tick_ns_ + 1;
    if (tick <= done_tick_) tick = done_tick_ + 1;
    if (tick > done_tick_ + kSlots - 1) tick = done_tick_ + kSlots - 1;
    const unsigned slot = tick % kSlots;
    next(item) = heads_[slot];
    heads_[slot] = item;
    occupied_ |= uint64_t{1} << slot;
  }

  // Calls due(item) for each item whose tick has passed; an item may be added again from there.
  template <typename Next, typename Due>
  void advance(Nanos now, Next next, Due due) {
    const uint64_t tick = now / tick_ns_;
    if (tick <= done_tick_) return;
    if (occupied_ == 0) {
      done_tick_ = tick;
      return;
    }
    uint64_t steps = tick - done_tick_;
    if (steps > kSlots) {
      done_tick_ = tick - kSlots;
      steps = kSlots;
    }
    for (; steps > 0; --steps) {
      const unsigned slot = ++done_tick_ % kSlots;
      uint32_t item = heads_[slot];
      heads_[slot] = kNoItem;
      occupied_ &= ~(uint64_t{1} << slot);
      while (item != kNoItem) {
        const uint32_t following = next(item);
        due(item);
        item = following;
      }
    }
  }

  Nanos next_due() const {
    if (occupied_ == 0) return kNever;
    for (uint64_t ahead = 1; ahead <= kSlots; ++ahead)
      if (occupied_ >> ((done_tick_ + ahead) % kSlots) & 1) return (done_tick_ + ahead) * tick_ns_;
    return kNever;
  }

 private:
  static constexpr unsigned kSlots = 64;
  Nanos tick_ns_;
  uint64_t done_tick_ = 0;
  uint64_t occupied_ = 0;
  uint32_t heads_[kSlots];
};

}  // namespace heddle
