// SPDX-License-Identifier: Apache-2.0
// Keyed, non-linear hash of table keys (K12): a sender that doesn't know the secret can't aim at a bucket. CRC32C would
// be as fast and collides for crafted keys under any seed. Two rounds of AES mix each 16 bytes in: after two every bit
// of the state depends on every bit of them, and no difference of two keys cancels with a probability worth having.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace heddle {

struct HashKey {
  uint64_t secret[4];
};

// kBytes: 8, or a multiple of 16.
template <unsigned kBytes>
uint32_t keyed_hash(const void* data, const HashKey& key) {
  static_assert(kBytes == 8 || kBytes % 16 == 0);
  const auto* bytes = static_cast<const uint8_t*>(data);
  const __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key.secret));
  const __m128i second = _mm_loadu_si128(reinterpret_cast<const __m128i*>(key.secret + 2));
  __m128i state = first;
  for (unsigned offset = 0; offset < kBytes; offset += 16) {
    const auto* part = reinterpret_cast<const __m128i*>(bytes + offset);
    const __m128i block = kBytes == 8 ? _mm_loadl_epi64(part) : _mm_loadu_si128(part);
    state = _mm_aesenc_si128(_mm_aesenc_si128(_mm_xor_si128(state, block), second), first);
  }
  state = _mm_aesenc_si128(state, second);
  return static_cast<uint32_t>(_mm_cvtsi128_si32(state));
}

}  // namespace heddle
