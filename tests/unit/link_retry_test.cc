// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

#include "link/retry.h"
#include "wire/random.h"

namespace heddle::link_retry_test {
namespace {

constexpr uint32_t kFramesMax = 8;

// Two ends and a link between them that loses, doubles and swaps; frames are told apart by `position`.
struct Pair {
  LinkRetry sender{kFramesMax, kMillisecond}, receiver{kFramesMax, kMillisecond};
  struct OnWire {
    uint32_t sequence, frame;
  };
  std::vector<std::unique_ptr<Packet>> packets;
  std::deque<OnWire> wire;
  std::deque<RetryRecord> to_sender, to_receiver;
  std::vector<uint32_t> taken;
  std::vector<uint32_t> sequence_of;  // by frame
  uint32_t sent_again = 0;
  Nanos now = kSecond;

  explicit Pair(uint32_t first = 0) {
    sender.begin_session(first, 0);
    receiver.begin_session(0, first);
  }
  ~Pair() { sender.end_session(); }

  bool send() {
    if (!sender.may_stamp()) return false;
    packets.push_back(std::make_unique<Packet>());
    const auto frame = static_cast<uint32_t>(sequence_of.size());
    packets.back()->position = frame;
    sequence_of.push_back(sender.next_sequence());
    sender.keep(packets.back().get(), now);
    wire.push_back({sequence_of.back(), frame});
    return true;
  }
  LinkRetry::Outcome hear(const RetryRecord& record) {
    PacketQueue released;
    const LinkRetry::Outcome outcome = sender.apply(record, released, now);
    while (!released.empty()) EXPECT_LT(released.pop()->position, taken.size()) << "let go before it was taken";
    return outcome;
  }
  LinkRetry::Turn deliver() {
    const OnWire frame = wire.front();
    wire.pop_front();
    const LinkRetry::Turn turn = receiver.judge(frame.sequence, now);
    if (turn == LinkRetry::Turn::next) taken.push_back(frame.frame);
    return turn;
  }
  void turn() {
    while (sender.again() != nullptr) {
      const uint32_t frame = sender.again()->position;
      wire.push_back({sequence_of[frame], frame});
      sender.sent_again();
      ++sent_again;
    }
    if (sender.ask_due(now)) to_receiver.push_back(sender.ask(now));
    if (receiver.report_due(now)) to_sender.push_back(receiver.report());
  }
};

TEST(LinkRetryTest, KeepsFramesUntilTheyAreReported) {
  Pair pair;
  for (uint32_t i = 0; i < kFramesMax; ++i) EXPECT_TRUE(pair.send());
  EXPECT_FALSE(pair.send()) << "no room to keep it";
  EXPECT_EQ(pair.deliver(), LinkRetry::Turn::next);
  EXPECT_FALSE(pair.receiver.report_due(pair.now));
  EXPECT_TRUE(pair.receiver.report_due(pair.now + 100 * kMicrosecond));
  while (!pair.wire.empty()) EXPECT_EQ(pair.deliver(), LinkRetry::Turn::next);
  EXPECT_TRUE(pair.receiver.report_due(pair.now)) << "more than a quarter of the window";
  EXPECT_EQ(pair.hear(pair.receiver.report()), LinkRetry::Outcome::fine);
  EXPECT_EQ(pair.sender.kept(), 0u);
  EXPECT_EQ(pair.sender.next_due(), kNever);
}

TEST(LinkRetryTest, AGapIsToldOnceAndSentAgainOnce) {
  Pair pair;
  for (int i = 0; i < 4; ++i) pair.send();
  pair.wire.pop_front();  // lost
  EXPECT_EQ(pair.deliver(), LinkRetry::Turn::ahead);
  EXPECT_TRUE(pair.receiver.report_due(pair.now));
  const RetryRecord missing = pair.receiver.report();
  EXPECT_EQ(missing.flags, HEDDLE_RETRY_MISSING);
  EXPECT_EQ(pair.deliver(), LinkRetry::Turn::ahead);
  EXPECT_FALSE(pair.receiver.report_due(pair.now));
  pair.hear(missing);
  pair.turn();
  EXPECT_EQ(pair.sent_again, 4u);
  pair.hear(missing);  // doubled on its way
  pair.turn();
  EXPECT_EQ(pair.sent_again, 4u);
  EXPECT_EQ(pair.deliver(), LinkRetry::Turn::ahead);  // the last of the first time
  for (int i = 0; i < 4; ++i) EXPECT_EQ(pair.deliver(), LinkRetry::Turn::next);
  EXPECT_EQ(pair.taken, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(LinkRetryTest, TheEndOfABurstIsAskedFor) {
  Pair pair;
  pair.send();
  pair.wire.clear();  // lost, and nothing comes behind it
  pair.now += kMillisecond;
  pair.turn();
  ASSERT_EQ(pair.to_receiver.size(), 1u);
  PacketQueue none;
  pair.receiver.apply(pair.to_receiver.front(), none, pair.now);
  const RetryRecord answer = pair.receiver.report();
  EXPECT_EQ(answer.flags, HEDDLE_RETRY_ANSWER | HEDDLE_RETRY_MISSING);
  pair.hear(answer);
  pair.turn();
  EXPECT_EQ(pair.sent_again, 1u);
  pair.hear(answer);  // of a round that is over
  pair.turn();
  EXPECT_EQ(pair.sent_again, 1u);
}

TEST(LinkRetryTest, AnAnswerLeavesAGapToBeTold) {
  Pair pair;
  for (int i = 0; i < 3; ++i) pair.send();
  pair.wire.pop_front();
  EXPECT_EQ(pair.deliver(), LinkRetry::Turn::ahead);
  PacketQueue none;
  pair.receiver.apply({.flags = HEDDLE_RETRY_ASK, .round = 0xffff, .sequence = 0}, none, pair.now);
  EXPECT_EQ(pair.receiver.report().flags, HEDDLE_RETRY_ANSWER);
  ASSERT_TRUE(pair.receiver.report_due(pair.now));
  EXPECT_EQ(pair.receiver.report().flags, HEDDLE_RETRY_MISSING);
}

TEST(LinkRetryTest, ContradictionsAndHopelessLinksAreTold) {
  Pair pair;
  pair.send();
  EXPECT_EQ(pair.hear({.flags = 0, .round = 0, .sequence = 2}), LinkRetry::Outcome::contradiction);
  Pair other;
  other.send();
  other.deliver();
  EXPECT_EQ(other.hear({.flags = 0, .round = 0, .sequence = 1}), LinkRetry::Outcome::fine);
  EXPECT_EQ(other.hear({.flags = HEDDLE_RETRY_MISSING, .round = 0, .sequence = 0}), LinkRetry::Outcome::contradiction);
  LinkRetry::Outcome outcome = LinkRetry::Outcome::fine;
  uint32_t rounds = 0;
  for (; outcome == LinkRetry::Outcome::fine && rounds < 100; ++rounds) {
    pair.turn();
    const auto round = static_cast<uint16_t>(rounds);
    outcome = pair.hear({.flags = HEDDLE_RETRY_ANSWER | HEDDLE_RETRY_MISSING, .round = round, .sequence = 0});
  }
  EXPECT_EQ(outcome, LinkRetry::Outcome::given_up);
  EXPECT_EQ(rounds, 17u);
}

TEST(LinkRetryTest, EveryFrameOnceAndInOrderWhateverTheLinkDoes) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    Pair pair(0xfffffff0);  // numbers wrap
    const uint64_t worst = 1 + random.below(4);
    const auto one_in = [&random](uint64_t n) { return random.below(n) == 0; };
    for (uint32_t steps = 0; pair.taken.size() < 300 && steps < 100'000; ++steps) {
      pair.now += random.below(200 * kMicrosecond);
      if (pair.sequence_of.size() < 300) pair.send();
      pair.turn();
      if (!pair.wire.empty() && one_in(6 * worst)) pair.wire.pop_front();
      if (!pair.wire.empty() && one_in(9 * worst)) pair.wire.push_back(pair.wire.front());
      if (pair.wire.size() > 1 && one_in(9 * worst)) std::swap(pair.wire[0], pair.wire[1]);
      if (!pair.to_sender.empty() && one_in(5 * worst)) pair.to_sender.pop_front();
      if (!pair.to_receiver.empty() && one_in(5 * worst)) pair.to_receiver.pop_front();
      for (uint64_t count = random.below(4); count > 0 && !pair.wire.empty(); --count) pair.deliver();
      PacketQueue none;
      for (; !pair.to_receiver.empty(); pair.to_receiver.pop_front())
        pair.receiver.apply(pair.to_receiver.front(), none, pair.now);
      for (; !pair.to_sender.empty(); pair.to_sender.pop_front())
        ASSERT_EQ(pair.hear(pair.to_sender.front()), LinkRetry::Outcome::fine) << "seed " << seed;
    }
    ASSERT_EQ(pair.taken.size(), 300u) << "seed " << seed;
    for (uint32_t i = 0; i < 300; ++i) ASSERT_EQ(pair.taken[i], i) << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle::link_retry_test
