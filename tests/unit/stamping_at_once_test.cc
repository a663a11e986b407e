// SPDX-License-Identifier: Apache-2.0
#include "node/stamping_at_once.h"

#include <bit>

#include "flow_fixture.h"

namespace heddle::test::stamping_at_once_test {
namespace {

// A flow of port 0 with an ID of the fabric port, whose link has a session and credit.
class StampingAtOnceTest : public FlowTest {
 protected:
  static constexpr uint8_t kFirstByte = 0x77;  // of each frame

  StampingAtOnceTest() {
    bring_up();
    EXPECT_TRUE(credits_.apply(0, credits_.buffers(), false));
    reserve(fabric_, id_);
    flow_.begin({2, 1}, kLossy, kNoMatch);
    flow_.branch.set_output(kFabric);
    flow_.branch.flow = id_;
  }
  OutputFlow& entry() { return fabric_.output.flows[id_]; }
  // A frame of it as its host has sent it, with so much of its life left; where it is when take() was asked is the
  // answer.
  bool take(Nanos life = 50 * HEDDLE_LIFE_UNIT_NS, const Port* from = nullptr) {
    last_ = packet(100);
    last_->data[0] = kFirstByte;
    last_->input = edge_.input.ref.with(7);
    last_->source = {1, kEdge};
    last_->destination = flow_.destination;
    last_->output_flow = id_;
    last_->dies_ns = life;
    return stamping_at_once_.take(from == nullptr ? edge_ : *from, flow_, last_, turn_.now());
  }
  uint32_t stamped() const { return fabric_.output.stamped_packets; }

  LinkCredits& credits_ = fabric_.credits[kLossyChannel];
  FlowId id_;
  InputFlow& flow_ = edge_.input.flows[7];
  Packet* last_ = nullptr;
};

TEST_F(StampingAtOnceTest, AFrameGetsItsHeaderWhereNothingWaits) {
  const uint32_t position = entry().data_flow, sequence = fabric_.output.sequence = 40;
  for (const uint32_t i : {0u, 1u}) {
    ASSERT_TRUE(take());
    ASSERT_EQ(stamped(), i + 1);
    EXPECT_EQ(fabric_.output.stamped[i], last_);
    EXPECT_EQ(last_->data[HEDDLE_DATA_OVERHEAD_BYTES], kFirstByte) << "of the frame behind it";
    LinkFrame link{};
    ASSERT_EQ(check_frame(last_->data, last_->length, link), DropReason::none);
    EXPECT_EQ(link.sequence, sequence + 1 + i);
    EXPECT_EQ(link.session_tag, fabric_.session.tag());
    EXPECT_EQ(link.flags | link.channel, 0u);
    Packet heard{};
    heard.data = last_->data;
    read_data_header(heard);
    EXPECT_EQ(heard.input.flow, id_);
    EXPECT_EQ(heard.position, position + 100 * i);
    EXPECT_EQ(heard.dies_ns, 50 * HEDDLE_LIFE_UNIT_NS);
  }
  EXPECT_EQ(last_->dies_ns, turn_.now() + 50 * HEDDLE_LIFE_UNIT_NS) << "its life began as it crossed";
  EXPECT_EQ(entry().extent(), 200u);
  EXPECT_EQ(entry().queued, 0u);
  EXPECT_TRUE(entry().flags & kOutputTimed) << "it is asked after";
  EXPECT_EQ(credits_.sent_total(), 2u);
  EXPECT_TRUE(fabric_.output.scheduler.empty());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::stamped_at_once), 2u);
}

TEST_F(StampingAtOnceTest, OneInTransitHasItsHeaderAndItsLife) {
  last_ = packet(100);
  prepend_fabric_header(*last_);
  last_->flags |= kPacketFabric;
  last_->output_flow = id_;
  last_->dies_ns = turn_.now() + 3 * HEDDLE_LIFE_UNIT_NS;
  ASSERT_TRUE(stamping_at_once_.take(fabric_, flow_, last_, turn_.now()));
  Packet heard{};
  heard.data = last_->data;
  read_data_header(heard);
  EXPECT_EQ(heard.dies_ns, 3 * HEDDLE_LIFE_UNIT_NS);
  EXPECT_EQ(last_->dies_ns, turn_.now() + 3 * HEDDLE_LIFE_UNIT_NS);
  EXPECT_EQ(last_->length, HEDDLE_DATA_OVERHEAD_BYTES + 100u) << "one header";
}

TEST_F(StampingAtOnceTest, AnotherWorkersPortIsNotInReach) {
  flow_.branch.set_output(kOther);
  EXPECT_FALSE(take());
}

TEST_F(StampingAtOnceTest, NothingPassesWhatWaitsAtThePort) {
  queue_at(fabric_, 0);
  EXPECT_FALSE(take());
  turn_.discard(fabric_.output.scheduler.take_any());
  EXPECT_TRUE(take());
  takes(fabric_, 1);
  EXPECT_FALSE(take()) << "its device has room for one";
  takes(fabric_, 2);
  EXPECT_TRUE(take());
  EXPECT_EQ(credits_.sent_total(), 2u);
  EXPECT_EQ(entry().extent(), 200u);
}

TEST_F(StampingAtOnceTest, NothingPassesWhatTheLinkSendsAgain) {
  Packet* kept = packet(100);
  kept->flags |= kPacketFabric;
  fabric_.retry.next_sequence();
  fabric_.retry.keep(kept, turn_.now());
  PacketQueue released;
  fabric_.retry.apply({.flags = HEDDLE_RETRY_MISSING, .sequence = fabric_.retry.settled()}, released, turn_.now());
  ASSERT_NE(fabric_.retry.again(), nullptr);
  EXPECT_FALSE(take());
}

