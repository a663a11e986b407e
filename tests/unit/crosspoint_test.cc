// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::crosspoint_test {
namespace {

class CrossPointTest : public ComponentTest {
 protected:
  // The first packet of a flow that has an output flow ID of port 2.
  Packet* first_of(FlowId& id, InputFlow*& flow) {
    flow = &begin(id);
    Packet* first = packet(100);
    first->input = edge_.input.ref.with(id);
    EXPECT_TRUE(flow_ids_.reserve(edge_, *flow, kOutput, *first));
    first->output_flow = flow->branch.flow;
    return first;
  }
  CrossingPacket crossed() {
    const std::vector<CrossingPacket> all = crossings();
    EXPECT_EQ(all.size(), 1u);
    return all.at(0);
  }
};

TEST_F(CrossPointTest, APacketThatCrossesPinsItsFlowIdUnlessItsSessionHasEnded) {
  FlowId id;
  InputFlow* flow;
  Packet* first = first_of(id, flow);
  first->dies_ns = 50;
  poke(flow->congestion, 5);
  crosspoint_.cross(edge_, kOutput, first, flow, 1000);
  OutputFlow& entry = output_.output.flows[flow->branch.flow];
  EXPECT_EQ(entry.queued, 1u);
  EXPECT_EQ(entry.told, 5u);
  EXPECT_EQ(first->dies_ns, 1050u) << "K8: its life begins here";
  EXPECT_EQ(output_.output.scheduler.take_any(), first);
  entry.flags |= kOutputEnded;
  Packet* late = packet(100);
  late->input = first->input;
  late->output_flow = first->output_flow;
  crosspoint_.cross(edge_, kOutput, late, flow, 1000);
  EXPECT_TRUE(output_.output.scheduler.empty());
  EXPECT_EQ(drops_of(output_, DropReason::link_down), 1u);
  EXPECT_TRUE(gone(late));
  EXPECT_EQ(entry.queued, 1u);
}

TEST_F(CrossPointTest, OnTheFabricItsLifeHasBegun) {
  Packet* frame = packet(100);
  frame->dies_ns = 5000;
  crosspoint_.cross(fabric_, kOutput, frame, nullptr, 1000);
  EXPECT_EQ(frame->dies_ns, 5000u);
  EXPECT_EQ(output_.output.scheduler.take_any(), frame);
}

TEST_F(CrossPointTest, WithoutAFlowALinkThatIsDownTakesNothing) {
  Packet* frame = packet(100);
  crosspoint_.accept(fabric_, frame, 0);
  EXPECT_EQ(drops_of(fabric_, DropReason::link_down), 1u);
  EXPECT_TRUE(gone(frame));
  greet(fabric_.session, peer_->session, kSecond);
  frame = packet(100);
  crosspoint_.accept(fabric_, frame, 0);
  EXPECT_EQ(fabric_.output.scheduler.take_any(), frame);
}

TEST_F(CrossPointTest, TheFirstPacketOfAFlowOnALentIdSaysSo) {
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  poke(flow.congestion, 3);
  for (const bool first : {true, false}) {
    Packet* next = packet(100);
    flow.data_flow += 100;
    crosspoint_.cross(edge_, kOther, next, &flow, 0);
    const CrossingPacket crossing = crossed();
    EXPECT_EQ(crossing.first, first);
    EXPECT_EQ(crossing.packet, next);
    EXPECT_EQ(crossing.output, kOther);
    EXPECT_EQ(crossing.told, 3);
  }
  flow.branch.turn_start = flow.data_flow;
  flow.data_flow += 100;
  crosspoint_.cross(edge_, kOther, packet(100), &flow, 0);
  EXPECT_FALSE(crossed().first) << "with others under way it is not the first one there";
  flow.ack_flow = flow.data_flow;
  flow.branch.turn_start = flow.data_flow;
  flow.data_flow += 100;
  crosspoint_.cross(edge_, kOther, packet(100), &flow, 0);
  EXPECT_TRUE(crossed().first);
  crosspoint_.cross(edge_, kOther, packet(100), nullptr, 0);
  const CrossingPacket alone = crossed();
  EXPECT_FALSE(alone.first);
  EXPECT_EQ(alone.told, 0);
}

TEST_F(CrossPointTest, AFlowHearsAtOnceThatItsHostIsCongested) {
  FlowId id;
  InputFlow* flow;
  Packet* first = first_of(id, flow);
  congest(output_);
  crosspoint_.cross(edge_, kOutput, first, flow, 1000);
  OutputFlow& entry = output_.output.flows[flow->branch.flow];
  EXPECT_TRUE(entry.congestion & kCongestionNew);
  EXPECT_TRUE(entry.flags & kOutputTell);
  EXPECT_EQ(count_of(output_, ProtocolEvent::congestion_new), 1u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kOutput, flow->branch.flow)});
  Packet* alone = packet(100);
  crosspoint_.cross(edge_, kOutput, alone, nullptr, 1000);
  Packet* uncontrolled = packet(100, kUncontrolled);
  uncontrolled->input = first->input;
  uncontrolled->output_flow = first->output_flow;
  crosspoint_.cross(edge_, kOutput, uncontrolled, flow, 1000);
  EXPECT_EQ(count_of(output_, ProtocolEvent::congestion_new), 1u);
}

}  // namespace
}  // namespace heddle::test::crosspoint_test
