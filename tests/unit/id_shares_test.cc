// SPDX-License-Identifier: Apache-2.0
#include "ingress/id_shares.h"

#include <gtest/gtest.h>

#include <string>

#include "ingress/group_turns.h"
#include "ingress/waiting_frames.h"
#include "ingress/wanting_flows.h"

namespace heddle::id_shares_test {
namespace {

void take(IdShares& shares, uint8_t group, int count) {
  for (; count > 0; --count) shares.took(group);
}

TEST(IdShares, NobodyYieldsWhileNobodyWaits) {
  IdShares shares(kGroups);
  take(shares, 1, 60);
  take(shares, 2, 1);
  EXPECT_FALSE(shares.has_to_yield(1));
  EXPECT_FALSE(shares.has_to_yield(2));
  EXPECT_EQ(shares.held(1), 60u);
  EXPECT_EQ(shares.waiting(), 0u);
}

// K11: by turns, as where there is one group.
TEST(IdShares, AGroupInWhichSomebodyWaitsPassesItsOwnOn) {
  IdShares shares(1);
  take(shares, 0, 4);
  shares.waits(0);
  EXPECT_TRUE(shares.has_to_yield(0));
  shares.waits_no_more(0);
  EXPECT_FALSE(shares.has_to_yield(0));
}

// A8: an application of many flows leaves IDs to one of few, and one of few keeps its own.
TEST(IdShares, WhoHasMoreThanAnEqualPartYieldsToOthers) {
  IdShares shares(kGroups);
  take(shares, 1, 6);
  take(shares, 2, 1);
  shares.waits(3);
  EXPECT_TRUE(shares.has_to_yield(1)) << "6 of 7, of three that have or want some";
  EXPECT_FALSE(shares.has_to_yield(2));
  for (int i = 0; i < 4; ++i) shares.gave(1);
  take(shares, 3, 4);
  EXPECT_FALSE(shares.has_to_yield(1)) << "2 of 7";
  EXPECT_TRUE(shares.has_to_yield(3)) << "it has four, and wants more";
}

TEST(IdShares, AnEqualPartIsOfThoseThatHaveOrWantSome) {
  IdShares shares(kGroups);
  take(shares, 1, 3);
  take(shares, 2, 3);
  take(shares, 4, 1);
  shares.waits(3);
  EXPECT_TRUE(shares.has_to_yield(1)) << "3 of 7, of four";
  shares.gave(4);
  EXPECT_TRUE(shares.has_to_yield(1)) << "3 of 6, of three";
  shares.gave(2);
  shares.gave(2);
  shares.gave(2);
  shares.gave(1);
  EXPECT_TRUE(shares.has_to_yield(1)) << "2 of 2, of two";
  shares.waits_no_more(3);
  shares.took(3);
  shares.took(3);
  shares.waits(4);
  EXPECT_TRUE(shares.has_to_yield(1)) << "2 of 4, of three";
  shares.waits_no_more(4);
  shares.waits(3);
  EXPECT_FALSE(shares.has_to_yield(1)) << "2 of 4, of two";
}

TEST(IdShares, HowManyWait) {
  IdShares shares(kGroups);
  for (const uint8_t group : {uint8_t{3}, uint8_t{63}, uint8_t{3}}) shares.waits(group);
  EXPECT_EQ(shares.waiting(), 3u);
  EXPECT_EQ(shares.waiting(3), 2u);
  shares.waits_no_more(3);
  EXPECT_EQ(shares.waiting(3), 1u);
}

TEST(GroupTurns, WaitingGroupsHaveTurns) {
  GroupTurns turns;
  for (const uint8_t group : {uint8_t{3}, uint8_t{63}, uint8_t{64}, uint8_t{127}, uint8_t{3}}) turns.enter(group);
  for (const unsigned group : {3u, 63u, 64u, 127u, 3u}) EXPECT_EQ(turns.next(), group);
  turns.leave(63);
  turns.leave(127);
  for (const unsigned group : {64u, 3u, 64u}) EXPECT_EQ(turns.next(), group);
  turns.keep(64);
  EXPECT_EQ(turns.next(), 64);
  turns.leave(64);
  EXPECT_EQ(turns.next(), 3);
  EXPECT_EQ(turns.next(), 3);
}

class WantingFlowsTest : public testing::Test {
 protected:
  WantingFlowsTest() {
    for (FlowId flow = 1; flow <= 40; ++flow) flows_[flow].group = static_cast<uint8_t>(flow / 10);
    for (const int flow : {11, 12, 13, 21, 31, 32}) wanting_.push(flows_, 1, FlowId::of(flow));
  }

