// SPDX-License-Identifier: Apache-2.0
// Virtual time: a clock and a schedule of actors, in order of (time, sequence). An actor has at most one wake-up; an
// earlier one replaces a later one. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "wire/types.h"

namespace heddle::sim {

class Engine;

class Actor {
 public:
  virtual ~Actor() = default;
  virtual void act(Nanos now) = 0;

 private:
  friend class Engine;
  Nanos wake_ns_ = kNever;
  uint64_t ticket_ = 0;  // of its entry in the schedule
};

class Engine {
 public:
  explicit Engine(Nanos start) : now_(start) {}

  Nanos now() const { return now_; }
  uint64_t turns() const { return turns_; }
  // At `at`, or at once if that is past; no later than it is woken already.
  void wake(Actor& actor, Nanos at);
  // No wake-up is left of it; call before it goes.
  void forget(Actor& actor);
  // Until `end`; the clock stands there after it.
  void run_until(Nanos end);
  // Something to do once, after what is due at the same time already.
  void at(Nanos time, std::function<void()> action);

 private:
  struct Entry {
    Nanos at;
    uint64_t ticket;
    Actor* actor;     // nullptr: an action
    uint32_t action;  // index
  };
  struct Later {  // a type, so that the heap's steps take it in line
    bool operator()(const Entry& a, const Entry& b) const { return a.at != b.at ? a.at > b.at : a.ticket > b.ticket; }
  };
  void push(const Entry& entry);

  Nanos now_;
  uint64_t next_ticket_ = 1;
  uint64_t turns_ = 0;
  std::vector<Entry> heap_;
  std::vector<std::function<void()>> actions_;
  std::vector<uint32_t> free_actions_;
};

}  // namespace heddle::sim
