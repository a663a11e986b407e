// SPDX-License-Identifier: Apache-2.0
// The switch's randomness: a seeded generator its driver hands it (decision 1). SplitMix64.
#pragma once

#include <cstdint>

namespace heddle {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t word = state_ += 0x9e3779b97f4a7c15u;
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9u;
    word = (word ^ word >> 27) * 0x94d049bb133111ebu;
    return word ^ word >> 31;
  }
  // 0 to bound - 1; bound > 0.
  uint64_t below(uint64_t bound) { return next() % bound; }
  uint64_t nonzero() {
    const uint64_t word = next();
    return word != 0 ? word : 1;
  }

 private:
  uint64_t state_;
};

}  // namespace heddle
