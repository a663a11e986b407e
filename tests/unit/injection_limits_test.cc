// SPDX-License-Identifier: Apache-2.0
#include "ingress/injection_limits.h"

#include <gtest/gtest.h>

namespace heddle::injection_limits_test {
namespace {

constexpr uint16_t kAllOpen = 0x1ff;

class InjectionLimitsTest : public testing::Test {
 protected:
  void make() { limits_ = InjectionLimits(policy_); }

  ApplicationPolicy policy_;
  InjectionLimits limits_{kNoApplications};
};

TEST_F(InjectionLimitsTest, WithoutLimitsAllIsOpen) {
  limits_.inject(3, 1u << 31);
  EXPECT_EQ(limits_.open(), kAllOpen);
  EXPECT_EQ(limits_.injected_bytes(3), 1u << 31);
  EXPECT_EQ(limits_.limit_bytes(3), kNoInjectionLimit);
}

// A6: a packet goes below the limit, so that less than a limit and a packet is injected.
TEST_F(InjectionLimitsTest, AnIdIsOpenBelowItsLimit) {
  policy_.limits[2].bytes = 3000;
  make();
  limits_.inject(2, 1500);
  EXPECT_EQ(limits_.open(), kAllOpen);
  limits_.inject(2, 1500);
  EXPECT_EQ(limits_.open(), kAllOpen & ~(1u << 2));
  limits_.settle(2, 1);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

TEST_F(InjectionLimitsTest, ALimitOfNothingIsClosed) {
  policy_.limits[2].bytes = 0;
  make();
  EXPECT_EQ(limits_.open(), kAllOpen & ~(1u << 2));
  limits_.waits(2);
  limits_.waits_no_more(2);
  EXPECT_EQ(limits_.open(), kAllOpen & ~(1u << 2));
}

// A7: a lone application may use all of the port's limit.
TEST_F(InjectionLimitsTest, ActiveIdsShareThePortByWeight) {
  policy_.port_bytes = 8000;
  policy_.limits[1].weight = 3;
  make();
  limits_.inject(0, 5000);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  limits_.waits(1);
  EXPECT_EQ(limits_.limit_bytes(0), 2000u) << "a quarter, and it has more";
  EXPECT_EQ(limits_.limit_bytes(1), 6000u);
  EXPECT_EQ(limits_.open(), kAllOpen & ~1u);
  limits_.settle(0, 3001);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// An ID has its part until nothing of it waits, nor is in the fabric.
TEST_F(InjectionLimitsTest, WhoIsDoneLeavesItsPart) {
  policy_.port_bytes = 8000;
  make();
  limits_.inject(0, 4000);
  limits_.waits(1);
  limits_.inject(1, 100);
  limits_.waits_no_more(1);
  EXPECT_EQ(limits_.open(), kAllOpen & ~1u);
  limits_.settle(1, 100);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// One that became idle while nobody was held is noticed by the first who meets the limit it had with it.
TEST_F(InjectionLimitsTest, WhoWasDoneEarlierIsNoticedAtTheLimit) {
  policy_.port_bytes = 8000;
  make();
  limits_.inject(1, 100);
  limits_.inject(0, 100);
  limits_.settle(1, 100);
  limits_.inject(0, 4000);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// What others have injected above their new parts counts for the port until it has gone.
TEST_F(InjectionLimitsTest, ThePortIsClosedAtItsLimitToAll) {
  policy_.port_bytes = 3000;
  make();
  limits_.inject(0, 3500);
  limits_.waits(1);
  EXPECT_EQ(limits_.open(), 1u << kNoLimitId);
  limits_.settle(0, 1000);
  EXPECT_EQ(limits_.open(), kAllOpen & ~1u);
}

TEST_F(InjectionLimitsTest, NoPartIsClosedAndAClosedIdTakesNone) {
  policy_.port_bytes = 1;
  policy_.limits[2].bytes = 0;
  make();
  for (const uint8_t id : {0, 1, 2}) limits_.waits(id);
  EXPECT_EQ(limits_.limit_bytes(0), 1u);
  EXPECT_EQ(limits_.open(), kAllOpen & ~(1u << 2));
  policy_.port_bytes = 8000;
  make();
  for (const uint8_t id : {0, 1, 2}) limits_.waits(id);
  EXPECT_EQ(limits_.limit_bytes(0), 4000u);
}

TEST_F(InjectionLimitsTest, WhatIsPromisedCannotBeInjectedByOthers) {
  policy_.limits[2].bytes = 4000;
  policy_.port_bytes = 10'000;
  make();
  limits_.waits(2);
  EXPECT_TRUE(limits_.promise(2, 3000)) << "a first one may be of more than half";
  EXPECT_FALSE(limits_.promise(2, 1)) << "beyond that half is for those who can go";
  limits_.inject(2, 999);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
  limits_.inject(2, 1);
  EXPECT_FALSE(limits_.open() >> 2 & 1);
  limits_.keep_promise(2, 3000);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
  EXPECT_EQ(limits_.injected_bytes(2), 1000u);
}

TEST_F(InjectionLimitsTest, PromisesTakeHalfOfWhatAnIdMayHave) {
  policy_.limits[2].bytes = 4000;
  make();
  EXPECT_TRUE(limits_.promise(2, 1000));
  EXPECT_TRUE(limits_.promise(2, 1000));
  EXPECT_FALSE(limits_.promise(2, 1));
  limits_.keep_promise(2, 1000);
  EXPECT_TRUE(limits_.promise(2, 1000));
}

TEST_F(InjectionLimitsTest, PromisesCountForThePortAsWell) {
  policy_.port_bytes = 4000;
  make();
  limits_.waits(2);
  EXPECT_TRUE(limits_.promise(2, 2000));
  limits_.inject(2, 1999);
  EXPECT_NE(limits_.open(), 1u << kNoLimitId);
  limits_.inject(2, 1);
  EXPECT_EQ(limits_.open(), 1u << kNoLimitId);
  limits_.keep_promise(2, 2000);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
}

}  // namespace
}  // namespace heddle::injection_limits_test
