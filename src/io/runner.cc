// SPDX-License-Identifier: Apache-2.0
#include "io/runner.h"

#include <rte_launch.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include "io/clock.h"

namespace heddle {

namespace {
constexpr uint32_t kSpinRoundsMax = 64;
constexpr Nanos kShortSleep = 100 * kMicrosecond;        // waking up costs about as much as spinning for half of it
constexpr Nanos kSilentDevicePause = 50 * kMicrosecond;  // between looks at devices that tell nothing

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }
}  // namespace

Runner::Runner(bool poll) : poll_(poll), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0) fail("epoll_create1");
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, waker_.fd(), &event) != 0) fail("epoll_ctl");
}

Runner::~Runner() {
  stop();
  close(epoll_);
}

void Runner::add(Worker* worker, std::vector<Waker*> wakers) { workers_.push_back({worker, std::move(wakers)}); }

void Runner::remove(Worker* worker) {
  std::erase_if(workers_, [worker](const Polled& polled) { return polled.worker == worker; });
}

void Runner::watch(int fd) {
  if (fd < 0) {
    ++silent_devices_;
    return;
  }
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) fail("epoll_ctl");
}

void Runner::unwatch(int fd) {
  if (fd < 0)
    --silent_devices_;
  else
    epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

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
  waker_.notify();
  rte_eal_wait_lcore(lcore_);
  started_ = false;
}

int Runner::entry(void* runner) {
  static_cast<Runner*>(runner)->loop();
  return 0;
}

void Runner::loop() {
  Nanos before = monotonic_now();
  while (!stop_.load(std::memory_order_relaxed)) {
    if (is_posted_.load(std::memory_order_acquire)) take_posted();
    const Nanos now = monotonic_now();
    last_round_ns_.store(now, std::memory_order_relaxed);
    times_.longest_round_ns = std::max(times_.longest_round_ns, now - before);
    ++times_.rounds;
    const Round round = poll_all(now);
    before = now;
    if (!may_sleep(round) || !waker_.begin_sleep()) continue;
    sleep(now, round.wake);
    waker_.end_sleep();
    before = monotonic_now();
    slept_ns_ = before - now;
    times_.asleep_ns += slept_ns_;
  }
}

Runner::Round Runner::poll_all(Nanos now) {
  Round round;
  for (Polled& polled : workers_) {
    const PollResult result = polled.worker->poll(now);
    round.busy = round.busy || result.busy || result.packets != 0 || result.crossings != 0;
    round.wake = std::min(round.wake, result.next_wake);
    for (uint64_t woken = result.woken; woken != 0; woken &= woken - 1)
      polled.wakers[static_cast<uint32_t>(std::countr_zero(woken))]->notify();
  }
  return round;
}

// Rounds without work are worth their time where sleeps would be short: it spins for longer after each that was, and
// for less after each that was not.
bool Runner::may_sleep(const Round& round) {
  if (slept_ns_ != 0) {
    const bool short_sleep = round.busy && slept_ns_ < kShortSleep;
    spin_rounds_ = short_sleep ? std::min(kSpinRoundsMax, 2 * spin_rounds_ + 1) : spin_rounds_ / 2;
    slept_ns_ = 0;
  }
  idle_rounds_ = round.busy ? 0 : idle_rounds_ + 1;
  return !poll_ && !round.busy && idle_rounds_ > spin_rounds_;
}

void Runner::sleep(Nanos now, Nanos wake) {
  const Nanos most = silent_devices_ != 0 ? kSilentDevicePause : kSleepMax;
  const Nanos length = wake > now ? std::min(wake - now, most) : 0;
  const timespec time{.tv_sec = static_cast<time_t>(length / kSecond), .tv_nsec = static_cast<long>(length % kSecond)};
  std::array<epoll_event, 1> event;  // which one does not matter: all are polled
  epoll_pwait2(epoll_, event.data(), 1, &time, nullptr);
  ++times_.sleeps;
}

RunnerTimes Runner::times() const {
  RunnerTimes times = times_;
  timespec spent{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  times.processor_ns = static_cast<Nanos>(spent.tv_sec) * kSecond + static_cast<Nanos>(spent.tv_nsec);
  return times;
}

void Runner::run(const std::function<void()>& function) {
  if (!started_) return function();
  std::unique_lock lock(mutex_);
  posted_ = &function;
  is_posted_.store(true, std::memory_order_release);
  waker_.notify();
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
