// SPDX-License-Identifier: Apache-2.0
// May a flow go on: its limit (C3-C5, K10), its credits (C6) and its part of the buffers (C8).
#include "flow/flow_gate.h"

#include <gtest/gtest.h>

namespace heddle::flow_gate_test {
namespace {

constexpr Nanos kRoundTrip = 10 * kMicrosecond;

// --- the limit ---

FlowLimit limit_of(double ns_per_byte, Nanos now) {
  FlowLimit limit;
  limit.begin(now);
  limit.set_share(ns_per_byte, kRoundTrip, 5 * kMicrosecond, now);
  return limit;
}

TEST(FlowLimit, ItsWindowIsWhatTheShareCarriesInTwoRoundTripsAndTheQueue) {
  EXPECT_EQ(limit_of(1, 0).window_bytes(), 25000u);
  EXPECT_EQ(limit_of(10, 0).window_bytes(), 2500u);
  EXPECT_EQ(limit_of(1e-9, 0).window_bytes(), 1000000000u);
}

TEST(FlowLimit, PacketsOfAShareComeItsTimeApart) {
  FlowLimit limit = limit_of(10, 100 * kMicrosecond);
  Nanos now = 100 * kMicrosecond;
  EXPECT_EQ(limit.release_ns(), 0u);
  limit.spend(1500, now);
  EXPECT_EQ(limit.delay_ns(), 15 * kMicrosecond);
  const Nanos first = limit.release_ns();
  EXPECT_EQ(first, now);  // one packet's time is forgiven: releases are late
  now = first;
  for (int packet = 1; packet <= 10; ++packet) {
    limit.spend(1500, now);
    EXPECT_EQ(limit.release_ns(), first + packet * 15 * kMicrosecond);
    now = limit.release_ns();
  }
}

// Being late does not slow it down; having been away does not save anything up.
TEST(FlowLimit, ForgivesALateReleaseButNoLongPause) {
  FlowLimit limit = limit_of(1, 0);
  limit.spend(1000, kMillisecond);
  EXPECT_EQ(limit.release_ns(), kMillisecond - 7 * kMicrosecond);  // 8 us forgiven, 1 us taken
  limit.spend(1000, kMillisecond);
  EXPECT_EQ(limit.release_ns(), kMillisecond - 6 * kMicrosecond);
  limit.spend(1000, 2 * kMillisecond);
  EXPECT_EQ(limit.release_ns(), 2 * kMillisecond - 7 * kMicrosecond);
}

TEST(FlowLimit, WhoeverIsHeldSendsNowAndThen) {
  FlowLimit limit = limit_of(1e6, 0);
  limit.spend(1500, kSecond);
  EXPECT_EQ(limit.delay_ns(), 20 * kMillisecond);
}

TEST(FlowLimit, LapsesWhenNobodyRenewsIt) {
  FlowLimit limit = limit_of(1, kMillisecond);
  const Nanos lease = 5 * kRoundTrip;
  EXPECT_FALSE(limit.lapsed(0, kMillisecond + lease));
  EXPECT_TRUE(limit.lapsed(0, kMillisecond + lease + 1));
  EXPECT_FALSE(limit.lapsed(1, kMillisecond + lease + 1)) << "something is under way";
  limit.renew(kMillisecond + lease);
  EXPECT_FALSE(limit.lapsed(0, kMillisecond + lease + 1));
}

// ACKs that come seldom are waited for, and so is a packet that takes long.
TEST(FlowLimit, ItsLeaseFollowsTheAcknowledgementsAndTheDelay) {
  FlowLimit limit = limit_of(1, 0);
  limit.renew(kMillisecond);
  EXPECT_FALSE(limit.lapsed(0, 6 * kMillisecond));
  EXPECT_TRUE(limit.lapsed(0, 6 * kMillisecond + 1));
  limit.renew(kMillisecond + 1000);  // the interval is forgotten slowly
  EXPECT_FALSE(limit.lapsed(0, kMillisecond + 1000 + 5 * 875 * kMicrosecond));
  EXPECT_TRUE(limit.lapsed(0, kMillisecond + 1001 + 5 * 875 * kMicrosecond));
  FlowLimit slow = limit_of(100, 0);
  slow.spend(1500, 0);
  EXPECT_FALSE(slow.lapsed(0, 5 * 150 * kMicrosecond));
  EXPECT_TRUE(slow.lapsed(0, 5 * 150 * kMicrosecond + 1));
}

TEST(FlowLimit, BeginsAnew) {
  FlowLimit limit = limit_of(100, 0);
  limit.spend(1500, kSecond);
  limit.begin(2 * kSecond);
  EXPECT_EQ(limit.release_ns(), 0u);
  EXPECT_EQ(limit.delay_ns(), 0u);
  EXPECT_EQ(limit.since_ns(), 2 * kSecond);
}

// --- the meter ---

constexpr uint32_t kTarget = 6000, kFrame = 1514;

TEST(FlowMeter, GrantsWhatLeavesTheQueue) {
  FlowMeter meter;
  meter.begin(kTarget, 100000);
  EXPECT_EQ(meter.tell(100000), 112000u);
  // Above twice the target nothing of it, down to a frame; above the target some less.
  EXPECT_EQ(meter.leave({1500, 3 * kTarget, 120000, 101500}, kTarget, kFrame), FlowMeter::Verdict::nothing);
  EXPECT_EQ(meter.tell(101500), 101500 + 2 * kTarget - 1500);
  EXPECT_EQ(meter.leave({1600, kTarget + 1, 120000, 103100}, kTarget, kFrame), FlowMeter::Verdict::nothing);
  EXPECT_EQ(meter.tell(103100), 103100 + 2 * kTarget - 1700);
  // At it and below some more, and never more than twice the target.
  EXPECT_EQ(meter.leave({1600, kTarget, 120000, 104700}, kTarget, kFrame), FlowMeter::Verdict::nothing);
  EXPECT_EQ(meter.tell(104700), 104700 + 2 * kTarget - 1500);
  for (int packet = 0; packet < 20; ++packet) meter.leave({1600, kTarget, 120000, 104700}, kTarget, kFrame);
  EXPECT_EQ(meter.tell(104700), 104700 + 2 * kTarget);
  for (int packet = 0; packet < 20; ++packet) meter.leave({1500, 3 * kTarget, 120000, 104700}, kTarget, kFrame);
  EXPECT_EQ(meter.tell(104700), 104700 + kFrame);
}

TEST(FlowMeter, TellsAQuarterOfItsWindowAtATime) {
  FlowMeter meter;
  meter.begin(kTarget, 0);
  meter.tell(0);
  const auto leave = [&meter](uint32_t position) {
    return meter.leave({8, kTarget, 12000, position}, kTarget, kFrame);
  };
  EXPECT_EQ(leave(2999), FlowMeter::Verdict::nothing);
  EXPECT_EQ(leave(3000), FlowMeter::Verdict::tell);
}

TEST(FlowMeter, IsOverWhenTheQueueIsEmptyAndUpstreamHasNotUsedWhatItHad) {
  FlowMeter meter;
  meter.begin(kTarget, 0);
  meter.tell(0);  // up to 12000
  EXPECT_EQ(meter.leave({1500, 0, 5999, 5999}, kTarget, kFrame), FlowMeter::Verdict::over);
  EXPECT_NE(meter.leave({1500, 0, 6000, 6000}, kTarget, kFrame), FlowMeter::Verdict::over) << "half of it was used";
  EXPECT_NE(meter.leave({1500, 1, 5000, 5000}, kTarget, kFrame), FlowMeter::Verdict::over) << "some are left";
  EXPECT_NE(meter.leave({1500, 0, 12001, 12001}, kTarget, kFrame), FlowMeter::Verdict::over)
      << "more came than granted";
}

TEST(FlowMeter, AllowsUpToItsLimit) {
  FlowMeter meter;
  meter.set_limit(1000);
  EXPECT_TRUE(meter.allows(1000));
  EXPECT_FALSE(meter.allows(1001));
  meter.set_limit(0xffffff00);
  EXPECT_TRUE(meter.allows(0xffffff00));
  EXPECT_FALSE(meter.allows(5)) << "positions wrap";
  meter.set_limit(5);
  EXPECT_TRUE(meter.allows(0xffffff00));
}

// --- the gate ---

class FlowGate : public testing::Test {
 protected:
  FlowGate() {
    flow_.data_flow = flow_.next_data_flow = 5000;
    flow_.ack_flow = 3000;  // 2000 bytes under way
    meter_.set_limit(6000);
  }
  Gate gate(uint32_t bytes, Nanos now, uint64_t free_bytes = kNoShare, bool may_inject = true) const {
    return gate_of(flow_, limit_, meter_, free_bytes, may_inject, bytes, now);
  }

