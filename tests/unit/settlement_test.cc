// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::settlement_test {
namespace {

class SettlementTest : public ComponentTest {
 protected:
  // A packet for that output flow ID that has crossed.
  Packet* crossed(FlowId id, uint16_t payload, uint8_t ftag = kLossy) {
    Packet* crossed = packet(payload, ftag);
    crossed->output_flow = id;
    crossed->input = edge_.input.ref.with(7);
    crossed->cost = 3;
    return crossed;
  }
};

TEST_F(SettlementTest, AnEntryIsToldOnceHoweverOftenItIsMarked) {
  OutputFlow& entry = output_.output.flows[3];
  settlement_.mark(output_, 3, entry);
  settlement_.mark(output_, 3, entry);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(2, 3)});
  EXPECT_TRUE(settlement_.empty());
  entry.flags = 0;
  settlement_.mark(output_, 3, entry);
  EXPECT_EQ(settlement_.begin_telling().size(), 1u);
}

TEST_F(SettlementTest, WhatIsMarkedWhileOthersAreToldIsForTheNextTime) {
  settlement_.mark(output_, 3, output_.output.flows[3]);
  std::vector<uint32_t> first;
  for (const uint32_t item : settlement_.begin_telling()) {
    first.push_back(item);
    settlement_.mark(fabric_, 5, fabric_.output.flows[5]);
  }
  EXPECT_EQ(first, std::vector<uint32_t>{flow_item(2, 3)});
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(4, 5)});
}

TEST_F(SettlementTest, WhatDiesAtTheOutputIsSettledThereWithItsRoom) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  entry.queued = 2;
  entry.credit_base = 1000;
  Packet* lost = crossed(id, 100);
  settlement_.drop_at_output(output_, lost, DropReason::life_ended);
  EXPECT_TRUE(gone(lost));
  EXPECT_EQ(entry.queued, 1u);
  EXPECT_EQ(entry.pending_ack, 100u);
  EXPECT_EQ(entry.pending_lost, 100u);
  EXPECT_EQ(entry.credit_base, 900u) << "it will never be stamped";
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 1u);
  EXPECT_EQ(output_.output.room.returns(kEdge, 0).room, 3u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kOutput, id)});
  EXPECT_EQ(count_of(output_, ProtocolEvent::lossless_lost), 0u);
  settlement_.drop_at_output(output_, crossed(kNoFlow, 100, kLossless), DropReason::life_ended);
  EXPECT_EQ(output_.output.room.returns(kEdge, 0).room, 6u);
  EXPECT_TRUE(settlement_.empty()) << "without a flow nobody is to be told";
  EXPECT_EQ(count_of(output_, ProtocolEvent::lossless_lost), 1u);
}

// K8: of two lanes, in each of which the first packet's life ends before the other's.
TEST_F(SettlementTest, WhatHasWaitedForItsLifeIsDroppedFromEachQueue) {
  const Nanos end = turn_.now() + kMillisecond;
  std::vector<Packet*> first, second;
  for (const uint8_t ftag : {kLossy, kLossless}) {
    first.push_back(queue_at(output_, 1, ftag));
    first.back()->dies_ns = end;
    second.push_back(queue_at(output_, 2, ftag));
    second.back()->dies_ns = end + 1;
  }
  settlement_.drop_expired(output_, end - 1);
  EXPECT_EQ(output_.output.scheduler.packets(), 4u);
  settlement_.drop_expired(output_, end);
  for (const Packet* packet : first) EXPECT_TRUE(gone(packet));
  for (const Packet* packet : second) EXPECT_FALSE(gone(packet));
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 2u);
  settlement_.drop_expired(output_, end + 1);
  EXPECT_EQ(output_.output.scheduler.packets(), 0u);
  EXPECT_EQ(drops_of(output_, DropReason::life_ended), 4u);
  uint64_t of_classes = 0;
  for (uint8_t one = 0; one < output_.output.scheduler.class_count(); ++one)
    of_classes += output_.output.scheduler.queue_of(one).dropped_frames;
  EXPECT_EQ(of_classes, 4u);
}

// K9
TEST_F(SettlementTest, WhatWasUnderWayOnAnEndedPathCountsAsLost) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.ack_flow = 200;
  entry.data_flow = 500;
  settlement_.settle_ended(fabric_, id, entry, ProtocolEvent::settled_by_end);
  EXPECT_EQ(entry.pending_ack, 300u);
  EXPECT_EQ(entry.pending_lost, 300u);
  EXPECT_EQ(entry.extent(), 0u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::settled_by_end), 1u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id)});
}

