// SPDX-License-Identifier: Apache-2.0
#include "node/stamping.h"

#include "component_fixture.h"

namespace heddle::test::stamping_test {
namespace {

class StampingTest : public ComponentTest {
 protected:
  struct Heard {  // as the other end reads it
    LinkFrame link{};
    Packet data{};
  };
  Heard stamp(Packet& packet, uint32_t sequence = 1) {
    fabric_.output.sequence = sequence - 1;
    return stamp(packet, kLossyChannel, false);
  }
  Heard stamp(Packet& packet, uint8_t channel, bool retry) {
    const FlowId flow = packet.output_flow;
    const uint32_t position =
        flow == kNoFlow ? 0 : stamping_.advance(kFabric, flow, fabric_.output.flows[flow], packet.payload, now_);
    if (!(packet.flags & kPacketFabric)) prepend_fabric_header(packet);
    Stamping::begin_session(fabric_);
    Stamping::stamp(fabric_, packet, {channel, retry}, flow, position, 100 * HEDDLE_LIFE_UNIT_NS);
    Heard heard;
    EXPECT_EQ(check_frame(packet.data, packet.length, heard.link), DropReason::none);
    heard.data.data = packet.data;
    heard.data.length = packet.length;
    read_data_header(heard.data);
    return heard;
  }
  Packet* of_flow(FlowId id, uint16_t payload) {
    Packet* fresh = numbered(1, edge_, payload);
    fresh->source = {1, kEdge};
    fresh->destination = {2, 1};
    fresh->output_flow = id;
    return fresh;
  }

  Stamping stamping_{site_, prober_};
  const Nanos now_ = turn_.now();
};

TEST_F(StampingTest, PositionsOfAFlowRunOn) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  const uint32_t begin = entry.data_flow;
  Packet* first = of_flow(id, 100);
  Packet* second = of_flow(id, 60);
  EXPECT_EQ(stamp(*first).data.position, begin);
  EXPECT_EQ(stamp(*second, 2).data.position, begin + 100);
  EXPECT_EQ(entry.data_flow, begin + 160);
  EXPECT_EQ(entry.extent(), 160u);
}

TEST_F(StampingTest, AFrameHasOneHopLessAndItsHeaderOnce) {
  Packet* packet = of_flow(kNoFlow, 100);
  Heard frame = stamp(*packet, 7);
  EXPECT_EQ(packet->length, 100 + HEDDLE_DATA_OVERHEAD_BYTES);
  EXPECT_EQ(packet->hop_limit, 8);
  EXPECT_EQ(frame.data.hop_limit, 8);
  EXPECT_EQ(frame.data.output_flow, kNoFlow);
  EXPECT_EQ(frame.data.position, 0u);
  EXPECT_EQ(frame.link.sequence, 7u);
  EXPECT_EQ(frame.link.flags, 0);
  packet->flags |= kPacketFabric;  // as it comes to its next hop
  frame = stamp(*packet, 8);
  EXPECT_EQ(packet->length, 100 + HEDDLE_DATA_OVERHEAD_BYTES);
  EXPECT_EQ(frame.data.hop_limit, 7);
}

// K5: the time of a flow that had nothing under way begins with the frame; a timer that runs is not set again.
TEST_F(StampingTest, AFlowIsAskedAfterFromItsFirstFrameOn) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.backoff = 3;
  stamp(*of_flow(id, 100));
  EXPECT_EQ(entry.backoff, 0);
  EXPECT_EQ(entry.due_ns, now_ + site_.settings.probe_base_ns);
  EXPECT_EQ(entry.probe_mark, entry.ack_flow);
  EXPECT_TRUE(entry.flags & kOutputTimed);
  entry.due_ns = 1;
  entry.backoff = 2;
  stamp(*of_flow(id, 100), 2);
  EXPECT_EQ(entry.due_ns, 1) << "bytes were under way";
  EXPECT_EQ(entry.backoff, 2);
}

TEST_F(StampingTest, TheRetryChannelHasNumbersOfItsOwn) {
  fabric_.output.sequence = 6;
  const Heard frame = stamp(*of_flow(kNoFlow, 100), kFirstLosslessChannel, true);
  EXPECT_EQ(frame.link.sequence, 1u);
  EXPECT_EQ(frame.link.channel, HEDDLE_RETRY_CHANNEL);
  EXPECT_EQ(frame.data.dies_ns, 100 * HEDDLE_LIFE_UNIT_NS);
  EXPECT_EQ(fabric_.output.sequence, 6u);
}

TEST_F(StampingTest, WhatAllFramesOfAChannelHave) {
  const Heard lossy = stamp(*of_flow(kNoFlow, 100), kLossyChannel, false);
  EXPECT_EQ(lossy.link.session_tag, fabric_.session.tag());
  EXPECT_EQ(lossy.data.vc, kLossyChannel);
  EXPECT_EQ(lossy.link.channel, 0);
  EXPECT_EQ(lossy.link.flags, 0);
  const Heard lossless = stamp(*of_flow(kNoFlow, 100), kFirstLosslessChannel, true);
  EXPECT_EQ(lossless.data.vc, kFirstLosslessChannel);
  EXPECT_EQ(lossless.link.flags, HEDDLE_DATA_LOSSLESS);
}

}  // namespace
}  // namespace heddle::test::stamping_test
