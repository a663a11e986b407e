// SPDX-License-Identifier: Apache-2.0
// Endpoint congestion of a flow as its switches keep it (C2, C3): a level, and what kind of ACK told it. Level 0 is
// none; level 1 grants a flow the whole rate of its destination port and no more, and each further one 2^(-3/4) of the
// one before, down to 1/6889: 64 flows into a hundredth of a port. On the wire levels 1 to 7 are severities, and 8 to
// 18 are severities 1 to 11 with the severe flag.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "heddle/frames.h"
#include "wire/types.h"

namespace heddle {

constexpr uint8_t kCongestionLevelMax = 18;
constexpr uint8_t kCongestionLevelMask = 0x1f;

// Kept beside the level.
enum CongestionFlag : uint8_t {
  kCongestionNew = 0x20,         // told when a packet came (C2)
  kCongestionPersistent = 0x40,  // told when a packet left
};

// Of the destination port's rate, by level.
constexpr std::array<double, kCongestionLevelMax + 1> kCongestionShares = {
    1.0,          1.0,           0.59460356,    0.35355339,    0.2102241,    0.125,        0.074325445,
    0.044194174,  0.026278013,   0.015625,      0.0092906806,  0.0055242717, 0.0032847516, 0.001953125,
    0.0011613351, 0.00069053397, 0.00041059395, 0.00024414062, 0.00014516688};

// To and from ACK records (W2).
constexpr uint8_t congestion_severity(uint8_t congestion) {
  const uint8_t level = congestion & kCongestionLevelMask;
  return static_cast<uint8_t>(level > 7 ? level - 7 : level);
}
constexpr uint8_t congestion_flags(uint8_t congestion) {
  return static_cast<uint8_t>((congestion & kCongestionNew ? HEDDLE_ACK_CONGESTION_NEW : 0) |
                              (congestion & kCongestionPersistent ? HEDDLE_ACK_CONGESTION_PERSISTENT : 0) |
                              ((congestion & kCongestionLevelMask) > 7 ? HEDDLE_ACK_CONGESTION_SEVERE : 0));
}
constexpr uint8_t congestion_of(uint8_t severity, uint8_t flags) {
  if (severity == 0) return 0;
  const int level = severity + (flags & HEDDLE_ACK_CONGESTION_SEVERE ? 7 : 0);
  return static_cast<uint8_t>(std::min<int>(level, kCongestionLevelMax) |
                              (flags & HEDDLE_ACK_CONGESTION_NEW ? kCongestionNew : 0) |
                              (flags & HEDDLE_ACK_CONGESTION_PERSISTENT ? kCongestionPersistent : 0));
}

constexpr uint32_t kTargetFrames = 8;  // full-size ones that a congested port keeps queued, so that it never runs empty

constexpr Nanos kRoundTripUnknownNs = 32 * kMicrosecond;  // taken for one until one has been measured

// A round trip as data frames carry it: the least power of two of microseconds that is not below it, from 2 us to 32
// ms, which stands for all longer ones, too. 0 = not known yet.
constexpr uint8_t round_trip_code(Nanos round_trip_ns) {
  uint8_t code = 1;
  while (code < 15 && (kMicrosecond << code) < round_trip_ns) ++code;
  return code;
}
constexpr Nanos round_trip_of_code(uint8_t code) { return code == 0 ? 0 : kMicrosecond << code; }

}  // namespace heddle
