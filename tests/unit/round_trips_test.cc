// SPDX-License-Identifier: Apache-2.0
#include "flow/round_trips.h"

#include <gtest/gtest.h>

#include "flow/congestion_level.h"

namespace heddle::round_trips_test {
namespace {

constexpr Nanos kPatience = 20 * kMillisecond;
constexpr PortIndex kPort = 2;
constexpr FlowId kFlow = 7;

InputFlow handed_on(uint32_t bytes) {
  InputFlow flow{};
  flow.data_flow = flow.next_data_flow = bytes;
  return flow;
}

// Times one packet to a node, which is acknowledged after `elapsed`.
void time(RoundTrips& trips, uint16_t node, Nanos elapsed, bool alone = true, uint16_t flags = 0) {
  InputFlow flow = handed_on(1500);
  flow.flags = flags;
  trips.begin(kPort, kFlow, flow, node, alone, 1000);
  flow.ack_flow = 1500;
  trips.look(flow, 1000 + elapsed);
}

TEST(RoundTrips, EndWithTheAcknowledgementOfWhatWasHandedOnLast) {
  RoundTrips trips(3, kPatience);
  InputFlow flow = handed_on(3000);
  trips.begin(kPort, kFlow, flow, 1, true, 1000);
  EXPECT_TRUE(trips.timing());
  EXPECT_EQ(trips.port(), kPort);
  EXPECT_EQ(trips.flow_id(), kFlow);
  flow.ack_flow = 2999;
  trips.look(flow, 30000);
  EXPECT_TRUE(trips.timing());
  EXPECT_EQ(trips.to(1), 0u);
  flow.ack_flow = 3000;
  trips.look(flow, 41000);
  EXPECT_FALSE(trips.timing());
  EXPECT_EQ(trips.to(1), 40000u);
  EXPECT_EQ(trips.to(2), 0u);
}

TEST(RoundTrips, AreTheLeastSeenAndRiseSlowly) {
  RoundTrips trips(2, kPatience);
  time(trips, 1, 64000);
  time(trips, 1, 32000);
  EXPECT_EQ(trips.to(1), 32000u);
  time(trips, 1, 96000);
  EXPECT_EQ(trips.to(1), 33000u);  // a 64th of what it was longer
}

TEST(RoundTrips, OfALimitedFlowWithOthersUnderWayOnlyFall) {
  RoundTrips trips(2, kPatience);
  time(trips, 1, 64000, false, kFlowLimited);
  EXPECT_EQ(trips.to(1), 64000u);  // better than none
  time(trips, 1, 640000, false, kFlowLimited);
  EXPECT_EQ(trips.to(1), 64000u);
  time(trips, 1, 640000, false);  // not limited: its own queue is short
  EXPECT_EQ(trips.to(1), 73000u);
  time(trips, 1, 50000, false, kFlowLimited);
  EXPECT_EQ(trips.to(1), 50000u);
  time(trips, 1, 114000, true, kFlowLimited);
  EXPECT_EQ(trips.to(1), 51000u);
}

TEST(RoundTrips, TakeAtLeastANanosecond) {
  RoundTrips trips(2, kPatience);
  time(trips, 1, 0);
  EXPECT_EQ(trips.to(1), 1u);
}

TEST(RoundTrips, ArriveAtTheCongestedPortWithoutTheQueueThere) {
  RoundTrips trips(2, kPatience);
  const InputFlow flow = handed_on(1500);
  trips.begin(kPort, kFlow, flow, 1, true, 1000);
  trips.arrived(kPort, kFlow + 1, 5000);
  trips.arrived(kPort + 1, kFlow, 5000);
  EXPECT_TRUE(trips.timing());
  trips.arrived(kPort, kFlow, 9000);
  EXPECT_FALSE(trips.timing());
  EXPECT_EQ(trips.to(1), 8000u);
  trips.arrived(kPort, kFlow, 20000);  // nothing is timed
  EXPECT_EQ(trips.to(1), 8000u);
  trips.begin(kPort, kFlow, flow, 1, false, 1000);
  trips.arrived(kPort, kFlow, 2000);  // of which of those under way?
  EXPECT_TRUE(trips.timing());
}

TEST(RoundTrips, AreGivenUpWhereSomethingWasLostOrNothingIsHeard) {
  RoundTrips trips(2, kPatience);
  InputFlow flow = handed_on(1500);
  trips.begin(kPort, kFlow, flow, 1, true, 1000);
  flow.ack_flow = flow.lost_total = 1500;
  trips.look(flow, 2000);
  EXPECT_FALSE(trips.timing());
  flow = handed_on(1500);
  trips.begin(kPort, kFlow, flow, 1, true, 1000);
  trips.look(flow, 1000 + kPatience);
  EXPECT_TRUE(trips.timing());
  trips.look(flow, 1001 + kPatience);
  EXPECT_FALSE(trips.timing());
  trips.begin(kPort, kFlow, flow, 1, true, 1000);
  trips.forget(kPort + 1);
  EXPECT_TRUE(trips.timing());
  trips.forget(kPort);
  EXPECT_FALSE(trips.timing());
  EXPECT_EQ(trips.to(1), 0u);
}

TEST(RoundTrips, TellTheFarthest) {
  RoundTrips trips(3, kPatience);
  EXPECT_EQ(trips.code_bits(), 0);
  const auto bits = [](Nanos time) { return static_cast<uint8_t>(round_trip_code(time) << 4); };
  time(trips, 1, 40000);
  EXPECT_EQ(trips.code_bits(), bits(40000));
  time(trips, 2, 5000000);
  EXPECT_EQ(trips.code_bits(), bits(5000000));
  time(trips, 1, 30000);
  EXPECT_EQ(trips.code_bits(), bits(5000000));
  time(trips, 2, 2000);  // now it is the other one
  EXPECT_EQ(trips.code_bits(), bits(30000));
  EXPECT_NE(bits(30000), bits(5000000));
}

}  // namespace
}  // namespace heddle::round_trips_test
