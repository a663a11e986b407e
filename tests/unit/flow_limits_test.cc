// SPDX-License-Identifier: Apache-2.0
#include "node/flow_limits.h"

#include "flow_fixture.h"

namespace heddle::test::flow_limits_test {
namespace {

class FlowLimitsTest : public FlowTest {
 protected:
  static constexpr Nanos kNow = 10 * kMillisecond;
  InputFlow& on_fabric(FlowId id) {
    InputFlow& flow = fabric_.input.flows[id];
    flow.begin({1, kOutput}, kLossy, kNoMatch);
    return flow;
  }
  FlowLimit& limit_of(FlowId id) { return edge_.input.limits[id]; }

  FlowId id_ = kNoFlow;
  InputFlow& flow_ = begin(id_);
};

TEST_F(FlowLimitsTest, ALevelHoldsAFlowUntilItIsZero) {
  EXPECT_TRUE(flow_limits_.tell(edge_, id_, flow_, 5, kNow));
  EXPECT_TRUE(flow_.flags & kFlowLimited);
  EXPECT_EQ(flow_.congestion, 5);
  EXPECT_EQ(limit_of(id_).since_ns(), kNow);
  flow_limits_.tell(edge_, id_, flow_, 7, 2 * kNow);
  EXPECT_EQ(limit_of(id_).since_ns(), kNow) << "it goes on";
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_limited), 1u);
  EXPECT_TRUE(flow_limits_.tell(edge_, id_, flow_, 0, 3 * kNow));
  EXPECT_FALSE(flow_.flags & kFlowLimited);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::limit_ended), 1u);
  flow_limits_.end(edge_, flow_);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::limit_ended), 1u);
}

// R3: what is held back waits for its host, not for the port on the way.
TEST_F(FlowLimitsTest, WhatIsHeldBackIsNoLoadOfItsOutput) {
  const auto waits = [this] { return board_.waiting_bytes(kOutput); };
  flow_.branch.set_output(kOutput);
  flow_.next_data_flow += 700;
  flow_queues_.push(edge_, id_, flow_, packet(700), kNow);
  EXPECT_EQ(waits(), 700u);
  EXPECT_EQ(board_.load(kOutput, kNow).flows, 1u);
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  EXPECT_EQ(waits(), 0u);
  EXPECT_EQ(board_.load(kOutput, kNow).flows, 0u);
  flow_.next_data_flow += 200;
  flow_queues_.push(edge_, id_, flow_, packet(200), kNow);
  EXPECT_EQ(waits(), 0u);
  flow_limits_.tell(edge_, id_, flow_, 6, kNow);
  flow_limits_.tell(edge_, id_, flow_, 0, kNow);
  EXPECT_EQ(waits(), 900u);
  EXPECT_EQ(board_.load(kOutput, kNow).flows, 1u);
  for (const uint32_t bytes : {700u, 200u}) {
    turn_.discard(flow_queues_.take(edge_, flow_));
    flow_.data_flow += bytes;
  }
  EXPECT_EQ(waits(), 0u);
  EXPECT_EQ(board_.load(kOutput, kNow).flows, 0u);
}

TEST_F(FlowLimitsTest, ItIsToldToFlowsThatAreThereAndObey) {
  FlowId other;
  InputFlow& uncontrolled = begin(other, kOutput, kUncontrolled);
  EXPECT_FALSE(flow_limits_.tell(edge_, other, uncontrolled, 5, kNow));
  flow_.flags = 0;
  EXPECT_FALSE(flow_limits_.tell(edge_, id_, flow_, 5, kNow));
  EXPECT_EQ((flow_.flags | uncontrolled.flags) & kFlowLimited, 0);
}

