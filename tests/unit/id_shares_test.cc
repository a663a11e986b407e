// SPDX-License-Identifier: Apache-2.0
#include "ingress/id_shares.h"

#include <gtest/gtest.h>

#include "topology/application_policy.h"

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

}  // namespace
}  // namespace heddle::id_shares_test