  InputFlow flow_{};
  FlowLimit limit_;
  FlowMeter meter_;
};

TEST_F(FlowGate, IsOpenWhereNothingHolds) {
  EXPECT_EQ(gate(1500, 0), Gate::open);  // the meter's limit is not in force
  EXPECT_TRUE(is_open(Gate::open));
  EXPECT_TRUE(is_open(Gate::lapsed));
  for (const Gate closed : {Gate::leaving, Gate::no_share, Gate::injection, Gate::no_credit, Gate::paced, Gate::window})
    EXPECT_FALSE(is_open(closed));
}

TEST_F(FlowGate, LetsAFlowHaveAQuarterOfWhatIsFree) {
  EXPECT_EQ(gate(1500, 0, 8000), Gate::open);
  EXPECT_EQ(gate(1500, 0, 7999), Gate::no_share);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1500, 0, 0), Gate::open) << "who has nothing under way may always send";
}

TEST_F(FlowGate, WaitsForItsApplicationsLimit) { EXPECT_EQ(gate(1500, 0, kNoShare, false), Gate::injection); }

TEST_F(FlowGate, WaitsForWhatIsUnderWayOnThePathThatItLeaves) {
  flow_.flags = kFlowLeaving;
  EXPECT_EQ(gate(1500, 0), Gate::leaving);
}

