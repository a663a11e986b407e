// SPDX-License-Identifier: Apache-2.0
#include "flow/flow_limit.h"

namespace heddle {

namespace {
constexpr Nanos kLateNs = 8 * kMicrosecond;       // a release may be late by a tick of its wheel and a turn or two
constexpr Nanos kDelayMaxNs = 20 * kMillisecond;  // C5: whoever is held sends something now and then
}  // namespace

void FlowLimit::begin(Nanos now) {
  *this = {};
  since_ns_ = now;
}

void FlowLimit::set_share(double ns_per_byte, Nanos round_trip_ns, Nanos queue_ns, Nanos now) {
  ns_per_byte_ = ns_per_byte;
  round_trip_ns_ = round_trip_ns;
  window_ns_ = 2 * round_trip_ns + queue_ns;  // twice, for queues on the way
  renewed_ns_ = now;
}

void FlowLimit::renew(Nanos now) {
  interval_ns_ = std::max(now - renewed_ns_, interval_ns_ - interval_ns_ / 8);
  renewed_ns_ = now;
}

void FlowLimit::spend(uint32_t bytes, Nanos now) {
  delay_ns_ = std::min(static_cast<Nanos>(bytes * ns_per_byte_), kDelayMaxNs);
  release_ns_ = std::max(release_ns_, now - std::min(now, std::max(delay_ns_, kLateNs))) + delay_ns_;
}

}  // namespace heddle
