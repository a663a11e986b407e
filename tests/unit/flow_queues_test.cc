// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::flow_queues_test {
namespace {

class FlowQueuesTest : public ComponentTest {
 protected:
  // A packet of the flow comes, and joins its queue.
  Packet* join(Port& port, FlowId id, uint16_t payload, uint8_t ftag = kLossy) {
    InputFlow& flow = port.input.flows[id];
    Packet* next = packet(payload, ftag);
    flow.next_data_flow += payload;
    flow_queues_.push(port, id, flow, next, 0);
    return next;
  }
  const uint32_t most_ = site_.settings.input_drop_mark_packets;
};

TEST_F(FlowQueuesTest, PacketsLeaveInTheOrderInWhichTheyCame) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* first = join(edge_, id, 100);
  Packet* second = join(edge_, id, 100);
  EXPECT_EQ(flow.queued_packets, 2u);
  EXPECT_EQ(edge_.input.queues.packets(), 2u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 0u);
  EXPECT_EQ(flow_queues_.take(edge_, flow), first);
  EXPECT_EQ(flow_queues_.take(edge_, flow), second);
  EXPECT_TRUE(flow.queue.empty());
  EXPECT_EQ(flow.queued_packets, 0u);
  EXPECT_EQ(edge_.input.queues.packets(), 0u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 0u);
}

TEST_F(FlowQueuesTest, AFlowQueueRefusesBehindItsMark) {
  FlowId id;
  InputFlow& flow = begin(id);
  const uint32_t mark = topology_.classes[0].flow_queue_bytes;
  Packet* first = packet(1500);
  flow.next_data_flow += mark + 1;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::none) << "an empty queue takes any frame";
  flow_queues_.push(edge_, id, flow, first, 0);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::flow_queue_full);
  EXPECT_FALSE(flow.flags & kFlowFull) << "nobody is paused for a lossy flow";
  flow.next_data_flow -= 1;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::none);
}

TEST_F(FlowQueuesTest, AnInputTakesSoMuchAndAFlowNoMoreThanItLeaves) {
  FlowId id;
  InputFlow& flow = begin(id);
  const Packet* frame = packet(1500);
  count_waiting(edge_, 0, most_);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::input_full);
  count_waiting(edge_, 1, most_ - 1);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none) << "lossless ones do not count";
  count_waiting(edge_, 0, most_ / 2);
  flow.queued_packets = static_cast<uint16_t>((most_ - most_ / 2 - 1) / 2);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none);
  ++flow.queued_packets;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::flow_queue_full) << "it leaves others as much";
}

// A8: of several lossy classes none takes the buffers that another one needs.
TEST_F(FlowQueuesTest, AClassTakesNoMoreThanItLeaves) {
  FlowId id;
  InputFlow& flow = begin(id);
  const Packet* frame = packet(1500);
  InputQueues& queues = edge_.input.queues;
  while (queues.packets_of_class(kLossy) < most_ / 2) queues.joined(*frame, 0, false);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::class_full);
  FlowId other_id;
  InputFlow& other = begin(other_id, kOutput, kUncontrolled);
  EXPECT_EQ(flow_queues_.refusal(edge_, other, *packet(1500, kUncontrolled)), DropReason::none) << "the rest is its";
  while (queues.packets_of_class(kLossy) > most_ / 2 - 1) queues.left(*frame, 0, false);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none);
  const uint32_t of_class = most_ / 4;
  while (queues.packets_of_class(kLossy) > of_class) queues.left(*frame, 0, false);
  flow.queued_packets = static_cast<uint16_t>((most_ - of_class - 1 - of_class) / 2);  // of its class's part, half
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none);
  ++flow.queued_packets;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::flow_queue_full);
}

TEST_F(FlowQueuesTest, TheOnlyLossyClassWithFlowsHasAllBuffers) {
  Topology one = topology_;
  std::erase_if(one.classes, [](const TrafficClass& each) { return each.ftag == kUncontrolled; });
  NodeOptions alone = options(0);
  alone.topology = &one;
  const Site site(alone, 0);
  EXPECT_FALSE(site.several_lossy_classes) << "others are lossless or without flow channels";
  EXPECT_TRUE(site_.several_lossy_classes);
}