TEST_F(FlowGate, WaitsForCredit) {
  flow_.flags = kFlowMetered;
  EXPECT_EQ(gate(1000, 0), Gate::open);
  EXPECT_EQ(gate(1001, 0), Gate::no_credit);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1001, 0), Gate::open) << "nothing is under way that could bring it";
}

TEST_F(FlowGate, WaitsForItsTimeAndItsWindow) {
  flow_.flags = kFlowLimited;
  limit_ = limit_of(10, kMillisecond);  // window 2500
  limit_.spend(1500, kMillisecond);
  limit_.spend(1500, kMillisecond);
  EXPECT_EQ(limit_.release_ns(), kMillisecond + 15 * kMicrosecond);
  EXPECT_EQ(gate(1500, kMillisecond + 14999), Gate::paced);
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::open);
  flow_.ack_flow = 2500;
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::open);
  flow_.ack_flow = 2499;
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::window);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1500, kSecond), Gate::lapsed);
}

// What the next switch says comes before what the host's port says.
TEST_F(FlowGate, NamesTheFirstReason) {
  flow_.flags = kFlowLimited | kFlowMetered;
  limit_ = limit_of(1000, kMillisecond);
  limit_.spend(1500, kMillisecond);
  limit_.spend(1500, kMillisecond);
  EXPECT_EQ(gate(1500, kMillisecond, 1, false), Gate::injection);
  EXPECT_EQ(gate(1500, kMillisecond, 1), Gate::no_share);
  EXPECT_EQ(gate(1500, kMillisecond, 1 << 20), Gate::no_credit);
  EXPECT_EQ(gate(500, kMillisecond, 1 << 20), Gate::paced);
}

}  // namespace
}  // namespace heddle::flow_gate_test
