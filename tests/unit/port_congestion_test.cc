// SPDX-License-Identifier: Apache-2.0
// C1: which classes of an edge port are congested, where all are one and where each is by itself.
#include "egress/port_congestion.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

namespace heddle::port_congestion_test {
namespace {

constexpr uint64_t kRate = 10'000'000'000;
constexpr uint32_t kFrame = 1514, kPayload = 1500;
constexpr PortBytes kBytes{.overhead = kWireExtraBytes, .largest = 1524, .turn_max = 8 * 1524};
// Of the rate above with a round trip of 32 us: a queue is too long beyond that.
constexpr uint32_t kMarkBytes = 2 * (2500 + 8 * kFrame), kMarkPackets = kMarkBytes / 256;
constexpr uint8_t kFtags[] = {3, 7};

// Two lossy classes, a lane each.
class PortCongestionTest : public testing::Test {
 protected:
  static Topology topology() {
    Topology topology;
    topology.classes.resize(2);
    for (size_t position = 0; position < 2; ++position) topology.classes[position].ftag = kFtags[position];
    return topology;
  }
  void push(uint8_t of_class, uint32_t packets, uint16_t bytes = kPayload) {
    for (; packets != 0; --packets) {
      Packet& packet = packets_.emplace_back();
      packet.lane = LaneIndex::of(of_class);
      packet.input.port = 0;
      packet.payload = packet.length = bytes;
      queued_.push(&packet);
    }
  }
  void leave(uint8_t of_class, uint32_t packets) {
    for (; packets != 0; --packets) left_bytes_ += queued_.take(LaneIndex::of(of_class), 0)->payload;
  }
  void have_flows(uint8_t of_class, uint32_t count) {
    for (; count != 0; --count) flows_.reserve(InputFlowRef::of(1, 0, 1), kFtags[of_class], 0);
  }
  bool look(Nanos after = 0) {
    port_.look(kBegun + after, queued_, flows_, left_bytes_);
    return port_.congested();
  }
  void watch_classes() { port_.watch_classes({kRate, kRate}, kRate); }
  // Half as much leaves as could, so that a host seems to be slow; then the class's queue runs empty for a moment.
  double position_when_it_ran_empty() {
    have_flows(0, 2);
    push(0, 20);
    look();
    leave(0, 10);
    look(40 * kMicrosecond);
    leave(0, 10);
    look(41 * kMicrosecond);
    push(0, 20);
    leave(0, 10);
    look(80 * kMicrosecond);
    return port_.part(0).position();
  }
  // What that is where it is known whether the port was idle.
  static double position_when_empty_and(bool idle) {
    EndpointCongestion alone(kRate, kFrame, 1);
    const auto at = [&alone](Nanos after, uint32_t packets, uint64_t left, bool is_idle) {
      alone.look({.now = kBegun + after,
                  .queued_bytes = packets * kPayload,
                  .queued_packets = packets,
                  .left_bytes = left * kPayload,
                  .port_left_bytes = left * kPayload,
                  .flows = 2,
                  .idle = is_idle,
                  .priority = 0});
    };
    at(0, 20, 0, false);
    at(40 * kMicrosecond, 10, 10, false);
    at(41 * kMicrosecond, 0, 20, idle);
    at(80 * kMicrosecond, 10, 30, false);
    return alone.position();
  }

