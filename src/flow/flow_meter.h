// SPDX-License-Identifier: Apache-2.0
// Credits of one flow, both ways (C6): what this switch grants the one before, whose packets queue here, and what the
// next one grants this. Limits are positions (K3). Beside the flow table, by flow ID: touched while kFlowFull
// (granting) or kFlowMetered (granted) is set; the two know nothing of each other. Written by the worker that owns the
// input port.
#pragma once

#include <algorithm>

#include "wire/types.h"

namespace heddle {

class FlowMeter {
 public:
  // --- granting: the flow queues here past its target, `data_flow` is the position of what has left ---
  void begin(uint32_t target_bytes, uint32_t data_flow) {
    window_bytes_ = 2 * target_bytes;
    told_limit_ = data_flow;
  }
  // A packet leaves the queue: its bytes are granted anew, some less while the queue is above its target and some more
  // while it is below; and none above twice the target. `queued` is left, `received` the position of what has come.
  struct Departure {
    uint32_t bytes;
    uint32_t queued;
    uint32_t received;
    uint32_t data_flow;  // with the packet
  };
  enum class Verdict { nothing, tell, over };
  // Is the limit to be told upstream, or is granting over? That is when the queue runs empty and upstream has not used
  // what it had: whoever waits for credit would come in a burst. A window never falls below one frame.
  Verdict leave(const Departure& departure, uint32_t target_bytes, uint32_t frame_bytes);
  // The limit, which goes upstream now.
  uint32_t tell(uint32_t data_flow) { return told_limit_ = data_flow + window_bytes_; }

  // --- granted by the next switch ---
  void set_limit(uint32_t position) { send_limit_ = position; }
  bool allows(uint32_t position) const { return !serial_before(send_limit_, position); }

 private:
  static constexpr uint32_t kSteer = 8;  // credit is returned for so much less or more than a packet: a part of so many

  uint32_t window_bytes_ = 0;  // that upstream may have sent beyond what has left
  uint32_t told_limit_ = 0;    // position told to upstream last
  uint32_t send_limit_ = 0;    // data_flow may grow up to there
};

inline FlowMeter::Verdict FlowMeter::leave(const Departure& departure, uint32_t target_bytes, uint32_t frame_bytes) {
  const uint32_t unused = told_limit_ - departure.received;
  if (departure.queued == 0 && !serial_before(told_limit_, departure.received) && 2 * unused > window_bytes_)
    return Verdict::over;
  const uint32_t step = departure.queued > 2 * target_bytes ? departure.bytes : departure.bytes / kSteer;
  if (departure.queued > target_bytes)
    window_bytes_ = std::max(frame_bytes, window_bytes_ - std::min(window_bytes_, step));
  else
    window_bytes_ = std::min(2 * target_bytes, window_bytes_ + step);
  const bool worth =
      serial_distance(told_limit_, departure.data_flow + window_bytes_) >= static_cast<int32_t>(window_bytes_ / 4);
  return worth ? Verdict::tell : Verdict::nothing;
}

}  // namespace heddle
