// SPDX-License-Identifier: Apache-2.0
// One OS thread that polls a list of workers in turn, and sleeps when none has work (decision 1).
//
// Another thread that wants to see or change what belongs to these workers says so with run(): its function is called
// here between two rounds, so that tables are only ever touched by their owner. Such a function must be short.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <vector>

#include "node/worker.h"

namespace heddle {

// Of a runner since its start; read in its thread.
struct RunnerTimes {
  uint64_t rounds = 0;
  uint64_t sleeps = 0;
  Nanos asleep_ns = 0;
  Nanos longest_round_ns = 0;  // between two looks at the clock, sleeping left out: what a stall looks like
};

class Runner {
 public:
  // poll: never sleep.
  explicit Runner(bool poll) : poll_(poll) {}
  ~Runner() { stop(); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  // Both from the control thread, before start() or in a function given to run().
  void add(Worker* worker) { workers_.push_back(worker); }
  void remove(Worker* worker);

  void start(unsigned lcore);
  // Waits until the thread has left its last worker.
  void stop();

  // Calls `function` in the runner's thread and waits until it is done; in the caller's if the runner isn't started.
  // One caller at a time.
  void run(const std::function<void()>& function);

  const RunnerTimes& times() const { return times_; }

 private:
  static int entry(void* runner);
  void loop();
  void take_posted();
  void sleep_until(Nanos wake);

  const bool poll_;
  std::vector<Worker*> workers_;
  RunnerTimes times_;
  unsigned lcore_ = 0;
  bool started_ = false;
  std::atomic<bool> stop_{false};
  std::atomic<bool> is_posted_{false};
  std::mutex mutex_;  // of what follows
  std::condition_variable done_;
  const std::function<void()>* posted_ = nullptr;
};

}  // namespace heddle
