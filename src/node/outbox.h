// SPDX-License-Identifier: Apache-2.0
// What a worker has for the other workers of its node (X1): gathered, and handed over a batch at a time and at the end
// of the turn. Packets and pins always find room; of the others a full ring takes no more, and whoever has something to
// say keeps it and says it next turn.
// Owned by the worker that speaks; the crossings are the node's.
#pragma once

#include <cassert>
#include <vector>

#include "node/crossbar.h"
#include "node/message.h"

namespace heddle {

class Outbox {
 public:
  Outbox(uint32_t workers, std::vector<WorkerIndex> worker_of_port)
      : to_(workers), worker_of_port_(std::move(worker_of_port)) {}
  // Before the first turn, for every other worker.
  void connect(WorkerIndex worker, Crossing* to) { to_[worker] = to; }
  uint32_t workers() const { return static_cast<uint32_t>(to_.size()); }

  void begin_turn() { crossings_ = 0, woken_ = 0; }

  // --- to the worker of another worker's port; false if its ring is full ---
  bool send(PortIndex port, const Message& message) { return send_to(worker_of_port_[port], message); }
  bool send_to(WorkerIndex worker, const Message& message);
  bool settled(const Settled& settled);

  // --- these always find room ---
  void packet(const CrossingPacket& crossing);
  // The same for a burst: the way to one port is looked up once.
  struct Way {
    WorkerIndex worker = 0;
    BatchedRing<CrossingPacket>* ring = nullptr;
  };
  Way way_to(PortIndex output) const {
    const WorkerIndex worker = worker_of_port_[output];
    return {worker, &to_[worker]->data};
  }
  void packet(const Way& way, const CrossingPacket& crossing) {
    if (way.ring->full()) {
      hand_over(way.worker);
      assert(!way.ring->full());  // it crosses with room that the ring has (crossbar.h)
    }
    way.ring->gather() = crossing;
    ++crossings_;
  }
  void give_back(const GivenBack& pin);

  // The end of the turn: true if something is left for the next one.
  bool hand_over_all();
  // So far in this turn: how many of all kinds; bit w: worker w has something to read.
  uint32_t crossings() const { return crossings_; }
  uint64_t woken() const { return woken_; }
  void wake(WorkerIndex worker) { woken_ |= uint64_t{1} << worker; }

 private:
  [[gnu::noinline]] void hand_over(WorkerIndex worker) {
    if (to_[worker]->hand_over()) wake(worker);
  }
  // A place for one more; nullptr if the ring is full.
  template <typename Element>
  Element* place(WorkerIndex worker, BatchedRing<Element> Crossing::*ring) {
    BatchedRing<Element>& to = to_[worker]->*ring;
    if (to.full()) {
      hand_over(worker);
      if (to.full()) return nullptr;
    }
    ++crossings_;
    return &to.gather();
  }

  std::vector<Crossing*> to_;  // by worker
  std::vector<WorkerIndex> worker_of_port_;
  uint32_t crossings_ = 0;
  uint64_t woken_ = 0;
};

inline bool Outbox::send_to(WorkerIndex worker, const Message& message) {
  Message* place = this->place(worker, &Crossing::messages);
  if (place != nullptr) *place = message;
  return place != nullptr;
}

inline bool Outbox::settled(const Settled& settled) {
  Settled* place = this->place(worker_of_port_[settled.input.port], &Crossing::settled);
  if (place != nullptr) *place = settled;
  return place != nullptr;
}

inline void Outbox::packet(const CrossingPacket& crossing) { packet(way_to(crossing.output), crossing); }

inline void Outbox::give_back(const GivenBack& pin) {
  GivenBack* place = this->place(worker_of_port_[pin.output], &Crossing::given_back);
  assert(place != nullptr);  // each pin exists once (crossbar.h)
  *place = pin;
}

inline bool Outbox::hand_over_all() {
  bool left = false;
  for (WorkerIndex worker = 0; worker < to_.size(); ++worker) {
    if (to_[worker] == nullptr) continue;
    hand_over(worker);
    left = left || !to_[worker]->messages.empty() || !to_[worker]->settled.empty();
  }
  return left;
}

}  // namespace heddle
