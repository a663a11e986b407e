// SPDX-License-Identifier: Apache-2.0
// Counts of values in buckets of a 32nd of their power of two: quantiles to about 3 %, in constant space and time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace heddle::traffic {

class Histogram {
 public:
  void add(uint64_t value, uint64_t times) {
    buckets_[bucket_of(value)] += times;
    count_ += times;
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  void clear() { *this = Histogram(); }
  uint64_t count() const { return count_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  // The value that `share` of all values don't exceed: the upper end of its bucket. 0 if there are none.
  uint64_t quantile(double share) const;

 private:
  static constexpr unsigned kBits = 5, kSteps = 1u << kBits;

  // Values below 2 * kSteps have a bucket each; every power of two above has kSteps.
  static unsigned bucket_of(uint64_t value) {
    if (value < 2 * kSteps) return static_cast<unsigned>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - kBits - 1;
    return shift * kSteps + static_cast<unsigned>(value >> shift);
  }
  static uint64_t last_of(unsigned bucket) {
    if (bucket < 2 * kSteps) return bucket;
    const unsigned shift = bucket / kSteps - 1;
    return ((uint64_t{kSteps + bucket % kSteps} + 1) << shift) - 1;
  }

  std::vector<uint64_t> buckets_ = std::vector<uint64_t>((64 - kBits + 1) * kSteps);
  uint64_t count_ = 0;
  uint64_t min_ = ~uint64_t{0};
  uint64_t max_ = 0;
};

inline uint64_t Histogram::quantile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  uint64_t below = 0;
  for (unsigned bucket = 0; bucket < buckets_.size(); ++bucket) {
    below += buckets_[bucket];
    if (below != 0 && static_cast<double>(below) >= wanted) return std::min(last_of(bucket), max_);
  }
  return max_;
}

}  // namespace heddle::traffic
