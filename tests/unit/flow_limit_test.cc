// SPDX-License-Identifier: Apache-2.0
// C3-C5, K10: what a flow to a congested host may send, when, and how long that holds.
#include "flow/flow_limit.h"

#include <gtest/gtest.h>

namespace heddle::flow_limit_test {
namespace {

constexpr Nanos kNow = kSecond;
constexpr Nanos kUs = kMicrosecond;
constexpr Nanos kRoundTrip = 10 * kUs;

class FlowLimitTest : public testing::Test {
 protected:
  FlowLimitTest() { limit_.begin(kNow); }
  void set_share(double ns_per_byte) { limit_.set_share(ns_per_byte, kRoundTrip, 0, kNow); }
  // The last moment at which it holds.
  void expect_holds_until(Nanos last) {
    EXPECT_FALSE(limit_.lapsed(0, last));
    EXPECT_TRUE(limit_.lapsed(0, last + 1));
  }

  FlowLimit limit_;
};

TEST_F(FlowLimitTest, TheNextPacketWaitsUntilTheShareHasRoomForIt) {
  set_share(8);
  limit_.spend(1500, kNow);
  EXPECT_EQ(limit_.delay_ns(), 12 * kUs);
  EXPECT_EQ(limit_.release_ns(), kNow) << "the share was idle before";
  limit_.spend(1500, kNow);
  EXPECT_EQ(limit_.release_ns(), kNow + 12 * kUs);
  limit_.spend(750, kNow + 12 * kUs);
  EXPECT_EQ(limit_.delay_ns(), 6 * kUs);
  EXPECT_EQ(limit_.release_ns(), kNow + 18 * kUs);
}

TEST_F(FlowLimitTest, PartsOfANanosecondCount) {
  set_share(0.8);
  limit_.spend(1500, kNow);
  EXPECT_EQ(limit_.delay_ns(), 1200u);
}

TEST_F(FlowLimitTest, APacketMayBeLateByWhatItTakes) {
  set_share(8);
  for (int i = 0; i < 2; ++i) limit_.spend(1500, kNow);
  limit_.spend(1500, kNow + 24 * kUs);
  EXPECT_EQ(limit_.release_ns(), kNow + 24 * kUs) << "12 us late";
  limit_.spend(1500, kNow + 36 * kUs + 1);
  EXPECT_EQ(limit_.release_ns(), kNow + 36 * kUs + 1) << "a nanosecond later";
}

TEST_F(FlowLimitTest, AShortPacketMayBeLateBy8Microseconds) {
  set_share(8);
  limit_.spend(125, kNow);
  EXPECT_EQ(limit_.delay_ns(), kUs);
  EXPECT_EQ(limit_.release_ns(), kNow - 7 * kUs);
  limit_.spend(125, kNow + kUs);
  EXPECT_EQ(limit_.release_ns(), kNow - 6 * kUs);
  limit_.spend(125, kNow + 2 * kUs + 1);
  EXPECT_EQ(limit_.release_ns(), kNow - 5 * kUs + 1);
}

TEST_F(FlowLimitTest, NoTimeIsBeforeTheClockBegan) {
  limit_.begin(0);
  set_share(8);
  limit_.spend(125, 5 * kUs);
  EXPECT_EQ(limit_.release_ns(), kUs);
}

// C5: whoever is held sends something now and then.
TEST_F(FlowLimitTest, NoPacketTakesMoreThan20Milliseconds) {
  set_share(10'000);
  limit_.spend(1999, kNow);
  EXPECT_EQ(limit_.delay_ns(), 19'990 * kUs);
  limit_.spend(2000, kNow);
  EXPECT_EQ(limit_.delay_ns(), 20 * kMillisecond);
  EXPECT_EQ(limit_.release_ns(), kNow + 20 * kMillisecond);
  limit_.spend(9000, kNow + 20 * kMillisecond);
  EXPECT_EQ(limit_.delay_ns(), 20 * kMillisecond);
  EXPECT_EQ(limit_.release_ns(), kNow + 40 * kMillisecond);
}

// C4
TEST_F(FlowLimitTest, UnderWayMayBeWhatTheShareCarriesInTwoRoundTripsAndTheQueue) {
  limit_.set_share(2, 10 * kUs, 6 * kUs, kNow);
  EXPECT_EQ(limit_.ns_per_byte(), 2);
  EXPECT_EQ(limit_.window_bytes(), 13'000u);
  limit_.set_share(4, 10 * kUs, 0, kNow);
  EXPECT_EQ(limit_.window_bytes(), 5'000u);
}

TEST_F(FlowLimitTest, UnderWayIsNeverMoreThanABillionBytes) {
  limit_.set_share(0.125, 62'499 * kUs, 0, kNow);
  EXPECT_EQ(limit_.window_bytes(), 999'984'000u);
  limit_.set_share(0.125, 62'499 * kUs, 2 * kUs, kNow);
  EXPECT_EQ(limit_.window_bytes(), 1'000'000'000u);
  limit_.set_share(0.125, 62'499 * kUs, 3 * kUs, kNow);
  EXPECT_EQ(limit_.window_bytes(), 1'000'000'000u);
}

TEST_F(FlowLimitTest, ItLapsesFiveRoundTripsAfterItWasTold) {
  set_share(1);
  expect_holds_until(kNow + 5 * kRoundTrip);
  limit_.set_share(1, 2 * kRoundTrip, 0, kNow + kUs);
  expect_holds_until(kNow + kUs + 10 * kRoundTrip);
}

TEST_F(FlowLimitTest, ItDoesNotLapseWhileSomethingIsUnderWay) {
  set_share(1);
  EXPECT_FALSE(limit_.lapsed(1, kNow + kSecond));
  EXPECT_TRUE(limit_.lapsed(0, kNow + kSecond));
}

TEST_F(FlowLimitTest, WhatIsDeliveredRenewsIt) {
  set_share(1);
  limit_.renew(kNow + kRoundTrip);
  expect_holds_until(kNow + 6 * kRoundTrip);
}

TEST_F(FlowLimitTest, WhereAcksAreFarApartItHoldsForFiveOfTheirIntervals) {
  set_share(1);
  limit_.renew(kNow + 80 * kUs);
  expect_holds_until(kNow + 80 * kUs + 400 * kUs);
  limit_.renew(kNow + 81 * kUs);
  expect_holds_until(kNow + 81 * kUs + 350 * kUs);
  limit_.renew(kNow + 82 * kUs);
  expect_holds_until(kNow + 82 * kUs + 306'250);
  limit_.renew(kNow + 172 * kUs);
  expect_holds_until(kNow + 172 * kUs + 450 * kUs);
}

TEST_F(FlowLimitTest, WhatDiedThereHoldsItWithoutBeingAnInterval) {
  set_share(1);
  limit_.hold(kNow + 80 * kUs);
  expect_holds_until(kNow + 80 * kUs + 5 * kRoundTrip);
}

TEST_F(FlowLimitTest, WherePacketsAreFarApartItHoldsForFiveOfThem) {
  set_share(20);
  limit_.spend(500, kNow);
  expect_holds_until(kNow + 5 * kRoundTrip);
  limit_.spend(501, kNow);
  expect_holds_until(kNow + 5 * kRoundTrip + 100);
}

TEST_F(FlowLimitTest, BeginsAnew) {
  set_share(8);
  for (int i = 0; i < 2; ++i) limit_.spend(1500, kNow);
  EXPECT_EQ(limit_.since_ns(), kNow);
  limit_.begin(kNow + kUs);
  EXPECT_EQ(limit_.since_ns(), kNow + kUs);
  EXPECT_EQ(limit_.release_ns(), 0u);
  EXPECT_EQ(limit_.delay_ns(), 0u);
  EXPECT_EQ(limit_.ns_per_byte(), 0);
  EXPECT_EQ(limit_.window_bytes(), 1'000'000'000u);
}

TEST(FlowLimit, OneThatWasNeverToldHoldsNobody) {
  const FlowLimit limit;
  EXPECT_EQ(limit.since_ns(), 0u);
  EXPECT_EQ(limit.release_ns(), 0u);
  EXPECT_FALSE(limit.lapsed(0, 0));
  EXPECT_TRUE(limit.lapsed(0, 1));
}

}  // namespace
}  // namespace heddle::flow_limit_test
