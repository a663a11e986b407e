// SPDX-License-Identifier: Apache-2.0
#include "ingress/flow_pause.h"

#include <gtest/gtest.h>

namespace heddle::flow_pause_test {
namespace {

constexpr Nanos kNow = 3 * kSecond;
constexpr uint32_t kReceived = 1'000'000;
const PauseMarks kMarks(96'000);

class FlowPauseTest : public testing::Test {
 protected:
  FlowPauseTest() { pause_.begin(7, 42, kReceived, kNow); }
  FlowPause pause_;
};

TEST(PauseMarks, ArePartsOfTheClasssMark) {
  EXPECT_EQ(kMarks.target, 48'000u);
  EXPECT_EQ(kMarks.low, 6'000u);
  EXPECT_EQ(kMarks.step, 3'000u);
}

TEST(PauseOfNobody, IsOfNoMatchAndTellsNothing) {
  EXPECT_EQ(kNoPause, 0);
  FlowPause pause;
  EXPECT_EQ(pause.number(), 0u);
  EXPECT_EQ(pause.match(), 0u);
  EXPECT_EQ(pause.since(), 0u);
  EXPECT_EQ(pause.credit(), 0u);
  EXPECT_EQ(pause.calm_since(), kNever);
  EXPECT_FALSE(pause.ended());
  EXPECT_EQ(pause.came(0), 0u);
  EXPECT_EQ(pause.came(1), 1u);
}

TEST_F(FlowPauseTest, BeginsWithoutCredit) {
  EXPECT_EQ(pause_.number(), 7u);
  EXPECT_EQ(pause_.match(), 42u);
  EXPECT_EQ(pause_.since(), kNow);
  EXPECT_EQ(pause_.credit(), 0u);
  EXPECT_EQ(pause_.calm_since(), kNever);
  EXPECT_FALSE(pause_.ended());
  EXPECT_EQ(pause_.came(kReceived), 0u);
  EXPECT_EQ(pause_.came(kReceived + 1), 1u);
}

TEST_F(FlowPauseTest, NothingOfTheOneBeforeIsLeft) {
  pause_.came(kReceived + 500);
  pause_.tell(2000);
  pause_.set_calm_since(kNow);
  pause_.end();
  pause_.begin(8, 43, kReceived + 600, kNow + 1);
  EXPECT_EQ(pause_.number(), 8u);
  EXPECT_EQ(pause_.match(), 43u);
  EXPECT_EQ(pause_.since(), kNow + 1);
  EXPECT_EQ(pause_.credit(), 0u);
  EXPECT_EQ(pause_.calm_since(), kNever);
  EXPECT_FALSE(pause_.ended());
  EXPECT_EQ(pause_.came(kReceived + 600), 0u);
  EXPECT_EQ(pause_.came(kReceived + 601), 1u);
}

TEST_F(FlowPauseTest, WhatComesWithinItsCreditIsNotBeyondIt) {
  pause_.tell(3000);
  EXPECT_EQ(pause_.came(kReceived + 1500), 0u);
  EXPECT_EQ(pause_.came(kReceived + 3000), 0u);
  EXPECT_EQ(pause_.came(kReceived + 3001), 1u);
}

TEST_F(FlowPauseTest, WhatComesBeyondIsCountedOnce) {
  EXPECT_EQ(pause_.came(kReceived + 1500), 1500u);
  EXPECT_EQ(pause_.came(kReceived + 1500), 1500u);
  EXPECT_EQ(pause_.came(kReceived + 3500), 3500u);
  pause_.tell(1000);
  EXPECT_EQ(pause_.came(kReceived + 4500), 3500u) << "it was told of that";
  EXPECT_EQ(pause_.came(kReceived + 4600), 3600u);
}

TEST_F(FlowPauseTest, AStrikeIsForAllThatCameUntilThen) {
  pause_.came(kReceived + 1500);
  pause_.strike_counted();
  EXPECT_EQ(pause_.came(kReceived + 1500), 0u);
  EXPECT_EQ(pause_.came(kReceived + 1600), 100u);
}

TEST_F(FlowPauseTest, HalfIsForgivenEachTime) {
  pause_.came(kReceived + 1500);
  pause_.forgive_half();
  EXPECT_EQ(pause_.came(kReceived + 1500), 750u);
  pause_.forgive_half();
  EXPECT_EQ(pause_.came(kReceived + 1500), 375u);
}

// What waits is to be as long as the target.
TEST_F(FlowPauseTest, TheHostMaySendWhatHasGoneBelowTheTarget) {
  constexpr uint32_t kFull = kReceived - 48'000;  // so much has gone when the queue is as long as the target
  EXPECT_EQ(pause_.unknown_credit(kFull - 30'000, kMarks), 0u);
  EXPECT_EQ(pause_.unknown_credit(kFull, kMarks), 0u);
  EXPECT_EQ(pause_.unknown_credit(kFull + 1, kMarks), 1u);
  EXPECT_EQ(pause_.unknown_credit(kReceived, kMarks), 48'000u);
}

TEST_F(FlowPauseTest, WhatTheHostKnowsIsToldOnce) {
  pause_.tell(10'000);
  EXPECT_EQ(pause_.unknown_credit(kReceived, kMarks), 38'000u);
  pause_.tell(38'000);
  EXPECT_EQ(pause_.unknown_credit(kReceived, kMarks), 0u);
  EXPECT_EQ(pause_.unknown_credit(kReceived + 2000, kMarks), 2000u);
  EXPECT_EQ(pause_.credit(), 48'000u);
}

TEST_F(FlowPauseTest, WhatCameBeyondIsMissingInTheNextCredit) {
  pause_.came(kReceived + 5000);
  EXPECT_EQ(pause_.unknown_credit(kReceived, kMarks), 43'000u);
  EXPECT_EQ(pause_.credit(), 0u);
}

TEST_F(FlowPauseTest, CreditDoesNotWrapAsPositionsDo) {
  for (int i = 0; i < 5; ++i) pause_.tell(0x4000'0000);
  EXPECT_EQ(pause_.credit(), 0x1'4000'0000u);
  EXPECT_EQ(pause_.came(kReceived + 0x4000'0000), 0u);
  EXPECT_EQ(pause_.came(kReceived + 0x4000'0001), 1u);
}

TEST_F(FlowPauseTest, PositionsWrap) {
  pause_.begin(7, 42, 0xffff'ff00, kNow);
  EXPECT_EQ(pause_.came(0x20), 0x120u);
  EXPECT_EQ(pause_.unknown_credit(0xffff'ff00, kMarks), 48'000u - 0x120);
}

TEST_F(FlowPauseTest, IsCalmSinceItWasSaidSo) {
  pause_.set_calm_since(kNow + 5);
  EXPECT_EQ(pause_.calm_since(), kNow + 5);
  pause_.set_calm_since(kNever);
  EXPECT_EQ(pause_.calm_since(), kNever);
}

TEST_F(FlowPauseTest, ItsEndIsToldThreeTimes) {
  pause_.end();
  EXPECT_TRUE(pause_.ended());
  EXPECT_TRUE(pause_.tell_end());
  EXPECT_TRUE(pause_.tell_end());
  EXPECT_TRUE(pause_.ended());
  EXPECT_FALSE(pause_.tell_end());
  EXPECT_FALSE(pause_.ended());
}

}  // namespace
}  // namespace heddle::flow_pause_test
