// SPDX-License-Identifier: Apache-2.0
// One OS thread that polls a list of workers in turn, and sleeps when none has work (decision 1): until a device has
// something, another thread has put something before one of its workers, or one of them wants to be called. Devices
// that can't wake it are looked at each 50 us.
//
// Another thread that wants to see or change what belongs to these workers says so with run(): its function is called
// here between two rounds, so that tables are only ever touched by their owner. Such a function must be short.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "io/waker.h"
#include "node/node.h"

namespace heddle {

// Of a runner since its start; read in its thread.
struct RunnerTimes {
  uint64_t rounds = 0;
  uint64_t sleeps = 0;
  Nanos asleep_ns = 0;
  Nanos processor_ns = 0;      // processor time of the thread, as the kernel counts it
  Nanos longest_round_ns = 0;  // between two looks at the clock, sleeping left out: what a stall looks like
};

class Runner {
 public:
  // poll: never sleep.
  explicit Runner(bool poll);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Both from the control thread, before start() or in a function given to run().
  // `wakers`: of the runners of all workers of its node, by worker.
  void add(Worker* worker, std::vector<Waker*> wakers);
  void remove(Worker* worker);
  // Both from the control thread.
  // A device of its workers: what can be read while frames wait there, or -1 if nothing tells.
  void watch(int fd);
  void unwatch(int fd);

  Waker& waker() { return waker_; }

  void start(unsigned lcore);
  // Waits until the thread has left its last worker.
  void stop();

  // Calls `function` in the runner's thread and waits until it is done; in the caller's if the runner isn't started.
  // One caller at a time.
  void run(const std::function<void()>& function);

  // The clock at the begin of its last round; from any thread. It never sleeps for longer than kSleepMax.
  Nanos last_round_ns() const { return last_round_ns_.load(std::memory_order_relaxed); }
  static constexpr Nanos kSleepMax = 200 * kMillisecond;

  RunnerTimes times() const;  // in its thread

 private:
  struct Polled {
    Worker* worker;
    std::vector<Waker*> wakers;  // of its node's workers
  };
  // What a round over all workers came to.
  struct Round {
    bool busy = false;
    Nanos wake = kNever;
  };
  static int entry(void* runner);
  void loop();
  Round poll_all(Nanos now);
  bool may_sleep(const Round& round);
  void take_posted();
  void sleep(Nanos now, Nanos wake);

  const bool poll_;
  Waker waker_;
  int epoll_;
  std::vector<Polled> workers_;
  std::atomic<uint32_t> silent_devices_{0};  // that tell nothing
  RunnerTimes times_;
  std::atomic<Nanos> last_round_ns_{0};
  uint32_t idle_rounds_ = 0;  // in a row
  uint32_t spin_rounds_ = 0;  // of them before it sleeps
  Nanos slept_ns_ = 0;        // the last time, if it has not been judged yet
  unsigned lcore_ = 0;
  bool started_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<bool> is_posted_{false};
  std::mutex mutex_;  // of what follows
  std::condition_variable done_;
  const std::function<void()>* posted_ = nullptr;
};

}  // namespace heddle
