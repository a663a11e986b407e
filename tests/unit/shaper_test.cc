// SPDX-License-Identifier: Apache-2.0
#include "egress/shaper.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "wire/random.h"

namespace heddle::shaper_test {
namespace {

constexpr size_t kClasses = 3;
constexpr uint32_t kLargest = 1520;
constexpr uint64_t kGiga = 1'000'000'000;
constexpr double kByteNs = 0.8;  // of a port of 10 Gb/s
constexpr ClassSet kBulk = 1, kStorage = 2, kControl = 4;

// A port of 10 Gb/s whose classes always have something to send, each in packets of its own size.
class ShaperTest : public testing::Test {
 protected:
  // For so long; what each class gets in Gb/s.
  std::array<double, 3> run(ClassSet waiting, Nanos for_ns = 10 * kMillisecond) {
    Shaper shaper(policy_, kClasses, kLargest);
    std::array<uint64_t, 3> bytes{};
    double now = kMillisecond;
    const double end = now + static_cast<double>(for_ns);
    while (now < end) {
      const auto at = static_cast<Nanos>(now);
      const uint8_t next = shaper.next(waiting, at);
      if (next == Shaper::kNobody) {
        const Nanos ready = shaper.ready_at(waiting, at);
        EXPECT_GT(ready, at) << "whoever is held is told until when";
        now = static_cast<double>(ready);
        continue;
      }
      shaper.took(sizes_[next], at);
      bytes[next] += sizes_[next];
      sent_.push_back({at, next, sizes_[next]});
      now += sizes_[next] * kByteNs;
    }
    std::array<double, 3> rates{};
    for (size_t i = 0; i < 3; ++i) rates[i] = static_cast<double>(bytes[i]) * 8 / static_cast<double>(for_ns);
    return rates;
  }
  ShaperPolicy::Leaf& leaf(size_t of_class) {
    policy_.configured = true;
    return policy_.leaves[of_class];
  }

