// SPDX-License-Identifier: Apache-2.0
#include "node/ack_receive.h"

#include "flow_fixture.h"

namespace heddle::test::ack_receive_test {
namespace {

class AckReceiveTest : public FlowTest {
 protected:
  AckReceiveTest() {
    bring_up();
    id_ = fabric_.output.flows.reserve(InputFlowRef::of(1, kEdge, 7), kLossy, 0);
    entry_ = &fabric_.output.flows[id_];
    before_ = entry_->ack_flow;
    entry_->data_flow += 1000;
    flow_ = &edge_.input.flows[7];
    flow_->begin({2, 0}, kLossy, kNoMatch);
    flow_->data_flow = flow_->next_data_flow = 1000;
    flow_->branch.set_output(kFabric);
    flow_->branch.flow = id_;
  }
  // The entry serves a flow of the other worker's port.
  void serve_other() { entry_->input = InputFlowRef::of(1, kOther, 7); }
  template <typename... Records>
  bool receive(const Records&... records) {
    Packet* packet = nullptr;
    pool_.allocate(&packet, 1);
    start_records(*packet, HEDDLE_ACK);
    (append_record(*packet, records), ...);
    finish_records(*packet, fabric_.session.tag(), 1, peer_->mac);
    LinkFrame frame{};
    EXPECT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
    return ack_receive_.receive(fabric_, frame, turn_.now());
  }
  // Of the entry's flow, so many bytes more are settled and so many of them lost.
  AckRecord ack(uint32_t settled, uint32_t lost = 0) const {
    return {.flow = id_,
            .flags = 0,
            .severity = 0,
            .ack_flow = entry_->ack_flow + settled,
            .lost_total = entry_->lost_total + lost,
            .credit_limit = 0,
            .asked_by = 0};
  }

  FlowId id_ = kNoFlow;
  OutputFlow* entry_ = nullptr;
  InputFlow* flow_ = nullptr;
  uint32_t before_ = 0;
};

TEST_F(AckReceiveTest, WhatIsNewGoesToTheInputAtOnce) {
  EXPECT_TRUE(receive(ack(600, 50)));
  EXPECT_EQ(entry_->ack_flow, before_ + 600);
  EXPECT_EQ(entry_->lost_total, 50u);
  EXPECT_EQ(flow_->flow_extent(), 400u);
  EXPECT_EQ(flow_->lost_total, 50u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 550u);
  EXPECT_EQ(entry_->pending_ack | entry_->pending_lost, 0u);
  EXPECT_TRUE(settlement_.empty());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::ack_lost_bytes), 50u);
  EXPECT_FALSE(flow_->flags & kFlowLeaving) << "its path goes on";
  EXPECT_TRUE(receive(ack(100), ack(400)));
  EXPECT_EQ(flow_->flow_extent(), 0u);
  EXPECT_EQ(flow_->lost_total, 50u) << "no more than that";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::ack_lost_bytes), 50u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::ack_received), 3u);
}

// R9: with a record that acknowledges nothing it may be of the flow that had the ID before.
TEST_F(AckReceiveTest, TheWishForAnotherPathIsBelievedOfNewsOnly) {
  AckRecord asks = ack(0);
  asks.flags = HEDDLE_ACK_REDIRECT;
  asks.asked_by = 7;
  EXPECT_TRUE(receive(asks));
  EXPECT_FALSE(entry_->flags & kOutputRedirect);
  EXPECT_TRUE(settlement_.empty());
  asks.ack_flow += 600;
  EXPECT_TRUE(receive(asks));
  EXPECT_TRUE(entry_->flags & kOutputRedirect);
  EXPECT_EQ(fabric_.output.asked_by[id_], 7);
  EXPECT_EQ(entry_->pending_ack, 600u) << "told together, in the next turn";
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id_)});
  entry_->take_pending();
  EXPECT_FALSE(entry_->flags & kOutputRedirect);
}

TEST_F(AckReceiveTest, BehindWhatWaitsToBeToldItWaitsToo) {
  settlement_.tell_congestion(fabric_, id_, *entry_, 5);
  EXPECT_TRUE(receive(ack(600, 50)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
  EXPECT_EQ(entry_->pending_ack, 600u);
  EXPECT_EQ(entry_->pending_lost, 50u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id_)}) << "once";
}

