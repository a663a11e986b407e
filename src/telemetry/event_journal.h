// SPDX-License-Identifier: Apache-2.0
// What has happened, in order, with its reason: what `heddle show events` shows and what goes to the log. Bounded in
// what it keeps and in what it takes: of one kind at one place only so many in a while, and then how many more there
// were and the last of them. Control thread.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "wire/types.h"

namespace heddle {

struct Event {
  uint64_t number = 0;  // from 1, without gaps
  Nanos at_ns = 0;      // of the real-time clock
  bool is_bad = false;  // somebody should look
  std::string kind;     // link, neighbour, worker, pause, device, drops, node, configuration
  std::string place;    // leaf1:p1, leaf1, or empty for the process
  std::string text;
};

class EventJournal {
 public:
  static constexpr size_t kKept = 4096;
  static constexpr uint32_t kBurst = 10;          // of one kind at one place...
  static constexpr Nanos kWindow = 10 * kSecond;  // ...in so long

  // `log` hears each event that is taken.
  explicit EventJournal(std::function<void(const Event&)> log) : log_(std::move(log)) {}

  // `event.at_ns` is its time; number is given here. Times of one place don't go back.
  void add(Event event);
  // Says how many were left out, where a window has ended. Call it now and then.
  void end_windows(Nanos now);

  // Those behind `after`, oldest first, at most `limit` of the newest.
  std::vector<Event> since(uint64_t after, size_t limit) const;
  uint64_t last_number() const { return events_.empty() ? 0 : events_.back().number; }

 private:
  struct Window {
    Nanos began_ns = 0;
    uint32_t events = 0;
    uint32_t left_out = 0;
    Event last{};  // of those left out: how it is now
  };
  using Key = std::pair<std::string, std::string>;  // kind, place
  void keep(Event event);
  void say_left_out(const Window& window, Nanos now);

  std::function<void(const Event&)> log_;
  std::deque<Event> events_;
  std::map<Key, Window> windows_;
  uint64_t next_number_ = 1;
};

}  // namespace heddle
