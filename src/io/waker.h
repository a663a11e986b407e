// SPDX-License-Identifier: Apache-2.0
// Ends the sleep of one thread that polls. Whoever has put something where that thread looks says so with notify(),
// from any thread; without a sleeper that costs one exchange and no system call. Each side writes its own word and then
// reads the other's, in one order for all threads: one of them sees the other.
#pragma once

#include <atomic>

namespace heddle {

class Waker {
 public:
  Waker();  // throws std::system_error
  ~Waker();
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  // After what there is to find has been put there.
  void notify() {
    noted_.store(true, std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst)) signal();
  }

  // --- the thread itself ---
  // Between the two it may wait until fd() can be read. False: something was put there meanwhile, look again first.
  bool begin_sleep() {
    asleep_.store(true, std::memory_order_seq_cst);
    if (!noted_.exchange(false, std::memory_order_seq_cst)) return true;
    asleep_.store(false, std::memory_order_relaxed);
    return false;
  }
  void end_sleep();
  int fd() const { return fd_; }

 private:
  void signal();

  int fd_;
  std::atomic<bool> asleep_{false};
  std::atomic<bool> noted_{false};
};

}  // namespace heddle
