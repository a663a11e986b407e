// SPDX-License-Identifier: Apache-2.0
#include "node/edge_flows.h"

#include "flow_fixture.h"

namespace heddle::test::edge_flows_test {
namespace {

class EdgeFlowsTest : public FlowTest {
 protected:
  // A match of port 0 whose station is at port 2.
  MatchEntry& match(uint32_t index, PortIndex to = kOutput, uint8_t ftag = kLossy) {
    MatchEntry& entry = edge_input_.matches()[index];
    entry.destination = {1, to};
    entry.ftag = ftag;
    return entry;
  }
  Packet* attach(uint32_t index, Nanos hold_until = 0) {
    MatchEntry& entry = edge_input_.matches()[index];
    Packet* next = packet(100, entry.ftag);
    next->destination = entry.destination;
    next->dies_ns = kSecond;
    edge_flows_.attach(edge_, next, entry, index, hold_until, turn_.now());
    return next;
  }
  InputFlow* flow_of(uint32_t index) { return EdgeFlows::find(edge_, edge_input_.matches()[index], index); }
  // Only so many flow IDs are left.
  void leave_free(uint32_t count) {
    while (edge_.input.flows.available() > count) spare_.push_back(edge_.input.flows.take());
  }
  void put_one() {
    edge_.input.flows.put(spare_.back());
    spare_.pop_back();
  }
  uint32_t crossed() const { return output_.output.scheduler.packets(); }
  uint64_t created() const { return count_of(edge_, ProtocolEvent::flow_created); }

  std::vector<FlowId> spare_;
};

TEST_F(EdgeFlowsTest, AMatchHasOneFlowWhileItsFramesAreUnderWay) {
  const MatchEntry& entry = match(3);
  EXPECT_EQ(flow_of(3), nullptr);
  attach(3);
  const InputFlow* flow = flow_of(3);
  ASSERT_NE(flow, nullptr);
  EXPECT_EQ(flow->match, 3u);
  EXPECT_EQ(flow->destination, entry.destination);
  attach(3);
  EXPECT_EQ(flow_of(3), flow);
  EXPECT_EQ(created(), 1u);
  EXPECT_EQ(crossed(), 2u);
  EXPECT_EQ(entry.bytes, 200u);
  const FlowId id = entry.flow;
  flow_life_.on_ack(edge_, edge_.input.ref.epoch, id, 200, 0, false, 0);
  EXPECT_EQ(flow_of(3), nullptr);
  match(4).flow = id;
  attach(3);
  EXPECT_EQ(flow_of(4), nullptr) << "the ID is another one's now";
}

TEST_F(EdgeFlowsTest, WithoutAnIdFramesWaitInOrder) {
  leave_free(0);
  MatchEntry& entry = match(3);
  match(4);
  Packet* first = attach(3);
  attach(4);
  EXPECT_EQ(edge_.input.waiting.count(), 2u);
  EXPECT_EQ(edge_.input.waiting.first(0), first);
  EXPECT_EQ(entry.waiting, 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::edge_id_waited), 2u);
  edge_flows_.serve_waiting(edge_, 0);
  EXPECT_EQ(edge_.input.waiting.count(), 2u) << "there is none";
  put_one();
  attach(3);
  EXPECT_EQ(edge_.input.waiting.count(), 3u) << "one that comes now is behind them";
  edge_flows_.serve_waiting(edge_, 0);
  EXPECT_EQ(edge_.input.waiting.count(), 2u) << "the second needs another ID";
  EXPECT_EQ(entry.waiting, 1u);
  EXPECT_EQ(crossed(), 1u);
  put_one();
  edge_flows_.serve_waiting(edge_, 0);
  EXPECT_EQ(edge_.input.waiting.count(), 0u);
  EXPECT_EQ(entry.waiting, 0u);
  EXPECT_EQ(crossed(), 3u);
}

TEST_F(EdgeFlowsTest, WhileOthersWaitAFlowThatHasHadItsTurnWaitsToo) {
  match(3);
  match(4);
  attach(3);
  leave_free(0);
  attach(4);
  ASSERT_EQ(edge_.input.waiting.count(), 1u);
  attach(3);
  EXPECT_EQ(edge_.input.waiting.count(), 2u) << "its queue is empty";
  edge_.input.arbiter[site_.voq_index(kOutput, 0)].room = 0;
  put_one();
  edge_flows_.serve_waiting(edge_, 0);
  ASSERT_EQ(edge_.input.waiting.count(), 0u);
  ASSERT_FALSE(flow_of(3)->queue.empty());
  match(5);
  attach(5);
  attach(3);
  EXPECT_EQ(edge_.input.waiting.count(), 1u) << "it has a queue, and its turn is not over";
  EXPECT_EQ(flow_of(3)->queued_packets, 2u);
}

TEST_F(EdgeFlowsTest, SoManyFramesWaitLossyOnesFewer) {
  leave_free(0);
  match(3, kOutput, kLossless);
  match(4);
  const uint32_t quarter = site_.waiting_max / 4;
  for (uint32_t i = 0; i < quarter; ++i) attach(4);
  EXPECT_EQ(edge_.input.waiting.count(), quarter);
  Packet* refused = attach(4);
  EXPECT_TRUE(gone(refused));
  EXPECT_EQ(drops_of(edge_, DropReason::no_flow_id), 1u);
  EXPECT_EQ(edge_input_.matches()[4].lost_bytes, 100u);
  while (edge_.input.waiting.count() < site_.waiting_max) {
    attach(3);
    ASSERT_EQ(drops_of(edge_, DropReason::no_flow_id), 1u);
  }
  attach(3);
  EXPECT_EQ(drops_of(edge_, DropReason::no_flow_id), 2u);
}

TEST_F(EdgeFlowsTest, AfterAFloodItsFirstFlowWaits) {
  match(3);
  attach(3, turn_.now());
  EXPECT_EQ(flow_of(3)->state, FlowState::idle) << "that is over";
  match(4);
  attach(4, turn_.now() + 1);
  EXPECT_EQ(flow_of(4)->state, FlowState::held);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pair_held), 1u);
  attach(4, turn_.now() + 1);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pair_held), 1u);
  attach(3, turn_.now() + 1);
  EXPECT_EQ(flow_of(3)->state, FlowState::held) << "also one that is there and has nothing queued";
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pair_held), 2u);
}

