// SPDX-License-Identifier: Apache-2.0
// What holds a flow whose destination is congested (C3-C5): a share of that port, as the time between packets and as
// bytes under way. Beside the flow table, by flow ID: only touched while kFlowLimited is set.
// Written by the worker that owns the input port. All times come from the caller.
#pragma once

#include <algorithm>

#include "wire/types.h"

namespace heddle {

class FlowLimit {
 public:
  // The first level has been told.
  void begin(Nanos now);
  // So long takes a byte at the flow's share, so long the way there and back. `queue_ns`: what its queue at the host's
  // port may be.
  void set_share(double ns_per_byte, Nanos round_trip_ns, Nanos queue_ns, Nanos now);
  // Something was delivered, so the congested host has said nothing else meanwhile.
  void renew(Nanos now);
  // What was under way has died there: nobody could say anything meanwhile.
  void hold(Nanos now) { renewed_ns_ = now; }
  // So many bytes have been handed on: the next ones when the share has room for them. Being late does not slow it
  // down.
  void spend(uint32_t bytes, Nanos now);

  // K10: a level that nobody renews is over. As long as something is under way (`extent`) its round trip is not: what
  // waits in a long queue at the host has nothing to say meanwhile.
  bool lapsed(uint32_t extent, Nanos now) const {
    return extent == 0 && now > renewed_ns_ + 5 * std::max({round_trip_ns_, delay_ns_, interval_ns_});
  }
  Nanos release_ns() const { return release_ns_; }  // no packet before that (C5)
  // That may be under way (C4): what the share carries in the window's time.
  uint32_t window_bytes() const {
    return static_cast<uint32_t>(std::min(1e9, static_cast<double>(window_ns_) / ns_per_byte_));
  }

  // --- to be shown ---
  Nanos since_ns() const { return since_ns_; }
  double ns_per_byte() const { return ns_per_byte_; }
  Nanos delay_ns() const { return delay_ns_; }

 private:
  Nanos since_ns_ = 0;
  Nanos renewed_ns_ = 0;   // the last ACK (K10)
  Nanos interval_ns_ = 0;  // between ACKs, the longest of late
  Nanos release_ns_ = 0;
  Nanos delay_ns_ = 0;  // what the last packet took of the share
  Nanos round_trip_ns_ = 0;
  double ns_per_byte_ = 0;
  Nanos window_ns_ = 0;
};

static_assert(sizeof(FlowLimit) <= 64);

}  // namespace heddle
