// SPDX-License-Identifier: Apache-2.0
// How fast a flow may be sent so that it uses the credit that the switch gives (G3): as fast as credit grows, and
// faster while there is some left. A value; time is an argument.
//
// What has gone beyond credit is not held against the flow: the switch takes it for what was under way, and gives no
// more until it has drained. HTB lets a frame go at once and then waits for as long as the class's rate needs for it,
// also when it gets another rate meanwhile; and the stack's frames have up to 64 KB. So while credit does not grow the
// rate falls only with the time since it did: so much has not drained in all that time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hostd/shared_maps.h"

namespace heddle::hostd {

class Pacing {
 public:
  static constexpr uint64_t kRestBytesPerSecond = 4'000'000;  // of a class before anything is known of its flow

  // `number`: of the pause; with another one all begins anew. `credit`: in all since then. `class_bytes`: what has left
  // the class, ever. `delay_ns`: until a rate shows there. Bytes a second.
  uint64_t rate(uint32_t number, uint64_t credit, uint64_t class_bytes, uint64_t now_ns, uint64_t delay_ns = 0) {
    if (!begun_ || number != number_ || credit < last_credit_) begin(number, credit, class_bytes, now_ns);
    Sample& oldest = samples_[next_];
    const double growth = per_second(static_cast<double>(credit - oldest.credit), now_ns - oldest.at_ns);
    if (credit != last_credit_) credit_ns_ = now_ns;
    last_credit_ = credit;
    oldest = {now_ns, credit};
    next_ = (next_ + 1) % kSamples;
    const uint64_t granted = credit - credit_before_;
    if (class_bytes - began_at_ > granted) began_at_ = class_bytes - granted;
    const auto unused = static_cast<double>(granted - (class_bytes - began_at_));
    // Sooner than its rate shows, and it would be used up twice.
    const double use_seconds = std::max(kUseSeconds, 2e-9 * static_cast<double>(delay_ns));
    const double falling = growth > 0 ? 0 : per_second(kWithoutCredit, now_ns - credit_ns_ + kTickNs);
    return static_cast<uint64_t>(
        std::clamp(std::max(growth * kOfGrowth + unused / use_seconds, falling), kLeast, kMost));
  }

 private:
  struct Sample {
    uint64_t at_ns = 0, credit = 0;
  };
  static constexpr unsigned kSamples = 25;  // at 10 ms the last quarter of a second
  static constexpr uint64_t kTickNs = HOSTD_TICK_NS;
  static constexpr double kOfGrowth = 0.97;         // a little below, so that some credit is left and no queue grows
  static constexpr double kUseSeconds = 0.02;       // credit that is left is used up in this time
  static constexpr double kWithoutCredit = 32'768;  // bytes, in the time since there was credit last
  static constexpr double kLeast = 65'536;          // bytes a second: a frame of the stack stops its class for a second
  static constexpr double kMost = 12.5e9;

  static double per_second(double bytes, uint64_t ns) { return ns == 0 ? 0 : bytes * 1e9 / static_cast<double>(ns); }
  void begin(uint32_t number, uint64_t credit, uint64_t class_bytes, uint64_t now_ns) {
    begun_ = true;
    number_ = number;
    began_at_ = class_bytes;
    credit_before_ = last_credit_ = credit;
    samples_.fill({now_ns, credit});
    next_ = 0;
    credit_ns_ = now_ns;
  }

  std::array<Sample, kSamples> samples_{};
  unsigned next_ = 0;
  uint64_t began_at_ = 0, credit_before_ = 0;  // then: bytes of the class, and credit, which is nothing to be used
  uint64_t last_credit_ = 0, credit_ns_ = 0;   // and since when it is that
  uint32_t number_ = 0;
  bool begun_ = false;
};

}  // namespace heddle::hostd
