// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "hostd/pacing.h"
#include "ingress/flow_pause.h"

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
    rate = pacing.rate(number, static_cast<uint64_t>(credit), {.sent_bytes = static_cast<uint64_t>(sent)}, now);
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
    const ClassState state{.sent_bytes = static_cast<uint64_t>(departed),
                           .waiting_bytes = static_cast<uint32_t>(given - departed),
                           .keeps_times = true,
                           .delay_ns = next > now ? static_cast<uint64_t>(next - now) : 0};
    const auto rate =
        static_cast<double>(pacing.rate(1, static_cast<uint64_t>(credit), state, static_cast<uint64_t>(now)));
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

// All of it: a sender, its departure times, and a switch whose port takes less (ingress/flow_pause.h).
struct SlowPort {
  static constexpr uint32_t kFrame = 1242, kMark = 256 * 1024, kSocketFrames = 92;  // flow_queue; what a socket has out
  static constexpr double kStep = 1e-4;                                             // seconds
  double sender, drain;                                                             // bytes a second
  double changes = 1;                                                               // every five seconds, and back
  double writes = 0.6;                                                              // seconds, of each 0.6
  const PauseMarks marks{kMark};
  FlowPause pause{};
  Pacing pacing{};
  bool held = false;
  uint32_t number = 0, received = 0, gone = 0, queue = 0;
  uint64_t rate = Pacing::kRestBytesPerSecond, departed = 0, dropped = 0, delivered = 0;
  double now = 1, next = 0, looked = 0, calm_since = 0, written = 0, took = 0, might = 0;
  std::deque<double> leaves{};

  Nanos ns() const { return static_cast<Nanos>(now * 1e9); }
  // What is dropped has come, and does not wait any more: so the switch counts it.
  void arrive() {
    received += kFrame;
    if (queue + kFrame > kMark) {
      ++dropped;
      gone += kFrame;
    } else {
      queue += kFrame;
    }
    if (!held && queue > marks.target) {
      held = true;
      calm_since = 0;
      pause.begin(++number, 1, received, ns());
    }
    if (held) pause.came(received);
  }
  void write() {
    if (std::fmod(now, 0.6) > writes) return;
    for (written = std::min(written + sender * kStep, 64.0 * kFrame); written >= kFrame; written -= kFrame) {
      if ((held || !leaves.empty()) && leaves.size() >= kSocketFrames) return;
      if (held) {
        next = std::max(next, now);
        leaves.push_back(next);
        next += kFrame / static_cast<double>(rate);
      } else {
        leaves.push_back(std::max(next, now));
      }
    }
  }
  void serve() {
    const double takes = drain * (static_cast<int>((now - 1) / 5) % 2 == 0 ? 1 : changes) * kStep;
    might += takes;
    for (took = std::min(took + takes, double{kFrame}); took >= kFrame && queue >= kFrame; took -= kFrame) {
      queue -= kFrame;
      gone += kFrame;
      delivered += kFrame;
    }
    if (!held) return;
    if (const uint32_t more = pause.unknown_credit(gone, marks); more >= marks.step) pause.tell(more);
    if (queue > marks.low)
      calm_since = 0;
    else if (calm_since == 0)
      calm_since = now;
    held = calm_since == 0 || now < calm_since + 0.05;
  }
  void look() {
    if (now < looked + 0.01) return;
    looked = now;
    const ClassState state{.sent_bytes = departed,
                           .waiting_bytes = static_cast<uint32_t>(leaves.size()) * kFrame,
                           .keeps_times = true,
                           .delay_ns = next > now ? static_cast<uint64_t>((next - now) * 1e9) : 0};
    rate = held ? pacing.rate(number, pause.credit(), state, ns()) : Pacing::kRestBytesPerSecond;
    if (!held) pacing.let_go();
  }
  // What the port has taken, of what it might have.
  double run(double seconds) {
    for (; now < 1 + seconds; now += kStep) {
      write();
      for (; !leaves.empty() && leaves.front() <= now; leaves.pop_front()) {
        departed += kFrame;
        arrive();
      }
      serve();
      look();
    }
    return static_cast<double>(delivered) / might;
  }
};

// A rate that is too low lasts for as long as what has got its times, and leaves the switch without anything: then the
// flow is let go, all at once, and held again.
TEST(HostdPacing, WithDepartureTimesAPortHasAlwaysSomethingToSend) {
  for (const double drain : {125e3, 250e3, 1.25e6, 12.5e6}) {
    for (const double times : {1.2, 4.0, 1000.0}) {
      SlowPort port{.sender = drain * times, .drain = drain};
      EXPECT_GE(port.run(30), 0.95) << drain << " bytes a second, and " << times << " times as much is sent";
      EXPECT_LE(port.number, 30u) << drain << ", " << times << ": it is let go and held again";
      EXPECT_LE(port.dropped, 400u) << drain << ", " << times;
    }
  }
}

// Between its bursts nothing of it waits, which is no reason to forget how fast its port is.
TEST(HostdPacing, WithDepartureTimesBurstsKeepAPortBusy) {
  for (const double drain : {125e3, 250e3}) {
    SlowPort port{.sender = 20 * drain, .drain = drain, .writes = 0.1};
    EXPECT_GE(port.run(30), 0.9) << drain;
  }
}

TEST(HostdPacing, WithDepartureTimesItFollowsAPortThatBecomesSlower) {
  for (const double drain : {250e3, 1.25e6, 12.5e6}) {
    SlowPort port{.sender = 4 * drain, .drain = drain, .changes = 0.5};
    EXPECT_GE(port.run(30), 0.88) << drain;
    EXPECT_LE(port.dropped * SlowPort::kFrame, port.delivered / 50) << drain;
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
