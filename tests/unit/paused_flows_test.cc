// SPDX-License-Identifier: Apache-2.0
#include "ingress/paused_flows.h"

#include <gtest/gtest.h>

namespace heddle::paused_flows_test {
namespace {

constexpr Nanos kTimer = 100 * kMillisecond;
constexpr Nanos kNow = 5 * kSecond;

TEST(PauseTurns, ComeAfterAWhile) {
  PauseTurns turns(4, kMillisecond);
  EXPECT_EQ(turns.interval(), kMillisecond);
  EXPECT_EQ(turns.next(), kNever);
  turns.enter(4, kNow);
  turns.enter(1, kNow + 7);
  EXPECT_EQ(turns.next(), kNow + kMillisecond);
  EXPECT_EQ(turns.take(), 4);
  EXPECT_EQ(turns.next(), kNow + 7 + kMillisecond);
  EXPECT_EQ(turns.take(), 1);
  EXPECT_EQ(turns.next(), kNever);
  EXPECT_EQ(turns.take(), kNoPause);
}

TEST(PauseTurns, WhoWaitsKeepsItsTurn) {
  PauseTurns turns(4, kMillisecond);
  turns.enter(2, kNow);
  turns.enter(2, kNow + 9);
  EXPECT_EQ(turns.next(), kNow + kMillisecond);
  turns.take();
  EXPECT_EQ(turns.next(), kNever) << "it stands there once";
  turns.enter(2, kNow + 9);
  EXPECT_EQ(turns.next(), kNow + 9 + kMillisecond);
}

class PausedFlowsTest : public testing::Test {
 protected:
  // Of a group, as it stands in the list.
  PauseId enter_group(uint8_t group) {
    const PauseId id = paused_.take();
    paused_.groups.push_back({.group = group, .pause = id});
    return id;
  }
  Nanos rested(Nanos at_least) {
    paused_.rest(at_least);
    return paused_.wake_ns;
  }

