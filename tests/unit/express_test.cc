// SPDX-License-Identifier: Apache-2.0
#include "node/express.h"

#include "flow_fixture.h"

namespace heddle::test::express_test {
namespace {

// A flow of port 0 that has an ID of the fabric port, whose link has a session and credit.
class ExpressTest : public FlowTest {
 protected:
  static constexpr uint8_t kFirstByte = 0x77;  // of each frame

  ExpressTest() {
    bring_up();
    EXPECT_TRUE(credits_.apply(0, credits_.buffers(), false));
    reserve(fabric_, id_);
    flow_.begin({2, 1}, kLossy, kNoMatch);
    flow_.branch.set_output(kFabric);
    flow_.branch.flow = id_;
    flow_.branch.voq = site_.voq_index(kFabric, 0);
  }
  OutputFlow& entry() { return fabric_.output.flows[id_]; }
  Voq& voq() { return edge_.input.arbiter[flow_.branch.voq]; }
  template <bool kOfLossless = false>
  bool take(Nanos life = 50 * HEDDLE_LIFE_UNIT_NS, uint16_t payload = 100) {
    last_ = packet(payload);
    last_->data[0] = kFirstByte;
    last_->input = edge_.input.ref.with(7);
    last_->source = {1, kEdge};
    last_->destination = flow_.destination;
    last_->dies_ns = life;
    return express_.take<kOfLossless>(edge_, false, flow_, last_, turn_.now());
  }
  // With a look at the outputs before, as when a burst begins.
  bool take_anew() {
    express_.look_again();
    return take();
  }
  uint32_t stamped() const { return fabric_.output.stamped_packets; }