// C2: what it was told and what it is about to be told are no news.
TEST_F(SettlementTest, CongestionIsToldWhenItIsNews) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  settlement_.note_congestion(output_, id, entry, 3);
  EXPECT_EQ(entry.congestion, 3);
  EXPECT_TRUE(entry.flags & kOutputTell);
  EXPECT_FALSE(Settlement::nothing_waits(entry));
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kOutput, id)});
  entry.flags = 0;
  Settlement::congestion_known(entry, 3);
  settlement_.note_congestion(output_, id, entry, 3);
  EXPECT_TRUE(settlement_.empty());
  EXPECT_TRUE(Settlement::nothing_waits(entry));
  settlement_.note_congestion(output_, id, entry, 4);
  entry.flags = 0;
  settlement_.note_congestion(output_, id, entry, 3);
  EXPECT_TRUE(entry.flags & kOutputTell) << "4 was to be told, which is not so any more";
  entry.flags = 0;
  settlement_.tell_congestion(output_, id, entry, 3);
  EXPECT_TRUE(entry.flags & kOutputTell) << "whether it is news or not";
  entry.flags = 0;
  entry.state = OutputFlowState::orphan;
  EXPECT_FALSE(Settlement::nothing_waits(entry)) << "nobody is there to be told";
}

TEST_F(SettlementTest, AnEntryAtRestIsFreeAtOnce) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  settlement_.release(output_, id, false);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(output_.output.flows.used(), 0u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::orphan_freed), 0u);
  reserve(output_, id);
  settlement_.release(output_, id, true);
  EXPECT_EQ(entry.state, OutputFlowState::free) << "nothing refers to it";
  EXPECT_EQ(count_of(output_, ProtocolEvent::orphan_freed), 1u) << "but its input has counted it";
  EXPECT_EQ(output_.output.room.orphans(kEdge), 1u);
}

TEST_F(SettlementTest, AnOrphanIsFreeWhenNothingRefersToIt) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  entry.queued = 1;
  entry.data_flow += 50;
  settlement_.release(output_, id, true);
  EXPECT_EQ(entry.state, OutputFlowState::orphan);
  settlement_.drop_at_output(output_, crossed(id, 100), DropReason::link_down);
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::orphan) << "bytes are under way still";
  entry.ack_flow = entry.data_flow;
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::orphan) << "it has something to tell still";
  entry.take_pending();
  entry.flags = static_cast<uint16_t>(entry.flags & ~kOutputDirty);
  entry.queued = 1;
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::orphan) << "a packet waits still";
  entry.queued = 0;
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(output_.output.room.orphans(kEdge), 1u);
}

// Its input has not counted it, as it was let go while its session lasted.
TEST_F(SettlementTest, WhoeverWasNotCountedAsAnOrphanIsNotWhenItIsFree) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  const uint32_t orphans = output_.output.room.orphans(kEdge);
  entry.data_flow += 50;
  settlement_.release(output_, id, false);
  EXPECT_EQ(entry.state, OutputFlowState::orphan);
  entry.ack_flow = entry.data_flow;
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(count_of(output_, ProtocolEvent::orphan_freed), 0u);
  EXPECT_EQ(output_.output.room.orphans(kEdge), orphans);
}

TEST_F(SettlementTest, OneThatIsReservedIsNotFreedThoughNothingIsUnderWay) {
  FlowId id;
  OutputFlow& entry = reserve(output_, id);
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::reserved);
}

TEST_F(SettlementTest, PositionsOfAnEndedEntryStartAnew) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.data_flow = entry.ack_flow = 500;
  entry.lost_total = 7;
  settlement_.release(fabric_, id, false);
  EXPECT_EQ(entry.data_flow, 500u) << "they run on while the session does";
  reserve(fabric_, id);
  settlement_.release(fabric_, id, true);
  EXPECT_EQ(entry.data_flow, 500u) << "of an orphan, too";
  reserve(fabric_, id);
  entry.flags |= kOutputEnded;
  settlement_.release(fabric_, id, false);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(entry.data_flow, 0u) << "no session says where";
  EXPECT_EQ(entry.lost_total, 0u);
  greet(fabric_.session, peer_->session, kSecond);
  ASSERT_TRUE(fabric_.session.up());
  entry.lost_total = 7;
  settlement_.start_positions(fabric_, id);
  EXPECT_EQ(entry.data_flow, first_position(peer_->session.peer_nonce(), peer_->session.own_nonce(), id));
  EXPECT_EQ(entry.ack_flow, entry.data_flow);
  EXPECT_EQ(entry.lost_total, 0u);
}

}  // namespace
}  // namespace heddle::test::settlement_test