TEST_F(StampingAtOnceTest, APortWithARateHasItsQueue) {
  fabric_.output.scheduler.set_pace(TokenBucket(1, kMillisecond));
  EXPECT_FALSE(take());
}

TEST_F(StampingAtOnceTest, ALinkWithoutASessionTakesNothing) {
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  EXPECT_TRUE(entry().flags & kOutputEnded);
  entry().flags = 0;
  EXPECT_FALSE(take());
}

TEST_F(StampingAtOnceTest, AnIdOfAnEarlierSessionTakesNothing) {
  entry().flags |= kOutputEnded;
  EXPECT_FALSE(take());
}

TEST_F(StampingAtOnceTest, ABurstIsAllThatFits) {
  for (uint32_t i = 0; i < kBurst; ++i) ASSERT_TRUE(take());
  EXPECT_FALSE(take());
  EXPECT_EQ(stamped(), kBurst);
}

// A frame of the class, admitted as a host's; how many have their header then.
class AdmittedAtOnceTest : public StampingAtOnceTest {
 protected:
  uint32_t admit(uint8_t ftag) {
    const FlowId id = edge_.input.flows.take();
    InputFlow& flow = edge_.input.flows[id];
    flow.begin({2, 1}, ftag, kNoMatch);
    last_ = packet(100, ftag);
    last_->source = {1, kEdge};
    last_->destination = flow.destination;
    last_->dies_ns = kSecond;
    last_->cost = 1;
    admission_.admit(edge_, id, flow, last_, turn_.now());
    EXPECT_EQ(flow.branch.output(), kFabric);
    return stamped();
  }
  LinkCredits& lossless_ = fabric_.credits[kFirstLosslessChannel];
};

TEST_F(AdmittedAtOnceTest, LosslessFramesPassTheQueueInTheirChannel) {
  ASSERT_TRUE(lossless_.apply(0, 2, false));
  const uint32_t sequence = fabric_.output.sequence, in_turn = fabric_.retry.sent();
  EXPECT_EQ(admit(kLossless), 1u);
  EXPECT_EQ(fabric_.output.sequence, sequence + 1);
  EXPECT_EQ(fabric_.retry.kept(), 0u);
  EXPECT_EQ(admit(kWithRetry), 2u);
  EXPECT_EQ(fabric_.retry.sent(), in_turn + 1);
  EXPECT_EQ(fabric_.retry.kept(), 1u) << "until the other end has it (K6)";
  EXPECT_EQ(lossless_.left(), 0u);
  EXPECT_EQ(credits_.sent_total(), 0u);
  EXPECT_EQ(admit(kLossless), 2u) << "without credit it waits";
  EXPECT_EQ(fabric_.output.scheduler.packets(), 1u);
}

TEST_F(AdmittedAtOnceTest, WhereNothingCanBeKeptTheyWait) {
  ASSERT_TRUE(lossless_.apply(0, lossless_.buffers(), false));
  while (fabric_.retry.may_stamp()) {
    Packet* kept = packet(100);
    kept->flags |= kPacketFabric;
    fabric_.retry.next_sequence();
    fabric_.retry.keep(kept, turn_.now());
  }
  EXPECT_EQ(admit(kWithRetry), 0u);
  EXPECT_EQ(fabric_.output.scheduler.packets(), 1u);
  EXPECT_EQ(lossless_.sent_total(), 0u);
}

TEST_F(AdmittedAtOnceTest, WhetherOneWouldIsToldByItsLane) {
  ASSERT_TRUE(lossless_.apply(0, 1, false));
  const auto may = [this](uint8_t ftag, uint8_t channel) {
    return StampingAtOnce::may_take(site_.lanes, fabric_, site_.lanes.of(ftag, channel), kNoFlow, 100);
  };
  EXPECT_TRUE(may(kLossy, kLossyChannel) && may(kLossless, kFirstLosslessChannel));
  EXPECT_TRUE(may(kWithRetry, kFirstLosslessChannel));
  ASSERT_EQ(admit(kLossless), 1u);
  EXPECT_TRUE(may(kLossy, kLossyChannel));
  EXPECT_FALSE(may(kLossless, kFirstLosslessChannel)) << "without credit";
}

TEST_F(StampingAtOnceTest, LifeAndCreditAreNeeded) {
  EXPECT_FALSE(take(HEDDLE_LIFE_UNIT_NS - 1));
  EXPECT_TRUE(take(HEDDLE_LIFE_UNIT_NS));
  credits_.begin_session(kBufferBytes, credits_.buffers());
  ASSERT_TRUE(credits_.apply(0, 1, false));
  EXPECT_TRUE(take());
  EXPECT_FALSE(take());
  EXPECT_EQ(credits_.sent_total(), 1u);
  EXPECT_EQ(last_->dies_ns, 50 * HEDDLE_LIFE_UNIT_NS) << "nothing is done yet";
  EXPECT_EQ(stamped(), 2u);
}

TEST_F(StampingAtOnceTest, WhatTheFlowKnowsOfItsHostIsNoNews) {
  EXPECT_EQ(entry().told, 0);
  flow_limits_.tell(edge_, 7, flow_, 5 | kCongestionPersistent, turn_.now());
  ASSERT_NE(flow_.congestion, 0);
  EXPECT_TRUE(take());
  EXPECT_EQ(entry().told, flow_.congestion);
}

}  // namespace
}  // namespace heddle::test::stamping_at_once_test
