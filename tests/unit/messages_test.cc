// SPDX-License-Identifier: Apache-2.0
#include "node/messages.h"

#include "flow_fixture.h"

namespace heddle::test::messages_test {
namespace {

class MessagesTest : public FlowTest {
 protected:
  // The other worker says it, and this one hears.
  void hear(const Message& message) {
    from_other_.messages.gather() = message;
    from_other_.hand_over();
    messages_.run(turn_.now());
  }
  // A packet of flow 7 of port 1 has crossed, on an ID of port 2.
  Packet* cross(FlowId output_flow, bool first, uint8_t flags = 0) {
    Packet* crossing = packet(100);
    crossing->input = InputFlowRef::of(1, kOther, 7);
    crossing->output_flow = output_flow;
    crossing->flags = flags;
    crossing->dies_ns = kSecond;
    crossing->vni = 1;
    from_other_.data.gather() = {crossing, kOutput, 3, first};
    return crossing;
  }
  void run() {
    from_other_.hand_over();
    messages_.run(turn_.now());
  }
  FlowId lent_id() { return output_.output.flows.reserve(InputFlowRef::of(0, kOther, kNoFlow), 0, 0); }
};

TEST_F(MessagesTest, OutputsHearWhatIsWanted) {
  hear(WantIds{kOutput, kOther, 1, 3});
  EXPECT_EQ(output_.output.wanted.of(kOther, 1), 3u);
  hear(WaitForRoom{kOutput, kOther, 0, 5});
  EXPECT_EQ(output_.output.scheduler.waiting(kOther, 0), 5u);
}

TEST_F(MessagesTest, InputsHearWhatTheyGet) {
  Voq& voq = edge_.input.arbiter[site_.voq_index(kOther, 0)];
  const uint32_t room = voq.room;
  hear(GiveReturns{kEdge, kOther, 0, {.room = 4, .held = 0, .copy_room = 0, .copies = 0, .delivered = 50}});
  EXPECT_EQ(voq.room, room + 4);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 50u);
  poke(edge_.input.orphans, 5);
  hear(OrphansFreed{kEdge, 2});
  EXPECT_EQ(edge_.input.orphans, 3u);
}

TEST_F(MessagesTest, AFlowThatWaitsGetsItsIdOrHearsThatThereIsNone) {
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  Packet* first = packet(100);
  first->destination = flow.destination;
  flow.next_data_flow += 100;
  flow_queues_.push(edge_, id, flow, first, 0);
  flow_life_.place(edge_, id);
  hear(GrantId{kEdge, kOther, 0, 40});
  EXPECT_EQ(flow.branch.flow, 40);
  FlowId other;
  begin(other, kOther);
  want(other, kOther);
  poke(edge_.input.ids[kOther].asked[0], 1);
  edge_.input.flows[other].queue.push(packet(100));
  edge_.input.flows[other].queued_packets = 1;
  edge_.input.queues.joined(*edge_.input.flows[other].queue.head, 0, false);
  edge_.input.flows[other].queue.head->destination = {1, kEdge};  // nowhere
  hear(RefuseIds{kEdge, kOther, 0, 1});
  EXPECT_TRUE(edge_.input.ids[kOther].wanting.empty());
  EXPECT_EQ(edge_.input.ids[kOther].asked[0], 0u);
}

TEST_F(MessagesTest, AFlowHearsOfItsCredit) {
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  flow.branch.flow = FlowId::of(40);
  hear(TellCredit{edge_.input.ref.with(id), true, 500});
  EXPECT_TRUE(flow.flags & kFlowMetered);
  EXPECT_TRUE(edge_.input.meters[id].allows(flow.branch.turn_start + 500));
  EXPECT_FALSE(edge_.input.meters[id].allows(flow.branch.turn_start + 501));
}

TEST_F(MessagesTest, StationsAndLinkStatesAreTold) {
  hear(StationLearned{0x020000000009, 1, {2, 3}});
  const Station* station = edge_input_.stations().find(0x020000000009, 1);
  ASSERT_NE(station, nullptr);
  EXPECT_EQ(station->address, (FabricAddress{2, 3}));
  link_states_.take_effect();
  hear(LinkStateNews{1, {7, 3, 0}});
  EXPECT_EQ(link_state_.record(1).sequence, 7u);
  EXPECT_TRUE(link_states_.take_effect());
  hear(LinkStateNews{1, {7, 3, 0}});
  EXPECT_FALSE(link_states_.take_effect()) << "it is known";
}

TEST_F(MessagesTest, WhatIsSettledElsewhereComesToItsFlow) {
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  flow.data_flow = flow.next_data_flow = 1000;
  flow.branch.flow = FlowId::of(40);
  flow.branch.set_output(kOther);
  from_other_.settled.gather() = {.input = edge_.input.ref.with(id),
                                  .acknowledged = 600,
                                  .lost = 50,
                                  .path_ended = true,
                                  .tells = true,
                                  .congestion = 5,
                                  .redirect = false,
                                  .asked_by = 0};
  run();
  EXPECT_EQ(flow.flow_extent(), 400u);
  EXPECT_EQ(flow.lost_total, 50u);
  EXPECT_TRUE(flow.flags & kFlowLeaving);
  EXPECT_TRUE(flow.flags & kFlowLimited);
}

TEST_F(MessagesTest, SoManyMessagesATurn) {
  constexpr uint32_t kPerTurn = 512;
  poke(edge_.input.orphans, kPerTurn + 1);
  for (uint32_t i = 0; i < kPerTurn + 1; ++i) {
    if (from_other_.messages.full()) from_other_.hand_over();
    from_other_.messages.gather() = OrphansFreed{kEdge, 1};
  }
  run();
  EXPECT_EQ(edge_.input.orphans, 1u);
  EXPECT_TRUE(turn_.busy());
  turn_.begin(2 * kMillisecond);
  run();
  EXPECT_EQ(edge_.input.orphans, 0u);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(MessagesTest, SoMuchThatIsSettledATurn) {
  constexpr uint32_t kPerTurn = 512;
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  flow.data_flow = flow.next_data_flow = 10'000;
  for (uint32_t i = 0; i < kPerTurn + 1; ++i) {
    if (from_other_.settled.full()) from_other_.hand_over();
    Settled& one = from_other_.settled.gather() = {};
    one.input = edge_.input.ref.with(id);
    one.acknowledged = 1;
  }
  run();
  EXPECT_EQ(flow.ack_flow, kPerTurn);
  EXPECT_TRUE(turn_.busy());
  turn_.begin(2 * kMillisecond);
  run();
  EXPECT_EQ(flow.ack_flow, kPerTurn + 1);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(MessagesTest, APacketThatHasCrossedJoinsItsOutput) {
  const FlowId id = lent_id();
  OutputFlow& entry = output_.output.flows[id];
  entry.data_flow = 700;
  entry.ack_flow = 700;
  entry.flags |= kOutputMetered;
  Packet* first = cross(id, true);
  first->ftag = kUncontrolled;
  run();
  EXPECT_EQ(output_.output.scheduler.take_any(), first);
  EXPECT_EQ(entry.input, first->input) << "it serves this flow now";
  EXPECT_EQ(entry.queued, 1u);
  EXPECT_EQ(entry.told, 3);
  EXPECT_EQ(entry.ftag, kUncontrolled);
  EXPECT_EQ(entry.credit_base, 700u);
  EXPECT_FALSE(entry.flags & kOutputMetered);
  entry.flags |= kOutputMetered;
  cross(id, false);
  run();
  EXPECT_TRUE(entry.flags & kOutputMetered) << "that was not its first one";
  EXPECT_EQ(entry.queued, 2u);
}

// K9: an orphan's pin must not come before its packets.
TEST_F(MessagesTest, PacketsAreTakenBeforeThePins) {
  const FlowId id = lent_id();
  cross(id, true);
  from_other_.given_back.gather() = {kOutput, id, 1};
  run();
  const OutputFlow& entry = output_.output.flows[id];
  EXPECT_EQ(entry.state, OutputFlowState::orphan);
  EXPECT_EQ(entry.queued, 1u);
  EXPECT_TRUE(entry.flags & kOutputCounted);
  const FlowId other = lent_id();
  from_other_.given_back.gather() = {kOutput, other, 0};
  run();
  EXPECT_EQ(output_.output.flows[other].state, OutputFlowState::free);
}

TEST_F(MessagesTest, WhatIsToBeDeliveredAtOnceGoesToItsDevice) {
  board_.publish_at_once(kOutput, true);
  Packet* at_once = cross(kNoFlow, false, kPacketAtOnce);
  run();
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_TRUE(gone(at_once));
  EXPECT_TRUE(output_.output.scheduler.empty());
}

TEST_F(MessagesTest, NothingIsDeliveredPastAFrameOfAFlow) {
  const FlowId id = lent_id();
  cross(kNoFlow, false, kPacketAtOnce);
  cross(id, true);
  cross(kNoFlow, false, kPacketAtOnce);
  run();
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(output_.output.scheduler.packets(), 2u);
}

}  // namespace
}  // namespace heddle::test::messages_test
