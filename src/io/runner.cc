// SPDX-License-Identifier: Apache-2.0
#include "io/runner.h"

#include <rte_launch.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "io/clock.h"

namespace heddle {

namespace {
constexpr uint32_t kIdleRounds = 64;            // before it sleeps
constexpr Nanos kSleepMax = 50 * kMicrosecond;  // a polled device can't wake it
}  // namespace

void Runner::remove(Worker* worker) { std::erase(workers_, worker); }

void Runner::start(unsigned lcore) {
  lcore_ = lcore;
  stop_ = false;
  if (rte_eal_remote_launch(entry, this, lcore) != 0)
    throw std::runtime_error("can't start a thread on lcore " + std::to_string(lcore));
  started_ = true;
}

void Runner::stop() {
  if (!started_) return;
  stop_ = true;
  rte_eal_wait_lcore(lcore_);
  started_ = false;
}

int Runner::entry(void* runner) {
  static_cast<Runner*>(runner)->loop();
  return 0;
}

void Runner::loop() {
  uint32_t idle_rounds = 0;
  Nanos before = monotonic_now();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (is_posted_.load(std::memory_order_acquire)) take_posted();
    const Nanos now = monotonic_now();
    times_.longest_round_ns = std::max(times_.longest_round_ns, now - before);
    ++times_.rounds;
    bool busy = false;
    Nanos wake = kNever;
    for (Worker* worker : workers_) {
      const PollResult result = worker->poll(now);
      busy = busy || result.busy || result.packets != 0 || result.crossings != 0;
      wake = std::min(wake, result.next_wake);
    }
    before = now;
    idle_rounds = busy ? 0 : idle_rounds + 1;
    if (!poll_ && idle_rounds >= kIdleRounds) {
      sleep_until(std::min(wake, now + kSleepMax));
      before = monotonic_now();
      times_.asleep_ns += before - now;
    }
  }
}

void Runner::sleep_until(Nanos wake) {
  const timespec time{.tv_sec = static_cast<time_t>(wake / kSecond), .tv_nsec = static_cast<long>(wake % kSecond)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr);
  ++times_.sleeps;
}

void Runner::run(const std::function<void()>& function) {
  if (!started_) return function();
  std::unique_lock lock(mutex_);
  posted_ = &function;
  is_posted_.store(true, std::memory_order_release);
  done_.wait(lock, [this] { return posted_ == nullptr; });
}

void Runner::take_posted() {
  const std::lock_guard lock(mutex_);
  is_posted_.store(false, std::memory_order_relaxed);
  if (posted_ == nullptr) return;
  (*posted_)();
  posted_ = nullptr;
  done_.notify_one();
}

}  // namespace heddle
