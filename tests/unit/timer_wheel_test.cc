// SPDX-License-Identifier: Apache-2.0
#include "flow/timer_wheel.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::timer_wheel_test {
namespace {

struct Wheel : testing::Test {
  TimerWheel wheel{kMillisecond};
  std::vector<uint32_t> links = std::vector<uint32_t>(100, kNoItem);
  std::vector<uint32_t> due;
  void add(uint32_t item, Nanos at) {
    wheel.add(item, at, [this](uint32_t i) -> uint32_t& { return links[i]; });
  }
  void advance(Nanos now) {
    wheel.advance(
        now, [this](uint32_t i) -> uint32_t& { return links[i]; }, [this](uint32_t i) { due.push_back(i); });
  }
};

TEST_F(Wheel, ItemsComeDueNotBeforeTheirTime) {
  add(1, 5 * kMillisecond);
  add(2, 9 * kMillisecond);
  advance(5 * kMillisecond);
  EXPECT_TRUE(due.empty());
  EXPECT_EQ(wheel.next_due(), 6 * kMillisecond);
  advance(6 * kMillisecond);
  EXPECT_EQ(due, std::vector<uint32_t>{1});
  advance(100 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(wheel.next_due(), kNever);
}

TEST_F(Wheel, SurvivesALongGap) {
  add(1, 5 * kMillisecond);
  advance(3600 * kSecond);
  EXPECT_EQ(due, std::vector<uint32_t>{1});
  add(2, 3600 * kSecond + 2 * kMillisecond);
  advance(3600 * kSecond + 4 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{1, 2}));
}

TEST_F(Wheel, NothingIsDueInAnEmptyOne) {
  EXPECT_EQ(wheel.next_due(), kNever);
  advance(50 * kMillisecond);
  EXPECT_EQ(wheel.next_due(), kNever);
  add(1, 51 * kMillisecond);
  EXPECT_EQ(wheel.next_due(), 52 * kMillisecond) << "counted from where it stands";
}

TEST_F(Wheel, WhatIsPastComesDueAtTheNextTick) {
  advance(10 * kMillisecond);
  add(1, 3 * kMillisecond);
  add(2, 10 * kMillisecond);
  add(3, 9 * kMillisecond);
  EXPECT_EQ(wheel.next_due(), 11 * kMillisecond);
  advance(11 * kMillisecond - 1);
  EXPECT_TRUE(due.empty());
  advance(11 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{3, 2, 1})) << "of one tick the last one first";
}

// An item that is due later comes earlier, and is put off by whoever looks at it.
TEST_F(Wheel, WhatIsFarAwayComesAfterAnalmostWholeTurn) {
  add(1, kSecond);
  add(2, 62 * kMillisecond);
  add(3, 64 * kMillisecond);  // its own slot would be the next one
  EXPECT_EQ(wheel.next_due(), 63 * kMillisecond);
  advance(62 * kMillisecond);
  EXPECT_TRUE(due.empty());
  advance(63 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{3, 2, 1}));
}

TEST_F(Wheel, TheFirstSlotIsLikeTheOthers) {
  advance(10 * kMillisecond);
  add(1, 63 * kMillisecond);
  EXPECT_EQ(wheel.next_due(), 64 * kMillisecond);
  advance(64 * kMillisecond);
  EXPECT_EQ(due, std::vector<uint32_t>{1});
}

TEST_F(Wheel, AnItemMayBeAddedAgainWhileItComesDue) {
  add(1, kMillisecond);
  add(2, kMillisecond);
  int times = 0;
  const auto next = [this](uint32_t i) -> uint32_t& { return links[i]; };
  wheel.advance(2 * kMillisecond, next, [&](uint32_t item) {
    ++times;
    wheel.add(item, 3 * kMillisecond, next);
  });
  EXPECT_EQ(times, 2);
  EXPECT_EQ(wheel.next_due(), 4 * kMillisecond);
  advance(4 * kMillisecond);
  EXPECT_EQ(due.size(), 2u);
  advance(100 * kMillisecond);
  EXPECT_EQ(due.size(), 2u) << "once";
}

TEST_F(Wheel, AllSlotsAreLookedAtAfterAGapOfATurn) {
  for (uint32_t item = 0; item < 60; ++item) add(item, item * kMillisecond);
  advance(64 * kMillisecond);
  EXPECT_EQ(due.size(), 60u);
  for (uint32_t item = 0; item < 60; ++item) EXPECT_EQ(due[item], item);
  EXPECT_EQ(wheel.next_due(), kNever);
  add(1, 64 * kMillisecond);
  EXPECT_EQ(wheel.next_due(), 65 * kMillisecond);
}

}  // namespace
}  // namespace heddle::timer_wheel_test
