// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include "hostd/departure_times.h"

namespace heddle::hostd::hostd_departures_test {
namespace {

constexpr uint64_t kMillisecond = 1'000'000, kTick = HOSTD_TICK_NS, kBegin = 1000 * kMillisecond;

// What the program in the kernel does with a frame, without what it does to find its class.
class Kernel : public DepartureMaps {
 public:
  void add_departures(const hostd_class& one) override { sent_[one.minor] = {}; }
  void remove_departures(const hostd_class& one) override {
    sent_.erase(one.minor);
    rates_.erase(one.minor);
  }
  void set_rate(const hostd_class& one, const hostd_rate& rate) override { rates_[one.minor] = rate; }
  hostd_departures departures(const hostd_class& one) const override { return sent_.at(one.minor); }

  // When it leaves; 0: it is dropped.
  uint64_t send(uint64_t bytes, uint64_t now, uint16_t minor = 1) {
    hostd_departures& sent = sent_.at(minor);
    if (!hostd_has_room(&sent, &rates_[minor], bytes, now)) return 0;
    if (sent.next_ns <= now) {
      sent.next_ns = now;
      hostd_begin_busy(&sent, now);
    }
    const uint64_t leaves = sent.next_ns;
    sent.next_ns += hostd_time_of(bytes, &rates_[minor]);
    sent.bytes += bytes;
    ++sent.frames;
    return leaves;
  }
  size_t classes() const { return sent_.size(); }
  size_t rates() const { return rates_.size(); }