TEST_F(EdgeFlowsTest, WhatIsUnderWayToTheOldPlaceHoldsTheNextFlow) {
  MatchEntry& entry = match(3);
  attach(3);
  InputFlow* flow = flow_of(3);
  edge_flows_.detach(edge_, 3, kNoPort, turn_.now());
  EXPECT_EQ(flow->match, kNoMatch);
  EXPECT_EQ(entry.flow, kNoFlow);
  EXPECT_EQ(edge_input_.held_until(entry), turn_.now() + dead_after_ns(topology_.classes[0].life_ns));
  MatchEntry& quiet = match(4);
  edge_flows_.detach(edge_, 4, kNoPort, turn_.now());
  EXPECT_EQ(quiet.flooded_ns, 0u) << "nothing is under way";
}

TEST_F(EdgeFlowsTest, SoDoesWhatHasCrossedWithoutAFlow) {
  MatchEntry& entry = match(3, kOther);
  EXPECT_FALSE(edge_flows_.has_crossed_at_once(edge_, kOther, kLossy));
  edge_flows_.detach(edge_, 3, kOther, turn_.now());
  EXPECT_EQ(entry.flooded_ns, 0u);
  --edge_.input.arbiter[site_.voq_index(kOther, 0)].room;
  EXPECT_TRUE(edge_flows_.has_crossed_at_once(edge_, kOther, kLossy));
  EXPECT_FALSE(edge_flows_.has_crossed_at_once(edge_, kOther, kLossless));
  --edge_.input.arbiter[flow_ways_.queue(edge_, kOther, kLossless, kLossyChannel)].room;
  EXPECT_TRUE(edge_flows_.has_crossed_at_once(edge_, kOther, kLossless));
  --edge_.input.arbiter[site_.voq_index(kOutput, 0)].room;
  EXPECT_FALSE(edge_flows_.has_crossed_at_once(edge_, kOutput, kLossy)) << "none crosses to the same worker";
  edge_flows_.detach(edge_, 3, kNoPort, turn_.now());
  EXPECT_EQ(entry.flooded_ns, 0u);
  edge_flows_.detach(edge_, 3, kOther, turn_.now());
  EXPECT_EQ(edge_input_.held_until(entry), turn_.now() + dead_after_ns(topology_.classes[0].life_ns));
}

TEST_F(EdgeFlowsTest, AFrameOfAHostGetsWhatOthersHaveInTheirHeader) {
  Packet* frame = packet(100);
  frame->length = kBufferBytes;
  frame->priority = 3;
  start_way(*frame, 0x50);
  EXPECT_EQ(frame->hop_limit, kHopLimit);
  EXPECT_EQ(frame->priority, 0x53);
  EXPECT_EQ(frame->cost, 1u);
  frame->length = kBufferBytes + 1;
  start_way(*frame, 0);
  EXPECT_EQ(frame->cost, 2u);
}

}  // namespace
}  // namespace heddle::test::edge_flows_test
