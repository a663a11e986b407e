// SPDX-License-Identifier: Apache-2.0
// Keyed, non-linear hash of table keys (K12): a sender that doesn't know the key can't aim at a bucket. CRC32C would be
// faster and collides for crafted keys under any seed. 64 x 64 -> 128 bit multiplications, folded, one per 16 bytes.
#pragma once

#include <cstdint>
#include <cstring>

namespace heddle {

struct HashKey {
  uint64_t secret[4];
};

inline uint64_t fold_multiply(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// kBytes is a multiple of 8.
template <unsigned kBytes>
uint32_t keyed_hash(const void* data, const HashKey& key) {
  static_assert(kBytes % 8 == 0 && kBytes > 0);
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint64_t state = key.secret[0];
  for (unsigned offset = 0; offset < kBytes; offset += 16) {
    uint64_t low = 0, high = kBytes;
    std::memcpy(&low, bytes + offset, 8);
    if (offset + 8 < kBytes) std::memcpy(&high, bytes + offset + 8, 8);
    state = fold_multiply(low ^ key.secret[1] ^ offset, high ^ state);
  }
  state = fold_multiply(state ^ key.secret[2], key.secret[3]);
  return static_cast<uint32_t>(state ^ (state >> 32));
}

}  // namespace heddle
