// SPDX-License-Identifier: Apache-2.0
#include "flow/match_table.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "wire/random.h"

namespace heddle::match_table_test {
namespace {

constexpr HashKey kHashKey{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

MatchKey key(uint64_t number) {
  MatchKey key{};
  key.vni = 1;
  key.ftag = 3;
  key.flow_label = static_cast<uint32_t>(number);
  return key;
}

struct AllAlike {
  bool are_idle;
  bool idle(uint32_t) const { return are_idle; }
};

struct Matches : testing::Test {
  static constexpr uint32_t kEntries = 16;
  MatchTable table{kEntries, kHashKey};
  uint32_t hash(uint64_t number) const { return table.hash(key(number)); }
  uint32_t add(uint64_t number, bool all_idle = false) {
    return table.add(key(number), hash(number), AllAlike{all_idle});
  }
  uint32_t find(uint64_t number) const { return table.find(key(number), hash(number)); }
};

TEST_F(Matches, AreFoundByTheirWholeKey) {
  const uint32_t index = add(1, true);
  ASSERT_NE(index, kNotFound);
  EXPECT_EQ(find(1), index);
  EXPECT_EQ(find(2), kNotFound);
  EXPECT_EQ(table.find(key(2), hash(1)), kNotFound) << "though its hash leads to another one";
  EXPECT_TRUE(table[index].used());
  EXPECT_EQ(table[index].ftag, 3u);
  EXPECT_EQ(table[index].lost_reason, DropReason::none);
  EXPECT_EQ(table.key_at(index).flow_label, 1u);
}

TEST_F(Matches, AnEntryThatIsNotIdleIsNeverEvicted) {
  for (uint64_t i = 0; i < kEntries; ++i) ASSERT_NE(add(i), kNotFound);
  EXPECT_EQ(add(100), kNotFound);
  EXPECT_EQ(find(100), kNotFound);
  EXPECT_EQ(table.used(), kEntries);
  EXPECT_EQ(table.refused(), 0u) << "rte_hash had a place";
  for (uint64_t i = 0; i < kEntries; ++i) EXPECT_NE(find(i), kNotFound) << i;
  ASSERT_NE(add(100, true), kNotFound);
  EXPECT_NE(find(100), kNotFound) << "another one goes";
  EXPECT_EQ(table.used(), kEntries);
}

TEST_F(Matches, HasRoomWhileOneMayBeEvicted) {
  EXPECT_TRUE(table.has_room(AllAlike{false}));
  for (uint64_t number = 1; number <= kEntries; ++number) add(number);
  EXPECT_FALSE(table.has_room(AllAlike{false}));
  EXPECT_TRUE(table.has_room(AllAlike{true}));
  EXPECT_EQ(table.used(), kEntries) << "to ask changes nothing";
  for (uint64_t number = 1; number <= kEntries; ++number) EXPECT_NE(find(number), kNotFound);
}

TEST_F(Matches, OneThatIsThereEvictsNobody) {
  constexpr uint32_t kSame = 0x12350005;  // of nine, the ninth takes the hint of the first
  const auto hash_of = [](uint64_t number) { return kSame + static_cast<uint32_t>(number < 9 ? 0 : number); };
  for (uint64_t i = 0; i < kEntries; ++i) table.add(key(i), hash_of(i), AllAlike{false});
  ASSERT_EQ(table.find_likely(key(0), kSame, table.prefetch_likely(kSame)), kNotFound);
  const uint32_t index = table.find(key(0), kSame);
  ASSERT_NE(index, kNotFound);
  EXPECT_EQ(table.add(key(0), kSame, AllAlike{true}), index);
  EXPECT_EQ(table.evictions(), 0u);
  EXPECT_EQ(table.used(), kEntries);
}

TEST_F(Matches, AnEntryWithWaitingFramesStays) {
  for (uint64_t i = 0; i < kEntries; ++i) table[add(i)].waiting = 1;
  EXPECT_EQ(add(100, true), kNotFound);
}

TEST_F(Matches, OneThatIsGoneIsNotFoundByAnOldHint) {
  const uint32_t index = add(1);
  ASSERT_EQ(table.prefetch_likely(hash(1)), index);
  for (uint64_t i = 2; table.used() < kEntries; ++i) add(i);
  while (table.evictions() == 0) add(100, true);
  const uint32_t likely = table.prefetch_likely(hash(1));
  EXPECT_EQ(find(1), kNotFound);
  EXPECT_EQ(table.find_likely(key(1), hash(1), likely), kNotFound);
  EXPECT_FALSE(table[index].used() && table.key_at(index).flow_label == 1);
}

TEST_F(Matches, OfTwoWithOneTagTheSecondIsFoundBehindTheFirst) {
  constexpr uint32_t kSame = 0x12340005;
  const auto put = [this](uint64_t number, uint32_t hash) { return table.add(key(number), hash, AllAlike{false}); };
  const uint32_t one = put(1, kSame), two = put(2, kSame), three = put(3, 0x98760005);
  EXPECT_EQ(table.prefetch_likely(kSame), one);
  EXPECT_EQ(table.find_likely(key(1), kSame, one), one);
  EXPECT_EQ(table.find_likely(key(2), kSame, one), two);
  EXPECT_EQ(table.find_likely(key(3), 0x98760005, table.prefetch_likely(0x98760005)), three);
  EXPECT_EQ(table.find_likely(key(9), kSame, one), kNotFound);
  EXPECT_EQ(table.find_likely(key(9), 0x77770003, kNotFound), kNotFound);
}

// A ninth key takes the hint of the first, which rte_hash knows all the same: once added again it has one again.
TEST_F(Matches, WhatNoHintLeadsToIsFoundAllTheSame) {
  const auto hash_of = [](uint64_t number) { return static_cast<uint32_t>(number << 17 | 1); };
  uint32_t indices[10];
  for (uint64_t i = 1; i <= 9; ++i) indices[i] = table.add(key(i), hash_of(i), AllAlike{false});
  EXPECT_EQ(table.prefetch_likely(hash_of(1)), kNotFound);
  EXPECT_EQ(table.prefetch_likely(hash_of(2)), indices[2]);
  EXPECT_EQ(table.find(key(1), hash_of(1)), indices[1]);
  EXPECT_EQ(table.prefetch_likely(hash_of(1)), kNotFound) << "find() changes nothing";
  EXPECT_EQ(table.add(key(1), hash_of(1), AllAlike{false}), indices[1]);
  EXPECT_EQ(table.used(), 9u);
  EXPECT_EQ(table.prefetch_likely(hash_of(1)), indices[1]);
  EXPECT_EQ(table.prefetch_likely(hash_of(2)), kNotFound);
  EXPECT_EQ(table.prefetch_likely(hash_of(3)), indices[3]);
}

// Against a map, in a table that is always nearly full, with hashes that meet.
TEST(MatchTable, KeepsWhatAMapKeeps) {
  constexpr uint32_t kEntries = 256;
  for (const uint32_t meet : {0xffffffffu, 0xff0000ffu}) {
    MatchTable table(kEntries, kHashKey);
    std::map<uint64_t, uint32_t> kept;
    Random random(3);
    for (int step = 0; step < 100'000; ++step) {
      const uint64_t number = random.below(2 * kEntries);
      const uint32_t hash = table.hash(key(number)) & meet;
      const auto known = kept.find(number);
      const uint32_t expected = known == kept.end() ? kNotFound : known->second;
      ASSERT_EQ(table.find(key(number), hash), expected);
      const uint32_t hinted = table.find_likely(key(number), hash, table.prefetch_likely(hash));
      ASSERT_TRUE(hinted == kNotFound || hinted == expected) << number;
      if (known != kept.end()) {
        ASSERT_EQ(table.add(key(number), hash, AllAlike{true}), expected);
        continue;
      }
      const uint32_t index = meet != 0xffffffffu && kept.size() == kEntries
                                 ? kNotFound  // it would be evicted by its whole hash
                                 : table.add(key(number), hash, AllAlike{true});
      if (index == kNotFound) break;
      ASSERT_LT(index, table.indices());
      for (auto other = kept.begin(); other != kept.end();)
        other = other->second == index || !table[other->second].used() ? kept.erase(other) : std::next(other);
      kept.emplace(number, index);
      ASSERT_EQ(kept.size(), table.used());
    }
    EXPECT_GE(kept.size(), meet == 0xffffffffu ? kEntries : 8u);
  }
}

// However many there are, rte_hash has a place for nearly all of them: buckets are three quarters full at most.
TEST(MatchTable, HasPlacesForAllItIsToHold) {
  for (const uint32_t entries : {8u, 9u, 12u, 13u, 16u, 32u, 1000u, 1024u, 1025u, 3000u, 4096u}) {
    MatchTable table(entries, kHashKey);
    EXPECT_GE(table.indices(), entries);
    for (uint64_t i = 0; i < entries; ++i)
      ASSERT_NE(table.add(key(i), table.hash(key(i)), AllAlike{false}), kNotFound) << i << " of " << entries;
    for (uint64_t i = 0; i < entries; ++i) ASSERT_NE(table.find(key(i), table.hash(key(i))), kNotFound) << entries;
    EXPECT_EQ(table.refused(), 0u);
  }
}

// Who knew the hash could make keys meet: then some have no place, and that is said (K12).
TEST(MatchTable, RefusesWhatHasNoPlace) {
  MatchTable table(1000, kHashKey);
  uint32_t added = 0;
  for (uint64_t i = 0; i < 100; ++i) added += table.add(key(i), 0x10000, AllAlike{false}) != kNotFound;
  EXPECT_LT(added, 100u);
  EXPECT_EQ(table.refused(), 100u - added);
  EXPECT_EQ(table.used(), added);
}

TEST(MatchTable, WithoutMemoryForItIsNotMade) { EXPECT_THROW(MatchTable(1u << 26, kHashKey), std::bad_alloc); }

// Every byte of a key reaches both the bucket and the tag.
TEST(MatchTable, ItsHashHangsOnEveryByte) {
  const MatchTable table(MatchTable::kEntriesMin, kHashKey);
  const uint32_t hash = table.hash(MatchKey{});
  for (size_t at = 0; at < sizeof(MatchKey); ++at) {
    std::set<uint32_t> buckets, tags;
    for (unsigned value = 1; value < 256; ++value) {
      MatchKey key{};
      reinterpret_cast<uint8_t*>(&key)[at] = static_cast<uint8_t>(value);
      const uint32_t other = table.hash(key);
      EXPECT_NE(other, hash);
      buckets.insert(other % 1024);
      tags.insert(other >> 16);
    }
    EXPECT_GT(buckets.size(), 200u) << at;  // 255 balls into 1,024 buckets fill about 226
    EXPECT_GT(tags.size(), 250u) << at;
  }
}

}  // namespace
}  // namespace heddle::match_table_test
