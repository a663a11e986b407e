// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "traffic/flow_order.h"
#include "traffic/histogram.h"
#include "traffic/pacer.h"

namespace heddle::traffic::traffic_order_test {
namespace {

OrderCounts counts_of(std::initializer_list<uint32_t> numbers) {
  FlowOrder order;
  OrderCounts counts;
  for (const uint32_t number : numbers) order.take(number, counts);
  return counts;
}

void expect(const OrderCounts& counts, uint64_t missing, uint64_t late, uint64_t duplicates) {
  EXPECT_EQ(counts.missing, missing);
  EXPECT_EQ(counts.late, late);
  EXPECT_EQ(counts.duplicates, duplicates);
}

TEST(FlowOrder, FindsNothingInOrder) { expect(counts_of({0, 1, 2, 3, 4}), 0, 0, 0); }

TEST(FlowOrder, CountsWhatIsSkipped) { expect(counts_of({0, 1, 5, 6, 9}), 5, 0, 0); }

TEST(FlowOrder, WhatComesLateIsNotMissing) { expect(counts_of({0, 2, 1, 5, 4}), 1, 2, 0); }

TEST(FlowOrder, WhatComesAgainIsADuplicate) { expect(counts_of({0, 1, 1, 3, 2, 2, 0}), 0, 1, 3); }

TEST(FlowOrder, RemembersAcrossAGap) {
  expect(counts_of({0, 31, 0, 31, 1}), 29, 1, 2);
  expect(counts_of({0, 100, 100, 99}), 98, 1, 1);
}

TEST(FlowOrder, NumbersWrap) {
  FlowOrder order;
  OrderCounts counts;
  order.settle(0xfffffffe, counts);
  counts = {};
  for (const uint32_t number : {0xfffffffeu, 0xffffffffu, 0u, 2u, 1u}) order.take(number, counts);
  expect(counts, 0, 1, 0);
}

TEST(FlowOrder, SettlesWhatNeverCame) {
  FlowOrder order;
  OrderCounts counts;
  order.take(0, counts);
  order.settle(4, counts);
  expect(counts, 3, 0, 0);
  order.take(2, counts);  // after all
  order.take(3, counts);
  expect(counts, 1, 0, 0);
  order.take(5, counts);
  order.take(4, counts);
  expect(counts, 1, 1, 0);
}

TEST(Histogram, QuantilesAreNear) {
  Histogram histogram;
  for (uint64_t value = 1; value <= 100000; ++value) histogram.add(value, 1);
  EXPECT_EQ(histogram.count(), 100000u);
  EXPECT_EQ(histogram.min(), 1u);
  EXPECT_EQ(histogram.max(), 100000u);
  for (const double share : {0.01, 0.5, 0.99, 0.999}) {
    const auto quantile = static_cast<double>(histogram.quantile(share));
    EXPECT_GE(quantile, share * 100000);
    EXPECT_LE(quantile, share * 100000 * 1.035);
  }
  EXPECT_EQ(histogram.quantile(1), 100000u);
}

TEST(Histogram, TakesEveryValue) {
  Histogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0u);
  histogram.add(~uint64_t{0}, 3);
  histogram.add(0, 1);
  EXPECT_EQ(histogram.quantile(0.25), 0u);
  EXPECT_EQ(histogram.quantile(0.5), ~uint64_t{0});
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0u);
  EXPECT_EQ(histogram.max(), 0u);
}

TEST(Pacer, KeepsTheWindowInWholeBursts) {
  Pacer pacer(32, 100, 0);
  pacer.start(0);
  EXPECT_EQ(pacer.allowance(0, 0), 32u);
  EXPECT_EQ(pacer.allowance(0, 68), 32u);
  EXPECT_EQ(pacer.allowance(0, 69), 0u);
  Pacer narrow(32, 4, 0);
  EXPECT_EQ(narrow.allowance(0, 0), 4u);
  EXPECT_EQ(narrow.allowance(0, 1), 0u);
}

TEST(Pacer, KeepsTheRate) {
  Pacer pacer(32, 0, 0.5);
  pacer.start(1000);
  uint64_t made = 0;
  for (uint64_t now = 1000; now < 1000 + 10000; now += 10) {
    const uint32_t allowance = pacer.allowance(now, 1u << 30);
    pacer.made(allowance);
    made += allowance;
  }
  EXPECT_GE(made, 5000u - 32);
  EXPECT_LE(made, 5000u);
  EXPECT_EQ(pacer.skipped(), 0u);
}

TEST(Pacer, DoesNotMakeUpForALongPause) {
  Pacer pacer(10, 0, 1);
  pacer.start(0);
  EXPECT_EQ(pacer.allowance(1000, 0), 10u);
  pacer.made(10);
  EXPECT_EQ(pacer.skipped(), 990u);
  EXPECT_EQ(pacer.allowance(1000, 0), 0u);
}

}  // namespace
}  // namespace heddle::traffic::traffic_order_test
