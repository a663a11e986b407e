// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::ack_writer_test {
namespace {

class AckWriterTest : public ComponentTest {
 protected:
  AckWriterTest() {
    for (FlowId id = 1; id <= 200; ++id) fabric_.input.flows[id].ack_flow = 1000u + id;
  }
  void mark(FlowId first, FlowId last, Nanos now = 0) {
    for (FlowId id = first; id <= last; ++id) acks_.mark_due(fabric_, id, fabric_.input.flows[id], now);
  }
  uint64_t frames() const { return count_of(fabric_, ProtocolEvent::ack_sent); }

  const uint32_t full_ = topology_.settings.ack_records_max;
};

TEST_F(AckWriterTest, AHoleIsSettledOnceAndToldUpstream) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.next_data_flow = flow.data_flow = flow.ack_flow = 1000;
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1000, 50));
  EXPECT_TRUE(fabric_.input.ack_due.empty());
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1300, 50));
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1200, 60)) << "an older position is a duplicate's";
  EXPECT_EQ(flow.lost_total, 300u);
  EXPECT_EQ(flow.flow_extent(), 0u);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(fabric_.counters.lost_on_wire_bytes, 300u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::hole), 1u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_EQ(fabric_.input.ack_due_since_ns, 50u);
}

TEST_F(AckWriterTest, AHoleIsNoLargerThanALinkCanCarry) {
  constexpr uint32_t kMost = 1u << 30;
  InputFlow& flow = fabric_.input.flows[9];
  const uint32_t at = flow.next_data_flow;
  EXPECT_FALSE(acks_.settle_hole(fabric_, 9, flow, at + kMost + 1, 60));
  EXPECT_EQ(flow.lost_total, 0u);
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, at + kMost, 60));
  EXPECT_EQ(flow.lost_total, kMost);
}

TEST_F(AckWriterTest, RecordsWaitForOthersWhileTheLinkIsBusy) {
  EXPECT_EQ(acks_.deadline(fabric_), kNever);
  mark(1, 1, 100);
  mark(1, 1, 900);  // it is listed, since then
  EXPECT_EQ(acks_.deadline(fabric_), 100 + site_.settings.ack_idle_ns);
  fabric_.output.scheduler.push(packet(100));
  EXPECT_EQ(acks_.deadline(fabric_), 100 + site_.settings.ack_hard_ns);
  mark(2, 7, 900);
  EXPECT_EQ(acks_.deadline(fabric_), 100 + site_.settings.ack_hard_ns);
  mark(8, 8, 900);
  EXPECT_EQ(acks_.deadline(fabric_), 100 + std::min(site_.settings.ack_busy_ns, site_.settings.ack_hard_ns));
  fabric_.input.ack_patience_ns = 700;
  EXPECT_EQ(acks_.deadline(fabric_), 100 + 700u) << "on a fast link";
  fabric_.input.ack_patience_ns = kNever;
}

TEST_F(AckWriterTest, AFrameGoesWhenItIsTime) {
  acks_.make_frames(fabric_, false, 0);
  EXPECT_EQ(frames(), 0u) << "nothing is due";
  fabric_.output.scheduler.push(packet(100));
  mark(1, 1, 100);
  acks_.make_frames(fabric_, true, acks_.deadline(fabric_) - 1);
  EXPECT_EQ(frames(), 0u);
  acks_.make_frames(fabric_, true, acks_.deadline(fabric_));
  EXPECT_EQ(frames(), 1u);
  EXPECT_EQ(acks_.deadline(fabric_), kNever);
  mark(1, 1, 5000);
  EXPECT_EQ(fabric_.input.ack_due_since_ns, 5000u) << "it is listed anew, since then";
}

TEST_F(AckWriterTest, AFullFrameOrAnUrgentOneGoesAtOnce) {
  fabric_.output.scheduler.push(packet(100));
  mark(1, FlowId::of(full_ - 1));
  acks_.make_frames(fabric_, true, 0);
  EXPECT_EQ(frames(), 0u);
  mark(FlowId::of(full_), FlowId::of(full_));
  acks_.make_frames(fabric_, true, 0);
  EXPECT_EQ(frames(), 1u);
  mark(1, 1);
  fabric_.input.ack_urgent = true;
  acks_.make_frames(fabric_, true, 0);
  EXPECT_EQ(frames(), 2u);
  EXPECT_FALSE(fabric_.input.ack_urgent);
}

