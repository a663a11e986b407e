// SPDX-License-Identifier: Apache-2.0
// Keyed, non-linear hash of table keys (K12): a sender that doesn't know the secret can't aim at a bucket. CRC32C would
// be as fast and collides for crafted keys under any seed. Two rounds of AES mix each 16 bytes in: after two every bit
// of the state depends on every bit of them, and no difference of two keys cancels with a probability worth having.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace heddle {

struct HashKey {
  uint64_t secret[4];
};

template <unsigned kBlocks>
uint32_t keyed_hash(const __m128i (&blocks)[kBlocks], const HashKey& key) {
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key.secret));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key.secret + 2));
  __m128i state = first;
  for (const __m128i& block : blocks)
    state = _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(state, block), second), first);
  return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_aesenc_si128(state, second)));
}

inline uint32_t keyed_hash(uint64_t value, const HashKey& key) {
  return keyed_hash({_mm_cvtsi64_si128(static_cast<int64_t>(value))}, key);
}

}  // namespace heddle