  PausedFlows paused_{1, kTimer};
};

TEST_F(PausedFlowsTest, InTheBeginningNothingIsToBeDone) {
  EXPECT_EQ(paused_.number, 0u);
  EXPECT_EQ(paused_.wake_ns, kNever);
  EXPECT_EQ(paused_.look_at_groups_ns, kNever);
  EXPECT_EQ(paused_.look_again_ns, 0u);
  EXPECT_TRUE(paused_.due.empty());
  EXPECT_FALSE(paused_.hosts.any());
}

TEST_F(PausedFlowsTest, ThereMayBe256) {
  for (uint32_t number = 1; number <= 256; ++number) ASSERT_EQ(paused_.take(), number);
  EXPECT_EQ(paused_.take(), kNoPause);
  paused_.put(17);
  EXPECT_EQ(paused_.take(), 17);
  EXPECT_EQ(paused_.take(), kNoPause);
}

TEST_F(PausedFlowsTest, EachPauseAndFlowHasAPlace) {
  EXPECT_EQ(paused_.pauses.size(), 257u);
  EXPECT_EQ(paused_.of_flows.size(), 2u);
  EXPECT_EQ(PausedFlows(1000, kTimer).of_flows.size(), 1001u);
}

TEST_F(PausedFlowsTest, SixteenGroupsStayWhereTheyAre) {
  EXPECT_EQ(paused_.groups.capacity(), 16u);
  enter_group(1);
  const PausedGroup* first = paused_.groups.data();
  for (uint8_t group = 2; group <= PausedFlows::kMostGroups; ++group) enter_group(group);
  EXPECT_EQ(paused_.groups.data(), first);
}

TEST(PausedFlowsOfAFabricPort, NoneMayBePaused) {
  PausedFlows paused(0, kTimer);
  EXPECT_EQ(paused.take(), kNoPause);
  EXPECT_EQ(paused.pauses.size(), 1u);
  EXPECT_EQ(paused.of_flows.size(), 1u);
  EXPECT_EQ(paused.groups.capacity(), 0u);
  EXPECT_EQ(paused.find(0), kNoPause);
  EXPECT_EQ(paused.group_of(1), nullptr);
}

TEST_F(PausedFlowsTest, HostsHearFourTimesWhileTheyObey) {
  EXPECT_EQ(paused_.again.interval(), 25 * kMillisecond);
  EXPECT_EQ(paused_.calm.interval(), 25 * kMillisecond);
  EXPECT_EQ(paused_.ended.interval(), 2 * kMillisecond);
}

TEST_F(PausedFlowsTest, APauseIsFoundByItsMatch) {
  EXPECT_EQ(paused_.find(0), kNoPause) << "one that is unused is of no match";
  paused_.pauses[1].begin(1, 500, 0, kNow);
  paused_.pauses[2].begin(2, 600, 0, kNow);
  paused_.pauses[256].begin(3, 0, 0, kNow);
  EXPECT_EQ(paused_.find(500), 1);
  EXPECT_EQ(paused_.find(600), 2);
  EXPECT_EQ(paused_.find(0), 256);
  EXPECT_EQ(paused_.find(700), kNoPause);
}

TEST_F(PausedFlowsTest, WhatHasBeenPutBackIsNotFound) {
  const PauseId id = paused_.take();
  paused_.pauses[id].begin(1, 500, 0, kNow);
  paused_.pauses[id].end();
  paused_.put(id);
  EXPECT_EQ(paused_.find(500), kNoPause);
  EXPECT_EQ(paused_.pauses[id].number(), 0u);
  EXPECT_FALSE(paused_.pauses[id].ended());
}

TEST(PausedGroup, BeginsWithoutAPause) {
  const PausedGroup group;
  EXPECT_EQ(group.pause, kNoPause);
  EXPECT_EQ(group.flow, FgfcFlow{});
  EXPECT_EQ(group.host, 0u);
  EXPECT_EQ(group.group, 0);
  EXPECT_FALSE(group.lossless);
  EXPECT_EQ(group.target, 0u);
  EXPECT_EQ(group.received, 0u);
  EXPECT_EQ(group.received_before, 0u);
}

TEST_F(PausedFlowsTest, APauseIsOfAGroupOrOfAFlow) {
  const PauseId of_flow = paused_.take();
  EXPECT_EQ(paused_.group_of(of_flow), nullptr);
  const PauseId first = enter_group(1), second = enter_group(2);
  EXPECT_EQ(paused_.group_of(first), &paused_.groups[0]);
  EXPECT_EQ(paused_.group_of(second), &paused_.groups[1]);
  EXPECT_EQ(paused_.group_of(of_flow), nullptr);
}

TEST_F(PausedFlowsTest, AGroupGoesWithItsPauseAndNoOther) {
  const PauseId of_flow = paused_.take(), first = enter_group(1), second = enter_group(2), third = enter_group(3);
  paused_.put(of_flow);
  ASSERT_EQ(paused_.groups.size(), 3u);
  paused_.put(second);
  ASSERT_EQ(paused_.groups.size(), 2u);
  EXPECT_EQ(paused_.groups[0].group, 1);
  EXPECT_EQ(paused_.groups[1].group, 3);
  EXPECT_EQ(paused_.group_of(third), &paused_.groups[1]);
  EXPECT_EQ(paused_.group_of(second), nullptr);
  paused_.put(third);
  paused_.put(first);
  EXPECT_TRUE(paused_.groups.empty());
}

TEST_F(PausedFlowsTest, ItRestsUntilWhateverComesFirst) {
  EXPECT_EQ(rested(0), kNever);
  paused_.again.enter(1, kNow);
  EXPECT_EQ(rested(0), kNow + kTimer / 4);
  paused_.calm.enter(2, kNow - 1);
  EXPECT_EQ(rested(0), kNow - 1 + kTimer / 4);
  paused_.ended.enter(3, kNow);
  EXPECT_EQ(rested(0), kNow + 2 * kMillisecond);
  paused_.look_at_groups_ns = kNow + kMillisecond;
  EXPECT_EQ(rested(0), kNow + kMillisecond);
  EXPECT_EQ(rested(kNow + kMillisecond - 1), kNow + kMillisecond);
  EXPECT_EQ(rested(kNow + kMillisecond + 1), kNow + kMillisecond + 1) << "that is tried again then";
}

TEST_F(PausedFlowsTest, WhileSomethingIsDueItDoesNotRestLongerThanAsked) {
  paused_.due.enter(1);
  EXPECT_EQ(rested(0), 0u);
  EXPECT_EQ(rested(kNow), kNow);
}

TEST_F(PausedFlowsTest, WhatIsListedWakesIt) {
  rested(kNow);
  paused_.wake();
  EXPECT_EQ(paused_.wake_ns, 0u);
}

}  // namespace
}  // namespace heddle::paused_flows_test
