// SPDX-License-Identifier: Apache-2.0
// How fast a flow may be sent so that it uses the credit that the switch gives (G3): as fast as credit grows, and
// faster while there is some left. A value; time is an argument.
//
// What has gone beyond credit is not held against the flow: the switch takes it for what was under way, and gives no
// more until it has drained. HTB lets a frame go at once and then waits for as long as the class's rate needs for it,
// also when it gets another rate meanwhile; and the stack's frames have up to 64 KB. So while credit does not grow the
// rate falls only with the time since it did: so much has not drained in all that time. When it grows again, that and
// what has gone beyond is what the switch has let go meanwhile, unless it dropped some, and says at once how fast that
// is.
//
// With departure times what waits keeps the time that it has got: what that will use of the credit to come counts as
// used. And a rate that has fallen too far lasts there until the switch has nothing of the flow left and lets it go,
// all at once; so the last growth is believed for longer.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "hostd/paced_classes.h"
#include "hostd/shared_maps.h"

namespace heddle::hostd {

class Pacing {
 public:
  static constexpr uint64_t kRestBytesPerSecond = 4'000'000;  // of a class before anything is known of its flow

  // `number`: of the pause; with another one all begins anew. `credit`: in all since then. Bytes a second.
  uint64_t rate(uint32_t number, uint64_t credit, const ClassState& state, uint64_t now_ns) {
    const bool goes_on = number == number_ && credit >= credit_before_ + granted_ && state.sent_bytes >= began_at_;
    if (!begun_ || !goes_on) begin(number, credit, state, now_ns);
    note_credit(credit - credit_before_, now_ns);
    const double growth = growth_at(now_ns);
    if (state.sent_bytes - began_at_ > granted_) {
      beyond_ += state.sent_bytes - began_at_ - granted_;
      began_at_ = state.sent_bytes - granted_;
    }
    const double lag = 1e-9 * static_cast<double>(state.delay_ns);
    const auto unused = static_cast<double>(granted_ - (state.sent_bytes - began_at_));
    const double promised = state.keeps_times ? state.waiting_bytes : 0;
    double rate = 0;
    if (growth > 0) {
      if (grew_ns_ == now_ns) learn(growth);
      // Never less than half: what waits would get times that are far off.
      rate = std::max(growth * kOfGrowth + (unused + growth * lag - promised) / kUseSeconds, growth / 2);
    } else {
      const uint64_t silent_ns = now_ns - grew_ns_ + kTickNs;
      rate = std::max((unused - promised) / kUseSeconds, per_second(kWithoutCredit, silent_ns));
      if (state.keeps_times)
        rate = std::max(rate, std::min(last_growth_ * kOfLastGrowth, per_second(kBelieved, silent_ns)));
    }
    return static_cast<uint64_t>(std::clamp(rate, kLeast, kMost));
  }
  // Nothing holds the flow for now: what goes meanwhile says nothing of the switch.
  void let_go() { begun_ = false; }

 private:
  struct Sample {
    uint64_t at_ns = 0;
    double granted = 0;
  };
  static constexpr unsigned kSamples = 25;  // at 10 ms the last quarter of a second
  static constexpr uint64_t kTickNs = HOSTD_TICK_NS;
  static constexpr uint64_t kSilentNs =
      100'000'000;  // longer than credit of a flow that goes on keeps away, with the usual timer
  static constexpr double kOfGrowth = 0.97;         // a little below, so that some credit is left and no queue grows
  static constexpr double kUseSeconds = 0.02;       // credit that is left is used up in this time
  static constexpr double kWithoutCredit = 32'768;  // bytes, in the time since there was credit last
  static constexpr double kLearnedMore = 0.01, kLearnedLess = 0.1;  // of what is new, each tick
  static constexpr double kOfLastGrowth = 0.8;                      // so that what is too much at the switch drains
  static constexpr double kBelieved = 400'000;  // bytes, as kWithoutCredit, at the last growth or less
  static constexpr double kLeast = 65'536;      // bytes a second: a frame of the stack stops its class for a second
  static constexpr double kMost = 12.5e9;

  static double per_second(double bytes, uint64_t ns) { return ns == 0 ? 0 : bytes * 1e9 / static_cast<double>(ns); }
  void begin(uint32_t number, uint64_t credit, const ClassState& state, uint64_t now_ns) {
    begun_ = true;
    number_ = number;
    began_at_ = state.sent_bytes;
    credit_before_ = credit;
    granted_ = beyond_ = 0;
    samples_.fill({now_ns, 0});
    next_ = 0;
    grew_ns_ = now_ns;
  }
  void note_credit(uint64_t granted, uint64_t now_ns) {
    if (granted == granted_) return;
    const uint64_t silent_ns = now_ns - grew_ns_;
    if (silent_ns > kSilentNs) {  // as if it had grown so all the time
      const double growth = per_second(static_cast<double>(beyond_ + granted - granted_), silent_ns);
      for (unsigned ticks = kSamples; ticks > 0; --ticks) {
        const uint64_t ago_ns = ticks * kTickNs;
        samples_[next_] = {now_ns - ago_ns, static_cast<double>(granted) - growth * 1e-9 * static_cast<double>(ago_ns)};
        next_ = (next_ + 1) % kSamples;
      }
    }
    granted_ = granted;
    grew_ns_ = now_ns;
    beyond_ = 0;
  }
  // A queue at the switch may vanish at once, and credit come for all of it.
  void learn(double growth) {
    const double more = growth - last_growth_;
    last_growth_ = last_growth_ == 0 ? growth : last_growth_ + more * (more > 0 ? kLearnedMore : kLearnedLess);
  }
  double growth_at(uint64_t now_ns) {
    Sample& oldest = samples_[next_];
    const double growth = per_second(static_cast<double>(granted_) - oldest.granted, now_ns - oldest.at_ns);
    oldest = {now_ns, static_cast<double>(granted_)};
    next_ = (next_ + 1) % kSamples;
    return growth;
  }

  std::array<Sample, kSamples> samples_{};
  unsigned next_ = 0;
  uint64_t began_at_ = 0,
           credit_before_ = 0;          // then: bytes of the class, if all were used of what was granted; and credit
  uint64_t granted_ = 0, grew_ns_ = 0;  // since then; and since when it is that
  uint64_t beyond_ = 0;                 // bytes that have gone beyond credit meanwhile
  double last_growth_ = 0;              // bytes a second, about; of pauses of the flow before, too
  uint32_t number_ = 0;
  bool begun_ = false;
};

}  // namespace heddle::hostd
