// SPDX-License-Identifier: Apache-2.0
// Which of a fabric port's flows are to take another way (R9). At the end of an epoch in which the port was busy, as in
// the one before, what waits for it, at its queue and at all inputs, and what that has grown by, is compared with a
// random number: so the longer the queue, the more often flows are asked. Of those that wait one is, or of many an
// eighth: half of them would be too many elsewhere. The flows of the frames that leave next are asked: who sends most
// is asked most.
// Owned by the output's worker. Bytes waiting are of flows, bytes sent are those on the link.
#pragma once

#include <algorithm>
#include <utility>

#include "wire/random.h"
#include "wire/types.h"

namespace heddle {

class Redirects {
 public:
  static constexpr Nanos kEpochNs = 64 * kMicrosecond;  // at least, and on a slow link the time of
  static constexpr uint32_t kEpochFrames = 16;          // so many of the largest frames
  static constexpr uint32_t kTargetFrames = 2;          // may wait, of the largest,
  static constexpr Nanos kTargetNs = 1 * kMicrosecond;  // or what the port sends in this time

  Redirects(uint64_t rate_bps, uint32_t frame_bytes)
      : rate_bytes_(static_cast<double>(rate_bps) / 8e9),
        epoch_ns_(std::max<Nanos>(kEpochNs, static_cast<Nanos>(kEpochFrames * frame_bytes / rate_bytes_))),
        target_bytes_(std::max<uint64_t>(kTargetFrames * frame_bytes, rate_bps / 8 * kTargetNs / kSecond)) {}

  // Is it time to look?
  bool due(Nanos now) const { return now >= begun_ns_ + epoch_ns_ + drain_ns_; }
  // With what waits now, of so many flows, and what has been sent since the port began.
  void look(uint64_t waiting_bytes, uint32_t flows, uint64_t sent_bytes, Random& random, Nanos now) {
    const auto could_send = rate_bytes_ * static_cast<double>(now - begun_ns_);
    const bool busy = static_cast<double>(sent_bytes - sent_bytes_) >= kBusy * could_send;
    begun_ns_ = now;
    sent_bytes_ = sent_bytes;
    const uint64_t grown = waiting_bytes - std::min(waiting_bytes, waited_bytes_);
    waited_bytes_ = waiting_bytes;
    to_ask_ = 0;
    drain_ns_ = 0;
    flows_ = std::max(1u, flows);
    // Where the link is not busy, what waits has no credit: it is a port behind that has too much, and asks. What is
    // over in an epoch is no reason to move: a burst, or flows to a congested host that have not heard of it yet (C2).
    const bool before = std::exchange(overloaded_, busy && waiting_bytes > target_bytes_);
    if (!overloaded_ || !before) return;
    const uint64_t excess = waiting_bytes - target_bytes_;
    if (random.below(2 * target_bytes_) >= excess + grown) return;
    to_ask_ = std::max(1u, flows / kPartAsked);
  }
  // Are flows of frames that leave now to be asked? In the epoch that was looked at.
  bool asking(Nanos now) const { return to_ask_ > 0 && now < begun_ns_ + epoch_ns_; }
  // One of them was, with so many bytes under way. Nobody is asked before these can have come to their end, and the
  // flow is gone: else its neighbours leave with it.
  void asked(uint32_t extent_bytes) {
    --to_ask_;
    const double ns = std::min(static_cast<double>(kDrainMaxNs), extent_bytes * flows_ / rate_bytes_);
    drain_ns_ = std::max(drain_ns_, static_cast<Nanos>(ns));
  }

 private:
  static constexpr double kBusy = 0.75;  // of the rate, as small frames leave of it beside their headers

  static constexpr uint32_t kPartAsked = 8;
  static constexpr Nanos kDrainMaxNs = 1 * kSecond;

  const double rate_bytes_;  // in a ns
  const Nanos epoch_ns_;
  const uint64_t target_bytes_;
  uint64_t sent_bytes_ = 0;
  uint64_t waited_bytes_ = 0;
  bool overloaded_ = false;  // in the epoch before
  uint32_t to_ask_ = 0;
  double flows_ = 1;    // that share the link
  Nanos drain_ns_ = 0;  // of who was asked in the epoch
  Nanos begun_ns_ = 0;  // of the epoch
};

}  // namespace heddle
