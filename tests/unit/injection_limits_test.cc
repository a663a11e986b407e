// SPDX-License-Identifier: Apache-2.0
#include "ingress/injection_limits.h"

#include <gtest/gtest.h>

namespace heddle::injection_limits_test {
namespace {

constexpr uint16_t kAllOpen = 0x1ff;

class InjectionLimitsTest : public testing::Test {
 protected:
  void make() { limits_ = InjectionLimits(policy_); }
  void inject(uint8_t id, uint32_t bytes) { limits_.inject(static_cast<uint8_t>(id + 1), bytes); }
  bool settle(uint8_t id, uint32_t bytes) { return limits_.settle(static_cast<uint8_t>(id + 1), bytes); }

  ApplicationPolicy policy_;
  InjectionLimits limits_{kNoApplications};
};

TEST_F(InjectionLimitsTest, WithoutLimitsAllIsOpen) {
  inject(3, 1u << 31);
  EXPECT_EQ(limits_.open(), kAllOpen);
  EXPECT_EQ(limits_.injected_bytes(3), 1u << 31);
  EXPECT_EQ(limits_.limit_bytes(3), kNoInjectionLimit);
}

// A6: a packet goes below the limit, so that less than a limit and a packet is injected.
TEST_F(InjectionLimitsTest, AnIdIsOpenBelowItsLimit) {
  policy_.limits[2].bytes = 3000;
  make();
  inject(2, 1500);
  EXPECT_EQ(limits_.open(), kAllOpen);
  inject(2, 1500);
  EXPECT_EQ(limits_.open(), kAllOpen & ~(1u << 2));
  settle(2, 1);
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
  inject(0, 5000);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  inject(0, 3000);
  EXPECT_FALSE(limits_.port_open());
  settle(0, 3000);
  EXPECT_TRUE(limits_.port_open());
  limits_.waits(1);
  EXPECT_EQ(limits_.limit_bytes(0), 2000u) << "a quarter, and it has more";
  EXPECT_EQ(limits_.limit_bytes(1), 6000u);
  EXPECT_EQ(limits_.open(), kAllOpen & ~1u);
  settle(0, 3001);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// An ID has its part until nothing of it waits, nor is in the fabric.
TEST_F(InjectionLimitsTest, WhoIsDoneLeavesItsPart) {
  policy_.port_bytes = 8000;
  make();
  inject(0, 4000);
  limits_.waits(1);
  inject(1, 100);
  limits_.waits_no_more(1);
  EXPECT_EQ(limits_.open(), kAllOpen & ~1u);
  settle(1, 100);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// One that became idle while nobody was held is noticed by the first who meets the limit it had with it.
TEST_F(InjectionLimitsTest, WhoWasDoneEarlierIsNoticedAtTheLimit) {
  policy_.port_bytes = 8000;
  make();
  inject(1, 100);
  inject(0, 100);
  settle(1, 100);
  inject(0, 4000);
  EXPECT_EQ(limits_.limit_bytes(0), 8000u);
  EXPECT_EQ(limits_.open(), kAllOpen);
}

// What others have injected above their new parts counts for the port until it has gone.
TEST_F(InjectionLimitsTest, ThePortIsClosedAtItsLimitToAll) {
  policy_.port_bytes = 3000;
  make();
  inject(0, 3500);
  limits_.waits(1);
  EXPECT_EQ(limits_.open(), 1u << kNoLimitId);
  settle(0, 1000);
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
  inject(2, 999);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
  inject(2, 1);
  EXPECT_FALSE(limits_.open() >> 2 & 1);
  limits_.keep_promise(2, 3000);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
  EXPECT_EQ(limits_.injected_bytes(2), 1000u);
}

// Each packet asks one number.
TEST_F(InjectionLimitsTest, APacketMayGoWhileItsIdIsOpenAndNobodyStandsInLineForIt) {
  policy_.limits[2].bytes = 3000;
  make();
  EXPECT_TRUE(limits_.may_inject(3));
  EXPECT_TRUE(limits_.may_inject(kInjectsNothing));
  limits_.set_contended(1u << 2);
  EXPECT_FALSE(limits_.may_inject(3));
  EXPECT_TRUE(limits_.may_inject(2));
  EXPECT_TRUE(limits_.may_inject(kInjectsNothing));
  EXPECT_EQ(limits_.open(), kAllOpen) << "to whoever has the turn";
  inject(2, 100);
  EXPECT_TRUE(settle(2, 50)) << "they are to be asked";
  limits_.set_contended(0);
  EXPECT_FALSE(settle(2, 25));
  EXPECT_TRUE(limits_.may_inject(3));
  inject(2, 3000);
  EXPECT_FALSE(limits_.may_inject(3));
}

TEST_F(InjectionLimitsTest, APortAtItsLimitIsOpenToNobodyUntilSomethingIsSettled) {
  policy_.port_bytes = 3000;
  make();
  inject(0, 2999);
  EXPECT_TRUE(limits_.may_inject(2));
  inject(1, 1);
  EXPECT_FALSE(limits_.may_inject(1));
  EXPECT_FALSE(limits_.may_inject(3)) << "one that has sent nothing yet, too";
  settle(0, 2000);
  EXPECT_TRUE(limits_.may_inject(3));
}

// Whoever is not active has no room that is counted, and gets its part with its first packet.
TEST_F(InjectionLimitsTest, AFirstPacketMakesAnIdActive) {
  policy_.port_bytes = 8000;
  make();
  EXPECT_EQ(limits_.active(), 0u);
  inject(3, 1);
  EXPECT_EQ(limits_.active(), 1u << 3);
  EXPECT_EQ(limits_.injected_bytes(3), 1u);
  inject(4, 10);
  EXPECT_EQ(limits_.active(), 3u << 3);
  EXPECT_EQ(limits_.limit_bytes(3), 4000u);
  EXPECT_EQ(limits_.injected_bytes(), 11u);
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
  inject(2, 1999);
  EXPECT_NE(limits_.open(), 1u << kNoLimitId);
  inject(2, 1);
  EXPECT_EQ(limits_.open(), 1u << kNoLimitId);
  limits_.keep_promise(2, 2000);
  EXPECT_TRUE(limits_.open() >> 2 & 1);
}

}  // namespace
}  // namespace heddle::injection_limits_test
