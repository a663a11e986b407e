// SPDX-License-Identifier: Apache-2.0
#include "ingress/wanting_flows.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::wanting_flows_test {
namespace {

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

}  // namespace
}  // namespace heddle::wanting_flows_test
