// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine.h"

#include <algorithm>

namespace heddle::sim {

void Engine::push(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), Later{});
}

void Engine::wake(Actor& actor, Nanos at) {
  if (at == kNever) return;
  at = std::max(at, now_);
  if (actor.wake_ns_ <= at) return;
  actor.wake_ns_ = at;
  actor.ticket_ = next_ticket_++;
  push({at, actor.ticket_, &actor, 0});
}

void Engine::forget(Actor& actor) {
  std::erase_if(heap_, [&actor](const Entry& entry) { return entry.actor == &actor; });
  std::make_heap(heap_.begin(), heap_.end(), Later{});
  actor.wake_ns_ = kNever;
  actor.ticket_ = 0;
}

void Engine::at(Nanos time, std::function<void()> action) {
  uint32_t index = static_cast<uint32_t>(actions_.size());
  if (free_actions_.empty()) {
    actions_.push_back(std::move(action));
  } else {
    index = free_actions_.back();
    free_actions_.pop_back();
    actions_[index] = std::move(action);
  }
  push({std::max(time, now_), next_ticket_++, nullptr, index});
}

void Engine::run_until(Nanos end) {
  while (!heap_.empty() && heap_.front().at <= end) {
    const Entry entry = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), Later{});
    heap_.pop_back();
    if (entry.actor == nullptr) {
      now_ = entry.at;
      const std::function<void()> action = std::move(actions_[entry.action]);
      free_actions_.push_back(entry.action);
      action();
      continue;
    }
    if (entry.ticket != entry.actor->ticket_) continue;  // it was woken earlier instead
    entry.actor->wake_ns_ = kNever;
    entry.actor->ticket_ = 0;
    now_ = entry.at;
    ++turns_;
    entry.actor->act(now_);
  }
  now_ = std::max(now_, end);
}

}  // namespace heddle::sim
