// SPDX-License-Identifier: Apache-2.0
// Link retry (K6) of one link: its retry channel (K2), both directions. Frames are kept from when they are stamped
// until the other end says that it has them; those that it misses are sent again, from the first one on, with the
// numbers they had. tests/model/link_retry.pml is the model of it. Owns the frames it keeps.
#pragma once

#include <algorithm>
#include <cstdint>

#include "wire/fabric_frame.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

class LinkRetry {
 public:
  LinkRetry() = default;
  // `frames_max`: so many are kept at most, here and at the other end; 0 = no class is sent again. `ask_ns`: without
  // news for so long this end asks.
  LinkRetry(uint32_t frames_max, Nanos ask_ns) : frames_max_(frames_max), ask_ns_(ask_ns) {}

  // The numbers before the first ones of both directions. Nothing is kept.
  void begin_session(uint32_t sent, uint32_t taken);
  // What is kept, for the caller to release: its session is over.
  PacketQueue end_session();

  // --- sending ---
  // Another frame may be stamped: there is room to keep it, and none is to be sent again before it.
  bool may_stamp() const { return again_ == nullptr && !full(); }
  bool full() const { return kept_count_ >= frames_max_; }
  uint32_t next_sequence() { return ++sent_; }
  // The frame that got that number, or a copy of it.
  void keep(Packet* packet, Nanos now);
  // The next frame to send again, in order; nullptr = none. It stays here.
  Packet* again() const { return again_; }
  void sent_again() { again_ = again_->next; }
  uint32_t sent() const { return sent_; }
  uint32_t settled() const { return settled_; }  // the other end has all up to this one
  uint32_t kept() const { return kept_count_; }
  uint32_t kept_max() const { return frames_max_; }

  // --- receiving ---
  enum class Turn : uint8_t { next, old, ahead };
  // What a frame of that number is. The next one counts as taken, and whoever is ahead of it must be dropped.
  Turn judge(uint32_t sequence, Nanos now);
  bool is_next(uint32_t sequence) const { return sequence == taken_ + 1; }
  uint32_t taken() const { return taken_; }

  // --- the retry record ---
  enum class Outcome : uint8_t { fine, contradiction, given_up };
  // A record has come in; frames that need not be kept any more are added to `released`.
  Outcome apply(const RetryRecord& record, PacketQueue& released, Nanos now);
  bool report_due(Nanos now) const;
  bool ask_due(Nanos now) const { return kept_count_ != 0 && again_ == nullptr && now >= ask_at_ns_; }
  Nanos next_due() const;
  RetryRecord report();
  RetryRecord ask(Nanos now);

 private:
  static constexpr uint32_t kReportFrames = 32;           // worth a report
  static constexpr Nanos kReportNs = 100 * kMicrosecond;  // what has come is reported no later
  static constexpr uint32_t kGoingsBackMax = 16;
  static constexpr uint8_t kAskBackoffMax = 6;

  // A quarter of a small window: whoever waits for room in it hears in time.
  uint32_t report_frames() const { return std::min(kReportFrames, std::max(1u, frames_max_ / 4)); }
  bool full_report() const { return gap_due_ || answer_due_ || untold_ >= report_frames(); }
  Outcome go_back();
  void settle(uint32_t sequence, PacketQueue& released);

  uint32_t frames_max_ = 0;
  Nanos ask_ns_ = 0;
  // sending
  PacketQueue kept_;
  uint32_t kept_count_ = 0;
  Packet* again_ = nullptr;  // in kept_
  uint32_t sent_ = 0, settled_ = 0;
  uint32_t went_back_to_ = 0;  // settled_ when it last went back
  uint32_t goings_back_ = 0;   // to there
  uint16_t round_ = 0;         // of going back, so that late answers start none
  Nanos ask_at_ns_ = 0;
  uint8_t ask_backoff_ = 0;
  // receiving
  uint32_t taken_ = 0;
  uint32_t untold_ = 0;  // frames taken and not reported
  Nanos untold_since_ns_ = 0;
  bool gap_told_ = false;  // since the last frame taken
  bool gap_due_ = false, answer_due_ = false;
  uint32_t asked_sequence_ = 0;
  uint16_t asked_round_ = 0;
};

}  // namespace heddle
