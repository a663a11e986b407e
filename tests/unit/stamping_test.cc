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
    Stamp stamp = Stamping::common(fabric_, kLossyChannel, false);
    Stamping::number(fabric_, stamp, 100 * HEDDLE_LIFE_UNIT_NS, false);
    stamping_.stamp(fabric_, packet, stamp, now_);
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
  Stamp common = Stamping::common(fabric_, kFirstLosslessChannel, true);
  Stamping::number(fabric_, common, 100 * HEDDLE_LIFE_UNIT_NS, true);
  EXPECT_EQ(common.sequence, 1u);
  EXPECT_EQ(common.life_units, 100);
  EXPECT_EQ(fabric_.output.sequence, 6u);
}

TEST_F(StampingTest, WhatAllFramesOfAChannelHave) {
  const Stamp lossy = Stamping::common(fabric_, kLossyChannel, false);
  EXPECT_EQ(lossy.session_tag, fabric_.session.tag());
  EXPECT_EQ(lossy.vc, kLossyChannel);
  EXPECT_EQ(lossy.channel, 0);
  EXPECT_EQ(lossy.flags, 0);
  const Stamp lossless = Stamping::common(fabric_, kFirstLosslessChannel, true);
  EXPECT_EQ(lossless.vc, kFirstLosslessChannel);
  EXPECT_EQ(lossless.channel, HEDDLE_RETRY_CHANNEL);
  EXPECT_EQ(lossless.flags, HEDDLE_DATA_LOSSLESS);
}

}  // namespace
}  // namespace heddle::test::stamping_test
