// SPDX-License-Identifier: Apache-2.0
#include "flow/token_bucket.h"

#include <gtest/gtest.h>

namespace heddle::token_bucket_test {
namespace {

TEST(TokenBucket, LetsTheRateThrough) {
  TokenBucket bucket(1e9 / 1000, kMillisecond);  // 1,000 units per second
  uint32_t taken = 0;
  for (Nanos now = 0; now < kSecond; now += 10 * kMicrosecond)
    if (bucket.allows(now)) {
      bucket.take(now, 1);
      ++taken;
    }
  EXPECT_NEAR(taken, 1000, 3);
}

TEST(TokenBucket, WithoutACostItLimitsNothing) {
  TokenBucket bucket;
  EXPECT_FALSE(bucket.limits());
  bucket.take(0, 1'000'000);
  EXPECT_TRUE(bucket.allows(0));
  EXPECT_EQ(bucket.ready_at(), 0);
}

TEST(TokenBucket, ABurstIsWhatItMayBeAhead) {
  TokenBucket bucket(10, 100);
  EXPECT_TRUE(bucket.limits());
  bucket.take(1000, 9);
  EXPECT_TRUE(bucket.allows(1000));
  EXPECT_EQ(bucket.ready_at(), 1090 - 100);
  bucket.take(1000, 1);
  EXPECT_TRUE(bucket.allows(1000)) << "just";
  bucket.take(1000, 1);
  EXPECT_FALSE(bucket.allows(1000));
  EXPECT_FALSE(bucket.allows(1009));
  EXPECT_EQ(bucket.ready_at(), 1010);
  EXPECT_TRUE(bucket.allows(1010));
  bucket.take(5000, 1);
  EXPECT_EQ(bucket.ready_at(), 5010 - 100) << "nothing is saved up beyond the burst";
  EXPECT_EQ(TokenBucket(10, 100).ready_at(), 0);
}

TEST(TokenBucket, AHalfIsAsLongABurstAtTwiceTheCost) {
  TokenBucket half = TokenBucket(10, 100).at_half();
  half.take(1000, 10);
  EXPECT_EQ(half.ready_at(), 1000 + 200 - 100);
}

TEST(TokenBucket, PartsOfANanosecondAreNotLost) {
  TokenBucket bucket(0.25, 0);
  for (int i = 0; i < 3; ++i) bucket.take(1000, 1);
  EXPECT_EQ(bucket.ready_at(), 1000);
  bucket.take(1000, 1);
  EXPECT_EQ(bucket.ready_at(), 1001);
  bucket.take(1000, 6);
  EXPECT_EQ(bucket.ready_at(), 1002);
  bucket.take(1000, 2);
  EXPECT_EQ(bucket.ready_at(), 1003);
}

}  // namespace
}  // namespace heddle::token_bucket_test
