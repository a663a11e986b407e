// SPDX-License-Identifier: Apache-2.0
#include "node/retry_frames.h"

#include "component_fixture.h"

namespace heddle::test::retry_frames_test {
namespace {

class RetryFramesTest : public ComponentTest {
 protected:
  RetryFramesTest() { fabric_.retry.begin_session(40, 40); }
  // A frame has been stamped, and what is to be kept of it is.
  Packet* keep(Nanos now = 0) {
    Packet* frame = packet(100, kWithRetry);
    frame->dies_ns = kSecond;
    frame->source = {1, kEdge};
    frame->destination = {2, 1};
    prepend_fabric_header(*frame);
    Packet* replica = frames_.replica_for(fabric_, frame);
    EXPECT_NE(replica, nullptr);
    stamp_data_frame(*frame, {.session_tag = 1,
                              .vc = kFirstLosslessChannel,
                              .channel = HEDDLE_RETRY_CHANNEL,
                              .flags = HEDDLE_DATA_LOSSLESS,
                              .sequence = fabric_.retry.next_sequence(),
                              .flow = 5,
                              .data_flow = 0,
                              .life_units = 100,
                              .start = data_frame_start(fabric_.mac)});
    frames_.keep(fabric_, *frame, replica, now);
    turn_.discard(frame);
    return replica;
  }
  // The other end says that it has all up to there, or that it misses the next one.
  void hear(uint32_t sequence, uint8_t flags = 0) {
    PacketQueue released;
    fabric_.retry.apply({.flags = flags, .sequence = sequence}, released, 0);
    frames_.let_go(fabric_, released);
  }
  uint32_t send_again(uint32_t already = 0) {
    return frames_.send_again(fabric_, burst_.data(), already, kBurst, kMillisecond);
  }

  RetryFrames frames_{turn_, pool_, control_};
  std::array<Packet*, kBurst> burst_{};
};

TEST_F(RetryFramesTest, WhatIsKeptIsLetGoWhenTheOtherEndHasIt) {
  Packet* first = keep();
  Packet* second = keep();
  EXPECT_EQ(fabric_.counters.copied_frames, 2u);
  EXPECT_EQ(fabric_.retry.kept(), 2u);
  hear(41);
  EXPECT_TRUE(gone(first));
  EXPECT_FALSE(gone(second));
  EXPECT_EQ(fabric_.counters.consumed_frames, 1u);
}

TEST_F(RetryFramesTest, WhatTheOtherEndMissesIsSentAgainInOrder) {
  Packet* first = keep();
  Packet* second = keep();
  EXPECT_EQ(send_again(), 0u);
  hear(40, HEDDLE_RETRY_MISSING);
  EXPECT_EQ(frames_.replica_for(fabric_, first), nullptr) << "those come first";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_full), 0u);
  ASSERT_EQ(send_again(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    LinkFrame frame{};
    EXPECT_NE(burst_[i], i == 0 ? first : second) << "they are kept still";
    ASSERT_EQ(check_frame(burst_[i]->data, burst_[i]->length, frame), DropReason::none);
    EXPECT_EQ(frame.sequence, 41u + i);
    EXPECT_TRUE(frame.flags & HEDDLE_DATA_RETRY);
    EXPECT_EQ(burst_[i]->input.port, kNoPort) << "its room has gone back";
  }
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::sent_again), 2u);
  EXPECT_EQ(fabric_.counters.copied_frames, 4u);
  EXPECT_EQ(send_again(), 0u) << "once";
}

TEST_F(RetryFramesTest, NoMoreThanABurst) {
  for (uint32_t i = 0; i < kBurst; ++i) keep();
  hear(40, HEDDLE_RETRY_MISSING);
  EXPECT_EQ(send_again(1), kBurst);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::sent_again), kBurst - 1);
}

TEST_F(RetryFramesTest, APortWithARateSendsThemInItsPace) {
  fabric_.output.scheduler.set_pace(TokenBucket(1e6, 1));
  keep();
  keep();
  hear(40, HEDDLE_RETRY_MISSING);
  EXPECT_EQ(send_again(), 1u);
  EXPECT_EQ(send_again(), 0u);
}

TEST_F(RetryFramesTest, WithoutASecondPacketTheyWait) {
  keep();
  hear(40, HEDDLE_RETRY_MISSING);
  pool_.empty = true;
  EXPECT_EQ(send_again(), 0u);
  EXPECT_TRUE(turn_.busy());
  pool_.empty = false;
  EXPECT_EQ(send_again(), 1u);
}

TEST_F(RetryFramesTest, AFullWindowTakesNoMore) {
  while (!fabric_.retry.full()) keep();
  Packet* next = packet(100, kWithRetry);
  EXPECT_EQ(frames_.replica_for(fabric_, next), nullptr);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_full), 1u);
}

TEST_F(RetryFramesTest, TheOtherEndIsToldAndAsked) {
  frames_.send_records(fabric_, kSecond);
  EXPECT_TRUE(fabric_.output.control.empty()) << "nothing is due";
  ASSERT_EQ(fabric_.retry.judge(41, 0), LinkRetry::Turn::next);
  frames_.send_records(fabric_, kSecond);
  LinkFrame frame = next_records(fabric_);
  ASSERT_EQ(retry_records(frame).size(), 1u);
  EXPECT_EQ(retry_records(frame)[0].sequence, 41u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_reported), 1u);
  ASSERT_EQ(fabric_.retry.judge(43, 0), LinkRetry::Turn::ahead);
  keep();
  control_pool_.empty = true;
  frames_.send_records(fabric_, 2 * kSecond);
  EXPECT_TRUE(fabric_.output.control.empty());
  control_pool_.empty = false;
  frames_.send_records(fabric_, 2 * kSecond);
  frame = next_records(fabric_);
  ASSERT_EQ(retry_records(frame).size(), 2u) << "both stay due";
  EXPECT_EQ(retry_records(frame)[0].flags & HEDDLE_RETRY_MISSING, HEDDLE_RETRY_MISSING);
  EXPECT_EQ(retry_records(frame)[1].flags & HEDDLE_RETRY_ASK, HEDDLE_RETRY_ASK);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_missed), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_reported), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::retry_asked), 1u);
}

}  // namespace
}  // namespace heddle::test::retry_frames_test
