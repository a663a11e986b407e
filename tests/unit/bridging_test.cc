// SPDX-License-Identifier: Apache-2.0
#include "node/bridging.h"

#include "flow_fixture.h"

namespace heddle::test::bridging_test {
namespace {

class BridgingTest : public FlowTest {
 protected:
  static constexpr uint64_t kStation = 0x020000000009;

  // A frame to everybody, of a host at port 0.
  Packet* broadcast_of_host() {
    Packet* frame = packet(60);
    frame->input = edge_.input.ref.with(7);
    frame->source = {1, kEdge};
    frame->destination = {HEDDLE_FLOOD_NODE, 0};
    frame->vni = 1;
    return frame;
  }
  // Of a station at node 2, as it comes over the fabric.
  Packet* from_fabric() {
    Packet* frame = packet(60);
    frame->input = fabric_.input.ref;
    frame->source = {2, 3};
    frame->vni = 1;
    store_mac(frame->data + HEDDLE_DATA_OVERHEAD_BYTES + 6, kStation);
    return frame;
  }
  uint64_t copies() const { return edge_.counters.copied_frames; }
};

TEST_F(BridgingTest, AFloodGoesToEveryHostButWhereItCameFrom) {
  Packet* frame = broadcast_of_host();
  bridging_.flood(edge_, frame, 1000);
  EXPECT_TRUE(gone(frame));
  EXPECT_EQ(edge_.counters.consumed_frames, 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flooded), 1u);
  EXPECT_TRUE(edge_.output.scheduler.empty());
  ASSERT_EQ(output_.output.scheduler.packets(), 1u);
  const Packet* copy = first_queued(output_.output);
  EXPECT_TRUE(copy->flags & kPacketCopy);
  EXPECT_EQ(copy->input.flow, kNoFlow);
  EXPECT_EQ(copy->dies_ns, 1000 + topology_.classes[0].flood_life_ns());
  EXPECT_EQ(crossings().size(), 2u);
  EXPECT_EQ(copies(), 3u) << "links that are down take none";
  EXPECT_EQ(room_.copies_out(), 3u);
}

TEST_F(BridgingTest, AFloodGoesAlongTheTree) {
  bring_up();
  ASSERT_TRUE(paths_.routes().tree() >> kFabric & 1);
  bridging_.flood(edge_, broadcast_of_host(), 0);
  EXPECT_EQ(fabric_.output.scheduler.packets(), 1u);
  Packet* last = broadcast_of_host();
  last->hop_limit = 0;
  bridging_.flood(edge_, last, 0);
  EXPECT_EQ(fabric_.output.scheduler.packets(), 1u) << "it has no hop left";
  EXPECT_EQ(output_.output.scheduler.packets(), 2u);
}

TEST_F(BridgingTest, OnlyMembersOfItsVlanGetIt) {
  Packet* frame = broadcast_of_host();
  frame->vni = 77;
  bridging_.flood(edge_, frame, 0);
  EXPECT_EQ(copies(), 0u);
  EXPECT_EQ(edge_.counters.consumed_frames, 1u);
}

TEST_F(BridgingTest, ACopyNeedsRoomAndABudget) {
  Voq& voq = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
  const uint16_t room = voq.copy_room;
  voq.copy_room = 0;
  bridging_.flood(edge_, broadcast_of_host(), 0);
  EXPECT_EQ(drops_of(edge_, DropReason::output_full), 1u);
  EXPECT_TRUE(output_.output.scheduler.empty());
  voq.copy_room = 1;
  bridging_.flood(edge_, broadcast_of_host(), 0);
  EXPECT_EQ(voq.copy_room, 0u);
  voq.copy_room = room;
  Packet* large = broadcast_of_host();
  large->cost = static_cast<uint16_t>(site_.copies_max - room_.copies_out() + 1);
  bridging_.flood(edge_, large, 0);
  EXPECT_EQ(drops_of(edge_, DropReason::flood_copies), 3u);
  Packet* frame = broadcast_of_host();
  pool_.empty = true;
  bridging_.flood(edge_, frame, 0);
  EXPECT_EQ(drops_of(edge_, DropReason::flood_copies), 6u);
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
}

TEST_F(BridgingTest, ACopyTakesNoneOfTheFlowsRoomAndTheyNoneOfIts) {
  Voq& voq = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
  voq.room = 0;
  bridging_.flood(edge_, broadcast_of_host(), 0);
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
  EXPECT_EQ(voq.room, 0u);
  EXPECT_EQ(drops_of(edge_, DropReason::output_full), 0u);
}

TEST_F(BridgingTest, WhatComesFromOutsideTheTreeOrBackEnds) {
  bring_up();
  Packet* back = from_fabric();
  back->source = {1, kEdge};
  bridging_.flood(fabric_, back, 0);
  EXPECT_EQ(drops_of(fabric_, DropReason::flood_loop), 1u);
  fabric_.credits[kLossyChannel].received(1, false);
  const uint32_t held = fabric_.credits[kLossyChannel].held();
  bridging_.flood(fabric_, from_fabric(), 0);
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), held - 1);
  link_state_.apply(1, {7, 0, 0});
  link_states_.changed(1);
  link_states_.take_effect();
  ASSERT_FALSE(paths_.routes().tree() >> kFabric & 1);
  bridging_.flood(fabric_, from_fabric(), 0);
  EXPECT_EQ(drops_of(fabric_, DropReason::no_route), 1u);
}

