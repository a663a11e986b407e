// SPDX-License-Identifier: Apache-2.0
#include "flow/input_flow.h"

#include <gtest/gtest.h>

#include <set>

#include "poke.h"

namespace heddle::input_flow_test {
namespace {

TEST(InputFlow, LostBytesAdvanceAllTotalsTogether) {
  InputFlow flow{};
  flow.next_data_flow = flow.data_flow = flow.ack_flow = 0xffffff00;
  flow.next_data_flow += 0x200;
  flow.settle_lost(0x200);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(flow.flow_extent(), 0u);
  EXPECT_EQ(flow.lost_total, 0x200u);
}

TEST(InputFlow, IsPlainWithNoQueueAndNothingThatHoldsIt) {
  InputFlow plain{};
  plain.flags = kFlowInUse | kFlowMayRest;
  plain.ftag = 0xff;
  plain.group = 0xff;
  EXPECT_TRUE(plain.is_plain());
  for (unsigned bit = 1; bit <= kFlowPaused; bit <<= 1) {
    InputFlow flow = plain;
    flow.flags ^= static_cast<uint16_t>(bit);
    const bool may = (bit & (kFlowAckDue | kFlowChooses | kFlowMoved | kFlowDetour)) != 0;
    EXPECT_EQ(flow.is_plain(), may) << "flag " << bit;
  }
  for (unsigned bit = 0; bit < 16; ++bit) {
    InputFlow flow = plain;
    flow.queued_packets = static_cast<uint16_t>(1u << bit);
    EXPECT_FALSE(flow.is_plain());
  }
  for (unsigned bit = 0; bit < 8; ++bit) {
    InputFlow flow = plain;
    test::poke(flow.congestion, static_cast<uint8_t>(1u << bit));
    EXPECT_FALSE(flow.is_plain());
  }
  for (const FlowState state : {FlowState::ready, FlowState::wanting, FlowState::held, FlowState::blocked}) {
    InputFlow flow = plain;
    test::poke(flow.state, state);
    EXPECT_FALSE(flow.is_plain());
  }
}

TEST(InputFlow, BeginsAnewAtThePositionWhereItsIdIs) {
  InputFlow flow{};
  flow.data_flow = flow.next_data_flow = flow.ack_flow = 5000;
  flow.branch.set_output(3);
  flow.branch.turn_start = 1000;
  test::poke(flow.congestion, 9);
  flow.begin({12, 4}, 2, 33);
  EXPECT_TRUE(flow.in_use());
  EXPECT_EQ(flow.destination, (FabricAddress{12, 4}));
  EXPECT_EQ(flow.ftag, 2);
  EXPECT_EQ(flow.match, 33u);
  EXPECT_EQ(flow.branch.output(), kNoPort);
  EXPECT_EQ(flow.branch.turn_start, 5000u) << "it has had no turn yet (K11)";
  EXPECT_EQ(flow.congestion, 0);
  EXPECT_EQ(flow.queue_extent() + flow.flow_extent(), 0u) << "positions run on";
}

// Its totals still go upstream: there it has not come to rest, and its level holds.
TEST(InputFlow, ThatIsStillToBeToldUpstreamKeepsItsLevel) {
  InputFlow flow{};
  flow.flags = kFlowAckDue;
  test::poke(flow.congestion, 9);
  flow.begin({12, 4}, 2, kNoMatch);
  EXPECT_EQ(flow.congestion, 9);
  EXPECT_EQ(flow.flags, kFlowInUse | kFlowAckDue);
}

TEST(InputFlowTable, ListsKeepOrder) {
  InputFlowTable flows(5);
  FlowList list;
  for (FlowId id = 1; id <= 5; ++id) flows.push(list, id);
  for (FlowId id = 1; id <= 5; ++id) EXPECT_EQ(flows.pop(list), id);
  EXPECT_TRUE(list.empty());
}

TEST(InputFlowTable, HandsOutEachIdOnce) {
  InputFlowTable flows(3);
  EXPECT_EQ(flows.available(), 3u);
  const std::set<FlowId> ids{flows.take(), flows.take(), flows.take()};
  EXPECT_EQ(ids, (std::set<FlowId>{1, 2, 3}));
  EXPECT_EQ(flows.take(), kNoFlow);
  flows.put(2);
  EXPECT_EQ(flows.available(), 1u);
  EXPECT_EQ(flows.take(), 2);
}

TEST(InputFlow, ExtentsAreOfTheQueueAndOfWhatIsUnderWay) {
  InputFlow flow{};
  flow.next_data_flow = 0x100;
  flow.data_flow = 0xffffff80;
  flow.ack_flow = 0xffffff00;
  EXPECT_EQ(flow.queue_extent(), 0x180u);
  EXPECT_EQ(flow.flow_extent(), 0x80u);
}

TEST(InputFlow, IsAtRestWithItsIdsWhenNothingIsLeftOfIt) {
  InputFlow flow{};
  flow.flags = kFlowInUse | kFlowMayRest;
  EXPECT_TRUE(flow.at_rest());
  flow.flags = kFlowInUse;
  EXPECT_FALSE(flow.at_rest()) << "it has no ID that it could keep";
  flow.flags = kFlowMayRest;
  EXPECT_FALSE(flow.at_rest()) << "there is no flow";
  flow.flags = kFlowInUse | kFlowMayRest | kFlowPending;
  EXPECT_FALSE(flow.at_rest());
  flow.flags = kFlowInUse | kFlowMayRest | kFlowTimed;
  EXPECT_TRUE(flow.at_rest());
  flow.data_flow = 1;
  EXPECT_FALSE(flow.at_rest()) << "a byte is under way";
  flow.ack_flow = 1;
  Packet packet{};
  flow.queue.push(&packet);
  EXPECT_FALSE(flow.at_rest());
}

TEST(InputFlow, ItsTurnIsOverAfterItsQueueOrSoManyBytes) {
  InputFlow flow{};
  flow.branch.turn_start = 0xffffff00;
  flow.data_flow = 0xffffff00;
  EXPECT_TRUE(flow.turn_over()) << "nothing waits";
  Packet packet{};
  flow.queue.push(&packet);
  EXPECT_FALSE(flow.turn_over());
  flow.data_flow = 0xffffff00 + kTurnBytes - 1;
  EXPECT_FALSE(flow.turn_over());
  ++flow.data_flow;
  EXPECT_TRUE(flow.turn_over());
}

TEST(InputFlow, HasTheGroupThatItBeginsWith) {
  InputFlow flow{};
  test::poke(flow.branch.left_bytes, -7);
  flow.begin({1, 1}, 0, 5, 9);
  EXPECT_EQ(flow.group, 9);
  EXPECT_EQ(flow.branch.left_bytes, 0);
  flow.begin({1, 1}, 0, 5);
  EXPECT_EQ(flow.group, 0);
}

TEST(InputFlowTable, KnowsWhichIdsThereAre) {
  InputFlowTable flows(3);
  EXPECT_EQ(flows.size(), 3u);
  for (const uint16_t id : {1, 2, 3}) EXPECT_TRUE(flows.valid(FlowId::of(id))) << id;
  for (const uint16_t id : {0, 4, 0xffff}) EXPECT_FALSE(flows.valid(FlowId::of(id))) << id;
  EXPECT_EQ(flows.take(), 1) << "the first one first";
}

TEST(InputFlowTable, AnIdMayHavePassedToAnotherMatch) {
  InputFlowTable flows(3);
  EXPECT_EQ(flows.of_match(kNoFlow, 0), nullptr);
  flows[2].begin({1, 1}, 0, 5);
  EXPECT_EQ(flows.of_match(2, 5), &flows[2]);
  EXPECT_EQ(flows.of_match(2, 6), nullptr);
  flows[2].flags = 0;
  EXPECT_EQ(flows.of_match(2, 5), nullptr);
}

// R4
TEST(InputFlowTable, AFlowOnALongerWayHasANodeToGoBy) {
  InputFlowTable flows(3);
  flows[2].flags = kFlowInUse;
  EXPECT_EQ(flows.via(2), 0);
  flows.steer(2, 77);
  EXPECT_EQ(flows.via(2), 77);
  EXPECT_EQ(flows.via(1), 0);
  EXPECT_EQ(flows[2].flags, kFlowInUse | kFlowDetour);
  flows.steer(2, 0);
  EXPECT_EQ(flows.via(2), 0);
  EXPECT_EQ(flows[2].flags, kFlowInUse);
}

TEST(InputFlowTable, AListCountsItsFlows) {
  InputFlowTable flows(5);
  FlowList list;
  flows.push(list, 4);
  EXPECT_EQ(list.count, 1u);
  EXPECT_EQ(flows.pop(list), 4);
  EXPECT_EQ(list.count, 0u);
  EXPECT_EQ(list.tail, kNoFlow);
  flows.push(list, 2);
  flows.push(list, 3);
  EXPECT_EQ(list.count, 2u);
  EXPECT_EQ(list.tail, 3);
  flows.timer_link(2) = 77;
  EXPECT_EQ(flows.timer_link(2), 77u);
}

}  // namespace
}  // namespace heddle::input_flow_test
