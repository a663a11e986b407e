// SPDX-License-Identifier: Apache-2.0
#include "egress/endpoint_congestion.h"

#include <cmath>

namespace heddle {

namespace {
constexpr double kLevelsPerOctave = 4.0 / 3;
// Of the control loop, tried with 2 to 256 senders in the fabric of tests/unit/endpoint_congestion_test.cc: gains of
// 0.3 to 0.7 all do with epochs of two frames; with one frame a gain of 0.7 lets the port stand idle a fifth of the
// time.
constexpr double kGain = 0.5;       // of a step towards what the last epoch says is right
constexpr double kEpochFrames = 2;  // of a flow at the present share, or at the rate: one hears of a change, one obeys
constexpr double kDrainEpochs = 2;  // a queue above its target is to be gone in so many
constexpr double kFastestDrain = 0.5;    // of the rate is left to arrivals at least while it drains
constexpr double kFill = 1.1;            // a queue below its target is filled that much faster than it drains
constexpr double kIdle = 0.9;            // of the rate: less has come than the port could have sent
constexpr double kPlain = 0.25;          // of the rate: so little that half an epoch is enough to see it
constexpr uint32_t kQuietEpochs = 32;    // at full rate with a short queue, before congestion is over
constexpr uint32_t kSmallFrame = 256;    // bytes: queues of frames smaller than that are judged by packets
constexpr double kSlowestOfRate = 1e-3;  // a host that takes less than that is taken to be as fast
}  // namespace

EndpointCongestion::EndpointCongestion(uint64_t rate_bps, uint32_t frame_bytes, uint64_t seed)
    : random_(seed),
      port_rate_(static_cast<double>(rate_bps) / 8e9),
      all_rate_(port_rate_),
      rate_(port_rate_),
      known_rate_(port_rate_),
      frame_bytes_(frame_bytes),
      round_trip_ns_(kRoundTripUnknownNs),
      epoch_ns_(kRoundTripUnknownNs) {}

void EndpointCongestion::set_rate(uint64_t rate_bps, uint64_t all_bps) {
  rate_ = known_rate_ = static_cast<double>(rate_bps) / 8e9;
  all_rate_ = static_cast<double>(all_bps) / 8e9;
}

// What may always be queued, so that the port never waits for its senders.
double EndpointCongestion::target_bytes() const {
  return rate_ * static_cast<double>(round_trip_ns_) / 16 + double{kTargetFrames} * frame_bytes_;
}

bool EndpointCongestion::over_marks(uint32_t queued_bytes, uint32_t queued_packets) const {
  const double mark = 2 * target_bytes();
  if (queued_bytes > mark || queued_packets > mark / kSmallFrame) return true;
  return queued_bytes > target_bytes() && queued_bytes + growth_bytes_ > 2 * mark;
}

double EndpointCongestion::position_of_depth(uint32_t queued_bytes, uint32_t flows) const {
  const double round_trips = queued_bytes / (port_rate_ * static_cast<double>(round_trip_ns_) + frame_bytes_);
  const double senders = std::min(1 + round_trips, static_cast<double>(std::max(1u, flows)));
  return 1 + kLevelsPerOctave * std::log2(senders * port_rate_ / rate_);
}

// Half an epoch tells when it is plain: since there was last a queue, what has come is far below the rate. The epoch
// then counts from that queue on.
bool EndpointCongestion::most_have_gone(const Look& at) {
  if (at.queued_bytes > frame_bytes_) queue_end_ = at;
  if (at.queued_bytes != 0 || at.now < queue_end_.now + epoch_ns_ / 2) return false;
  const auto elapsed = static_cast<double>(at.now - queue_end_.now);
  if (static_cast<double>(at.left_bytes - queue_end_.left_bytes) > kPlain * known_rate_ * elapsed) return false;
  begin_ = queue_end_;
  return true;
}

void EndpointCongestion::judge(const Look& at) {
  const bool epoch_over = at.now - begin_.now >= epoch_ns_ || (congested() && most_have_gone(at));
  if (congested()) {
    if (at.queued_bytes > 2 * target_bytes())
      position_ =
          std::min<double>(kCongestionLevelMax, std::max(position_, position_of_depth(at.queued_bytes, at.flows)));
    if (epoch_over) steer(at);
  } else if (over_marks(at.queued_bytes, at.queued_packets)) {
    position_ = std::min<double>(kCongestionLevelMax, position_of_depth(at.queued_bytes, at.flows));
    since_ns_ = at.now;
    full_rate_epochs_ = idle_epochs_ = 0;
    begin_epoch(at);
  } else if (epoch_over) {
    begin_epoch(at);
  }
}

void EndpointCongestion::steer(const Look& at) {
  const uint64_t sent = at.left_bytes - begin_.left_bytes;
  const uint64_t gone_or_here = sent + at.queued_bytes;
  const uint64_t arrived = gone_or_here - std::min<uint64_t>(gone_or_here, begin_.queued_bytes);
  if (arrived == 0 && at.queued_bytes == 0) {  // whoever made it has gone
    position_ = 0;
    return begin_epoch(at);
  }
  const auto elapsed = static_cast<double>(at.now - begin_.now);
  const double left = static_cast<double>(sent) / elapsed;
  // What would have left, if there had been enough: what did, or with what the port did not use. Where it ran empty
  // beside others who had something that is not seen, and what was seen before counts.
  const double port_left = static_cast<double>(at.port_left_bytes - begin_.port_left_bytes) / elapsed;
  if (was_idle_)
    known_rate_ = std::min(rate_, left + std::max(0.0, all_rate_ - port_left));
  else if (!ran_empty_)
    known_rate_ = rate_ * kSlowestOfRate;
  const double rate = known_rate_ = std::max(known_rate_, left);
  const double excess = (at.queued_bytes - target_bytes()) / (rate * static_cast<double>(epoch_ns_) * kDrainEpochs);
  const double wanted = rate * std::clamp(1 - excess, kFastestDrain, kFill);
  const double came = std::max(static_cast<double>(arrived) / elapsed, rate / 8);
  // Again and again below the rate with nothing queued: senders have gone, and those that are left need not wait.
  const bool idle = ran_empty_ && at.queued_bytes == 0 && came < kIdle * rate;
  idle_epochs_ = idle ? idle_epochs_ + 1 : 0;
  const double haste = 1 + idle_epochs_;
  position_ += kGain * kLevelsPerOctave * haste * std::clamp(std::log2(came / wanted), -1.0, 1.5);
  // At level 1 nobody is held to less than the port's rate; it ends when that has sufficed for a while.
  if (position_ > 1 || at.queued_bytes > target_bytes()) full_rate_epochs_ = 0;
  position_ = std::clamp(position_, 1.0, static_cast<double>(kCongestionLevelMax));
  if (++full_rate_epochs_ > kQuietEpochs) position_ = 0;
  begin_epoch(at);
}

void EndpointCongestion::begin_epoch(const Look& at) {
  growth_bytes_ = (growth_bytes_ + (static_cast<double>(at.queued_bytes) - begin_.queued_bytes)) / 2;
  const uint8_t code = highest_priority_ >> 4;
  if (code != 0) round_trip_ns_ = round_trip_of_code(code);
  highest_priority_ = 0;
  congested_ = position_ != 0;
  begin_ = queue_end_ = at;
  ran_empty_ = at.queued_bytes == 0;
  was_idle_ = at.idle;
  epoch_ns_ = round_trip_ns_;
  if (position_ != 0) {
    const double share = std::exp2(-(position_ - 1) / kLevelsPerOctave);
    epoch_ns_ += static_cast<Nanos>(kEpochFrames * frame_bytes_ / std::min(port_rate_ * share, rate_));
  }
}

uint8_t EndpointCongestion::next_level() {
  constexpr double kUnit = 1.0 / (uint64_t{1} << 32);
  const double drawn = static_cast<double>(random_.next() >> 32) * kUnit;
  return static_cast<uint8_t>(std::clamp(position_ + drawn, 1.0, static_cast<double>(kCongestionLevelMax)));
}

}  // namespace heddle