// A6: what would never go does not wait.
TEST_F(FlowQueuesTest, AClosedApplicationHasNothingQueuedForTheFabric) {
  ApplicationPolicy policy;
  policy.configured = true;
  policy.groups[5].limit = 2;
  policy.limits[2].bytes = 0;
  NodeOptions shared = options(0);
  shared.applications = &policy;
  const std::unique_ptr<Port> port = make_port(shared, kEdge);
  const Packet* frame = packet(1500);
  InputFlow& flow = port->input.flows[port->input.flows.take()];
  flow.begin({static_cast<uint16_t>(site_.address + 1), kOutput}, kLossy, kNoMatch, 5);
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::injection_closed);
  flow.begin({site_.address, kOutput}, kLossy, kNoMatch, 5);
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::none) << "a host of the same node";
  flow.begin({static_cast<uint16_t>(site_.address + 1), kOutput}, kLossy, kNoMatch, 6);
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::none) << "another application";
}

// A8: an application of many flows leaves as many buffers to the others as it has, and a flow as many to the others of
// its own.
TEST_F(FlowQueuesTest, AGroupTakesNoMoreThanItLeaves) {
  ApplicationPolicy policy;
  policy.configured = true;
  NodeOptions shared = options(0);
  shared.applications = &policy;
  const std::unique_ptr<Port> port = make_port(shared, kEdge);
  InputFlow& flow = port->input.flows[port->input.flows.take()];
  flow.begin({1, kOutput}, kLossy, kNoMatch, 5);
  const Packet* frame = packet(1500);
  count_waiting(*port, 0, most_ / 2, 5);
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::group_full);
  flow.group = 6;
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::none) << "the other half is for others";
  count_waiting(*port, 0, 3, 6);
  const uint32_t free = (most_ - most_ / 2 - 3 - 1 - 3) / 2;  // of its part, with the frame itself counted
  flow.queued_packets = static_cast<uint16_t>(free);
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::none);
  ++flow.queued_packets;
  EXPECT_EQ(flow_queues_.refusal(*port, flow, *frame), DropReason::flow_queue_full);
}

TEST_F(FlowQueuesTest, AGroupsPacketsAreCountedWhileTheyWait) {
  ApplicationPolicy policy;
  policy.configured = true;
  NodeOptions shared = options(0);
  shared.applications = &policy;
  const std::unique_ptr<Port> port = make_port(shared, kEdge);
  const FlowId id = port->input.flows.take();
  InputFlow& flow = port->input.flows[id];
  flow.begin({1, kOutput}, kLossy, kNoMatch, 5);
  Packet* first = packet(1500);
  flow_queues_.push(*port, id, flow, first, 0);
  flow_queues_.push(*port, id, flow, packet(100), 0);
  EXPECT_EQ(port->input.queues.packets(5, false), 2u);
  EXPECT_EQ(flow_queues_.take(*port, flow), first);
  EXPECT_EQ(port->input.queues.packets(5, false), 1u);
  turn_.discard(first);
  turn_.discard(flow_queues_.take(*port, flow));
  EXPECT_EQ(port->input.queues.packets(5, false), 0u);
  EXPECT_EQ(port->input.queues.lossless_packets(), 0u);
}

TEST_F(FlowQueuesTest, AFabricPortCountsTheBuffersThatItHolds) {
  FlowId id;
  InputFlow& flow = begin(id);
  const Packet* frame = packet(1500);
  count_waiting(fabric_, 0, 2 * most_);
  fabric_.credits[kLossyChannel].received(most_, false);
  EXPECT_EQ(flow_queues_.refusal(fabric_, flow, *frame), DropReason::none);
  fabric_.credits[kLossyChannel].received(1, false);
  EXPECT_EQ(flow_queues_.refusal(fabric_, flow, *frame), DropReason::input_full);
  flow.ftag = kLossless;
  count_waiting(fabric_, most_, 2 * most_);
  EXPECT_EQ(flow_queues_.refusal(fabric_, flow, *frame), DropReason::none) << "its buffer was granted";
}

