// SPDX-License-Identifier: Apache-2.0
#include "link/retry.h"

#include <algorithm>
#include <utility>

namespace heddle {

void LinkRetry::begin_session(uint32_t sent, uint32_t taken) {
  sent_ = settled_ = went_back_to_ = sent;
  goings_back_ = 0;
  round_ = 0;
  ask_backoff_ = 0;
  taken_ = taken;
  untold_ = 0;
  gap_told_ = gap_due_ = answer_due_ = false;
}

PacketQueue LinkRetry::end_session() {
  kept_count_ = 0;
  again_ = nullptr;
  return std::exchange(kept_, {});
}

void LinkRetry::keep(Packet* packet, Nanos now) {
  if (kept_count_++ == 0) {
    ask_at_ns_ = now + ask_ns_;
    ask_backoff_ = 0;
  }
  kept_.push(packet);
}

LinkRetry::Turn LinkRetry::judge(uint32_t sequence, Nanos now) {
  if (is_next(sequence)) {
    taken_ = sequence;
    gap_told_ = false;
    if (untold_++ == 0) untold_since_ns_ = now;
    return Turn::next;
  }
  if (!serial_before(taken_, sequence)) return Turn::old;
  gap_due_ = gap_due_ || !gap_told_;  // once: others ahead of it will follow before the missing one comes
  gap_told_ = true;
  return Turn::ahead;
}

LinkRetry::Outcome LinkRetry::apply(const RetryRecord& record, PacketQueue& released, Nanos now) {
  if (record.flags & HEDDLE_RETRY_ASK) {
    answer_due_ = true;
    asked_sequence_ = record.sequence;
    asked_round_ = record.round;
    return Outcome::fine;
  }
  // Records come in order (K2), so what the other end has only grows: it never had what it took back.
  if (serial_before(sent_, record.sequence) || serial_before(record.sequence, settled_)) return Outcome::contradiction;
  ask_backoff_ = 0;
  ask_at_ns_ = now + ask_ns_;
  if (serial_before(settled_, record.sequence)) settle(record.sequence, released);
  if (record.sequence != settled_ || settled_ == sent_) return Outcome::fine;
  const bool answer = record.flags & HEDDLE_RETRY_ANSWER;
  if (!(record.flags & HEDDLE_RETRY_MISSING)) return Outcome::fine;
  const bool known = answer ? record.round != round_ : goings_back_ != 0 && went_back_to_ == settled_;
  return known ? Outcome::fine : go_back();
}

void LinkRetry::settle(uint32_t sequence, PacketQueue& released) {
  for (; settled_ != sequence; ++settled_) {
    if (kept_.head == again_) again_ = again_->next;
    released.push(kept_.pop());
    --kept_count_;
  }
  goings_back_ = 0;
}

LinkRetry::Outcome LinkRetry::go_back() {
  goings_back_ = went_back_to_ == settled_ ? goings_back_ + 1 : 1;
  went_back_to_ = settled_;
  if (goings_back_ > kGoingsBackMax) return Outcome::given_up;
  ++round_;
  again_ = kept_.head;
  return Outcome::fine;
}

bool LinkRetry::report_due(Nanos now) const {
  return full_report() || (untold_ != 0 && now >= untold_since_ns_ + kReportNs);
}

Nanos LinkRetry::next_due() const {
  if (full_report()) return 0;
  Nanos due = untold_ == 0 ? kNever : untold_since_ns_ + kReportNs;
  if (kept_count_ != 0 && again_ == nullptr) due = std::min(due, ask_at_ns_);
  return due;
}

RetryRecord LinkRetry::report() {
  RetryRecord record{.flags = 0, .round = 0, .sequence = taken_};
  if (answer_due_) {
    record.flags = HEDDLE_RETRY_ANSWER;
    record.round = asked_round_;
    if (serial_before(taken_, asked_sequence_)) record.flags |= HEDDLE_RETRY_MISSING;
    answer_due_ = false;  // a gap is told by the next one: the answer may be of a round that is over
  } else if (gap_due_) {
    record.flags = HEDDLE_RETRY_MISSING;
    gap_due_ = false;
  }
  untold_ = 0;
  return record;
}

RetryRecord LinkRetry::ask(Nanos now) {
  ask_at_ns_ = now + (ask_ns_ << ask_backoff_);
  if (ask_backoff_ < kAskBackoffMax) ++ask_backoff_;
  return {.flags = HEDDLE_RETRY_ASK, .round = round_, .sequence = sent_};
}

}  // namespace heddle
