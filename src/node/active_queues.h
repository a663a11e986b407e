// SPDX-License-Identifier: Apache-2.0
// The virtual output queues that have something to send, in the order in which they are served (A10). A queue is listed
// at most once; its link is its own.
#pragma once

#include "flow/timer_wheel.h"
#include "node/ports.h"

namespace heddle {

class ActiveQueues {
 public:
  explicit ActiveQueues(Ports& ports) : ports_(ports) {}

  // `index`: of the input's virtual output queue.
  void push(Port& input, VoqIndex index) {
    Voq& voq = input.input.voqs[index];
    if (voq.active) return;
    voq.active = true;
    voq.next_active = kNoItem;
    const uint32_t item = uint32_t{input.index} << 16 | index;
    if (head_ == kNoItem)
      head_ = item;
    else
      ports_.own(PortIndex::of(tail_ >> 16)).input.voqs[tail_ & 0xffff].next_active = item;
    tail_ = item;
    ++count_;
  }

  struct Queue {
    Port& input;
    VoqIndex index;
  };
  // The first one; there is one.
  Queue pop() {
    const Queue queue{ports_.own(PortIndex::of(head_ >> 16)), VoqIndex::of(head_ & 0xffff)};
    Voq& voq = queue.input.input.voqs[queue.index];
    head_ = voq.next_active;
    if (head_ == kNoItem) tail_ = kNoItem;
    --count_;
    voq.active = false;
    return queue;
  }
  uint32_t count() const { return count_; }

 private:
  Ports& ports_;
  uint32_t head_ = kNoItem, tail_ = kNoItem;  // input << 16 | index
  uint32_t count_ = 0;
};

}  // namespace heddle
