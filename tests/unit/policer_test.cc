// SPDX-License-Identifier: Apache-2.0
#include "ingress/policer.h"

#include <gtest/gtest.h>

namespace heddle::policer_test {
namespace {

TEST(Policer, WithoutARateThereIsNone) { EXPECT_FALSE(Policer().polices()); }

// At most rate x t and a burst from any moment on, and all of that.
TEST(Policer, LetsInRateAndBurst) {
  for (const uint64_t rate_bps : {1'000'000ull, 7'654'321ull, 999'999'999ull, 10'000'000'000ull, 400'000'000'000ull}) {
    constexpr uint32_t kBurst = 64 * 1024, kBytes = 1538;
    Policer policer(rate_bps, kBurst);
    ASSERT_TRUE(policer.polices());
    const Nanos start = 3 * kSecond, step = std::max<Nanos>(1, kBytes * 4 * kSecond / rate_bps);  // twice the rate
    const Nanos length = std::max<Nanos>(100'000 * step / 10, kMillisecond);
    uint64_t bytes = 0;
    for (Nanos now = start; now < start + length; now += step)
      if (policer.lets_in(kBytes, now)) bytes += kBytes;
    const double allowed = static_cast<double>(rate_bps) / 8e9 * static_cast<double>(length);
    EXPECT_LE(static_cast<double>(bytes), 1.001 * allowed + kBurst) << rate_bps;
    EXPECT_GE(static_cast<double>(bytes), 0.999 * allowed + kBurst - 2 * kBytes) << rate_bps;
  }
}

TEST(Policer, AfterARestThereIsABurstAndNoMore) {
  Policer policer(8'000'000, 16'000);  // a byte in a microsecond
  const auto at_once = [&policer](Nanos now) {
    uint32_t frames = 0;
    while (policer.lets_in(1000, now)) ++frames;
    return frames;
  };
  EXPECT_EQ(at_once(kSecond), 16u);
  EXPECT_EQ(at_once(kSecond + 999 * kMicrosecond), 0u);
  EXPECT_EQ(at_once(kSecond + 1001 * kMicrosecond), 1u) << "what was asked for in vain cost nothing";
  EXPECT_EQ(at_once(3600 * kSecond), 16u);
}

}  // namespace
}  // namespace heddle::policer_test
