// SPDX-License-Identifier: Apache-2.0
#include "node/edge_transmit.h"

#include "component_fixture.h"
#include "packet_builder.h"
#include "wire/pause.h"

namespace heddle::test::edge_transmit_test {
namespace {

class EdgeTransmitTest : public ComponentTest {
 protected:
  Packet* queue(uint32_t number, uint8_t ftag = kLossy, FlowId flow = kNoFlow, size_t length = 100) {
    return queue_at(output_, number, ftag, flow, length);
  }
  bool run() { return transmit_.run(output_, turn_.now()); }
  // A frame made here waits at port 2.
  void make_here(uint32_t number) {
    Packet* made = numbered(number, output_);
    made->input.port = kNoPort;
    control_.queue(output_, made);
  }
  uint32_t waiting() const { return output_.output.scheduler.packets(); }
  LaneSet lane(uint8_t ftag) const { return LaneSet{1} << site_.lanes.of(ftag, kLossyChannel); }

  HostControl host_control_{site_, turn_, control_, events_};
  Departure departure_{site_, settlement_};
  EdgeTransmit transmit_{site_, settlement_, host_control_, flow_pauses_, departure_};
};

using Numbers = std::vector<uint32_t>;

TEST_F(EdgeTransmitTest, TheHostSeesTheFrameThatWasSent) {
  queue(0);
  Packet* over_fabric = queue(1);
  prepend_fabric_header(*over_fabric);
  over_fabric->flags |= kPacketFabric;
  EXPECT_FALSE(run());
  EXPECT_EQ(device_.delivered, (std::vector<Frame>{frame(2, 1, 0), frame(2, 1, 1)}));
  EXPECT_EQ(output_.counters.sent_frames, 2u);
  EXPECT_EQ(output_.output.taken_bytes, 200u);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(EdgeTransmitTest, WithTheTagOfAVlanThatIsTaggedThere) {
  queue(0)->vni = kTagged;
  queue(1)->vni = 77;
  run();
  ASSERT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(load_be32(&device_.delivered[0][12]), 0x81000000u | kTagged);
  EXPECT_EQ(drops_of(output_, DropReason::vlan_egress), 1u);
}

TEST_F(EdgeTransmitTest, NoFrameIsLongerThanThePortTakes) {
  const uint32_t longest = output_.settings.mtu_bytes + kEthernetHeaderBytes;
  queue(0, kLossy, kNoFlow, longest);
  queue(1, kLossy, kNoFlow, longest + 1);
  run();
  EXPECT_EQ(delivered(), Numbers{0});
  EXPECT_EQ(drops_of(output_, DropReason::output_too_long), 1u);
}

TEST_F(EdgeTransmitTest, WhatHasLivedItsLifeIsDroppedAndSettled) {
  FlowId id;
  const OutputFlow& entry = reserve(output_, id);
  queue(0, kLossy, id)->dies_ns = turn_.now();
  queue(1, kLossy, id)->dies_ns = turn_.now() + 1;
  run();
  EXPECT_EQ(delivered(), Numbers{1});
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 1u);
  EXPECT_EQ(entry.pending_ack, 200u);
  EXPECT_EQ(entry.pending_lost, 100u);
  EXPECT_EQ(output_.output.room.returns(kEdge, 0).room, 2u);
}

TEST_F(EdgeTransmitTest, FramesMadeHereGoFirst) {
  queue(0);
  make_here(1);
  make_here(2);
  run();
  EXPECT_EQ(delivered(), (Numbers{1, 2, 0}));
  EXPECT_EQ(output_.output.control_packets, 0u);
}

TEST_F(EdgeTransmitTest, ABurstAtATime) {
  make_here(0);
  for (uint32_t number = 1; number <= kBurst; ++number) queue(number);
  EXPECT_TRUE(run()) << "there may be more";
  EXPECT_EQ(device_.delivered.size(), kBurst);
  EXPECT_EQ(waiting(), 1u);
  EXPECT_EQ(output_.output.taken_bytes, (kBurst - 1) * 100u);
  for (uint32_t number = 0; number <= kBurst; ++number) make_here(number);
  EXPECT_TRUE(run());
  EXPECT_EQ(output_.output.control_packets, 1u) << "no more than that of those made here";
  EXPECT_FALSE(run());
  EXPECT_EQ(device_.delivered.size(), 2 * kBurst + 2);
}

TEST_F(EdgeTransmitTest, NoMoreGoesThanTheDeviceHasRoomFor) {
  takes(output_, 3);
  for (const uint32_t number : {1, 2, 3, 4}) queue(number);
  make_here(0);
  EXPECT_FALSE(run()) << "all there is room for, but the device is full";
  EXPECT_EQ(delivered(), (Numbers{0, 1, 2}));
  EXPECT_EQ(waiting(), 2u);
  make_here(5);
  EXPECT_FALSE(run());
  EXPECT_EQ(device_.delivered.size(), 3u);
  device_.accepts = 1;
  EXPECT_FALSE(run());
  EXPECT_EQ(output_.output.control_packets, 0u);
  device_.accepts = kBurst;
  EXPECT_FALSE(run());
  EXPECT_EQ(delivered(), (Numbers{0, 1, 2, 5, 3, 4}));
}

TEST_F(EdgeTransmitTest, BehindADeviceThatTakesNothingLivesEnd) {
  takes(output_, 0);
  make_here(0);
  for (const uint32_t number : {1, 2, 3}) queue(number)->dies_ns = turn_.now() + 10 * number;
  for (const uint32_t number : {4, 5}) queue(number, kUncontrolled)->dies_ns = turn_.now() + 5 * number - 5;
  const uint64_t taken = output_.output.taken_bytes;
  turn_.begin(turn_.now() + 20);
  run();
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 2u + 2u) << "of each lane";
  EXPECT_EQ(waiting(), 1u);
  EXPECT_EQ(output_.output.taken_bytes, taken + 400);
  device_.accepts = kBurst;
  run();
  EXPECT_EQ(delivered(), (Numbers{0, 3})) << "what was made here has no life";
}

TEST_F(EdgeTransmitTest, LanesThatTheHostHasPausedWait) {
  queue(0);
  queue(1, kUncontrolled);
  poke(output_.output.paused_lanes, lane(kLossy));
  run();
  EXPECT_EQ(delivered(), Numbers{1});
  EXPECT_EQ(transmit_.next_wake(output_), turn_.now() + kSecond);
  turn_.begin(turn_.now() + kSecond);
  queue(2);
  run();
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 1u) << "for no longer than their life";
  poke(output_.output.paused_lanes, 0);
  run();
  EXPECT_EQ(delivered(), (Numbers{1, 2}));
}