  static constexpr Nanos kBegun = kSecond;
  PortCongestion port_{kRate, kFrame, 1};
  const Lanes lanes_{topology()};
  OutputScheduler queued_{lanes_, 1, kBytes};
  OutputFlowTable flows_{64, {0b1}};
  uint64_t left_bytes_ = 0;
  std::deque<Packet> packets_;
};

TEST_F(PortCongestionTest, AtFirstAllClassesAreOne) {
  EXPECT_FALSE(port_.congested());
  EXPECT_FALSE(port_.by_class());
  ASSERT_EQ(port_.parts(), 1u);
  for (const uint8_t of_class : {uint8_t{0}, uint8_t{1}}) {
    EXPECT_EQ(&port_.of(of_class), &port_.part(0));
    EXPECT_EQ(&std::as_const(port_).of(of_class), &port_.part(0));
    EXPECT_EQ(port_.last_priority(of_class), 0);
  }
}

TEST_F(PortCongestionTest, WhereClassesAreShapedEachIsByItself) {
  watch_classes();
  EXPECT_TRUE(port_.by_class());
  ASSERT_EQ(port_.parts(), 2u);
  for (const uint8_t of_class : {uint8_t{0}, uint8_t{1}}) {
    EXPECT_EQ(&port_.of(of_class), &port_.part(of_class));
    EXPECT_EQ(&std::as_const(port_).of(of_class), &port_.part(of_class));
  }
  port_.watch();
  EXPECT_FALSE(port_.by_class());
  EXPECT_EQ(port_.parts(), 1u);
}

TEST_F(PortCongestionTest, WhatIsQueuedOfAllClassesCounts) {
  push(0, 10);
  push(1, 9);
  push(1, 1, kMarkBytes - 19 * kPayload);
  EXPECT_FALSE(look());
  push(0, 1, 1);
  EXPECT_TRUE(look());
  EXPECT_EQ(port_.part(0).since_ns(), kBegun);
}

TEST_F(PortCongestionTest, PacketsOfAllClassesCount) {
  push(0, 60, 64);
  push(1, kMarkPackets - 60, 64);
  EXPECT_FALSE(look());
  push(1, 1, 64);
  EXPECT_TRUE(look());
}

TEST_F(PortCongestionTest, FlowsOfAllClassesCount) {
  have_flows(0, 1);
  have_flows(1, 3);
  push(0, 400);
  look();
  EXPECT_NEAR(port_.part(0).position(), 1 + 4.0 / 3 * 2, 1e-9) << "a quarter each";
}

TEST_F(PortCongestionTest, AClassIsNotCongestedByWhatIsQueuedOfAnother) {
  watch_classes();
  push(0, 15);
  push(1, 15);
  EXPECT_FALSE(look());
  push(0, 60, 64);
  push(1, 60, 64);
  EXPECT_FALSE(look());
  push(1, 10);
  EXPECT_TRUE(look());
  EXPECT_FALSE(port_.of(0).congested());
  EXPECT_TRUE(port_.of(1).congested());
}

TEST_F(PortCongestionTest, TheFirstClassAloneMakesThePortCongested) {
  watch_classes();
  push(0, 400);
  EXPECT_TRUE(look());
  EXPECT_FALSE(port_.of(1).congested());
}

TEST_F(PortCongestionTest, AClassIsSharedByItsOwnFlows) {
  watch_classes();
  have_flows(0, 2);
  have_flows(1, 8);
  push(0, 400);
  push(1, 400);
  look();
  EXPECT_NEAR(port_.part(0).position(), 1 + 4.0 / 3, 1e-9);
  EXPECT_NEAR(port_.part(1).position(), 1 + 4.0 / 3 * 3, 1e-9);
}

TEST_F(PortCongestionTest, SharesAreOfThePortsRate) {
  port_.watch_classes({kRate / 8, kRate}, kRate);
  have_flows(0, 2);
  have_flows(1, 2);
  push(0, 400);
  push(1, 400);
  look();
  EXPECT_NEAR(port_.part(0).position(), 1 + 4.0 / 3 * 4, 1e-9) << "a half of an eighth";
  EXPECT_NEAR(port_.part(1).position(), 1 + 4.0 / 3, 1e-9);
}

TEST_F(PortCongestionTest, ItEndsWhenWhoeverMadeItHasGone) {
  push(0, 400);
  ASSERT_TRUE(look());
  leave(0, 400);
  left_bytes_ = 0;  // they have died
  EXPECT_TRUE(look(1000));
  EXPECT_FALSE(look(20 * kMicrosecond));
}

// What leaves in the other one goes as fast as the port.
TEST_F(PortCongestionTest, ItEndsInAClassThatSendsNoMore) {
  watch_classes();
  push(0, 400);
  ASSERT_TRUE(look());
  leave(0, 398);
  EXPECT_TRUE(look(1000));
  leave(0, 2);
  push(1, 16);
  leave(1, 16);
  EXPECT_FALSE(look(20 * kMicrosecond));
}

TEST_F(PortCongestionTest, APortWithoutAnyPacketIsIdle) {
  ASSERT_NE(position_when_empty_and(true), position_when_empty_and(false));
  EXPECT_EQ(position_when_it_ran_empty(), position_when_empty_and(true));
}

TEST_F(PortCongestionTest, AClassWithoutAnyIsNotIdleBesideOthers) {
  watch_classes();
  push(1, 1);
  EXPECT_EQ(position_when_it_ran_empty(), position_when_empty_and(false));
}

TEST_F(PortCongestionTest, RoundTripsAreThoseOfWhatLeaves) {
  port_.leaves(1, 4 << 4 | 3);
  EXPECT_EQ(port_.last_priority(0), 4 << 4 | 3);
  EXPECT_EQ(port_.part(0).round_trip_ns(), kRoundTripUnknownNs);
  look();
  EXPECT_EQ(port_.part(0).round_trip_ns(), 16 * kMicrosecond);
  EXPECT_EQ(port_.last_priority(0), 0) << "of a turn";
}

TEST_F(PortCongestionTest, RoundTripsAreOfTheClass) {
  watch_classes();
  port_.leaves(1, 4 << 4);
  EXPECT_EQ(port_.last_priority(0), 0);
  EXPECT_EQ(port_.last_priority(1), 4 << 4);
  look();
  EXPECT_EQ(port_.part(0).round_trip_ns(), kRoundTripUnknownNs);
  EXPECT_EQ(port_.part(1).round_trip_ns(), 16 * kMicrosecond);
  EXPECT_EQ(port_.last_priority(1), 0);
}

TEST_F(PortCongestionTest, OtherRatesChangeNothingOfWhatIsKnown) {
  watch_classes();
  have_flows(1, 2);
  push(1, 400);
  ASSERT_TRUE(look());
  port_.watch_classes({kRate / 2, kRate / 8}, kRate);
  EXPECT_TRUE(port_.congested());
  EXPECT_TRUE(port_.part(1).congested());
  EXPECT_NEAR(port_.part(1).position(), 1 + 4.0 / 3, 1e-9);
  EXPECT_TRUE(look());
  EXPECT_NEAR(port_.part(1).position(), 1 + 4.0 / 3 * 4, 1e-9);
}

TEST_F(PortCongestionTest, WhatWasKnownOfAllIsNotKnownOfAClass) {
  push(0, 400);
  ASSERT_TRUE(look());
  watch_classes();
  EXPECT_FALSE(port_.congested());
  EXPECT_FALSE(port_.part(0).congested());
  EXPECT_FALSE(port_.part(1).congested());
}

TEST_F(PortCongestionTest, WhatWasKnownOfAClassIsNotKnownOfAll) {
  watch_classes();
  push(1, 400);
  ASSERT_TRUE(look());
  port_.watch();
  EXPECT_FALSE(port_.congested());
  leave(1, 400);
  EXPECT_FALSE(look());
}

TEST_F(PortCongestionTest, EachClassDrawsLevelsOfItsOwn) {
  watch_classes();
  push(0, 400);
  push(1, 400);
  have_flows(0, 2);
  have_flows(1, 2);
  look();
  ASSERT_EQ(port_.part(0).position(), port_.part(1).position());
  uint32_t different = 0;
  for (int i = 0; i < 1000; ++i) different += port_.of(0).next_level() != port_.of(1).next_level();
  EXPECT_NEAR(different, 444, 60) << "two thirds and a third, twice";
}

}  // namespace
}  // namespace heddle::port_congestion_test