// They merge while they wait, and the port's packets have their part of it.
TEST_F(AckWriterTest, RecordsWaitForTheRateOfTheirPort) {
  OutputScheduler& scheduler = fabric_.output.scheduler;
  scheduler.set_pace(TokenBucket(1000, 0));  // a microsecond for each byte
  mark(1, 1);
  acks_.make_frames(fabric_, false, kMillisecond);
  EXPECT_EQ(frames(), 1u);
  Packet sent{};
  sent.length = 76;
  scheduler.sent(sent, kMillisecond);  // and what is between frames
  mark(1, 2, kMillisecond);
  const Nanos ready = kMillisecond + 100 * kMicrosecond;
  EXPECT_EQ(acks_.deadline(fabric_), ready);
  fabric_.input.ack_urgent = true;
  acks_.make_frames(fabric_, false, ready - 1);
  EXPECT_EQ(frames(), 1u);
  acks_.make_frames(fabric_, false, ready);
  EXPECT_EQ(frames(), 2u);

  scheduler.push(packet(100));
  mark(1, 1, ready);
  scheduler.sent(sent, ready);
  EXPECT_EQ(acks_.deadline(fabric_), ready + 200 * kMicrosecond) << "as much is left to the packet";
}

TEST_F(AckWriterTest, ManyGoInFullFramesInTheirOrder) {
  const auto last = FlowId::of(2 * full_ + 1);
  mark(1, last);
  acks_.make_frames(fabric_, false, kMillisecond);
  EXPECT_EQ(frames(), 3u);
  FlowId id = 0;
  for (const uint32_t records : {full_, full_, 1u}) {
    const LinkFrame frame = next_records(fabric_);
    EXPECT_EQ(ack_records(frame).size(), records);
    for (const AckRecord record : ack_records(frame)) {
      EXPECT_EQ(record.flow, ++id);
      EXPECT_EQ(record.ack_flow, 1000u + id);
      EXPECT_FALSE(fabric_.input.flows[id].flags & kFlowAckDue);
    }
  }
  EXPECT_EQ(id, last);
}

TEST_F(AckWriterTest, WhatFindsNoPacketStaysDue) {
  mark(1, 3);
  fabric_.input.ack_urgent = true;
  control_pool_.empty = true;
  acks_.make_frames(fabric_, false, kMillisecond);
  EXPECT_EQ(frames(), 0u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 3u);
  EXPECT_TRUE(fabric_.input.ack_urgent);
  EXPECT_TRUE(fabric_.input.flows[1].flags & kFlowAckDue);
  control_pool_.empty = false;
  acks_.make_frames(fabric_, false, kMillisecond);
  EXPECT_EQ(ack_records(next_records(fabric_)).size(), 3u);
}

TEST_F(AckWriterTest, ARecordHasTheTotalsAndWhatElseIsToBeKnown) {
  InputFlow& plain = fabric_.input.flows[1];
  plain.lost_total = 44;
  poke(plain.asked_by, 3);
  plain.flags |= kFlowRedirect;
  InputFlow& congested = fabric_.input.flows[2];
  poke(congested.congestion, 5 | kCongestionNew);
  InputFlow& metered = fabric_.input.flows[3];
  metered.flags |= kFlowFull;
  metered.data_flow = 5000;
  fabric_.input.meters[3].begin(2000, 5000);
  mark(1, 3);
  acks_.make_frames(fabric_, false, kMillisecond);
  const LinkFrame frame = next_records(fabric_);
  const auto records = ack_records(frame);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].ack_flow, 1001u);
  EXPECT_EQ(records[0].lost_total, 44u);
  EXPECT_EQ(records[0].asked_by, 3);
  EXPECT_EQ(records[0].flags | records[0].severity, HEDDLE_ACK_REDIRECT);
  EXPECT_EQ(records[1].asked_by, 0);
  EXPECT_FALSE(plain.flags & kFlowRedirect) << "said once";
  EXPECT_EQ(congestion_of(records[1].severity, records[1].flags), 5 | kCongestionNew);
  EXPECT_EQ(records[1].flags & HEDDLE_ACK_METERED, 0);
  EXPECT_EQ(records[2].flags, HEDDLE_ACK_METERED);
  EXPECT_EQ(records[2].credit_limit, 5000u + 2 * 2000);
}

}  // namespace
}  // namespace heddle::test::ack_writer_test
