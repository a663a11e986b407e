// SPDX-License-Identifier: Apache-2.0
// What a worker has to tell people, when it happens: rare things with their reason, never anything per packet. Written
// by the worker into a ring of its own, read by one other thread when it likes.
#pragma once

#include <cstdint>

#include "link/session.h"
#include "node/crossbar.h"
#include "wire/types.h"

namespace heddle {

enum class NodeEventKind : uint8_t {
  link,                 // a fabric link has come up, gone down, or stays down for another reason
  neighbour_restarted,  // the other end has a new session: it has forgotten all it knew
  worker_late,          // the worker stood still for so long that its links might have gone down
  pause_overruled,      // a host asked to wait for longer than it may (K14)
  host_disobeys,        // a host that said it obeys fine-grained flow control has not, and is not believed (G1)
};

struct NodeEvent {
  Nanos at_ns;
  NodeEventKind kind;
  LinkDownReason reason = LinkDownReason::none;  // link: none = it is up
  PortIndex port = kNoPort;                      // none of worker_late
  uint32_t late_us = 0;                          // worker_late
  uint64_t station = 0;                          // host_disobeys: its MAC address
  // link: node:port at the other end, if it is another one
  char found[HEDDLE_NODE_NAME_BYTES + 1 + HEDDLE_PORT_NAME_BYTES + 1] = {};
  char unused[2] = {};
};
static_assert(sizeof(NodeEvent) % 4 == 0, "elements of a ring");

class NodeEvents {
 public:
  explicit NodeEvents(uint32_t capacity) : ring_(capacity) {}

  // --- the worker ---
  // False: there is no room for it.
  bool tell(const NodeEvent& event) { return ring_.push(&event, 1) == 1; }

  // --- the reader ---
  bool take(NodeEvent& event) { return ring_.pop(&event, 1) == 1; }

 private:
  Ring<NodeEvent> ring_;
};

}  // namespace heddle