  LinkCredits& credits_ = fabric_.credits[kLossyChannel];
  FlowId id_;
  InputFlow& flow_ = edge_.input.flows[7];
  Packet* last_ = nullptr;
};

TEST_F(ExpressTest, AFrameLeavesItsFlowAndGetsItsHeader) {
  const uint32_t position = entry().data_flow, begin = flow_.data_flow, room = voq().room;
  for (const uint32_t i : {0u, 1u}) {
    ASSERT_TRUE(take());
    EXPECT_EQ(last_->data[HEDDLE_DATA_OVERHEAD_BYTES], kFirstByte) << "of the frame behind it";
    ASSERT_EQ(stamped(), i + 1);
    EXPECT_EQ(fabric_.output.stamped[i], last_);
    LinkFrame link{};
    ASSERT_EQ(check_frame(last_->data, last_->length, link), DropReason::none);
    EXPECT_EQ(link.session_tag, fabric_.session.tag());
    Packet heard{};
    heard.data = last_->data;
    read_data_header(heard);
    EXPECT_EQ(heard.input.flow, id_);
    EXPECT_EQ(heard.position, position + 100 * i);
    EXPECT_EQ(heard.dies_ns, 50 * HEDDLE_LIFE_UNIT_NS);
  }
  EXPECT_EQ(last_->dies_ns, turn_.now() + 50 * HEDDLE_LIFE_UNIT_NS) << "its life began as it crossed";
  EXPECT_EQ(flow_.data_flow, begin + 200);
  EXPECT_EQ(flow_.next_data_flow, flow_.data_flow);
  EXPECT_EQ(entry().extent(), 200u);
  EXPECT_EQ(voq().room, room - 2) << "that it has at the output until it leaves";
  EXPECT_EQ(last_->cost, 1);
  EXPECT_EQ(credits_.sent_total(), 2u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::stamped_at_once), 2u);
}

TEST_F(ExpressTest, AFlowWithAnythingSpecialAboutItGoesTheOrdinaryWay) {
  for (const uint16_t flag :
       {kFlowLeaving, kFlowPending, kFlowLimited, kFlowFull, kFlowMetered, kFlowDetour, kFlowPaused}) {
    flow_.flags |= flag;
    EXPECT_FALSE(take_anew()) << flag;
    flow_.flags &= static_cast<uint16_t>(~flag);
  }
  for (const uint16_t flag : {kFlowAckDue, kFlowTimed, kFlowMayRest, kFlowMoved, kFlowRedirect}) {
    flow_.flags |= flag;
    EXPECT_TRUE(take_anew()) << flag;
  }
  for (const FlowState state : {FlowState::ready, FlowState::wanting, FlowState::held, FlowState::blocked}) {
    poke(flow_.state, state);
    EXPECT_FALSE(take_anew()) << "it has a queue";
  }
  poke(flow_.state, FlowState::idle);
  flow_.branch.flow = kNoFlow;
  EXPECT_FALSE(take_anew()) << "it has no ID";
  flow_.branch.flow = id_;
  flow_.flags &= static_cast<uint16_t>(~kFlowInUse);
  EXPECT_FALSE(take_anew());
}

// R6: with something under way it keeps its way; after a rest it does where that is surely the one it would choose.
TEST_F(ExpressTest, AFlowThatHasAChoiceMakesItAfterARest) {
  ASSERT_TRUE(take());
  flow_.flags |= kFlowChooses;
  ASSERT_NE(flow_.flow_extent(), 0u);
  EXPECT_TRUE(take_anew());
  flow_.ack_flow = flow_.data_flow;
  board_.publish_standing(kFabric, LinkStanding::up);
  EXPECT_TRUE(take_anew()) << "nothing waits there";
  flow_.ack_flow = flow_.data_flow;
  board_.publish_standing(kFabric, LinkStanding::down);
  EXPECT_FALSE(take_anew());
}

TEST_F(ExpressTest, NothingGoesWhereOthersWait) {
  FlowId other;
  begin(other);
  edge_.input.arbiter.push(flow_.branch.voq, other);
  EXPECT_FALSE(take_anew()) << "of its input";
  edge_.input.arbiter.set_aside(flow_.branch.voq);
  EXPECT_TRUE(take_anew());
  queue_at(fabric_, 0);
  EXPECT_FALSE(take_anew()) << "at the port";
  turn_.discard(fabric_.output.scheduler.take_any());
  EXPECT_TRUE(take_anew());
  want(other, kFabric);
  EXPECT_FALSE(take_anew()) << "for a flow ID";
}

TEST_F(ExpressTest, OtherWorkersPortsAreForOthers) {
  flow_.branch.voq = site_.voq_index(kOther, 0);
  EXPECT_FALSE(take_anew());
  flow_.branch.voq = site_.voq_index(kOutput, 0);
  EXPECT_FALSE(take_anew()) << "nor a host's";
}

TEST_F(ExpressTest, RoomCreditLifeAndTheDevicesRoomAreNeeded) {
  const uint16_t room = voq().room;
  voq().room = 0;
  EXPECT_FALSE(take());
  voq().room = room;
  EXPECT_FALSE(take(HEDDLE_LIFE_UNIT_NS - 1));
  EXPECT_TRUE(take(HEDDLE_LIFE_UNIT_NS));
  takes(fabric_, 1);
  EXPECT_FALSE(take());
  takes(fabric_, 2);
  EXPECT_TRUE(take());
  takes(fabric_, 9);
  entry().flags |= kOutputEnded;
  EXPECT_FALSE(take()) << "of an earlier session";
  entry().flags = 0;
  credits_.begin_session(kBufferBytes, credits_.buffers());
  ASSERT_TRUE(credits_.apply(0, 1, false));
  EXPECT_TRUE(take());
  EXPECT_FALSE(take());
  EXPECT_EQ(stamped(), 3u);
  EXPECT_EQ(flow_.flow_extent(), 300u);
}

TEST_F(ExpressTest, AFrameTakesOneBufferAtTheNextHop) {
  credits_.begin_session(kBufferBytes - 1, credits_.buffers());
  ASSERT_TRUE(credits_.apply(0, credits_.buffers(), false));
  EXPECT_FALSE(take_anew());
}

// The flow is of a lossless class, with credit of its channel.
class LosslessExpressTest : public ExpressTest {
 protected:
  LosslessExpressTest() { be_of(kWithRetry); }
  void be_of(uint8_t ftag) {
    flow_.begin({2, 1}, ftag, kNoMatch);
    flow_.branch.set_output(kFabric);
    flow_.branch.flow = id_;
    flow_.branch.voq = site_.voq_index(kFabric, site_.lanes.of(ftag, kFirstLosslessChannel));
    express_.look_again();
  }
  void grant(uint32_t buffers) { ASSERT_TRUE(lossless_.apply(0, buffers, false)); }
  LinkFrame link() const {
    LinkFrame link{};
    EXPECT_EQ(check_frame(last_->data, last_->length, link), DropReason::none);
    return link;
  }