TEST_F(AckReceiveTest, AnOrphansIsAbsorbedByTheRelay) {
  entry_->state = OutputFlowState::orphan;
  EXPECT_TRUE(receive(ack(600)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
  EXPECT_EQ(settlement_.begin_telling().size(), 1u);
}

TEST_F(AckReceiveTest, AnotherWorkersInputHearsNextTurn) {
  serve_other();
  EXPECT_TRUE(receive(ack(600, 50), ack(400)));
  EXPECT_EQ(entry_->pending_ack, 600u) << "totals: the first one said that";
  EXPECT_EQ(entry_->pending_lost, 50u);
  EXPECT_TRUE(receive(ack(400)));
  EXPECT_EQ(entry_->pending_ack, 1000u);
  EXPECT_EQ(settlement_.begin_telling().size(), 1u);
}

TEST_F(AckReceiveTest, OneByteIsNewsAndNoneIsNot) {
  serve_other();
  EXPECT_TRUE(receive(ack(0)));
  EXPECT_TRUE(settlement_.empty());
  EXPECT_TRUE(receive(ack(1)));
  EXPECT_EQ(entry_->pending_ack, 1u);
  EXPECT_EQ(settlement_.begin_telling().size(), 1u);
}

TEST_F(AckReceiveTest, AnOldOrRepeatedAckDoesNothing) {
  const AckRecord first = ack(100), second = ack(600);
  EXPECT_TRUE(receive(second, first, second));
  EXPECT_EQ(flow_->flow_extent(), 400u);
  EXPECT_EQ(entry_->ack_flow, before_ + 600);
}

TEST_F(AckReceiveTest, OneOfAnEarlierSessionIsPassedOver) {
  entry_->flags |= kOutputEnded;
  EXPECT_TRUE(receive(ack(600)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
}

TEST_F(AckReceiveTest, MoreThanIsUnderWayIsAContradiction) {
  EXPECT_TRUE(receive(ack(990)));
  EXPECT_FALSE(receive(ack(11)));
  EXPECT_EQ(flow_->flow_extent(), 10u);
  EXPECT_TRUE(receive(ack(10)));
}

TEST_F(AckReceiveTest, MoreLostThanSettledIsAContradiction) {
  EXPECT_TRUE(receive(ack(500, 500)));
  EXPECT_FALSE(receive(ack(100, 101)));
}

TEST_F(AckReceiveTest, AFlowThatCannotBeIsAContradictionAndWhatCameBeforeStands) {
  AckRecord record = ack(0);
  record.flow = FlowId::of(fabric_.output.flows.size());
  record.ack_flow = fabric_.output.flows[record.flow].ack_flow;
  EXPECT_TRUE(receive(record));
  ++record.flow;
  EXPECT_FALSE(receive(ack(100), record, ack(200)));
  EXPECT_EQ(flow_->flow_extent(), 900u);
}

TEST_F(AckReceiveTest, CongestionIsHandedOn) {
  AckRecord record = ack(0);
  record.severity = congestion_severity(5);
  record.flags = congestion_flags(5);
  EXPECT_TRUE(receive(record));
  EXPECT_EQ(entry_->congestion, 5);
  EXPECT_TRUE(entry_->flags & kOutputTell);
  EXPECT_EQ(told().size(), 1u);
  entry_->flags = 0;
  Settlement::congestion_known(*entry_, 5);
  EXPECT_TRUE(receive(record));
  EXPECT_FALSE(entry_->flags & kOutputTell) << "it is known";
  entry_->ack_flow = entry_->data_flow;
  EXPECT_TRUE(receive(ack(0)));
  EXPECT_FALSE(entry_->flags & kOutputTell) << "with nothing under way it is old news";
  entry_->data_flow += 10;
  EXPECT_TRUE(receive(ack(0)));
  EXPECT_EQ(entry_->congestion, 0) << "its end is news";
  EXPECT_TRUE(entry_->flags & kOutputTell);
}

TEST_F(AckReceiveTest, TheLeastCongestionIsHandedOnToo) {
  AckRecord record = ack(0);
  record.severity = 1;
  EXPECT_TRUE(receive(record));
  EXPECT_NE(entry_->congestion, 0);
}

TEST_F(AckReceiveTest, CreditIsHeardAndSoIsItsEnd) {
  AckRecord record = ack(0);
  record.flags = HEDDLE_ACK_METERED;
  record.credit_limit = before_ + 5000;
  EXPECT_TRUE(receive(record));
  EXPECT_TRUE(entry_->flags & kOutputMetered);
  EXPECT_TRUE(receive(ack(0)));
  EXPECT_FALSE(entry_->flags & kOutputMetered);
  record.credit_limit = before_ - 1;
  EXPECT_FALSE(receive(record)) << "a limit behind what is settled";
}

// What goes by the short loop: flows with nothing special, on paths where they may rest.
class PlainAckTest : public AckReceiveTest {
 protected:
  PlainAckTest() {
    flow_->flags |= kFlowMayRest;
    for (uint8_t i = 0; i < 3; ++i) {  // in transit
      const auto flow_id = FlowId::of(11u + i);
      const FlowId id = fabric_.output.flows.reserve(fabric_.input.ref.with(flow_id), kLossy, 0);
      fabric_.output.flows[id].data_flow += 100;
      InputFlow& flow = fabric_.input.flows[flow_id];
      flow.begin({2, 0}, kLossy, kNoMatch);
      flow.flags |= kFlowMayRest;
      flow.next_data_flow = flow.data_flow += 100;
      flow.branch.set_output(kFabric);
      flow.branch.flow = id;
      transit_.push_back(&flow);
    }
  }
  AckRecord transit_ack(uint32_t number, uint32_t settled = 100) const {
    const FlowId id = transit_[number]->branch.flow;
    AckRecord record = ack(0);
    record.flow = id;
    record.ack_flow = fabric_.output.flows[id].ack_flow + settled;
    record.lost_total = fabric_.output.flows[id].lost_total;
    return record;
  }
  bool rests() const { return flow_->at_rest() && fabric_.output.flows.resting().has(id_); }
  bool transit_rests(uint32_t number) const {
    return transit_[number]->at_rest() && fabric_.output.flows.resting().has(transit_[number]->branch.flow);
  }

  std::vector<InputFlow*> transit_;
};

TEST_F(PlainAckTest, AFlowRestsWhenAllOfItHasArrived) {
  EXPECT_TRUE(receive(ack(999)));
  EXPECT_EQ(flow_->flow_extent(), 1u);
  EXPECT_FALSE(fabric_.output.flows.resting().has(id_));
  EXPECT_TRUE(receive(ack(1)));
  EXPECT_TRUE(rests());
  EXPECT_TRUE(edge_.input.flows.resting().has(FlowId::of(7)));
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 1000u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_rested), 1u);
  EXPECT_EQ(entry_->extent(), 0u);
}

TEST_F(PlainAckTest, ThoseOfSeveralInputsAreEachForItsOwn) {
  const AckRecord edge = ack(1000);
  EXPECT_TRUE(receive(transit_ack(0), edge, transit_ack(1, 99), transit_ack(2)));
  EXPECT_TRUE(transit_rests(0) && rests() && transit_rests(2));
  EXPECT_EQ(transit_[1]->flow_extent(), 1u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 1000u);
  EXPECT_EQ(fabric_.counters.acknowledged_bytes, 0u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 3u) << "the switch before hears of them";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::flow_rested), 2u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_rested), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::ack_received), 4u);
}

