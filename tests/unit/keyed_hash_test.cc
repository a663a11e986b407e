// SPDX-License-Identifier: Apache-2.0
#include "flow/keyed_hash.h"

#include <gtest/gtest.h>

#include <set>

#include "wire/random.h"

namespace heddle::keyed_hash_test {
namespace {

// As drawn at random: a key of small numbers is none.
constexpr HashKey kHashKey{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

TEST(KeyedHash, HangsOnEveryBitOfValueAndSecret) {
  const uint32_t hash = keyed_hash(12345, kHashKey);
  EXPECT_EQ(keyed_hash(12345, kHashKey), hash);
  for (int word = -1; word < 4; ++word) {  // -1: of the value
    std::set<uint32_t> others;
    for (int bit = 0; bit < 64; ++bit) {
      const uint64_t flipped = uint64_t{1} << bit;
      HashKey key = kHashKey;
      if (word >= 0) key.secret[word] ^= flipped;
      others.insert(keyed_hash(word < 0 ? 12345 ^ flipped : 12345, key));
    }
    EXPECT_EQ(others.size(), 64u) << word;
    EXPECT_FALSE(others.contains(hash)) << word;
  }
}

TEST(KeyedHash, HangsOnEveryBlockAndTheirOrder) {
  const __m128i one = _mm_cvtsi64_si128(1), two = _mm_cvtsi64_si128(2);
  EXPECT_NE(keyed_hash({one, two}, kHashKey), keyed_hash({two, one}, kHashKey));
  EXPECT_NE(keyed_hash({one, two}, kHashKey), keyed_hash({one, one}, kHashKey));
  EXPECT_NE(keyed_hash({one, two}, kHashKey), keyed_hash({two, two}, kHashKey));
}

TEST(KeyedHash, SpreadsNeighbouringKeysUnderAnyKey) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    const HashKey key{{random.next(), random.next(), random.next(), random.next()}};
    std::set<uint32_t> buckets;
    for (uint64_t i = 0; i < 1000; ++i) buckets.insert(keyed_hash(i, key) % 1024);
    EXPECT_GT(buckets.size(), 550u);  // 1,000 balls into 1,024 buckets fill about 640
  }
}

}  // namespace
}  // namespace heddle::keyed_hash_test
