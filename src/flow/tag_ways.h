// SPDX-License-Identifier: Apache-2.0
// Eight tags side by side, compared at once: what the places of a bucket are told apart by before keys are compared
// (flow/keyed_table.h, flow/match_table.h). A tag is the upper half of a key's hash and never 0, which is a free place.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>

namespace heddle {

constexpr uint32_t kTagWays = 8;

struct alignas(16) TagWays {
  uint16_t tags[kTagWays];

  static uint16_t tag_of(uint32_t hash) { return static_cast<uint16_t>(hash >> 16 | 1); }
  // Those with that tag, as a set to be gone through by `ways &= ways - 1`: two bits a way, of which the upper one is
  // cleared, so that a way counts once.
  uint32_t matching(uint16_t tag) const {
    const __m128i all = _mm_load_si128(reinterpret_cast<const __m128i*>(tags));
    const __m128i equal = _mm_cmpeq_epi16(all, _mm_set1_epi16(static_cast<int16_t>(tag)));
    return static_cast<uint32_t>(_mm_movemask_epi8(equal)) & 0x5555;
  }
  // The first of a set that is not empty.
  static uint32_t first_of(uint32_t ways) { return static_cast<uint32_t>(std::countr_zero(ways)) / 2; }
};

}  // namespace heddle