TEST_F(FlowLimitsTest, AShareIsOfTheHostsPort) {
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  const Destinations destinations(topology_);
  const double byte_ns = 8e9 / static_cast<double>(destinations.rate_bps(flow_.destination));
  EXPECT_DOUBLE_EQ(limit_of(id_).ns_per_byte(), byte_ns / kCongestionShares[5]);
  flow_limits_.tell(edge_, id_, flow_, 7 | kCongestionNew, kNow);
  EXPECT_DOUBLE_EQ(limit_of(id_).ns_per_byte(), byte_ns / kCongestionShares[7]) << "flags are no level";
}

// What its share carries in two round trips, and twice the queue that the host's port keeps.
TEST_F(FlowLimitsTest, ItsWindowIsOfTheRoundTripThatIsKnownBest) {
  const auto window = [&] {
    flow_limits_.tell(edge_, id_, flow_, 1, kNow);
    return limit_of(id_).window_bytes();
  };
  const Destinations destinations(topology_);
  const double byte_ns = 8e9 / static_cast<double>(destinations.rate_bps(flow_.destination));
  const double queue = 2.0 * kTargetFrames * site_.frame_bytes;
  const auto expected = [&](Nanos round_trip) { return queue + 2 * static_cast<double>(round_trip) / byte_ns; };
  EXPECT_NEAR(window(), expected(kRoundTripUnknownNs), 2);
  Packet* head = packet(100);
  head->priority = 0x90;
  flow_.queue.push(head);
  EXPECT_NEAR(window(), expected(round_trip_of_code(9)), 2) << "as its sender knows it";
  flow_.data_flow = flow_.next_data_flow = 1000;
  flow_limits_.time_round_trip(edge_, id_, 1000, kNow);
  flow_.ack_flow = 1000;
  flow_limits_.look_at_round_trip(kNow + 200 * kMicrosecond);
  EXPECT_NEAR(window(), expected(200 * kMicrosecond), 2) << "as it was measured here";
}

TEST_F(FlowLimitsTest, AFlowWithOthersUnderWaySaysNothingOfARoundTripAtItsArrival) {
  flow_.data_flow = flow_.next_data_flow = 1000;
  flow_limits_.time_round_trip(edge_, id_, 500, kNow);
  flow_limits_.tell(edge_, id_, flow_, 5 | kCongestionNew, kNow + kMicrosecond);
  EXPECT_TRUE(flow_limits_.round_trips().timing());
  flow_limits_.forget(kEdge);
  flow_limits_.time_round_trip(edge_, id_, 1000, kNow);
  flow_limits_.tell(edge_, id_, flow_, 5, kNow + kMicrosecond);
  EXPECT_TRUE(flow_limits_.round_trips().timing()) << "that was not told at its arrival";
  flow_limits_.tell(edge_, id_, flow_, 5 | kCongestionNew, kNow + kMicrosecond);
  EXPECT_FALSE(flow_limits_.round_trips().timing());
}

TEST_F(FlowLimitsTest, BehindTheEdgeItHasSomeRoomAndIsPassedOn) {
  InputFlow& flow = on_fabric(9);
  flow_limits_.tell(fabric_, 9, flow, 5, kNow);
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  EXPECT_DOUBLE_EQ(fabric_.input.limits[9].ns_per_byte(), limit_of(id_).ns_per_byte() / 2);
  EXPECT_TRUE(fabric_.input.ack_urgent);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_FALSE(edge_.input.ack_urgent);
  EXPECT_TRUE(edge_.input.ack_due.empty());
}

TEST_F(FlowLimitsTest, AFlowThatHasSpentItsShareWaits) {
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  EXPECT_TRUE(flow_limits_.may_forward(edge_, id_, flow_, 1000, kNow));
  flow_.data_flow = flow_.next_data_flow = 1000;
  flow_limits_.spend(edge_, id_, 1000, kNow);
  flow_limits_.spend(edge_, id_, 100'000, kNow);
  const Nanos release = limit_of(id_).release_ns();
  ASSERT_GT(release, kNow);
  EXPECT_FALSE(flow_limits_.may_forward(edge_, id_, flow_, 1000, release - 1));
  EXPECT_TRUE(flow_limits_.may_forward(edge_, id_, flow_, 1000, release));
  EXPECT_TRUE(flow_limits_.round_trips().timing()) << "what it spends is timed";
}

TEST_F(FlowLimitsTest, ALimitThatNobodyRenewsIsOver) {
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  EXPECT_TRUE(flow_limits_.may_forward(edge_, id_, flow_, 1000, kNow + 10 * kSecond));
  EXPECT_FALSE(flow_.flags & kFlowLimited);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::limit_expired), 1u);
}

