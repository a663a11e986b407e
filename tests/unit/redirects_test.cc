// SPDX-License-Identifier: Apache-2.0
// R9: when a port asks flows to take another way, and how many.
#include "egress/redirects.h"

#include <gtest/gtest.h>

namespace heddle::redirects_test {
namespace {

constexpr uint64_t kRate = 8'000'000'000;  // a byte a ns
constexpr uint32_t kFrame = 1500;
constexpr uint64_t kTarget = Redirects::kTargetFrames * kFrame;

class RedirectsTest : public testing::Test {
 protected:
  // An epoch passes in which so much of the rate is used, and so much waits at its end.
  bool epoch(uint64_t waiting_bytes, uint32_t percent = 100) {
    now_ += Redirects::kEpochNs;
    sent_ += Redirects::kEpochNs * percent / 100;
    EXPECT_TRUE(redirects_.due(now_));
    redirects_.look(waiting_bytes, flows_, sent_, random_, now_);
    return redirects_.asking(now_);
  }

  Redirects redirects_{kRate, kFrame};
  Random random_{1};
  Nanos now_ = kSecond;
  uint64_t sent_ = 0;
  uint32_t flows_ = 2;
};

TEST_F(RedirectsTest, NobodyIsAskedWhereLittleWaits) {
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(epoch(kTarget));
}

TEST_F(RedirectsTest, NobodyIsAskedWhereTheLinkIsNotBusy) {
  epoch(0);
  for (int i = 0; i < 1000; ++i) ASSERT_FALSE(epoch(100 * kTarget, 70));
  EXPECT_FALSE(epoch(100 * kTarget, 80)) << "for one epoch";
  EXPECT_TRUE(epoch(100 * kTarget, 80));
}

TEST_F(RedirectsTest, TheMoreWaitsTheOftener) {
  int asked[3] = {};
  epoch(0);
  for (int i = 0; i < 1000; ++i)
    for (const int times : {0, 1, 2}) {
      epoch(kTarget + kTarget / 2 * times);  // has grown by half a target, but for the first
      epoch(kTarget + kTarget / 2 * times);
      asked[times] += redirects_.asking(now_);
    }
  EXPECT_EQ(asked[0], 0);
  EXPECT_NEAR(asked[1], 250, 50) << "half a target too much, of two";
  EXPECT_NEAR(asked[2], 500, 60);
}

TEST_F(RedirectsTest, WhatGrowsIsAskedSooner) {
  int steady = 0, growing = 0;
  for (int i = 0; i < 1000; ++i) {
    epoch(0);
    EXPECT_FALSE(epoch(kTarget + 1)) << "for one epoch";
    growing += epoch(kTarget + kTarget / 4);
    steady += epoch(kTarget + kTarget / 4);
  }
  EXPECT_NEAR(steady, 125, 40);
  EXPECT_NEAR(growing, 250, 50);
}

TEST_F(RedirectsTest, OneFlowIsAskedOrOfManyAnEighth) {
  epoch(0);
  epoch(100 * kTarget);
  for (const uint32_t flows : {1u, 2u, 8u, 15u, 16u, 800u}) {
    flows_ = flows;
    ASSERT_TRUE(epoch(100 * kTarget));
    uint32_t asked = 0;
    for (; redirects_.asking(now_); ++asked) redirects_.asked(0);
    EXPECT_EQ(asked, std::max(1u, flows / 8)) << flows;
    EXPECT_FALSE(redirects_.due(now_ + Redirects::kEpochNs - 1)) << "once in an epoch";
  }
  ASSERT_TRUE(epoch(100 * kTarget));
  EXPECT_FALSE(redirects_.asking(now_ + Redirects::kEpochNs)) << "what is left of it is over";
}

// A quarter of the link each: 16,000 bytes take four times as long as the link takes for them.
TEST_F(RedirectsTest, NobodyIsAskedBeforeWhoWasAskedIsGone) {
  epoch(0);
  flows_ = 4;
  epoch(100 * kTarget);
  ASSERT_TRUE(epoch(100 * kTarget));
  redirects_.asked(16'000);
  EXPECT_FALSE(redirects_.due(now_ + Redirects::kEpochNs + 64'000 - 1));
  EXPECT_TRUE(redirects_.due(now_ + Redirects::kEpochNs + 64'000));
  now_ += 64'000;
  sent_ += 64'000;
  ASSERT_TRUE(epoch(100 * kTarget));
  EXPECT_TRUE(redirects_.due(now_ + Redirects::kEpochNs)) << "nobody was";
}

// Rates at which a byte takes less and more than a nanosecond.
TEST(RedirectsOfALink, AnEpochIsTheTimeOfSomeFramesWhereTheLinkIsSlow) {
  const Redirects slow(100'000'000, kFrame), fast(100'000'000'000, kFrame);
  constexpr Nanos kSlowEpoch = Redirects::kEpochFrames * kFrame * 80;
  EXPECT_FALSE(slow.due(kSlowEpoch - 1));
  EXPECT_TRUE(slow.due(kSlowEpoch));
  EXPECT_FALSE(fast.due(64 * kMicrosecond - 1));
  EXPECT_TRUE(fast.due(64 * kMicrosecond));
}

TEST(RedirectsOfALink, WhatMayWaitIsAMicrosecondsWorthWhereItIsFast) {
  constexpr uint64_t kFast = 100'000'000'000, kMayWait = 12'500;
  static_assert(kMayWait > kTarget);
  for (const uint64_t waiting : {kMayWait, 4 * kMayWait}) {
    Redirects redirects(kFast, kFrame);
    Random random{1};
    Nanos now = 0;
    uint64_t sent = 0;
    for (int i = 0; i < 3; ++i) {
      now += Redirects::kEpochNs;
      sent += kFast / 8 * Redirects::kEpochNs / kSecond;
      redirects.look(waiting, 2, sent, random, now);
    }
    EXPECT_EQ(redirects.asking(now), waiting > kMayWait) << waiting;
  }
}

TEST(RedirectsOfALink, OnASlowOneWhoWasAskedTakesLongerToBeGone) {
  constexpr uint64_t kSlow = 800'000'000;  // ten ns a byte
  Redirects redirects(kSlow, kFrame);
  Random random{1};
  Nanos now = 0;
  for (int i = 1; i <= 2; ++i) {
    now += Redirects::kEpochFrames * kFrame * 10;
    redirects.look(100 * kTarget, 2, static_cast<uint64_t>(now) / 10, random, now);
  }
  ASSERT_TRUE(redirects.asking(now));
  redirects.asked(30'000);
  const Nanos gone = now + Redirects::kEpochFrames * kFrame * 10 + 30'000 * 2 * 10;
  EXPECT_FALSE(redirects.due(gone - 1));
  EXPECT_TRUE(redirects.due(gone));
}

}  // namespace
}  // namespace heddle::redirects_test
