// SPDX-License-Identifier: Apache-2.0
// What a hop grants a flow that queues there (C6), by the component alone; metered_flow_test.cc has it between
// switches.
#include "component_fixture.h"

namespace heddle::test::flow_credits_test {
namespace {

class FlowCreditsTest : public ComponentTest {
 protected:
  static constexpr FlowId kFlow = 9;
  FlowCreditsTest() { flow_.begin({1, kOutput}, kLossy, kNoMatch); }

  // A packet comes to the flow's queue.
  void join(uint16_t payload) {
    Packet* next = packet(payload);
    next->input = fabric_.input.ref.with(kFlow);
    flow_.next_data_flow += payload;
    flow_queues_.push(fabric_, kFlow, flow_, next, 50);
  }
  // The first one leaves.
  void leave() {
    const Packet* first = flow_queues_.take(fabric_, flow_);
    flow_.data_flow += first->payload;
  }
  // Until more than the target is queued.
  void fill() {
    while (!(flow_.flags & kFlowFull)) join(1500);
  }
  uint64_t events(ProtocolEvent event) const { return count_of(fabric_, event); }

  InputFlow& flow_ = fabric_.input.flows[kFlow];
  // Of a flow that queues alone: a quarter of the channel's buffers that are not in the outputs, at most 64 KiB.
  const uint32_t target_ = 64 * 1024;
};

TEST_F(FlowCreditsTest, AFlowPastItsTargetIsGrantedByCredit) {
  while (flow_.queue_extent() + 1500 <= target_) join(1500);
  EXPECT_FALSE(flow_.flags & kFlowFull);
  EXPECT_TRUE(fabric_.input.ack_due.empty());
  join(1500);
  EXPECT_TRUE(flow_.flags & kFlowFull);
  EXPECT_EQ(events(ProtocolEvent::flow_metered), 1u);
  EXPECT_TRUE(fabric_.input.ack_urgent);
  acks_.make_frames(fabric_, false, 50);
  const LinkFrame frame = next_records(fabric_);
  EXPECT_EQ(ack_records(frame)[0].credit_limit, flow_.data_flow + 2 * target_);
  join(1500);
  EXPECT_EQ(events(ProtocolEvent::flow_metered), 1u);
  EXPECT_TRUE(fabric_.input.ack_due.empty()) << "it has been told";
}

TEST_F(FlowCreditsTest, TheMoreFlowsQueueTheLessEachMay) {
  fabric_.input.queued_flows[kLossyChannel] = 4096;
  join(static_cast<uint16_t>(site_.frame_bytes));
  EXPECT_FALSE(flow_.flags & kFlowFull) << "one frame it always may";
  join(1);
  EXPECT_TRUE(flow_.flags & kFlowFull);
}

TEST_F(FlowCreditsTest, TheSharesAreOfTheChannelsBuffers) {
  const uint32_t buffers = fabric_.credits[kLossyChannel].buffers() - site_.settings.output_room_buffers;
  const uint32_t flows = 20;
  fabric_.input.queued_flows[kLossyChannel] = flows - 1;
  const uint32_t target = buffers * site_.frame_bytes / (4 * flows);
  ASSERT_GT(target, site_.frame_bytes);
  ASSERT_LT(target, target_);
  while (flow_.queue_extent() + 100 <= target) join(100);
  EXPECT_FALSE(flow_.flags & kFlowFull);
  join(100);
  EXPECT_TRUE(flow_.flags & kFlowFull);
}

TEST_F(FlowCreditsTest, WhatLeavesIsGrantedAnew) {
  fill();
  acks_.make_frames(fabric_, false, kMillisecond);
  EXPECT_EQ(events(ProtocolEvent::credit_told), 0u);
  while (fabric_.input.ack_due.empty() && flow_.queue_extent() > target_ / 4) leave();
  EXPECT_EQ(events(ProtocolEvent::credit_told), 1u) << "once a quarter of the window has gone";
  EXPECT_TRUE(flow_.flags & kFlowFull);
  EXPECT_EQ(fabric_.input.ack_due_since_ns, turn_.now());
}

TEST_F(FlowCreditsTest, GrantingIsOverWhenTheQueueRunsEmpty) {
  fill();
  acks_.make_frames(fabric_, false, kMillisecond);
  while (!flow_.queue.empty()) {
    leave();
    acks_.make_frames(fabric_, false, kMillisecond);
  }
  EXPECT_FALSE(flow_.flags & kFlowFull);
  EXPECT_EQ(events(ProtocolEvent::meter_ended), 1u);
}

TEST_F(FlowCreditsTest, FlowsAreCountedInTheChannelTheyCameIn) {
  flow_.ftag = kLossless;
  Packet* next = packet(1500, kLossless);
  next->vc = kFirstLosslessChannel;
  flow_credits_.joined(fabric_, kFlow, flow_, *next, 0);
  EXPECT_EQ(fabric_.input.queued_flows[kFirstLosslessChannel], 1u);
  EXPECT_EQ(fabric_.input.queued_flows[kLossyChannel], 0u);
}

TEST_F(FlowCreditsTest, AClassMayDoWithout) {
  flow_.ftag = kUncontrolled;
  flow_.next_data_flow += 10 * target_;
  flow_credits_.joined(fabric_, kFlow, flow_, *packet(1500, kUncontrolled), 0);
  EXPECT_FALSE(flow_.flags & kFlowFull);
}

}  // namespace
}  // namespace heddle::test::flow_credits_test