TEST_F(BridgingTest, AStationBehindTheFabricIsLearnedAndTold) {
  Packet* frame = from_fabric();
  bridging_.meet_station(fabric_, *frame, kSecond);
  const Station* station = edge_input_.stations().find(kStation, 1);
  ASSERT_NE(station, nullptr);
  EXPECT_EQ(station->address, (FabricAddress{2, 3}));
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::learned), 1u);
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<StationLearned>(told[0]).mac, kStation);
  EXPECT_EQ(std::get<StationLearned>(told[0]).address, (FabricAddress{2, 3}));
  bridging_.meet_station(fabric_, *frame, kSecond);
  EXPECT_TRUE(messages().empty()) << "it is known";
  frame->source = {2, 2};
  bridging_.meet_station(fabric_, *frame, kSecond);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::station_moved), 1u);
  EXPECT_EQ(messages().size(), 1u);
}

// What is remembered of the last frames is of one station in one VLAN.
TEST_F(BridgingTest, EachStationIsLearnedInEachOfItsVlans) {
  for (const uint64_t station : {kStation, kStation ^ uint64_t{1} << 20, kStation ^ uint64_t{1} << 44}) {
    for (const uint16_t vlan : {1, 2, 3}) {
      Packet* frame = from_fabric();
      frame->vni = vlan;
      store_mac(frame->data + HEDDLE_DATA_OVERHEAD_BYTES + 6, station);
      bridging_.meet_station(fabric_, *frame, kSecond);
      EXPECT_NE(edge_input_.stations().find(station, vlan), nullptr) << station << " in " << vlan;
    }
  }
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::learned), 9u);
}

TEST_F(BridgingTest, WhatThisNodeHasSentItselfTeachesNothing) {
  Packet* frame = from_fabric();
  frame->source = {1, kOther};
  bridging_.meet_station(fabric_, *frame, kSecond);
  EXPECT_EQ(edge_input_.stations().find(kStation, 1), nullptr);
  EXPECT_TRUE(messages().empty());
}

TEST_F(BridgingTest, NewsOfStationsAreCountedAndTold) {
  bridging_.announce(edge_, Learned::refused, kStation, 1, {1, kEdge});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::learn_refused), 1u);
  EXPECT_TRUE(messages().empty());
  bridging_.announce(edge_, Learned::renewed, kStation, 1, {1, kEdge});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::learned), 0u);
  EXPECT_EQ(messages().size(), 1u) << "whoever missed it hears it now";
}

}  // namespace
}  // namespace heddle::test::bridging_test
