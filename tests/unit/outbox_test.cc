// SPDX-License-Identifier: Apache-2.0
#include "node/outbox.h"

#include <gtest/gtest.h>

namespace heddle::outbox_test {
namespace {

// Worker 0 speaks; ports 0 and 1 are its own, 2 is worker 1's and 3 worker 2's.
class OutboxTest : public testing::Test {
 protected:
  OutboxTest() {
    outbox_.connect(1, &first_);
    outbox_.connect(2, &second_);
    outbox_.begin_turn();
  }
  static Settled settled_of(PortIndex port, uint32_t bytes) {
    return {.input = InputFlowRef::of(1, port, 5),
            .acknowledged = bytes,
            .lost = 0,
            .path_ended = false,
            .tells = false,
            .congestion = 0,
            .redirect = false,
            .asked_by = 0};
  }

  static constexpr uint32_t kMessages = 64;
  Crossing first_{64, 64, kMessages}, second_{64, 64, kMessages};
  Outbox outbox_{3, {0, 0, 1, 2}};
};

TEST_F(OutboxTest, HandsOverAtTheEndOfTheTurnToTheWorkerOfThePort) {
  Packet packet{};
  outbox_.packet({&packet, 3, 7, true});
  outbox_.give_back({2, 11, 1});
  EXPECT_TRUE(outbox_.send(2, WantIds{2, 0, 0, 9}));
  EXPECT_TRUE(outbox_.settled(settled_of(3, 1500)));
  EXPECT_EQ(outbox_.crossings(), 4u);
  EXPECT_EQ(outbox_.woken(), 0u);
  EXPECT_FALSE(outbox_.hand_over_all());
  EXPECT_EQ(outbox_.woken(), 0b110u);

  CrossingPacket crossing{};
  EXPECT_EQ(first_.data.take(&crossing, 1), 0u);
  ASSERT_EQ(second_.data.take(&crossing, 1), 1u);
  EXPECT_EQ(crossing.packet, &packet);
  EXPECT_EQ(crossing.output, 3);
  EXPECT_EQ(crossing.told, 7);
  EXPECT_TRUE(crossing.first);
  GivenBack pin{};
  ASSERT_EQ(first_.given_back.take(&pin, 1), 1u);
  EXPECT_EQ(pin.id, 11);
  EXPECT_EQ(pin.counted, 1u);
  Settled settled{};
  ASSERT_EQ(second_.settled.take(&settled, 1), 1u);
  EXPECT_EQ(settled.acknowledged, 1500u);
  Message message;
  ASSERT_EQ(first_.messages.take(&message, 1), 1u);
  ASSERT_TRUE(std::holds_alternative<WantIds>(message));
  EXPECT_EQ(std::get<WantIds>(message).flows, 9u);
  EXPECT_EQ(second_.messages.take(&message, 1), 0u);
}

TEST_F(OutboxTest, AFullBatchGoesAtOnce) {
  Packet packet{};
  const Outbox::Way way = outbox_.way_to(2);
  for (uint32_t i = 0; i < kRingBatch; ++i) outbox_.packet(way, {&packet, 2, 0, false});
  EXPECT_EQ(first_.data.used(), 0u);
  outbox_.packet(way, {&packet, 2, 0, false});
  EXPECT_EQ(first_.data.used(), kRingBatch);
  EXPECT_EQ(outbox_.woken(), 0b010u);
  EXPECT_EQ(outbox_.crossings(), kRingBatch + 1);
  EXPECT_FALSE(outbox_.hand_over_all());
  EXPECT_EQ(first_.data.used(), kRingBatch + 1);
}

// What a full ring does not take is said next turn, and nothing is lost or said twice.
TEST_F(OutboxTest, AFullRingRefusesAndWhatIsGatheredStays) {
  uint32_t taken = 0;
  while (outbox_.send(2, WantIds{2, 0, 0, taken})) ++taken;
  EXPECT_GE(taken, kMessages);
  EXPECT_EQ(outbox_.crossings(), taken);
  EXPECT_FALSE(outbox_.send(2, WantIds{2, 0, 0, taken}));
  EXPECT_TRUE(outbox_.hand_over_all()) << "some are left";
  outbox_.begin_turn();
  EXPECT_EQ(outbox_.crossings(), 0u);
  EXPECT_EQ(outbox_.woken(), 0u);
  Message message;
  for (uint32_t i = 0; i < taken; ++i) {
    if (first_.messages.used() == 0) outbox_.hand_over_all();
    ASSERT_EQ(first_.messages.take(&message, 1), 1u) << i;
    EXPECT_EQ(std::get<WantIds>(message).flows, i);
  }
  EXPECT_FALSE(outbox_.hand_over_all());
  EXPECT_EQ(first_.messages.take(&message, 1), 0u);
  EXPECT_TRUE(outbox_.send(2, WantIds{2, 0, 0, 0}));

  while (outbox_.settled(settled_of(3, 1))) {
  }
  EXPECT_TRUE(outbox_.hand_over_all());
}

TEST_F(OutboxTest, NewsGoesToAnyWorker) {
  EXPECT_EQ(outbox_.workers(), 3u);
  EXPECT_TRUE(outbox_.send_to(2, LinkStateNews{4, {9, 0b11, 0}}));
  outbox_.wake(0);
  outbox_.hand_over_all();
  EXPECT_EQ(outbox_.woken(), 0b101u);
  Message message;
  ASSERT_EQ(second_.messages.take(&message, 1), 1u);
  EXPECT_EQ(std::get<LinkStateNews>(message).record.sequence, 9u);
}

}  // namespace
}  // namespace heddle::outbox_test
