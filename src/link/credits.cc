// SPDX-License-Identifier: Apache-2.0
#include "link/credits.h"

#include <algorithm>

namespace heddle {

void LinkCredits::begin_session(uint32_t peer_buffer_bytes, uint32_t peer_buffers) {
  peer_buffer_bytes_ = std::max<uint32_t>(1, peer_buffer_bytes);
  peer_buffers_ = peer_buffers;
  sent_total_ = sure_sent_ = limit_ = received_total_ = sure_received_ = granted_ = 0;
  answer_due_ = true;  // the other end may send nothing before it hears a limit
  ask_at_ns_ = 0;
  ask_backoff_ = 0;
}

bool LinkCredits::received(uint32_t cost, bool sure) {
  received_total_ += cost;
  if (sure) sure_received_ += cost;
  held_ += cost;
  return !serial_before(granted_, received_total_);
}

uint32_t LinkCredits::limit_now() const {
  // Frames of an earlier session may still hold buffers: the limit starts lower and never falls.
  const uint32_t limit = received_total_ + buffers_ - std::min(held_, buffers_);
  return serial_before(limit, granted_) ? granted_ : limit;
}

bool LinkCredits::apply(uint32_t peer_sent_total, uint32_t peer_limit, bool asks) {
  const uint32_t counted = received_total_ - sure_received_;  // in sequence channel 0, as the total
  const uint32_t lost = serial_before(counted, peer_sent_total) ? peer_sent_total - counted : 0;  // K7
  if (lost > granted_ - received_total_) return false;
  received_total_ += lost;
  if (serial_before(sent_total_ + peer_buffers_, peer_limit)) return false;
  if (serial_before(limit_, peer_limit)) {
    limit_ = peer_limit;
    ask_backoff_ = 0;
  }
  if (asks) answer_due_ = true;
  return true;
}

bool LinkCredits::due(Nanos now) const {
  if (answer_due_ || ask_due(now)) return true;
  return limit_now() - granted_ >= std::max<uint32_t>(1, buffers_ / 4);
}

Nanos LinkCredits::next_due() const {
  if (due(0)) return 0;
  return all_home() ? kNever : ask_at_ns_;
}

LinkCredits::Record LinkCredits::take(Nanos now) {
  constexpr uint8_t kBackoffMax = 3;
  const bool asks = ask_due(now);
  if (asks || !all_home()) {
    ask_at_ns_ = now + (interval_ns_ << ask_backoff_);
    if (asks && ask_backoff_ < kBackoffMax) ++ask_backoff_;
  }
  answer_due_ = false;
  granted_ = limit_now();
  return {.sent_total = sent_total_ - sure_sent_, .limit = granted_, .asks = asks};
}

}  // namespace heddle