  InputFlowTable flows_{40};
  WantingFlows wanting_{kGroups, 3};
};

TEST_F(WantingFlowsTest, GroupsHaveTurnsAndFlowsTheirOrder) {
  EXPECT_EQ(wanting_.count(1), 6u);
  EXPECT_EQ(wanting_.of(1, 1).head, 11);
  std::string order;
  while (!wanting_.empty()) order += std::to_string(wanting_.pop(flows_, 1)) + " ";
  EXPECT_EQ(order, "11 21 31 12 32 13 ");
}

// K11: an ID is of one channel.
TEST_F(WantingFlowsTest, WhoGoesOnInAnotherChannelIsPassedBy) {
  wanting_.push(flows_, 2, 14);
  wanting_.push(flows_, 2, 22);
  EXPECT_EQ(wanting_.count(0), 0u);
  EXPECT_EQ(wanting_.count(1), 6u);
  EXPECT_EQ(wanting_.count(2), 2u);
  EXPECT_EQ(wanting_.shares(2).waiting(1), 1u);
  EXPECT_EQ(wanting_.pop(flows_, 2), 14);
  EXPECT_EQ(wanting_.pop(flows_, 1), 11) << "each has its turns";
  EXPECT_EQ(wanting_.pop(flows_, 2), 22);
  EXPECT_EQ(wanting_.count(2), 0u);
  EXPECT_EQ(wanting_.pop(flows_, 1), 21);
}

// A8: as groups share it, to those who wait in the same channel.
TEST_F(WantingFlowsTest, AFlowYieldsToThoseOfItsChannel) {
  WantingFlows wanting(kGroups, 3);
  wanting.took(1, 2);
  EXPECT_EQ(wanting.held(1), 1u);
  wanting.push(flows_, 1, 11);
  EXPECT_TRUE(wanting.yields(1, 2)) << "it has one of one, of two groups";
  wanting.took(1, 2);
  wanting.took(1, 3);
  EXPECT_TRUE(wanting.yields(1, 2)) << "two of three, of three groups";
  EXPECT_FALSE(wanting.yields(1, 3));
  wanting.gave(1, 2);
  EXPECT_EQ(wanting.held(1), 2u);
  EXPECT_EQ(wanting.shares(1).held(2), 1u);
}

// K11: the one that is kept for a channel would serve nobody else.
TEST_F(WantingFlowsTest, ToOtherChannelsAllYieldButTheLast) {
  for (const uint32_t groups : {1u, kGroups}) {
    WantingFlows wanting(groups, 3);
    flows_[5].group = 0;
    wanting.push(flows_, 2, 5);
    wanting.took(1, 0);
    EXPECT_FALSE(wanting.yields(1, 0)) << groups;
    wanting.took(1, 0);
    EXPECT_TRUE(wanting.yields(1, 0)) << groups;
    wanting.gave(1, 0);
    EXPECT_FALSE(wanting.yields(1, 0)) << groups;
    EXPECT_TRUE(wanting.yields(2, 0)) << "its own channel's come first";
  }
}

TEST_F(WantingFlowsTest, AllOfAChannelCanBeTaken) {
  wanting_.push(flows_, 0, 14);
  FlowList all = wanting_.take_all(flows_, 1);
  EXPECT_EQ(all.count, 6u);
  EXPECT_EQ(wanting_.count(1), 0u);
  EXPECT_FALSE(wanting_.empty());
  EXPECT_EQ(wanting_.pop(flows_, 0), 14);
  EXPECT_TRUE(wanting_.empty());
  EXPECT_TRUE(wanting_.of(1, 1).empty());
  wanting_.push(flows_, 1, flows_.pop(all));
  EXPECT_EQ(wanting_.pop(flows_, 1), 11);
}

TEST_F(WantingFlowsTest, ThoseOfAnEndedSessionWaitNoMore) {
  wanting_.took(1, 1);
  wanting_.push(flows_, 2, 14);
  wanting_.clear();
  EXPECT_TRUE(wanting_.empty());
  EXPECT_EQ(wanting_.count(1), 0u);
  EXPECT_EQ(wanting_.count(2), 0u);
  EXPECT_EQ(wanting_.shares(1).waiting(1), 0u);
  EXPECT_TRUE(wanting_.of(1, 1).empty());
  EXPECT_EQ(wanting_.held(1), 1u) << "what they have they give back themselves";
  EXPECT_EQ(wanting_.shares(1).held(1), 1u);
  wanting_.push(flows_, 1, 21);
  EXPECT_EQ(wanting_.pop(flows_, 1), 21);
}

TEST(WaitingFrames, AGroupHasAsMuchRoomAsItLeavesFree) {
  WaitingFrames waiting(kGroups);
  Packet frames[8];
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(waiting.has_room(1, 9)) << i;
    waiting.push(1, &frames[i]);
  }
  EXPECT_FALSE(waiting.has_room(1, 9)) << "it has five, and four are free";
  EXPECT_TRUE(waiting.has_room(2, 9));
  EXPECT_FALSE(waiting.has_room(2, 5)) << "there is none at all";
  EXPECT_EQ(waiting.first(1), &frames[0]);
  EXPECT_EQ(waiting.pop(1), &frames[0]);
  EXPECT_TRUE(waiting.has_room(1, 9));
  waiting.push(2, &frames[5]);
  EXPECT_EQ(waiting.pop_any(), &frames[1]);
  EXPECT_EQ(waiting.pop_any(), &frames[5]);
  EXPECT_EQ(waiting.count(), 3u);
}

TEST(WaitingFrames, WhereThereIsOneGroupItHasAllTheRoom) {
  WaitingFrames waiting(1);
  Packet frames[3];
  for (Packet& frame : frames) {
    EXPECT_TRUE(waiting.has_room(0, 3));
    waiting.push(0, &frame);
  }
  EXPECT_FALSE(waiting.has_room(0, 3));
}

}  // namespace
}  // namespace heddle::id_shares_test
