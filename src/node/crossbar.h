// SPDX-License-Identifier: Apache-2.0
// What goes between two workers of a node (X1, decision 2): packets, pins given back, and small messages, each over a
// single-producer single-consumer ring. Packets and pins never find their ring full: a packet crosses only with room
// granted for it and a pin exists once, and the rings are made that large. A full message ring only delays: whoever has
// something to say keeps it on its own list and says it next turn.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "wire/packet.h"
#include "wire/types.h"

struct rte_ring;

namespace heddle {

enum class MessageKind : uint8_t {
  ack,      // to the input's worker: bytes of an input flow are settled (value = acknowledged, value2 = of those lost)
  want,     // to the output's worker: so many more of an input's flows (value) want an output flow ID
  grant,    // to the input's worker: an ID (flow), for whichever of them waits first
  refuse,   // to the input's worker: the output is down, so many (value) get none, take another way
  returns,  // to the input's worker: room (value) and buffers held (value2) come back, flow = orphans freed
  learn,    // to all: a station is at value64 = mac << 16 | vlan, value = node << 16 | port
  notice,   // to all: link states (value = sequence, value64 = ports up) of node index `flow`
};

struct Message {
  MessageKind kind;
  uint8_t path_ended = 0;  // ack: the output's session ended, keep off the path
  PortIndex input = kNoPort;
  PortIndex output = kNoPort;
  FlowId flow = kNoFlow;
  Epoch epoch = 0;
  uint32_t value = 0;
  uint64_t value64 = 0;
  uint32_t value2 = 0;
  uint32_t unused = 0;
};
static_assert(sizeof(Message) == 32);

struct CrossingPacket {
  Packet* packet;
  PortIndex output;
  uint16_t unused[3];
};
static_assert(sizeof(CrossingPacket) == 16);

// An output flow ID that its input flow gives back.
struct GivenBack {
  PortIndex output;
  FlowId id;
  uint32_t counted;  // an orphan: its end is told (K9)
};
static_assert(sizeof(GivenBack) == 8);

// Fixed-size elements, one producer, one consumer.
class Ring {
 public:
  Ring(uint32_t capacity, uint32_t element_bytes);
  // Not inlined: g++ 12 sees the copies for larger elements in them.
  [[gnu::noinline]] bool push(const void* element);
  [[gnu::noinline]] bool pop(void* element);
  bool empty() const { return used() == 0; }
  uint32_t used() const;  // elements in it; the other side may change that at once

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  std::unique_ptr<rte_ring, Free> ring_;
  uint32_t element_bytes_;
};

// One direction between two workers.
struct Crossing {
  Crossing(uint32_t packets, uint32_t pins, uint32_t message_count)
      : data(packets, sizeof(CrossingPacket)),
        given_back(pins, sizeof(GivenBack)),
        messages(message_count, sizeof(Message)) {}
  Ring data;
  Ring given_back;
  Ring messages;
};

}  // namespace heddle
