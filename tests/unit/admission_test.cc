// SPDX-License-Identifier: Apache-2.0
#include "node/admission.h"

#include "flow_fixture.h"

namespace heddle::test::admission_test {
namespace {

class AdmissionTest : public FlowTest {
 protected:
  Packet* admit(Port& port, FlowId id, uint16_t payload = 100) {
    InputFlow& flow = port.input.flows[id];
    Packet* next = packet(payload, flow.ftag);
    next->destination = flow.destination;
    next->dies_ns = kSecond;
    admission_.admit(port, id, flow, next, turn_.now());
    return next;
  }
  uint32_t crossed() const { return output_.output.scheduler.packets(); }

  FlowId id_ = kNoFlow;
  InputFlow& flow_ = begin(id_);
  Voq& voq_ = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
};

TEST_F(AdmissionTest, AFramePassesWhereNothingIsInTheWay) {
  const uint32_t room = voq_.room;
  const Packet* first = admit(edge_, id_);
  EXPECT_EQ(crossed(), 1u);
  EXPECT_EQ(first->input, edge_.input.ref.with(id_));
  EXPECT_EQ(first->output_flow, flow_.branch.flow);
  EXPECT_NE(first->output_flow, kNoFlow);
  EXPECT_EQ(voq_.room, room - first->cost);
  EXPECT_EQ(flow_.flow_extent(), 100u);
  EXPECT_EQ(flow_.queue_extent(), 0u);
  EXPECT_EQ(flow_.state, FlowState::idle);
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 2u) << "by the same ID";
  EXPECT_EQ(output_.output.flows.used(), 1u);
}

TEST_F(AdmissionTest, AFrameJoinsTheQueueOfItsFlow) {
  voq_.room = 0;
  admit(edge_, id_);
  EXPECT_EQ(flow_.state, FlowState::ready) << "there is no room";
  EXPECT_EQ(flow_.queue_extent(), 100u);
  voq_.room = 9;
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 0u) << "it does not overtake";
  EXPECT_EQ(flow_.queued_packets, 2u);
}

TEST_F(AdmissionTest, RoomForTheFrameIsEnough) {
  voq_.room = 1;
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 1u);
}

TEST_F(AdmissionTest, WhoWaitsForTheSameOutputComesFirst) {
  FlowId other;
  begin(other);
  edge_.input.arbiter.push(site_.voq_index(kOutput, 0), other);
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 0u);
}

TEST_F(AdmissionTest, AFlowWhoseQueueRanEmptyYieldsItsIdToThoseThatWait) {
  admit(edge_, id_);
  FlowId other;
  begin(other);
  want(other, kOutput);
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 1u);
  EXPECT_TRUE(flow_.flags & kFlowLeaving);
  EXPECT_EQ(flow_.state, FlowState::held);
}

TEST_F(AdmissionTest, OneThatLeavesOrIsHeldWaits) {
  for (const uint16_t flag : {kFlowLeaving, kFlowPending}) {
    FlowId id;
    InputFlow& flow = begin(id);
    admit(edge_, id);
    const uint32_t before = crossed();
    flow.flags |= flag;
    admit(edge_, id);
    EXPECT_EQ(crossed(), before);
    EXPECT_EQ(flow.state, FlowState::held);
  }
}

TEST_F(AdmissionTest, OneThatIsHeldToItsShareWaitsForIt) {
  admit(edge_, id_);
  flow_.flags |= kFlowLimited;
  FlowLimit& limit = edge_.input.limits[id_];
  limit.begin(0);
  limit.set_share(1000, kSecond, kSecond, turn_.now());
  admit(edge_, id_);  // as if its time had been before
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 3u);
  EXPECT_GT(limit.release_ns(), turn_.now()) << "it has spent some of it";
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 3u);
  EXPECT_EQ(flow_.queued_packets, 1u);
}

TEST_F(AdmissionTest, OneThatIsGrantedByCreditWaitsForIt) {
  admit(edge_, id_);
  flow_.flags |= kFlowMetered;
  edge_.input.meters[id_].set_limit(flow_.data_flow + 100);
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 2u);
  admit(edge_, id_);
  EXPECT_EQ(crossed(), 2u);
}

TEST_F(AdmissionTest, InTransitAFrameNeedsAHopAndAFewBuffers) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  const uint32_t most = site_.settings.input_drop_mark_packets;
  fabric_.credits[kLossyChannel].received(most, false);
  admit(fabric_, 9);
  EXPECT_EQ(crossed(), 1u);
  fabric_.credits[kLossyChannel].received(1, false);
  admit(fabric_, 9);
  EXPECT_EQ(crossed(), 1u);
  EXPECT_EQ(drops_of(fabric_, DropReason::input_full), 1u);
  EXPECT_EQ(flow.lost_total, 100u);
  fabric_.credits[kLossyChannel].released(most / 2);
  Packet* last = packet(100);
  last->hop_limit = 0;
  last->destination = flow.destination;
  last->dies_ns = kSecond;
  admission_.admit(fabric_, 9, flow, last, turn_.now());
  EXPECT_EQ(flow.queued_packets, 1u) << "it takes the longer way, where that is judged";
}

TEST_F(AdmissionTest, AFrameThatItsQueueRefusesEndsAFlowThatHasNoOther) {
  const uint32_t before = edge_.input.flows.available();
  voq_.room = 0;
  count_waiting(edge_, 0, site_.settings.input_drop_mark_packets + 1);
  Packet* refused = admit(edge_, id_);
  EXPECT_TRUE(gone(refused));
  EXPECT_EQ(drops_of(edge_, DropReason::input_full), 1u);
  EXPECT_FALSE(flow_.in_use());
  EXPECT_EQ(edge_.input.flows.available(), before + 1);
}

TEST_F(AdmissionTest, NoFlowTakesAllOfALosslessChannelsCredit) {
  bring_up();
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  flow.destination = {2, 9};
  flow.branch.set_output(kFabric);
  flow.branch.flow = FlowId::of(5);
  flow.branch.voq = site_.voq_index(kFabric, site_.lanes.of(kLossless, kFirstLosslessChannel));
  fabric_.output.flows[5].state = OutputFlowState::reserved;
  fabric_.output.flows[5].input = edge_.input.ref.with(id);
  flow.data_flow = flow.next_data_flow = 1;
  admit(edge_, id);
  EXPECT_EQ(fabric_.output.scheduler.packets(), 0u) << "the next hop has granted nothing yet";
  EXPECT_EQ(flow.state, FlowState::ready);
}

TEST_F(AdmissionTest, WhatPassesByAFullQueueSaysSo) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  flow.flags |= kFlowFull;
  fabric_.input.meters[9].begin(2000, flow.data_flow);
  fabric_.input.meters[9].tell(flow.data_flow);
  admit(fabric_, 9);
  EXPECT_EQ(crossed(), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::meter_ended), 1u);
}

}  // namespace
}  // namespace heddle::test::admission_test