TEST_F(FlowQueuesTest, AFabricPortHasRoomUpToItsMark) {
  EXPECT_EQ(flow_queues_.room(fabric_), most_);
  fabric_.credits[kLossyChannel].received(most_ - 3, false);
  EXPECT_EQ(flow_queues_.room(fabric_), 3u);
  for (const uint32_t more : {3u, 1u}) {
    fabric_.credits[kLossyChannel].received(more, false);
    EXPECT_EQ(flow_queues_.room(fabric_), 0u);
  }
}

TEST_F(FlowQueuesTest, AFrameWithoutHopsGoesNoFurtherThanThisNode) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* frame = packet(1500);
  frame->hop_limit = 0;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none);
  flow.destination.node = 2;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::hop_limit);
  frame->hop_limit = 1;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *frame), DropReason::none);
}

TEST_F(FlowQueuesTest, ALosslessFlowPastItsMarkPausesItsHostUntilHalfOfIt) {
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  const uint32_t mark = topology_.classes[1].flow_queue_bytes;
  flow.next_data_flow += mark - 1000;
  join(edge_, id, 1000, kLossless);
  EXPECT_EQ(edge_.input.flows_full[kLossless], 0u);
  join(edge_, id, 1000, kLossless);
  join(edge_, id, 1000, kLossless);
  EXPECT_EQ(edge_.input.flows_full[kLossless], 1u) << "once";
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 3u);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *packet(1000, kLossless)), DropReason::none) << "it waits nevertheless";
  flow.data_flow = flow.next_data_flow - mark / 2 - 1001;
  flow_queues_.take(edge_, flow);
  EXPECT_EQ(edge_.input.flows_full[kLossless], 1u);
  flow.data_flow = flow.next_data_flow - mark / 2 - 1000;
  flow_queues_.take(edge_, flow);
  EXPECT_EQ(edge_.input.flows_full[kLossless], 0u);
  EXPECT_FALSE(flow.flags & kFlowFull);
  flow_queues_.take(edge_, flow);
  EXPECT_EQ(edge_.input.flows_full[kLossless], 0u);
  EXPECT_EQ(edge_.input.queues.lossless_packets(), 0u);
}

TEST_F(FlowQueuesTest, AQueueThatRunsEmptyPausesNobody) {
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  flow.next_data_flow += 2 * topology_.classes[1].flow_queue_bytes;
  join(edge_, id, 1000, kLossless);
  ASSERT_EQ(edge_.input.flows_full[kLossless], 1u);
  flow_queues_.take(edge_, flow);  // though more is let in
  EXPECT_EQ(edge_.input.flows_full[kLossless], 0u);
}

TEST_F(FlowQueuesTest, AHostThatDoesNotPauseIsDropped) {
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  count_waiting(edge_, most_ - 1);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *packet(1000, kLossless)), DropReason::none);
  count_waiting(edge_, most_);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *packet(1000, kLossless)), DropReason::pause_ignored);
}

TEST_F(FlowQueuesTest, AFabricPortCountsItsFlowsWithQueuesByChannel) {
  for (FlowId id = 1; id <= 2; ++id) {
    fabric_.input.flows[id].begin({1, kOutput}, kLossy, kNoMatch);
    join(fabric_, id, 100);
    join(fabric_, id, 100);
  }
  EXPECT_EQ(fabric_.input.queued_flows[kLossyChannel], 2u);
  flow_queues_.take(fabric_, fabric_.input.flows[1]);
  EXPECT_EQ(fabric_.input.queued_flows[kLossyChannel], 2u);
  flow_queues_.take(fabric_, fabric_.input.flows[1]);
  EXPECT_EQ(fabric_.input.queued_flows[kLossyChannel], 1u);
}

}  // namespace
}  // namespace heddle::test::flow_queues_test
