// SPDX-License-Identifier: Apache-2.0
// When a stream may send: closed loop while there is room in its window, open loop when the time has come. Time is in
// ticks of whatever clock the caller has.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::traffic {

class Pacer {
 public:
  // rate: frames per tick; 0 = closed loop.
  Pacer(uint32_t burst, uint32_t window, double rate)
      : burst_(rate > 0 ? burst : std::min(burst, window)), window_(window), rate_(rate) {}

  void start(uint64_t now) {
    start_ = now;
    made_ = 0;
  }
  // A whole burst or nothing.
  uint32_t allowance(uint64_t now, uint64_t in_flight) {
    if (rate_ == 0) return in_flight + burst_ <= window_ ? burst_ : 0;
    const double due = static_cast<double>(now - start_) * rate_ - static_cast<double>(made_);
    if (due > kBehindBursts * static_cast<double>(burst_)) {
      const auto skipped = static_cast<uint64_t>(due) - burst_;
      made_ += skipped;
      skipped_ += skipped;
    }
    return due >= static_cast<double>(burst_) ? burst_ : 0;
  }
  void made(uint32_t frames) { made_ += frames; }
  bool closed() const { return rate_ == 0; }
  // Open loop: frames whose time came when the device had been full, or this thread been stopped, for too long.
  uint64_t skipped() const { return skipped_; }
  void clear() { skipped_ = 0; }

 private:
  static constexpr uint32_t kBehindBursts = 8;  // made up for at once; what is later than that is left out

  uint32_t burst_, window_;
  double rate_;
  uint64_t start_ = 0, made_ = 0, skipped_ = 0;
};

}  // namespace heddle::traffic