 private:
  std::map<uint16_t, hostd_departures> sent_;
  std::map<uint16_t, hostd_rate> rates_;
};

struct DepartureTimesTest : testing::Test {
  Kernel kernel;
  DepartureTimes times{7, kernel};
  uint64_t now = kBegin;
};

TEST_F(DepartureTimesTest, FramesLeaveAtTheRateOfTheirClass) {
  times.set_rate(1, 1'000'000);
  EXPECT_EQ(kernel.send(1500, now), now);
  EXPECT_EQ(kernel.send(1500, now), now + 1500 * 1000);
  EXPECT_EQ(kernel.send(1500, now, 2), now) << "of another class";
  times.set_rate(1, 2'000'000);
  EXPECT_EQ(kernel.send(1500, now), now + 2 * 1500 * 1000) << "what has a time keeps it";
  EXPECT_EQ(kernel.send(1500, now), now + 2 * 1500 * 1000 + 1500 * 500);
}

TEST_F(DepartureTimesTest, WhatWaitsIsWhatHasNotLeft) {
  times.set_rate(1, 1'000'000);
  for (int frame = 0; frame < 40; ++frame) kernel.send(1000, now);
  ClassState state = times.look(now)[1];
  EXPECT_EQ(state.waiting_bytes, 40'000u);
  EXPECT_EQ(state.sent_bytes, 0u);
  EXPECT_EQ(state.delay_ns, 40 * kMillisecond);
  now += 30 * kMillisecond;
  for (int frame = 0; frame < 10; ++frame) kernel.send(1000, now);
  EXPECT_EQ(times.look(now)[1].sent_bytes, 30'000u);
  now += 10 * kMillisecond;
  state = times.look(now)[1];
  EXPECT_EQ(state.sent_bytes, 40'000u);
  EXPECT_EQ(state.waiting_bytes, 10'000u);
  EXPECT_EQ(state.delay_ns, 10 * kMillisecond);
  now += 10 * kMillisecond;
  state = times.look(now)[1];
  EXPECT_EQ(state.sent_bytes, 50'000u);
  EXPECT_EQ(state.waiting_bytes + state.delay_ns, 0u);
}

// As fast as the sender can, for a second: what the rate carries goes, and no more waits than fits.
TEST_F(DepartureTimesTest, SoMuchWaitsAndNotMore) {
  for (const uint64_t bytes : {200u, 1514u, 60'000u}) {
    for (const uint64_t rate : {125'000u, 1'250'000u, 12'500'000u}) {
      Kernel fresh;
      DepartureTimes paced(7, fresh);
      paced.set_rate(1, rate);
      uint64_t at = kBegin, left = 0;
      size_t most = 0;
      std::deque<uint64_t> waiting;
      for (const uint64_t end = at + 1000 * kMillisecond; at < end; at += kTick) {
        paced.look(at);
        for (uint64_t step = at; step < at + kTick; step += kMillisecond / 10) {
          while (const uint64_t leaves = fresh.send(bytes, step)) waiting.push_back(leaves);
          for (; !waiting.empty() && waiting.front() <= step; waiting.pop_front()) left += bytes;
          most = std::max(most, waiting.size());
        }
      }
      EXPECT_LE(most, std::min<size_t>(100, (160 * 1024 + bytes) / bytes)) << bytes << " at " << rate;
      EXPECT_GE(left, rate * 9 / 10 - bytes) << bytes << " at " << rate;
    }
  }
}

// A socket that has 93 frames out and writes as soon as one has left.
struct Socket {
  Kernel& kernel;
  uint64_t bytes = 1242;
  std::deque<uint64_t> out{};
  int lost = 0;
  void write(uint64_t now) {
    for (; !out.empty() && out.front() <= now; out.pop_front()) continue;
    while (out.size() < 93) {
      const uint64_t leaves = kernel.send(bytes, now);
      if (leaves == 0) {
        ++lost;
        return;
      }
      out.push_back(leaves);
    }
  }
};

// Whatever its rate becomes while it waits.
TEST_F(DepartureTimesTest, ASocketWaitsAndLosesNothing) {
  for (const double change : {0.5, 0.9, 1.1, 2.0}) {
    Kernel fresh;
    DepartureTimes paced(7, fresh);
    Socket socket{fresh};
    double rate = change < 1 ? 4e6 : 65'536;
    for (uint64_t at = kBegin; at < kBegin + 3000 * kMillisecond; at += kTick) {
      paced.look(at);
      if ((at - kBegin) % (50 * kMillisecond) == 0) rate = std::clamp(rate * change, 65'536.0, 12.5e6);
      paced.set_rate(1, static_cast<uint64_t>(rate));
      for (uint64_t step = at; step < at + kTick; step += kMillisecond / 50) socket.write(step);
    }
    EXPECT_EQ(socket.lost, 0) << "times " << change;
  }
}

// Its pause is over: as fast as any from now on, behind what has its time.
TEST_F(DepartureTimesTest, NoMoreWaitsWhereTheRateRises) {
  times.set_rate(1, 125'000);
  for (int frame = 0; frame < 90; ++frame) kernel.send(1242, now);
  times.look(++now);
  times.set_rate(1, 12'500'000'000);
  int more = 0;
  for (uint64_t step = now; step < now + kTick - 1; step += kMillisecond)
    while (kernel.send(1242, step) != 0) ++more;
  EXPECT_LE(more, 8);
}

// heddle-hostd does not look for a while.
TEST_F(DepartureTimesTest, WhatLeavesWithoutALookMakesRoom) {
  times.set_rate(1, 1'000'000);
  while (kernel.send(1500, now) != 0) continue;
  times.look(now);
  EXPECT_EQ(kernel.send(1500, now), 0u);
  uint64_t frames = 0;
  while (kernel.send(1500, now + 60 * kMillisecond) != 0) ++frames;
  EXPECT_EQ(frames, 40u);
  times.look(now + 60 * kMillisecond);
  EXPECT_EQ(kernel.send(1500, now + 60 * kMillisecond), 0u);
  EXPECT_NE(kernel.send(1500, now + 62 * kMillisecond), 0u);
}

TEST_F(DepartureTimesTest, AnInterfaceHasItsClassesAndTakesThemWithIt) {
  Kernel another;
  {
    const DepartureTimes held(8, another);
    EXPECT_EQ(another.classes(), size_t{HOSTD_CLASSES});
    EXPECT_EQ(another.rates(), size_t{HOSTD_CLASSES});
  }
  EXPECT_EQ(another.classes() + another.rates(), 0u);
}

}  // namespace
}  // namespace heddle::hostd::hostd_departures_test