// X4, K8: whom a maximum holds lives no longer for that, and the end of a life is known.
TEST_F(EdgeTransmitTest, AShapedClassWaitsForNoLongerThanALife) {
  ShaperPolicy policy;
  policy.configured = true;
  policy.leaves[kLossy].bandwidth.maximum_bps = 1'000'000;
  output_.output.scheduler.set_pace(TokenBucket(0.1, kMillisecond));
  output_.output.scheduler.set_shaper(policy);
  for (uint32_t number = 0; number < 60; ++number) queue(number)->dies_ns = turn_.now() + kMillisecond;
  run();
  const uint32_t waited = waiting();
  ASSERT_GT(waited, 0u);
  EXPECT_EQ(transmit_.next_wake(output_), turn_.now() + kMillisecond);
  turn_.begin(turn_.now() + kMillisecond);
  run();
  EXPECT_EQ(waiting(), 0u);
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), waited);
}

// C1, X4: what many send in one class says nothing of another one.
TEST_F(EdgeTransmitTest, ShapedClassesAreCongestedEachByItself) {
  PortCongestion& congestion = output_.output.congestion;
  congestion.watch_classes(std::vector<uint64_t>(topology_.classes.size(), 10'000'000'000), 10'000'000'000);
  ASSERT_TRUE(congestion.by_class());
  transmit_.look_for_congestion(output_, turn_.now());
  for (uint32_t number = 0; number < 400; ++number) queue(number, kUncontrolled, kNoFlow, 1500);
  transmit_.look_for_congestion(output_, turn_.now() + kMillisecond);
  EXPECT_TRUE(congestion.of(kUncontrolled).congested());
  EXPECT_FALSE(congestion.of(kLossy).congested());
  EXPECT_TRUE(congestion.congested());
  congestion.watch_classes(std::vector<uint64_t>(topology_.classes.size(), 5'000'000'000), 10'000'000'000);
  EXPECT_TRUE(congestion.of(kUncontrolled).congested()) << "another maximum changes nothing of that";
  congestion.watch();
  EXPECT_FALSE(congestion.by_class());
  EXPECT_FALSE(congestion.congested());
}

TEST_F(EdgeTransmitTest, AHostHearsThatItsClassesAreToWait) {
  poke(edge_.input.flows_full[kLossless], 1);
  transmit_.run(edge_, turn_.now());
  ASSERT_EQ(device_.delivered.size(), 1u);
  PauseFrame pause;
  const Frame& bytes = device_.delivered[0];
  ASSERT_TRUE(read_pause(bytes.data(), static_cast<uint32_t>(bytes.size()), pause));
  EXPECT_NE(pause.quanta[3], 0u);
  EXPECT_EQ(transmit_.next_wake(edge_), edge_.pause.next_due()) << "and is told again";
  poke(edge_.output.pause_look_ns, edge_.pause.next_due() - 1);
  EXPECT_EQ(transmit_.next_wake(edge_), edge_.output.pause_look_ns) << "its own pause may be over before";
}

TEST_F(EdgeTransmitTest, WithNothingToWaitForThereIsNothingToWakeFor) {
  queue(0);
  EXPECT_EQ(transmit_.next_wake(output_), kNever);
}

TEST_F(EdgeTransmitTest, AHostThatUnderstandsMarksHearsOfItsCongestion) {
  const auto queue_marked = [this](uint8_t ftag) {
    Packet* packet = queue(0, ftag);
    const Frame bytes = PacketBuilder().ethernet(kHostB, kHostA).ipv4(1, 2).udp(1, 2).payload(20).build();
    std::copy(bytes.begin(), bytes.end(), packet->data);
    packet->data[15] |= 1;  // its sender understands
  };
  queue_marked(kUncontrolled);
  run();
  congest(output_);
  queue_marked(kUncontrolled);
  queue_marked(kLossy);
  run();
  ASSERT_EQ(device_.delivered.size(), 3u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::ecn_marked), 1u);
  for (const size_t i : {0, 1, 2}) EXPECT_EQ(device_.delivered[i][15] & 3, i == 2 ? 3 : 1) << "congested, with marks";
}

TEST_F(EdgeTransmitTest, AQueueThatGrowsIsCongestion) {
  transmit_.look_for_congestion(output_, turn_.now());
  EXPECT_FALSE(output_.output.congestion.congested());
  for (uint32_t number = 0; number < 400; ++number) queue(number, kLossy, kNoFlow, 1500);
  transmit_.look_for_congestion(output_, turn_.now() + kMillisecond);
  EXPECT_TRUE(output_.output.congestion.congested());
}

// C2: the longest round trip that the packets of a turn know of.
TEST_F(EdgeTransmitTest, APacketThatLeavesSaysHowLongRoundTripsAre) {
  const Nanos before = output_.output.congestion.of(0).round_trip_ns();
  queue(0)->priority = 0xf0;
  run();
  EXPECT_EQ(output_.output.congestion.last_priority(0), 0xf0);
  transmit_.look_for_congestion(output_, turn_.now() + kSecond);
  EXPECT_GT(output_.output.congestion.of(0).round_trip_ns(), before);
  EXPECT_EQ(output_.output.congestion.last_priority(0), 0u) << "once";
}

}  // namespace
}  // namespace heddle::test::edge_transmit_test