TEST_F(PlainAckTest, BesideOthersAllAreTaken) {
  transit_[1]->flags &= static_cast<uint16_t>(~kFlowMayRest);
  AckRecord other = transit_ack(0);
  other.flow = FlowId::of(fabric_.output.flows.size() + 1);
  EXPECT_FALSE(receive(transit_ack(0), transit_ack(1), transit_ack(2), other, ack(1000)));
  EXPECT_TRUE(transit_rests(0) && transit_rests(2));
  EXPECT_FALSE(transit_[1]->in_use());
  EXPECT_FALSE(rests()) << "behind the contradiction";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::ack_received), 3u);
}

TEST_F(PlainAckTest, NobodyRestsWithAnIdThatOthersWaitFor) {
  fabric_.output.wanted.add(kOther, 0, 1);
  EXPECT_TRUE(receive(ack(1000), transit_ack(0)));
  EXPECT_FALSE(flow_->in_use() || transit_[0]->in_use());
}

TEST_F(PlainAckTest, OneOfAnEarlierSessionOfItsPortIsAbsorbed) {
  entry_->input = InputFlowRef::of(2, kEdge, FlowId::of(7));
  EXPECT_TRUE(receive(transit_ack(0), ack(1000), transit_ack(1)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::ack_absorbed), 1u);
  EXPECT_TRUE(transit_rests(0) && transit_rests(1));
}

TEST_F(PlainAckTest, WhatIsLostIsCounted) {
  EXPECT_TRUE(receive(ack(600, 1)));
  EXPECT_EQ(flow_->lost_total, 1u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 599u);
}

TEST_F(PlainAckTest, ATotalThatCannotBeIsAContradiction) {
  EXPECT_FALSE(receive(ack(1001)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
  EXPECT_TRUE(receive(ack(0)));
  EXPECT_EQ(flow_->flow_extent(), 1000u);
  EXPECT_FALSE(fabric_.output.flows.resting().has(id_));
}

TEST_F(PlainAckTest, CongestionThatIsKnownEndsWithARecordThatSaysNothingOfIt) {
  Settlement::congestion_known(*entry_, 5);
  EXPECT_TRUE(receive(ack(500)));
  EXPECT_TRUE(entry_->flags & kOutputTell);
  EXPECT_EQ(entry_->pending_ack, 500u);
}

TEST_F(PlainAckTest, AHeldFlowGoesOn) {
  Packet* packet = nullptr;
  pool_.allocate(&packet, 1);
  packet->payload = 60;
  flow_->queue.push(packet);
  flow_->queued_packets = 1;
  flow_->next_data_flow += 60;
  flow_->flags |= kFlowLeaving;
  poke(flow_->state, FlowState::held);
  EXPECT_TRUE(receive(ack(1000)));
  EXPECT_FALSE(rests());
  EXPECT_NE(flow_->state, FlowState::held);
}

}  // namespace
}  // namespace heddle::test::ack_receive_test
