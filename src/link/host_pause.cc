// SPDX-License-Identifier: Apache-2.0
#include "link/host_pause.h"

#include <algorithm>

namespace heddle {

void HostPause::hear(const PauseFrame& frame, Nanos now) {
  for (unsigned p = 0; p < kPriorities; ++p) {
    if (frame.by_priority && !(frame.enabled >> p & 1)) continue;
    const uint16_t quanta = frame.by_priority ? frame.quanta[p] : frame.quanta[0];
    Priority& priority = priorities_[p];
    if (now >= priority.until_ns) priority.since_ns = now;
    priority.until_ns = quanta == 0 ? 0 : now + pause_ns(quanta, rate_bps_);
  }
}

uint8_t HostPause::held(Nanos now) {
  if (now < deaf_until_ns_) return 0;
  uint8_t held = 0;
  for (unsigned p = 0; p < kPriorities; ++p) {
    const Priority& priority = priorities_[p];
    if (now >= priority.until_ns) continue;
    if (now >= watchdog_at(priority)) {  // to the host as a whole, for a class may have several priorities
      deaf_until_ns_ = now + watchdog_ns_;
      ++ignored_;
      return 0;
    }
    held = static_cast<uint8_t>(held | 1u << p);
  }
  return held;
}

Nanos HostPause::watchdog_at(const Priority& priority) const {
  return std::max(priority.since_ns, deaf_until_ns_) + watchdog_ns_;
}

Nanos HostPause::next_change(Nanos now) const {
  Nanos next = kNever;
  for (const Priority& priority : priorities_)
    if (now < priority.until_ns) next = std::min({next, priority.until_ns, watchdog_at(priority)});
  return next != kNever && now < deaf_until_ns_ ? deaf_until_ns_ : next;
}

PauseFrame HostPause::tell(uint8_t wanted, bool by_priority, Nanos now) {
  // Renewed before it is over; whoever loses its switch meanwhile is free again soon.
  constexpr Nanos kPauseNs = 10 * kMillisecond;
  const double most = static_cast<double>(kPauseNs) / static_cast<double>(pause_ns(1000, told_rate_bps_)) * 1000;
  const auto quanta = static_cast<uint16_t>(std::clamp(most, 2.0, 65535.0));
  PauseFrame frame{.by_priority = by_priority,
                   .enabled = told_any_ ? static_cast<uint8_t>(wanted | told_) : uint8_t{0xff},
                   .quanta = {}};
  for (unsigned p = 0; p < kPriorities; ++p)
    if (wanted >> p & 1) frame.quanta[p] = quanta;
  if (!by_priority) frame.quanta[0] = wanted != 0 ? quanta : uint16_t{0};
  told_ = wanted;
  told_any_ = true;
  again_ns_ = now + pause_ns(quanta, told_rate_bps_) / 2;
  return frame;
}

}  // namespace heddle
