// SPDX-License-Identifier: Apache-2.0
#include "flow/keyed_table.h"

#include <gtest/gtest.h>

#include <map>

#include "flow/keyed_hash.h"
#include "wire/random.h"

namespace heddle::keyed_table_test {
namespace {

// As drawn at random: a key of small numbers is none.
constexpr HashKey kHashKey{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

// Against a map: every key that was added is found, no other one, whatever was removed in between.
TEST(KeyedTable, KeepsWhatAMapKeeps) {
  constexpr uint32_t kCapacity = 1000;
  KeyedTable<uint32_t> table(kCapacity);
  std::map<uint64_t, uint32_t> kept;
  Random random(3);
  const auto hash = [](uint64_t key) { return keyed_hash(key, kHashKey); };
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t key = random.below(2 * kCapacity);
    const auto known = kept.find(key);
    ASSERT_EQ(table.find(key, hash(key)), known == kept.end() ? kNotFound : known->second);
    if (known != kept.end()) {
      table.remove(key, hash(key));
      kept.erase(known);
    } else if (const uint32_t index = table.add(key, hash(key)); index != kNotFound) {
      EXPECT_EQ(table.key_at(index), key);
      EXPECT_TRUE(kept.emplace(key, index).second);
    } else {
      EXPECT_GT(kept.size(), kCapacity * 9 / 10);  // only a full table refuses
    }
  }
}

// All in one bucket: probes are bounded (K12), and what stands behind full buckets is found.
TEST(KeyedTable, BoundsItsProbes) {
  KeyedTable<uint32_t> table(1000);
  uint32_t added = 0;
  for (uint64_t key = 0; key < 100; ++key) added += table.add(key, 0x10000) != kNotFound;
  EXPECT_EQ(added, 32u);
  for (uint64_t key = 0; key < 100; ++key) EXPECT_EQ(table.find(key, 0x10000) != kNotFound, key < 32) << key;
  for (uint64_t key = 0; key < 8; ++key) table.remove(key, 0x10000);
  for (uint64_t key = 8; key < 32; ++key) EXPECT_NE(table.find(key, 0x10000), kNotFound) << key;
}

// K12: behind full buckets, also where the last one is followed by the first.
TEST(KeyedTable, ProbesGoOnAtTheFirstBucketBehindTheLast) {
  KeyedTable<uint32_t> table(16);  // four buckets of eight
  for (uint64_t key = 1; key <= 12; ++key) ASSERT_NE(table.add(key, 3), kNotFound);
  for (uint64_t key = 1; key <= 12; ++key) EXPECT_NE(table.find(key, 3), kNotFound) << key;
  EXPECT_EQ(table.find(13, 3), kNotFound);
  for (uint64_t key = 1; key <= 4; ++key) table.remove(key, 3);
  for (uint64_t key = 5; key <= 12; ++key) EXPECT_NE(table.find(key, 3), kNotFound) << key;
  for (uint64_t key = 5; key <= 12; ++key) table.remove(key, 3);
  for (uint64_t key = 1; key <= 12; ++key) EXPECT_EQ(table.find(key, 3), kNotFound) << key;
}

TEST(KeyedTable, GivesOutAllItsIndicesAndAnEmptyValueWithEach) {
  KeyedTable<uint32_t> table(3);
  EXPECT_EQ(table.capacity(), 3u);
  for (uint32_t key = 0; key < 3; ++key) {
    const uint32_t index = table.add(key, key << 16);
    EXPECT_EQ(index, key) << "in their order";
    table[index] = key + 10;
  }
  EXPECT_EQ(table.add(9, 0), kNotFound);
  table.remove(1, 1 << 16);
  EXPECT_EQ(table.find(1, 1 << 16), kNotFound);
  EXPECT_EQ(table.add(9, 0), 1u);
  EXPECT_EQ(table[1], 0u);
  EXPECT_EQ(table[0], 10u);
  EXPECT_EQ(table[2], 12u);
  EXPECT_EQ(table.key_at(1), 9u);
}

TEST(KeyedTable, AKeyWithoutAPlaceTakesNoIndex) {
  KeyedTable<uint32_t> table(64);
  for (uint64_t key = 0; key < 32; ++key) ASSERT_EQ(table.add(key, 0), key);
  EXPECT_EQ(table.add(100, 0), kNotFound);
  EXPECT_EQ(table.add(101, 5), 32u) << "the next one is still free";
  EXPECT_EQ(table.find(101, 5), 32u);
}

}  // namespace
}  // namespace heddle::keyed_table_test
