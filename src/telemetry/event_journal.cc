// SPDX-License-Identifier: Apache-2.0
#include "telemetry/event_journal.h"

#include <algorithm>

namespace heddle {

void EventJournal::add(Event event) {
  const Key key{event.kind, event.place};
  Window& window = windows_[key];
  if (window.events == 0 || event.at_ns - window.began_ns >= kWindow) {
    say_left_out(window, event.at_ns);
    window = {.began_ns = event.at_ns, .events = 0, .left_out = 0, .last = {}};
  }
  if (window.events == kBurst) {
    ++window.left_out;
    window.last = std::move(event);
    return;
  }
  ++window.events;
  keep(std::move(event));
}

void EventJournal::end_windows(Nanos now) {
  std::erase_if(windows_, [&](const auto& entry) {
    const Window& window = entry.second;
    if (now < window.began_ns || now - window.began_ns < kWindow) return false;
    say_left_out(window, now);
    return true;
  });
}

void EventJournal::say_left_out(const Window& window, Nanos now) {
  if (window.left_out == 0) return;
  Event said = window.last;
  if (window.left_out > 1)
    said.text = "and " + std::to_string(window.left_out) + " more in " + std::to_string(kWindow / kSecond) +
                " s, the last: " + window.last.text;
  said.at_ns = now;
  keep(std::move(said));
}

void EventJournal::keep(Event event) {
  event.number = next_number_++;
  log_(event);
  if (events_.size() == kKept) events_.pop_front();
  events_.push_back(std::move(event));
}

std::vector<Event> EventJournal::since(uint64_t after, size_t limit) const {
  const auto behind = std::partition_point(events_.begin(), events_.end(),
                                           [after](const Event& event) { return event.number <= after; });
  const auto count = static_cast<size_t>(events_.end() - behind);
  return {events_.end() - static_cast<std::ptrdiff_t>(std::min(count, limit)), events_.end()};
}

}  // namespace heddle
