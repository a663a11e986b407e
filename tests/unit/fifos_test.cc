// SPDX-License-Identifier: Apache-2.0
#include "node/fifos.h"

#include "flow_fixture.h"

namespace heddle::test::fifos_test {
namespace {

class FifosTest : public FlowTest {
 protected:
  Packet* frame(PortIndex to, uint8_t ftag = kLossless, uint16_t cost = 1) {
    Packet* fresh = packet(100, ftag);
    fresh->destination = {1, to};
    fresh->input = edge_.input.ref;
    fresh->output_flow = 9;
    fresh->cost = cost;
    return fresh;
  }
  Voq& voq_of(PortIndex to) { return edge_.input.arbiter[site_.voq_index(to, lane_)]; }
  // What waits in the lane of an output.
  uint32_t crossed(LaneIndex lane) const {
    uint32_t count = 0;
    for (const Packet* one = first_queued(output_.output, lane); one != nullptr; one = one->next) ++count;
    return count;
  }

  const LaneIndex lane_ = site_.lanes.of(kLossless, kFirstLosslessChannel);
};

TEST_F(FifosTest, ALossyFrameCrossesNowOrDies) {
  Voq& voq = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
  voq.room = 3;
  Packet* first = frame(kOutput, kLossy, 3);
  fifos_.receive(edge_, first, 0);
  EXPECT_EQ(crossed(0), 1u);
  EXPECT_EQ(first->output_flow, kNoFlow);
  EXPECT_EQ(voq.room, 0u);
  Packet* second = frame(kOutput, kLossy);
  fifos_.receive(edge_, second, 0);
  EXPECT_TRUE(gone(second));
  EXPECT_EQ(drops_of(edge_, DropReason::output_full), 1u);
  fifos_.receive(edge_, frame(kEdge, kLossy), 0);
  EXPECT_EQ(drops_of(edge_, DropReason::same_port), 1u);
}

TEST_F(FifosTest, FlowsThatWaitKeepHalfOfTheRoom) {
  Voq& voq = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
  const auto half = static_cast<uint16_t>(crossing_room(site_.settings, false) / 2);
  FlowId id;
  begin(id);
  edge_.input.arbiter.push(site_.voq_index(kOutput, 0), id);
  voq.room = half;
  fifos_.receive(edge_, frame(kOutput, kLossy), 0);
  EXPECT_EQ(crossed(0), 0u);
  voq.room = static_cast<uint16_t>(half + 1);
  fifos_.receive(edge_, frame(kOutput, kLossy), 0);
  EXPECT_EQ(crossed(0), 1u);
}

TEST_F(FifosTest, LosslessFramesWaitForRoomOneBehindTheOther) {
  voq_of(kOutput).room = 1;
  Packet* first = frame(kOutput);
  Packet* second = frame(kOutput, kLossless, 2);
  fifos_.receive(edge_, first, 0);
  fifos_.receive(edge_, second, 0);
  EXPECT_EQ(edge_.input.queues.packets(), 2u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 2u);
  ASSERT_EQ(edge_.input.arbiter.count(), 1u);
  EXPECT_EQ(edge_.input.arbiter.begin_turn(), site_.voq_index(kOutput, lane_));
  EXPECT_FALSE(fifos_.serve(edge_, site_.voq_index(kOutput, lane_), 0)) << "the room has run out";
  EXPECT_EQ(crossed(lane_), 1u);
  EXPECT_EQ(edge_.input.queues.packets(), 1u);
  EXPECT_TRUE(voq_of(kOutput).room_blocked);
  voq_of(kOutput).room = 2;
  EXPECT_TRUE(fifos_.serve(edge_, site_.voq_index(kOutput, lane_), 0));
  EXPECT_EQ(crossed(lane_), 2u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 0u);
  EXPECT_EQ(voq_of(kOutput).fifos(), 0u);
  EXPECT_EQ(voq_of(kOutput).room, 0u);
}

TEST_F(FifosTest, TheNextOneMayGoToAnotherOutput) {
  fifos_.receive(edge_, frame(kOutput), 0);
  fifos_.receive(edge_, frame(kOther), 0);
  EXPECT_EQ(voq_of(kOther).fifos(), 0u);
  EXPECT_TRUE(fifos_.serve(edge_, site_.voq_index(kOutput, lane_), 0));
  EXPECT_NE(voq_of(kOther).fifos(), 0u);
  EXPECT_EQ(crossed(lane_), 1u);
  EXPECT_EQ(edge_.input.arbiter.count(), 2u);
}

TEST_F(FifosTest, ABurstATurn) {
  voq_of(kOutput).room = 60;
  for (uint32_t i = 0; i < kBurst + 1; ++i) fifos_.receive(edge_, frame(kOutput), 0);
  EXPECT_TRUE(fifos_.serve(edge_, site_.voq_index(kOutput, lane_), 0));
  EXPECT_EQ(crossed(lane_), kBurst);
}

TEST_F(FifosTest, AHostThatDoesNotPauseIsDropped) {
  count_waiting(edge_, site_.settings.input_drop_mark_packets);
  fifos_.receive(edge_, frame(kOutput), 0);
  EXPECT_EQ(drops_of(edge_, DropReason::pause_ignored), 1u);
  count_waiting(edge_, site_.settings.input_drop_mark_packets - 1);
  fifos_.receive(edge_, frame(kOutput), 0);
  EXPECT_EQ(edge_.input.arbiter.count(), 1u);
}

TEST_F(FifosTest, WhatCanGoNowhereMakesWayForTheNext) {
  fifos_.receive(edge_, frame(kEdge), 0);
  EXPECT_EQ(drops_of(edge_, DropReason::same_port), 1u);
  EXPECT_EQ(edge_.input.queues.packets(), 0u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 0u);
  EXPECT_EQ(edge_.input.arbiter.count(), 0u);
  fifos_.receive(edge_, frame(kOutput), 0);
  EXPECT_EQ(edge_.input.arbiter.count(), 1u);
}

TEST_F(FifosTest, InTransitTheirLivesEnd) {
  Packet* young = frame(kOutput);
  Packet* old = frame(kOutput);
  for (Packet* one : {old, young}) {
    one->vc = kFirstLosslessChannel;
    one->input = fabric_.input.ref;
    one->dies_ns = 50;
    fabric_.credits[kFirstLosslessChannel].received(1, false);
  }
  young->dies_ns = 51;
  fifos_.receive(fabric_, old, 50);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].held(), 1u);
  fifos_.receive(fabric_, young, 50);
  EXPECT_EQ(fabric_.input.queues.packets(), 1u);
  Packet* of_host = frame(kOutput);
  of_host->dies_ns = 1;  // its life has not begun
  fifos_.receive(edge_, of_host, 50);
  EXPECT_EQ(edge_.input.queues.packets(), 1u);
}

}  // namespace
}  // namespace heddle::test::fifos_test
