// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "link/credits.h"

namespace heddle::link_credits_test {
namespace {

constexpr uint32_t kBuffers = 8;

struct Credits : testing::Test {
  LinkCredits sender{kBuffers, kMillisecond}, receiver{kBuffers, kMillisecond};
  Nanos now = kSecond;

  void SetUp() override {
    sender.begin_session(2048, kBuffers);
    receiver.begin_session(2048, kBuffers);
  }
  bool tell(LinkCredits& from, LinkCredits& to) {
    const LinkCredits::Record record = from.take(now);
    return to.apply(record.sent_total, record.limit, record.asks);
  }
  void send(uint32_t frames, uint32_t lost = 0) {
    for (uint32_t i = 0; i < frames; ++i) {
      ASSERT_TRUE(sender.may_send(1));
      sender.sent(1, false, now);
      if (i < lost) continue;
      ASSERT_TRUE(receiver.received(1, false));
    }
  }
};

TEST_F(Credits, NothingIsSentBeforeALimitIsTold) {
  EXPECT_FALSE(sender.may_send(1));
  EXPECT_TRUE(receiver.due(now));
  EXPECT_TRUE(tell(receiver, sender));
  EXPECT_TRUE(sender.may_send(kBuffers));
  EXPECT_FALSE(sender.may_send(kBuffers + 1));
}

TEST_F(Credits, ComeBackWhenBuffersAreReleased) {
  tell(receiver, sender);
  send(kBuffers);
  EXPECT_FALSE(sender.may_send(1));
  EXPECT_FALSE(receiver.due(now));
  receiver.released(kBuffers);
  EXPECT_TRUE(receiver.due(now));
  tell(receiver, sender);
  EXPECT_TRUE(sender.all_home());
}

TEST_F(Credits, LostFramesAreFoundByTheSendersTotal) {
  tell(receiver, sender);
  send(kBuffers, kBuffers);
  EXPECT_FALSE(sender.may_send(1));
  now += kMillisecond;
  ASSERT_TRUE(sender.due(now));
  EXPECT_TRUE(tell(sender, receiver));
  EXPECT_TRUE(receiver.due(now));  // it was asked
  tell(receiver, sender);
  EXPECT_TRUE(sender.all_home());
}

TEST_F(Credits, AnUnansweredAskIsRepeatedMoreSlowly) {
  tell(receiver, sender);
  send(1);
  now += kMillisecond;
  ASSERT_TRUE(sender.take(now).asks);
  EXPECT_FALSE(sender.due(now + kMillisecond - 1));
  now += kMillisecond;
  ASSERT_TRUE(sender.take(now).asks);
  EXPECT_FALSE(sender.due(now + kMillisecond));
  EXPECT_TRUE(sender.due(now + 2 * kMillisecond));
}

TEST_F(Credits, AnAskIsRepeatedAfterEightIntervalsAtMost) {
  tell(receiver, sender);
  send(1);
  now += kMillisecond;
  for (const Nanos wait : {1, 2, 4, 8, 8, 8}) {
    ASSERT_TRUE(sender.take(now).asks);
    EXPECT_FALSE(sender.due(now + wait * kMillisecond - 1)) << wait;
    now += wait * kMillisecond;
  }
}

TEST_F(Credits, ARecordIsDueForAQuarterOfTheBuffers) {
  for (const auto& [buffers, quarter] : {std::pair(8u, 2u), std::pair(12u, 3u), std::pair(4u, 1u), std::pair(2u, 1u)}) {
    LinkCredits end{buffers, kMillisecond};
    end.begin_session(2048, buffers);
    end.take(now);
    for (uint32_t i = 0; i < buffers; ++i) ASSERT_TRUE(end.received(1, false));
    for (uint32_t released = 1; released < quarter; ++released) {
      end.released(1);
      EXPECT_FALSE(end.due(now)) << released << " of " << buffers;
    }
    end.released(1);
    EXPECT_TRUE(end.due(now)) << quarter << " of " << buffers;
  }
}

// K6: its frames are all received in the end, and are not in the total by which the other ones' losses are found.
TEST_F(Credits, WhatIsSentAgainUntilItIsThereIsNotToldOf) {
  tell(receiver, sender);
  sender.sent(1, false, now);
  sender.sent(2, true, now);
  EXPECT_EQ(sender.sent_total(), 3u);
  EXPECT_EQ(sender.left(), kBuffers - 3);
  ASSERT_TRUE(receiver.received(2, true));
  const LinkCredits::Record record = sender.take(now);
  EXPECT_EQ(record.sent_total, 1u);
  EXPECT_TRUE(receiver.apply(record.sent_total, record.limit, false));
  EXPECT_EQ(receiver.received_total(), 3u) << "one was lost";
  EXPECT_EQ(receiver.held(), 2u);
}

TEST_F(Credits, FramesBeyondTheLimitAreAProtocolError) {
  tell(receiver, sender);
  for (uint32_t i = 0; i < kBuffers; ++i) EXPECT_TRUE(receiver.received(1, false));
  EXPECT_FALSE(receiver.received(1, false));
}

TEST_F(Credits, ImpossibleTotalsAreAProtocolError) {
  EXPECT_FALSE(sender.apply(0, kBuffers + 1, false));    // more than the other end has
  EXPECT_FALSE(receiver.apply(kBuffers + 1, 0, false));  // more than was granted
  tell(receiver, sender);
  send(3);
  EXPECT_FALSE(receiver.apply(kBuffers + 1, 0, false));
  EXPECT_TRUE(receiver.apply(kBuffers, 0, false));
}

TEST_F(Credits, BuffersOfAnEarlierSessionAreNotGrantedAgain) {
  tell(receiver, sender);
  send(3);
  sender.begin_session(2048, kBuffers);
  receiver.begin_session(2048, kBuffers);
  tell(receiver, sender);
  EXPECT_TRUE(sender.may_send(kBuffers - 3));
  EXPECT_FALSE(sender.may_send(kBuffers - 2));
  receiver.released(3);
  now += kMillisecond;
  tell(sender, receiver);
  tell(receiver, sender);
  EXPECT_TRUE(sender.all_home());
}

TEST_F(Credits, AFrameLargerThanABufferCostsSeveral) {
  EXPECT_EQ(sender.cost(2048), 1u);
  EXPECT_EQ(sender.cost(2049), 2u);
}

}  // namespace
}  // namespace heddle::link_credits_test
