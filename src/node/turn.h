// SPDX-License-Identifier: Apache-2.0
// One call of a worker: the time it has, what it has found to do, and the packets that end in it, which go back to the
// pool together. Begun and ended by the worker; every stage may ask for its time (ns), and gives packets up here: who
// calls discard() or a drop is no longer the owner.
#pragma once

#include <array>

#include "node/port.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

// What a worker says of it at its end.
struct PollResult {
  uint32_t packets = 0;      // received
  uint32_t crossings = 0;    // packets, messages and pins sent to other workers
  uint64_t woken = 0;        // bit w: worker w has something to read
  bool busy = false;         // did or has left something to do at once
  Nanos next_wake = kNever;  // wants to be called then at the latest, without new input
};

class Turn {
 public:
  // `pool` outlives it.
  Turn(const Site& site, PacketPool& pool) : site_(site), pool_(pool) {}

  void begin(Nanos now) { now_ = now, packets_ = 0, busy_ = false, ++number_; }
  Nanos now() const { return now_; }
  uint64_t number() const { return number_; }  // of turns so far

  void received(uint32_t packets) { packets_ += packets; }
  uint32_t packets() const { return packets_; }
  // Something is left to do at once: the worker wants to be called again without waiting.
  void stay_busy() { busy_ = true; }
  bool busy() const { return busy_; }

  void discard(Packet* packet) {
    if (discarded_count_ == discarded_.size()) flush();
    discarded_[discarded_count_++] = packet;
  }
  // What has been discarded goes back to the pool.
  void flush();
  // Of a fabric port: the frame has not crossed, is not going to, and holds its link's buffers no longer (C9).
  static void release_buffers(Port& port, const Packet& packet) { port.credits[packet.vc].released(packet.cost); }
  // A frame that has not crossed: its buffer credit is this worker's to return.
  HEDDLE_COLD void drop_at_input(Port& port, Packet* packet, DropReason reason);
  // A frame of a lossless class that was to go on. Others of its frames may come twice or late.
  HEDDLE_COLD void count_loss(Port& port, const Packet& packet, DropReason reason);

 private:
  const Site& site_;
  PacketPool& pool_;
  Nanos now_ = 0;
  uint64_t number_ = 0;
  uint32_t packets_ = 0;
  bool busy_ = false;
  uint32_t discarded_count_ = 0;
  std::array<Packet*, 256> discarded_{};
};

}  // namespace heddle