// Frames that have died under way leave the flow held for as long as frames that were delivered, but they do not say
// how often it is heard of.
TEST_F(FlowLimitsTest, WhatIsSettledRenewsIt) {
  constexpr Nanos kLater = kNow + 10 * kSecond;
  flow_limits_.tell(edge_, id_, flow_, 5, kNow);
  EXPECT_TRUE(limit_of(id_).lapsed(0, kLater));
  flow_limits_.renew(edge_, id_, 0, kLater);
  EXPECT_FALSE(limit_of(id_).lapsed(0, kLater));
  EXPECT_TRUE(limit_of(id_).lapsed(0, kLater + kSecond)) << "the interval is none of 10 s";
  flow_limits_.renew(edge_, id_, 1, kLater + 20 * kSecond);
  EXPECT_FALSE(limit_of(id_).lapsed(0, kLater + 21 * kSecond)) << "and now it is one of 20 s";
}

TEST_F(FlowLimitsTest, WithoutCreditItWaits) {
  flow_.flags |= kFlowMetered;
  flow_.data_flow = flow_.next_data_flow = 100;
  edge_.input.meters[id_].set_limit(150);
  EXPECT_FALSE(flow_limits_.may_forward(edge_, id_, flow_, 51, kNow));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::credit_waited), 1u);
  EXPECT_TRUE(flow_limits_.may_forward(edge_, id_, flow_, 50, kNow));
}

TEST_F(FlowLimitsTest, AFlowThatHasItsPartOfALosslessChannelWaits) {
  flow_.branch.voq = site_.voq_index(kFabric, site_.lanes.of(kLossless, kFirstLosslessChannel));
  EXPECT_TRUE(flow_limits_.may_forward(edge_, id_, flow_, 100, kNow)) << "the first one";
  flow_.data_flow = flow_.next_data_flow = 100;
  EXPECT_FALSE(flow_limits_.may_forward(edge_, id_, flow_, 100, kNow)) << "nothing is granted";
}

TEST_F(FlowLimitsTest, ARoundTripLastsUntilItsPacketIsSettled) {
  flow_.data_flow = flow_.next_data_flow = 1000;
  flow_limits_.time_round_trip(edge_, id_, 1000, kNow);
  EXPECT_TRUE(flow_limits_.round_trips().timing());
  flow_limits_.look_at_round_trip(kNow + kMicrosecond);
  EXPECT_TRUE(flow_limits_.round_trips().timing());
  flow_.ack_flow = 1000;
  flow_limits_.look_at_round_trip(kNow + 30 * kMicrosecond);
  EXPECT_FALSE(flow_limits_.round_trips().timing());
  const Destinations destinations(topology_);
  EXPECT_EQ(flow_limits_.round_trips().to(destinations.node(1)), 30 * kMicrosecond);
  flow_limits_.look_at_round_trip(kNow + kSecond);
}

TEST_F(FlowLimitsTest, APortThatIsGoneIsTimedNoMore) {
  flow_.data_flow = flow_.next_data_flow = 1000;
  flow_limits_.time_round_trip(edge_, id_, 1000, kNow);
  flow_limits_.forget(kOutput);
  EXPECT_TRUE(flow_limits_.round_trips().timing());
  flow_limits_.forget(kEdge);
  EXPECT_FALSE(flow_limits_.round_trips().timing());
}

}  // namespace
}  // namespace heddle::test::flow_limits_test
