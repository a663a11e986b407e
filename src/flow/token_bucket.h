// SPDX-License-Identifier: Apache-2.0
// Token bucket in time: what has been taken is a moment that runs ahead of the clock by at most the burst.
#pragma once

#include "wire/types.h"

namespace heddle {

class TokenBucket {
 public:
  TokenBucket() = default;
  // `cost_ns`: what one unit costs, e.g. 1e9 / units per second; 0 = no limit.
  TokenBucket(double cost_ns, Nanos burst_ns) : cost_ns_(cost_ns), burst_ns_(burst_ns) {}

  // Half as fast, and unused.
  TokenBucket at_half() const { return {2 * cost_ns_, burst_ns_}; }

  bool limits() const { return cost_ns_ != 0; }
  bool allows(Nanos now) const { return cost_ns_ == 0 || taken_until_ns_ <= now + burst_ns_; }
  Nanos ready_at() const { return taken_until_ns_ <= burst_ns_ ? 0 : taken_until_ns_ - burst_ns_; }
  void take(Nanos now, uint32_t units) {
    if (cost_ns_ == 0) return;
    if (taken_until_ns_ < now) taken_until_ns_ = now;
    exact_ns_ += units * cost_ns_;
    const auto whole = static_cast<Nanos>(exact_ns_);
    exact_ns_ -= static_cast<double>(whole);
    taken_until_ns_ += whole;
  }

 private:
  double cost_ns_ = 0;
  double exact_ns_ = 0;  // fraction of a nanosecond not yet taken
  Nanos burst_ns_ = 0;
  Nanos taken_until_ns_ = 0;
};

}  // namespace heddle
