// SPDX-License-Identifier: Apache-2.0
// PAUSE and PFC of one edge port, both ways: what its host asks to wait for, obeyed under a watchdog (K14), and what
// the host was told. Priorities are bits of a byte; PAUSE concerns all of them.
#pragma once

#include "wire/pause.h"

namespace heddle {

class HostPause {
 public:
  HostPause() = default;
  // `rate_bps`: of the port, which the times in frames are counted in; 0 = not known, then the host is told again as
  // often as the fastest one needs. `watchdog_ns`: the host may hold a priority so long without a break; then nothing
  // it says is listened to for as long.
  HostPause(uint64_t rate_bps, Nanos watchdog_ns)
      : rate_bps_(rate_bps != 0 ? rate_bps : kRateUsual),
        told_rate_bps_(rate_bps != 0 ? rate_bps : kRateFastest),
        watchdog_ns_(watchdog_ns) {}

  // --- what the host says ---
  void hear(const PauseFrame& frame, Nanos now);
  // The priorities that wait now; counts those that the watchdog lets go.
  uint8_t held(Nanos now);
  // When held() may change without a frame; kNever if nothing is held.
  Nanos next_change(Nanos now) const;
  uint32_t ignored() const { return ignored_; }  // times that the watchdog let go

  // --- what the host is told ---
  // `wanted`: the priorities that are to wait. Is it time for a frame?
  // The first one says what holds, for whatever this switch said in an earlier life.
  bool due(uint8_t wanted, Nanos now) const {
    return !told_any_ || wanted != told_ || (told_ != 0 && now >= again_ns_);
  }
  PauseFrame tell(uint8_t wanted, bool by_priority, Nanos now);
  uint8_t told() const { return told_; }
  Nanos next_due() const { return told_ != 0 ? again_ns_ : kNever; }

 private:
  struct Priority {
    Nanos since_ns = 0, until_ns = 0;  // held between
  };
  Nanos watchdog_at(const Priority& priority) const;

  static constexpr uint64_t kRateUsual = 10'000'000'000, kRateFastest = 400'000'000'000;
  uint64_t rate_bps_ = kRateUsual;       // what the host's times are counted in
  uint64_t told_rate_bps_ = kRateUsual;  // and those that it is told
  Nanos watchdog_ns_ = 0;
  std::array<Priority, kPriorities> priorities_{};
  Nanos deaf_until_ns_ = 0;
  uint32_t ignored_ = 0;
  bool told_any_ = false;
  uint8_t told_ = 0;
  Nanos again_ns_ = 0;
};

}  // namespace heddle
