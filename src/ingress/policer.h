// SPDX-License-Identifier: Apache-2.0
// What an edge port lets its hosts send, lossless or not: a rate and a burst, in bytes on the wire. What is above is
// dropped where it comes in. A single-rate meter of DPDK's (RFC 2697, without an excess burst), whose profile is
// reckoned in nanoseconds and not in the CPU's cycles: time comes from the caller (decision 1).
#pragma once

#include <rte_meter.h>

#include <algorithm>
#include <cmath>

#include "wire/types.h"

namespace heddle {

class Policer {
 public:
  Policer() = default;  // lets everything in
  Policer(uint64_t rate_bps, uint32_t burst_bytes) {
    const double bytes_per_ns = static_cast<double>(rate_bps) / 8e9;
    profile_.cbs = burst_bytes;
    // Periods of a microsecond or more: what rounding takes of the rate is below a thousandth.
    profile_.cir_bytes_per_period = std::max<uint64_t>(1, static_cast<uint64_t>(std::ceil(1000 * bytes_per_ns)));
    profile_.cir_period =
        static_cast<uint64_t>(std::llround(static_cast<double>(profile_.cir_bytes_per_period) / bytes_per_ns));
    meter_.tc = burst_bytes;
  }

  bool polices() const { return profile_.cir_period != 0; }
  // A frame of so many bytes on the wire: does it come in? Takes its bytes if it does.
  bool lets_in(uint32_t bytes, Nanos now) {
    return rte_meter_srtcm_color_blind_check(&meter_, &profile_, now, bytes) == RTE_COLOR_GREEN;
  }

 private:
  rte_meter_srtcm_profile profile_{};
  rte_meter_srtcm meter_{};
};

}  // namespace heddle