  struct Sent {
    Nanos at_ns;
    uint8_t of_class;
    uint32_t bytes;
  };
  ShaperPolicy policy_;
  std::array<uint32_t, 3> sizes_{1520, 1520, 320};
  std::vector<Sent> sent_;
};

// R3: for whoever chooses among ports.
TEST(ShaperPolicyTest, AClassHasItsMinimumAndItsWeightOfTheRest) {
  ShaperPolicy policy;
  EXPECT_DOUBLE_EQ(policy.least_part(0, 4, 0), 0.25) << "without a rate all have the same";
  EXPECT_DOUBLE_EQ(policy.least_part(0, 1, 0), 1);
  policy.configured = true;
  policy.leaves[0].bandwidth.minimum_bps = 4 * kGiga;
  EXPECT_DOUBLE_EQ(policy.least_part(0, 3, 10 * kGiga), 0.4 + 0.2);
  EXPECT_DOUBLE_EQ(policy.least_part(1, 3, 10 * kGiga), 0.2);
  policy.leaves[1].weight = 4;
  EXPECT_DOUBLE_EQ(policy.least_part(1, 3, 10 * kGiga), 0.6 * 4 / 6);
  policy.leaves[1].bandwidth.maximum_bps = kGiga;
  EXPECT_DOUBLE_EQ(policy.least_part(1, 3, 10 * kGiga), 0.1);
  policy.leaves[2].bandwidth.minimum_bps = 9 * kGiga;
  EXPECT_DOUBLE_EQ(policy.least_part(0, 3, 10 * kGiga), 0.4) << "more is promised than there is";
  policy = {};
  policy.configured = true;
  policy.maximum_bps = 5 * kGiga;
  EXPECT_DOUBLE_EQ(policy.least_part(0, 2, 10 * kGiga), 0.25) << "of what the port may send";
}

TEST_F(ShaperTest, WithoutAPolicyClassesShareByBytes) {
  const auto rates = run(kBulk | kStorage | kControl);
  for (const double rate : rates) EXPECT_NEAR(rate, 10 / 3.0, 0.1);
}

TEST_F(ShaperTest, WhoIsAloneHasThePort) {
  leaf(0).bandwidth.minimum_bps = kGiga;
  EXPECT_NEAR(run(kStorage)[1], 10, 0.05);
}

TEST_F(ShaperTest, WeightsShareWhatNobodyIsPromised) {
  leaf(1).weight = 3;
  const auto rates = run(kBulk | kStorage);
  EXPECT_NEAR(rates[0], 2.5, 0.1);
  EXPECT_NEAR(rates[1], 7.5, 0.1);
}

// What counts is how they compare: turns are no longer where all weights are large.
TEST_F(ShaperTest, TheLeastWeightHasTurnsOfTwoFrames) {
  for (const auto& [weight, other, frames] : {std::tuple<uint8_t, uint8_t, uint32_t>{100, 100, 2}, {60, 40, 3}}) {
    for (const size_t i : {0, 1, 2}) leaf(i).weight = other;
    leaf(1).weight = weight;
    Shaper shaper(policy_, kClasses, kLargest);
    while (shaper.next(kBulk | kStorage, 0) != 1) shaper.took(kLargest, 0);
    uint32_t turn = 0;
    do {
      shaper.took(kLargest, 0);
      ++turn;
    } while (shaper.goes_on(0));
    EXPECT_EQ(turn, frames) << int{weight} << " beside " << int{other};
  }
}

// At most rate x t and a burst for all t, and 99 % of the rate.
TEST_F(ShaperTest, ACeilingHoldsOverAnyTime) {
  leaf(1).bandwidth.maximum_bps = 3 * kGiga;
  const auto rates = run(kBulk | kStorage);
  EXPECT_GE(rates[1], 2.97);
  EXPECT_NEAR(rates[0], 10 - rates[1], 0.05) << "what it may not have is for others";
  const double burst = std::max(2.0 * kLargest, 3e9 / 8 * 100e-6);
  double over = 0, most = 0;  // a bucket that leaks at the rate
  Nanos before = 0;
  for (const Sent& one : sent_) {
    if (one.of_class != 1) continue;
    over = std::max(0.0, over - static_cast<double>(one.at_ns - before) * 3 / 8) + one.bytes;
    before = one.at_ns;
    most = std::max(most, over);
  }
  EXPECT_LE(most, burst);
  EXPECT_GE(most, burst - kLargest);
}

TEST_F(ShaperTest, ASlowCeilingLetsSingleFramesGo) {
  leaf(1).bandwidth.maximum_bps = 1'000'000;
  EXPECT_NEAR(run(kStorage, kSecond)[1], 0.001, 0.0001);
}

TEST_F(ShaperTest, AMinimumComesFirstAndTheRestIsShared) {
  leaf(1).bandwidth.minimum_bps = 6 * kGiga;
  const auto rates = run(kBulk | kStorage);
  EXPECT_NEAR(rates[1], 8, 0.1) << "six, and half of what is left: that costs nothing of the minimum";
  EXPECT_NEAR(rates[0], 2, 0.1);
}

TEST_F(ShaperTest, AmongThoseBelowTheirMinimumPriorityCounts) {
  for (const size_t i : {0, 1}) leaf(i).bandwidth.minimum_bps = 8 * kGiga;
  leaf(1).bandwidth.priority = 1;
  const auto rates = run(kBulk | kStorage);
  EXPECT_NEAR(rates[1], 8, 0.1);
  EXPECT_NEAR(rates[0], 2, 0.1);
  leaf(0).bandwidth.priority = 1;
  EXPECT_NEAR(run(kBulk | kStorage)[1], 5, 0.1) << "equals go by turns";
}

TEST_F(ShaperTest, ABranchHasAMinimumAndAMaximumOfItsOwn) {
  policy_.branches.push_back({"both", {.minimum_bps = 6 * kGiga, .maximum_bps = 7 * kGiga, .priority = 0}});
  leaf(1).branch = leaf(2).branch = 0;
  const auto rates = run(kBulk | kStorage | kControl);
  EXPECT_NEAR(rates[1] + rates[2], 7, 0.1) << "six first, and then up to its maximum";
  EXPECT_NEAR(rates[1], rates[2], 0.2);
  EXPECT_NEAR(rates[0], 3, 0.1);
  policy_.branches[0].bandwidth.minimum_bps = 0;
  EXPECT_NEAR(run(kBulk | kStorage)[1], 5, 0.1);
}

TEST_F(ShaperTest, ALeafsMinimumComesBeforeItsBranchs) {
  policy_.branches.push_back({"first", {.minimum_bps = 10 * kGiga, .maximum_bps = 0, .priority = 7}});
  leaf(1).branch = 0;
  leaf(0).bandwidth.minimum_bps = 4 * kGiga;
  const auto rates = run(kBulk | kStorage);
  EXPECT_NEAR(rates[0], 4, 0.1);
  EXPECT_NEAR(rates[1], 6, 0.1);
}

TEST_F(ShaperTest, BranchesHavePrioritiesToo) {
  policy_.branches.push_back({"low", {.minimum_bps = 8 * kGiga, .maximum_bps = 0, .priority = 0}});
  policy_.branches.push_back({"high", {.minimum_bps = 8 * kGiga, .maximum_bps = 0, .priority = 1}});
  leaf(0).branch = 0;
  leaf(1).branch = 1;
  EXPECT_NEAR(run(kBulk | kStorage)[1], 8, 0.1);
}

TEST_F(ShaperTest, TheHeadHoldsAll) {
  leaf(1).bandwidth.minimum_bps = 4 * kGiga;
  policy_.maximum_bps = 5 * kGiga;
  const auto rates = run(kBulk | kStorage);
  EXPECT_NEAR(rates[0] + rates[1], 5, 0.05);
  EXPECT_NEAR(rates[1], 4.5, 0.1);
}

TEST_F(ShaperTest, ATurnEndsWithWhatItWasFor) {
  leaf(1).bandwidth.minimum_bps = kGiga;
  Shaper shaper(policy_, kClasses, kLargest);
  Nanos now = kMillisecond;
  for (int turn = 0; turn < 10 && shaper.sent_bytes(1, Shaper::kRest) == 0; ++turn) {
    if (shaper.next(kBulk | kStorage, now) != 1) break;
    do shaper.took(1520, now);
    while (shaper.goes_on(now));
  }
  EXPECT_NEAR(static_cast<double>(shaper.sent_bytes(1, Shaper::kLeaf)), 12500, 1520) << "a burst of 100 us";
  EXPECT_EQ(shaper.next(kBulk | kStorage, now), 0) << "then others have their turn";
}

TEST_F(ShaperTest, WhoIsHeldIsTold) {
  leaf(1).bandwidth.maximum_bps = kGiga;
  Shaper shaper(policy_, kClasses, kLargest);
  EXPECT_EQ(shaper.held(kBulk | kStorage, 0), 0);
  EXPECT_EQ(shaper.ready_at(kBulk | kStorage, 0), kNever);
  while (shaper.next(kStorage, 0) != Shaper::kNobody) shaper.took(1520, 0);
  EXPECT_EQ(shaper.held(kBulk | kStorage, 0), kStorage);
  const Nanos ready = shaper.ready_at(kBulk | kStorage, 0);
  EXPECT_EQ(shaper.next(kStorage, ready - 1), Shaper::kNobody);
  EXPECT_EQ(shaper.next(kStorage, ready), 1);
}

}  // namespace
}  // namespace heddle::shaper_test
