// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

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

// The same with departure times: what waits keeps the rate that it came with.
struct Departures {
  static constexpr double kSocket = 114e3, kFrame = 1242;  // bytes
  double drain;
  Pacing pacing{};
  double now = 1e9, next = 0;  // ns
  double given = 0, departed = 0, credit = 0;
  double least_beyond = 0, most_beyond = 0;  // credit, of what has departed
  std::deque<double> leaves{};

  void tick() {
    const auto rate = static_cast<double>(pacing.rate(1, static_cast<uint64_t>(credit), static_cast<uint64_t>(departed),
                                                      static_cast<uint64_t>(now),
                                                      next > now ? static_cast<uint64_t>(next - now) : 0));
    for (const double end = now + kTick; now < end; now += 100e3) {
      for (; !leaves.empty() && leaves.front() <= now; leaves.pop_front()) departed += kFrame;
      for (; given - departed + kFrame <= kSocket; given += kFrame) {
        leaves.push_back(next = std::max(next, now));
        next += kFrame * 1e9 / rate;
      }
      credit += drain * 100e3 / 1e9;
    }
    least_beyond = std::min(least_beyond, departed - credit);
    most_beyond = std::max(most_beyond, departed - credit);
  }
};

TEST(HostdPacing, ItUsesCreditUpOnceThoughItsRateShowsLate) {
  for (const double drain : {125e3, 1.25e6, 12.5e6}) {
    Departures loop{.drain = drain};
    for (int ticks = 0; ticks < 600; ++ticks) loop.tick();
    const double departed = loop.departed, credit = loop.credit;
    loop.least_beyond = loop.most_beyond = departed - credit;
    for (int ticks = 0; ticks < 600; ++ticks) loop.tick();
    EXPECT_NEAR((loop.departed - departed) / (loop.credit - credit), 1, 0.02) << drain;
    EXPECT_LT(loop.most_beyond - loop.least_beyond, 32e3) << drain << ": so much the queue at the switch sways";
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
