// SPDX-License-Identifier: Apache-2.0
#include "node/crossbar.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace heddle::test::crossbar_test {
namespace {

struct Triple {
  uint32_t of[3];
  bool operator==(const Triple&) const = default;
};

std::vector<uint64_t> numbers(uint64_t first, size_t count) {
  std::vector<uint64_t> all(count);
  std::iota(all.begin(), all.end(), first);
  return all;
}

template <typename Element>
std::vector<Element> popped(Ring<Element>& ring, uint32_t most) {
  std::vector<Element> all(most);
  all.resize(ring.pop(all.data(), most));
  return all;
}

TEST(Ring, GivesBackInOrderWhatItTook) {
  Ring<uint64_t> ring(20);
  EXPECT_TRUE(ring.empty());
  EXPECT_EQ(popped(ring, 5).size(), 0u);
  EXPECT_EQ(ring.push(numbers(1, 3).data(), 3), 3u);
  EXPECT_EQ(ring.used(), 3u);
  EXPECT_FALSE(ring.empty());
  EXPECT_EQ(popped(ring, 2), numbers(1, 2));
  EXPECT_EQ(popped(ring, 9), numbers(3, 1));
  EXPECT_EQ(ring.used(), 0u);
}

TEST(Ring, HoldsAsManyAsWereAskedFor) {
  for (const uint32_t capacity : {1u, 15u, 16u, 31u}) {
    Ring<uint64_t> ring(capacity);
    EXPECT_EQ(ring.push(numbers(0, capacity).data(), capacity), capacity);
    const uint32_t more = ring.push(numbers(capacity, 64).data(), 64);
    EXPECT_LT(more, 64u) << "it is bounded";
    EXPECT_EQ(ring.push(numbers(0, 1).data(), 1), 0u) << "it is full";
    EXPECT_EQ(popped(ring, 200), numbers(0, capacity + more));
  }
}

// Elements that lie on both sides of its end, of sizes that the end does not divide.
TEST(Ring, GoesRound) {
  Ring<Triple> ring(7);
  uint32_t pushed = 0, seen = 0;
  for (int round = 0; round < 20; ++round) {
    Triple five[5];
    for (Triple& one : five) one = {{pushed, pushed + 1, pushed + 2}}, ++pushed;
    ASSERT_EQ(ring.push(five, 5), 5u);
    for (const Triple& one : popped(ring, 5)) {
      EXPECT_EQ(one, (Triple{{seen, seen + 1, seen + 2}}));
      ++seen;
    }
  }
  EXPECT_EQ(seen, pushed);
}

TEST(BatchedRing, WhatDoesNotFitStaysGatheredInOrder) {
  BatchedRing<uint64_t> ring(3);  // a ring of four slots, three of which it may use
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.hand_over());
  for (uint64_t i = 0; i < kRingBatch; ++i) {
    EXPECT_FALSE(ring.full());
    ring.gather() = i;
  }
  EXPECT_TRUE(ring.full());
  EXPECT_EQ(ring.used(), 0u) << "nothing is handed over yet";
  uint64_t seen = 0;
  while (seen < kRingBatch) {
    EXPECT_TRUE(ring.hand_over());
    EXPECT_FALSE(ring.full());
    const bool full = !ring.empty();
    EXPECT_FALSE(full && ring.hand_over());
    uint64_t taken[8];
    const uint32_t count = ring.take(taken, 8);
    ASSERT_GT(count, 0u);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(taken[i], seen++);
  }
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.hand_over());
}

TEST(Crossing, SaysWhetherThereIsAnythingToRead) {
  Crossing crossing(8, 8, 8);
  EXPECT_FALSE(crossing.hand_over());
  const auto hands_over = [&] { return crossing.hand_over() && !crossing.hand_over(); };
  crossing.data.gather() = {};
  EXPECT_TRUE(hands_over());
  crossing.given_back.gather() = {};
  EXPECT_TRUE(hands_over());
  crossing.settled.gather() = {};
  EXPECT_TRUE(hands_over());
  crossing.messages.gather() = {};
  EXPECT_TRUE(hands_over());
  for (const uint32_t used :
       {crossing.data.used(), crossing.given_back.used(), crossing.settled.used(), crossing.messages.used()})
    EXPECT_EQ(used, 1u);
}

TEST(Crossing, WhoHasLookedLooksAgainAtWhatIsNew) {
  Crossing crossing(8, 8, 8);
  EXPECT_FALSE(crossing.has_news());
  crossing.messages.gather() = {};
  EXPECT_FALSE(crossing.has_news()) << "it is not handed over";
  crossing.hand_over();
  EXPECT_TRUE(crossing.has_news());
  EXPECT_FALSE(crossing.has_news());
  crossing.hand_over();
  EXPECT_FALSE(crossing.has_news()) << "there was nothing";
  crossing.look_again();
  EXPECT_TRUE(crossing.has_news()) << "not all was taken";
  for (int times = 0; times < 2; ++times) {
    crossing.data.gather() = {};
    crossing.hand_over();
  }
  EXPECT_TRUE(crossing.has_news());
  EXPECT_FALSE(crossing.has_news());
}

}  // namespace
}  // namespace heddle::test::crossbar_test
