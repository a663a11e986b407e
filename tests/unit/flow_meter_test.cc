// SPDX-License-Identifier: Apache-2.0
// C6: what a switch grants the one before, and what the next one has granted it.
#include "flow/flow_meter.h"

#include <gtest/gtest.h>

namespace heddle::flow_meter_test {
namespace {

using Verdict = FlowMeter::Verdict;

constexpr uint32_t kFrame = 1500;
constexpr uint32_t kTarget = 12'000;

class FlowMeterTest : public testing::Test {
 protected:
  FlowMeterTest() {
    meter_.begin(kTarget, 0);
    meter_.tell(0);
  }
  Verdict leave(const FlowMeter::Departure& departure, uint32_t target = kTarget) {
    return meter_.leave(departure, target, kFrame);
  }
  // The window after a packet of so many bytes has left so much in the queue.
  uint32_t window_after(uint32_t bytes, uint32_t queued, uint32_t target = kTarget) {
    leave({.bytes = bytes, .queued = queued, .received = queued, .data_flow = 0}, target);
    return meter_.tell(0);
  }

  FlowMeter meter_;
};

TEST_F(FlowMeterTest, UpstreamMaySendTwiceTheTargetBeyondWhatHasLeft) {
  meter_.begin(kTarget, 1000);
  EXPECT_EQ(meter_.tell(1000), 25'000u);
  EXPECT_EQ(meter_.tell(4000), 28'000u);
}

TEST_F(FlowMeterTest, PositionsWrap) {
  meter_.begin(kTarget, 0xfffffff0);
  EXPECT_EQ(meter_.tell(0xfffffff0), 23'984u);
  EXPECT_EQ(leave({.bytes = 800, .queued = 12'000, .received = 17'983, .data_flow = 5983}), Verdict::nothing);
  EXPECT_EQ(leave({.bytes = 800, .queued = 12'000, .received = 17'984, .data_flow = 5984}), Verdict::tell);
}

TEST_F(FlowMeterTest, ALimitIsToldThatIsHigherByAQuarterOfTheWindow) {
  EXPECT_EQ(leave({.bytes = 800, .queued = 10'000, .received = 15'999, .data_flow = 5999}), Verdict::nothing);
  EXPECT_EQ(leave({.bytes = 800, .queued = 10'000, .received = 16'000, .data_flow = 6000}), Verdict::tell);
  EXPECT_EQ(meter_.tell(6000), 30'000u);
  EXPECT_EQ(leave({.bytes = 800, .queued = 10'000, .received = 16'800, .data_flow = 6800}), Verdict::nothing);
}

TEST_F(FlowMeterTest, WhenItBeginsAnewTheFirstLimitIsToldAtOnce) {
  meter_.begin(kTarget, 1000);
  EXPECT_EQ(leave({.bytes = 800, .queued = 12'000, .received = 13'800, .data_flow = 1800}), Verdict::tell);
}

TEST_F(FlowMeterTest, ALimitThatWouldFallIsNotTold) {
  meter_.tell(20'000);
  EXPECT_EQ(leave({.bytes = 800, .queued = 12'001, .received = 32'001, .data_flow = 20'000}), Verdict::nothing);
}

TEST_F(FlowMeterTest, ItIsOverWhenTheQueueIsEmptyAndUpstreamHasLeftMoreThanHalfUnused) {
  EXPECT_NE(leave({.bytes = 800, .queued = 0, .received = 12'000, .data_flow = 12'000}), Verdict::over);
  EXPECT_EQ(leave({.bytes = 800, .queued = 0, .received = 11'999, .data_flow = 11'999}), Verdict::over);
  EXPECT_NE(leave({.bytes = 800, .queued = 1, .received = 11'999, .data_flow = 11'998}), Verdict::over);
}

TEST_F(FlowMeterTest, ItIsNotOverForWhomHasUsedAllOrMore) {
  EXPECT_EQ(leave({.bytes = 800, .queued = 0, .received = 24'000, .data_flow = 24'000}), Verdict::tell);
  EXPECT_EQ(leave({.bytes = 800, .queued = 0, .received = 24'001, .data_flow = 24'001}), Verdict::tell);
}

TEST_F(FlowMeterTest, AboveTheTargetAnEighthLessThanAPacketIsGranted) {
  EXPECT_EQ(window_after(800, kTarget + 1), 23'900u);
  EXPECT_EQ(window_after(800, 2 * kTarget), 23'800u);
}

TEST_F(FlowMeterTest, AboveTwiceTheTargetNothingIsGrantedForAPacket) {
  EXPECT_EQ(window_after(800, 2 * kTarget + 1), 23'200u);
  EXPECT_EQ(window_after(800, 10 * kTarget), 22'400u);
}

TEST_F(FlowMeterTest, UpToTheTargetAnEighthMoreThanAPacketIsGranted) {
  EXPECT_EQ(window_after(1600, 2 * kTarget + 1), 22'400u);
  EXPECT_EQ(window_after(800, kTarget), 22'500u);
  EXPECT_EQ(window_after(800, 1), 22'600u);
}

TEST_F(FlowMeterTest, NeverMoreThanTwiceTheTarget) {
  EXPECT_EQ(window_after(800, kTarget), 24'000u);
  EXPECT_EQ(window_after(400, kTarget + 1), 23'950u);
  EXPECT_EQ(window_after(800, kTarget), 24'000u);
  EXPECT_EQ(window_after(800, kTarget / 2, kTarget / 2), 12'000u) << "others queue there too by now";
}

TEST_F(FlowMeterTest, NeverLessThanAFrame) {
  meter_.begin(kFrame, 0);
  EXPECT_EQ(window_after(800, 2 * kFrame + 1, kFrame), 2200u);
  EXPECT_EQ(window_after(700, 2 * kFrame + 1, kFrame), 1500u);
  EXPECT_EQ(window_after(8, 2 * kFrame, kFrame), 1500u);
  EXPECT_EQ(window_after(9000, 2 * kFrame + 1, kFrame), 1500u) << "a packet that is larger than the window";
}

TEST(FlowMeter, AllowsUpToTheLimitOfTheNextSwitch) {
  FlowMeter meter;
  meter.set_limit(5000);
  EXPECT_TRUE(meter.allows(4999));
  EXPECT_TRUE(meter.allows(5000));
  EXPECT_FALSE(meter.allows(5001));
  meter.set_limit(100);
  EXPECT_TRUE(meter.allows(0xfffffff0)) << "before the wrap";
  EXPECT_FALSE(meter.allows(101));
}

TEST(FlowMeter, NothingIsGrantedBeforeItBegins) {
  FlowMeter meter;
  EXPECT_TRUE(meter.allows(0));
  EXPECT_FALSE(meter.allows(1));
  EXPECT_EQ(meter.tell(700), 700u);
}

TEST_F(FlowMeterTest, WhatIsGrantedHereAndWhatIsGrantedByTheNextAreApart) {
  meter_.set_limit(5000);
  EXPECT_EQ(meter_.tell(1000), 25'000u);
  EXPECT_FALSE(meter_.allows(5001));
}

}  // namespace
}  // namespace heddle::flow_meter_test
