// SPDX-License-Identifier: Apache-2.0
// What hosts send: numbered flows. One table for the whole simulation: senders take their work from it, receivers write
// into it what came, checkers and reports read it. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "wire/types.h"

namespace heddle::sim {

enum class FrameKind : uint8_t { ethernet, ipv4, ipv6 };
enum class ChecksumKind : uint8_t { none, full, partial };

// Latencies in buckets of a sixteenth of their power of two: quantiles to about 6 %, in constant space.
class LatencyHistogram {
 public:
  void add(Nanos latency);
  void merge(const LatencyHistogram& other);
  uint64_t count() const { return count_; }
  Nanos mean() const { return count_ == 0 ? 0 : sum_ / count_; }
  Nanos quantile(double share) const;  // 0 if there are none
  Nanos min() const { return count_ == 0 ? 0 : min_; }
  Nanos max() const { return max_; }

 private:
  static constexpr unsigned kBuckets = 64 * 16;
  std::vector<uint32_t> buckets_;  // empty until there is something to count
  uint64_t count_ = 0;
  Nanos sum_ = 0;
  Nanos min_ = kNever, max_ = 0;
};

struct FramePriority {  // what a frame says of itself: PCP in its tag, DSCP of IP
  uint8_t pcp = 0, dscp = 0;
};

struct HostFlow {
  // --- what it is ---
  std::string name;
  uint16_t id = 0;
  uint16_t source = 0, destination = 0;  // hosts
  uint16_t vlan = 1;
  uint8_t class_index = 0;
  FramePriority priority;
  FrameKind kind = FrameKind::ipv4;
  ChecksumKind checksum = ChecksumKind::none;
  bool ordered = true;   // its class has flow channels
  uint32_t pattern = 0;  // flows of one match pattern share it
  // --- how it sends ---
  Nanos starts_ns = 0, stops_ns = kNever;
  Nanos interval_ns = 0;                         // between bursts; 0 = as fast as window and link allow
  uint32_t burst_frames = 1;                     // at a time
  uint32_t window_frames = 0;                    // not delivered at a time; 0 = open loop
  Nanos window_patience_ns = 20 * kMillisecond;  // after that, what is missing no longer fills the window
  uint16_t length_min = 64, length_max = 64;     // bytes, with Ethernet header, without tag
  uint32_t message_frames = 0;                   // frames of a message, of which completion times are kept
  uint64_t frames_max = ~uint64_t{0};
  bool ecn = false;             // its host understands ECN, and shrinks its window by it
  Nanos on_ns = 0, off_ns = 0;  // it sends for so long and rests for so long, by turns; 0 = it always sends
  // --- what came of it ---
  uint32_t sent_frames = 0;
  uint64_t sent_bytes = 0;
  uint32_t delivered_frames = 0;
  uint64_t delivered_bytes = 0;
  uint32_t next_expected = 0;  // one past the highest sequence number delivered
  Nanos last_delivery_ns = 0;
  uint32_t marked_frames = 0;   // with congestion experienced
  uint32_t ecn_window = 0;      // frames; 0 = window_frames
  uint32_t ecn_held_until = 0;  // sequence: the window is halved once for those before
  uint32_t ecn_unmarked = 0;    // since it changed
  uint32_t window_base = 0;     // frames below are delivered or given up
  Nanos window_moved_ns = 0;
  Nanos gap_since_ns = 0;  // deliveries before do not count for gaps
  Nanos longest_gap_ns = 0, longest_gap_at_ns = 0;
  // Of the frames that were sent in a window, whenever they came.
  struct Measured {
    uint32_t first_sequence, end_sequence = ~0u;  // one past the last; ~0 while the window lasts
    uint32_t delivered_frames = 0;
    uint32_t late_frames = 0;  // delivered behind a higher one
    LatencyHistogram latency = {};
    LatencyHistogram completion = {};  // of messages, which count by their first frames
    uint32_t messages_done = 0, messages_broken = 0;
  };
  std::vector<Measured> measured;  // by window, of those that have begun
  struct Message {
    Nanos sent_ns;
    uint32_t delivered;
  };
  std::deque<Message> messages;  // open ones
  uint32_t first_message = 0;

  // The window in which it was sent; nullptr: in none.
  Measured* measured_of(uint32_t sequence) {
    for (auto window = measured.rbegin(); window != measured.rend(); ++window)
      if (sequence >= window->first_sequence) return sequence < window->end_sequence ? &*window : nullptr;
    return nullptr;
  }
  bool is_transfer() const { return frames_max != ~uint64_t{0}; }
  bool transfer_done() const { return is_transfer() && delivered_frames >= frames_max; }
  Nanos transfer_ns() const { return last_delivery_ns - starts_ns; }  // once it is done
};

struct Traffic {
  std::vector<HostFlow> flows;
};

inline void LatencyHistogram::add(Nanos latency) {
  if (buckets_.empty()) buckets_.resize(kBuckets);
  const unsigned power = latency < 16 ? 4 : 63 - static_cast<unsigned>(__builtin_clzll(latency));
  const unsigned bucket =
      (power - 4) * 16 + static_cast<unsigned>(latency >> (power - 4) & 15) + (latency < 16 ? 0 : 16);
  ++buckets_[bucket < kBuckets ? bucket : kBuckets - 1];
  ++count_;
  sum_ += latency;
  min_ = std::min(min_, latency);
  max_ = std::max(max_, latency);
}

inline void LatencyHistogram::merge(const LatencyHistogram& other) {
  if (other.count_ == 0) return;
  if (buckets_.empty()) buckets_.resize(kBuckets);
  for (unsigned i = 0; i < kBuckets; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

inline Nanos LatencyHistogram::quantile(double share) const {
  if (count_ == 0) return 0;
  auto left = static_cast<uint64_t>(share * static_cast<double>(count_));
  for (unsigned i = 0; i < kBuckets; ++i) {
    if (left < buckets_[i]) return i < 16 ? i : std::min(max_, Nanos{16 + i % 16} << (i / 16 - 1));
    left -= buckets_[i];
  }
  return max_;
}

}  // namespace heddle::sim
