// SPDX-License-Identifier: Apache-2.0
// What goes between two workers of a node (X1, decision 2): packets, pins given back, deltas and small messages, each
// over a single-producer single-consumer ring. Packets and pins never find their ring full: a packet crosses only with
// room granted for it and a pin exists once, and the rings are made that large. A full ring of the others only delays:
// whoever has something to say keeps it on its own list and says it next turn.
#pragma once

#include <rte_ring.h>
#include <rte_ring_peek_zc.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "node/message.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

// To the input's worker: bytes of an input flow are settled (decision 5).
struct Settled {
  InputFlowRef input;
  uint32_t acknowledged;
  uint32_t lost;    // of those
  bool path_ended;  // the output's session ended: keep off the path
  // Level and flags of its destination's congestion, if it tells them (C3): a flow that comes to rest by what is
  // settled would not hear of them later.
  bool tells;
  uint8_t congestion;
  bool redirect;      // it should take another way (R9), as this node asks:
  uint16_t asked_by;  // address
};
static_assert(sizeof(Settled) == 24);

struct CrossingPacket {
  Packet* packet;
  PortIndex output;
  uint8_t told;  // what its input flow knows of its destination's congestion (C3)
  bool first;    // of its flow since that has the output flow ID
};
static_assert(sizeof(CrossingPacket) == 16);

// An output flow ID that its input flow gives back.
struct GivenBack {
  PortIndex output;
  FlowId id;
  uint32_t counted;  // an orphan: its end is told (K9)
};
static_assert(sizeof(GivenBack) == 8);

// Elements of 8, 16 or any multiple of 4 bytes, in memory for `capacity` of them at least.
class RingMemory {
 public:
  RingMemory(uint32_t capacity, uint32_t element_bytes);
  uint32_t used() const;  // elements in it; the other side may change that at once

 protected:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<rte_ring, Free> ring_;
};

// One producer, one consumer. Elements are copied as bytes: rte_ring's own copies read and write them as integers,
// which neither their alignment nor their type allows.
template <typename Element>
class Ring : public RingMemory {
 public:
  static_assert(std::is_trivially_copyable_v<Element> && sizeof(Element) % 4 == 0);
  explicit Ring(uint32_t capacity) : RingMemory(capacity, sizeof(Element)) {}
  // How many there was room for, or how many there were.
  uint32_t push(const Element* elements, uint32_t count) {
    rte_ring_zc_data slots;
    count = rte_ring_enqueue_zc_burst_elem_start(ring_.get(), sizeof(Element), count, &slots, nullptr);
    if (count == 0) return 0;
    std::memcpy(slots.ptr1, elements, slots.n1 * sizeof(Element));
    if (slots.n1 < count) std::memcpy(slots.ptr2, elements + slots.n1, (count - slots.n1) * sizeof(Element));
    rte_ring_enqueue_zc_elem_finish(ring_.get(), count);
    return count;
  }
  uint32_t pop(Element* elements, uint32_t count) {
    rte_ring_zc_data slots;
    count = rte_ring_dequeue_zc_burst_elem_start(ring_.get(), sizeof(Element), count, &slots, nullptr);
    if (count == 0) return 0;
    std::memcpy(elements, slots.ptr1, slots.n1 * sizeof(Element));
    if (slots.n1 < count) std::memcpy(elements + slots.n1, slots.ptr2, (count - slots.n1) * sizeof(Element));
    rte_ring_dequeue_zc_elem_finish(ring_.get(), count);
    return count;
  }
  bool empty() const { return used() == 0; }
};

constexpr uint32_t kRingBatch = 32;

// A ring and what its producer has gathered for it: elements are handed over a batch at a time.
template <typename Element>
class BatchedRing {
 public:
  explicit BatchedRing(uint32_t capacity) : ring_(capacity) {}

  // --- the producer ---
  bool full() const { return count_ == kRingBatch; }
  bool empty() const { return count_ == 0; }
  Element& gather() { return gathered_[count_++]; }  // one more, to be filled at once
  // What the ring takes of it; the rest stays gathered. True if it took any.
  bool hand_over() {
    if (count_ == 0) return false;
    const uint32_t taken = ring_.push(gathered_.data(), count_);
    std::copy(gathered_.begin() + taken, gathered_.begin() + count_, gathered_.begin());
    count_ -= taken;
    return taken != 0;
  }

  // --- the consumer ---
  uint32_t take(Element* elements, uint32_t count) { return ring_.pop(elements, count); }
  uint32_t used() const { return ring_.used(); }

 private:
  Ring<Element> ring_;
  alignas(64) uint32_t count_ = 0;  // not in a line that the consumer reads
  std::array<Element, kRingBatch> gathered_;
};

// One direction between two workers. How often something was handed over is counted, so that a consumer for whom there
// is nothing looks at one line instead of those of four rings.
class Crossing {
 public:
  Crossing(uint32_t packets, uint32_t pins, uint32_t message_count)
      : data(packets), given_back(pins), settled(message_count), messages(message_count) {}

  // By the producer: what it has gathered. Pins last, since packets that they stand for cross before them (K9). True if
  // the consumer has something to read.
  bool hand_over() {
    bool any = messages.hand_over();
    any |= settled.hand_over();
    any |= data.hand_over();
    any |= given_back.hand_over();
    if (any) handed_over_.store(handed_over_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
    return any;
  }
  // By the consumer: may there be anything that was not there when it asked last?
  bool has_news() {
    const uint32_t handed_over = handed_over_.load(std::memory_order_acquire);
    if (handed_over == seen_) return false;
    seen_ = handed_over;
    return true;
  }
  void look_again() { --seen_; }  // not all has been taken

  BatchedRing<CrossingPacket> data;
  BatchedRing<GivenBack> given_back;
  BatchedRing<Settled> settled;
  BatchedRing<Message> messages;

 private:
  alignas(64) std::atomic<uint32_t> handed_over_{0};  // by the producer
  alignas(64) uint32_t seen_ = 0;                     // by the consumer
};

}  // namespace heddle