  LinkCredits& lossless_ = fabric_.credits[kFirstLosslessChannel];
};

TEST_F(LosslessExpressTest, OnesThatAreSentAgainAreKept) {
  grant(lossless_.buffers());
  const uint32_t sequence = fabric_.retry.sent();
  EXPECT_FALSE(take<false>()) << "that is for lossy ones";
  ASSERT_TRUE(take<true>());
  EXPECT_EQ(link().channel, HEDDLE_RETRY_CHANNEL);
  EXPECT_EQ(link().flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_EQ(link().sequence, sequence + 1);
  EXPECT_EQ(fabric_.retry.kept(), 1u);
  EXPECT_EQ(lossless_.sent_total(), 1u);
  EXPECT_EQ(credits_.sent_total(), 0u);
  EXPECT_EQ(stamped(), 1u);
}

TEST_F(LosslessExpressTest, OthersGoAmongAllOfTheLink) {
  be_of(kLossless);
  grant(lossless_.buffers());
  const uint32_t sequence = fabric_.output.sequence;
  ASSERT_TRUE(take<true>());
  EXPECT_EQ(link().channel, 0);
  EXPECT_EQ(link().flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_EQ(link().sequence, sequence + 1);
  EXPECT_EQ(fabric_.retry.kept(), 0u);
  be_of(kLossy);
  flow_.branch.voq = site_.voq_index(kFabric, 0);
  EXPECT_FALSE(take<true>());
}

TEST_F(LosslessExpressTest, WithoutCreditOfTheirChannelTheyWait) {
  grant(0);
  EXPECT_FALSE(take<true>());
  grant(1);
  EXPECT_TRUE(take<true>());
  EXPECT_FALSE(take<true>());
}

// C8: four buffers free are one for the flow.
TEST_F(LosslessExpressTest, AFlowHasItsShareOfTheNextHopsBuffers) {
  const auto share = static_cast<uint16_t>(std::min(site_.frame_bytes, kBufferBytes));
  grant(6);
  ASSERT_TRUE(take<true>(kSecond, share)) << "nothing of it is there";
  ASSERT_TRUE(take<true>(kSecond, 1)) << "a buffer of it, and five are free";
  EXPECT_FALSE(take<true>(kSecond, 1)) << "more than that, and four";
  flow_.ack_flow = flow_.data_flow;
  EXPECT_TRUE(take<true>(kSecond, 1));
}

TEST_F(LosslessExpressTest, WhereNothingCanBeKeptTheyWait) {
  grant(lossless_.buffers());
  const uint32_t room = voq().room, position = flow_.data_flow;
  while (fabric_.retry.may_stamp()) {
    Packet* kept = packet(100);
    kept->flags |= kPacketFabric;
    fabric_.retry.next_sequence();
    fabric_.retry.keep(kept, turn_.now());
  }
  EXPECT_FALSE(take<true>());
  EXPECT_EQ(stamped(), 0u);
  EXPECT_EQ(voq().room, room);
  EXPECT_EQ(flow_.data_flow, position);
  EXPECT_EQ(lossless_.sent_total(), 0u);
}

TEST_F(LosslessExpressTest, InTransitTheyCameInTheChannelThatLeadsThere) {
  grant(lossless_.buffers());
  for (const uint8_t channel : {voq().came_in, static_cast<uint8_t>(voq().came_in + 1)}) {
    Packet* frame = packet(100);
    prepend_fabric_header(*frame);
    frame->flags |= kPacketFabric;
    frame->vc = channel;
    frame->input = edge_.input.ref.with(7);
    frame->dies_ns = turn_.now() + kSecond;
    EXPECT_EQ(express_.take<true>(edge_, true, flow_, frame, turn_.now()), channel == voq().came_in);
  }
}

// What is asked once for a burst is asked again when it is to be.
TEST_F(ExpressTest, OutputsAreLookedAtOnceABurst) {
  ASSERT_TRUE(take());
  queue_at(fabric_, 0);
  EXPECT_TRUE(take()) << "nothing else is done in a burst without a word";
  express_.look_again();
  EXPECT_FALSE(take());
}

}  // namespace
}  // namespace heddle::test::express_test
