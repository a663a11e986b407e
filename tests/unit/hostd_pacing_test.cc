// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "hostd/pacing.h"

namespace heddle::hostd::hostd_pacing_test {
namespace {

constexpr uint64_t kTick = 10'000'000;

// A sender without end behind a class, and a switch that grants what goes on at `drain` bytes a second.
struct Loop {
  double drain;
  Pacing pacing;
  uint64_t now = 1'000'000'000, rate = Pacing::kRestBytesPerSecond;
  double credit = 0, sent = 0;

  void tick(uint32_t number = 1) {
    rate = pacing.rate(number, static_cast<uint64_t>(credit), static_cast<uint64_t>(sent), now);
    now += kTick;
    sent += static_cast<double>(rate) * kTick / 1e9;
    credit += drain * kTick / 1e9;
  }
};

TEST(HostdPacing, ItSendsAsFastAsCreditGrows) {
  for (const double drain : {125e3, 1.25e6, 12.5e6}) {
    Loop loop{.drain = drain, .pacing = {}};
    for (int ticks = 0; ticks < 200; ++ticks) loop.tick();
    EXPECT_NEAR(static_cast<double>(loop.rate), drain, drain / 20);
    const double sent = loop.sent, credit = loop.credit;
    for (int ticks = 0; ticks < 100; ++ticks) loop.tick();
    EXPECT_NEAR(loop.sent - sent, loop.credit - credit, drain / 100) << "and uses it up";
  }
}

TEST(HostdPacing, WithoutCreditItFallsWithTime) {
  Loop loop{.drain = 0, .pacing = {}};
  loop.tick();
  const uint64_t first = loop.rate;
  for (int ticks = 0; ticks < 9; ++ticks) loop.tick();
  EXPECT_NEAR(static_cast<double>(loop.rate), static_cast<double>(first) / 10, static_cast<double>(first) / 100);
  for (int ticks = 0; ticks < 10'000; ++ticks) loop.tick();
  EXPECT_GT(loop.rate, 0u) << "HTB has no class that sends nothing";
  EXPECT_LT(loop.rate, 70'000u);
}

// A frame of 64 KB that HTB lets go is paid for at the rate of that moment: a rate near nothing would stop the class
// for seconds.
TEST(HostdPacing, WhatHasGoneBeyondCreditIsNotHeldAgainstIt) {
  Loop loop{.drain = 1.25e6, .pacing = {}};
  for (int ticks = 0; ticks < 100; ++ticks) loop.tick();
  loop.sent += 1e6;
  loop.tick();
  EXPECT_GE(loop.rate, 1'200'000u);
}

// Of what was granted before nothing is known: a daemon that has just begun, or another flow in the class.
TEST(HostdPacing, CreditOfBeforeIsNotUsed) {
  for (const uint32_t number : {1u, 2u}) {
    Loop loop{.drain = 1.25e6, .pacing = {}};
    for (int ticks = 0; ticks < 100; ++ticks) loop.tick();
    loop.credit = number == 1 ? 1000 : 1e12;  // the switch has begun anew, or it was told of another pause
    loop.tick(number);
    Loop fresh{.drain = 1.25e6, .pacing = {}};
    fresh.tick();
    EXPECT_EQ(loop.rate, fresh.rate) << number;
  }
}

}  // namespace
}  // namespace heddle::hostd::hostd_pacing_test
