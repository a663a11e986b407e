// SPDX-License-Identifier: Apache-2.0
#include "node/receive.h"

#include <algorithm>

namespace heddle {

void Receive::run(Nanos now) {
  for (Port* port : ports_) {
    if (!port->input.waiting.empty()) edge_flows_.serve_waiting(*port, now);
    receive(*port, now);
  }
  edge_receive_.age_stations(now);
}

void Receive::receive(Port& port, Nanos now) {
  Packet* packets[kBurst];
  bound_arrivals(port, now);
  const uint32_t count = port.device->receive(packets, kBurst, now);
  if (count == 0) {
    if (port.device->receive_queue_empty()) port.arrivals.seen_empty_ns_ = now;
    return;
  }
  turn_.received(count);
  if (count == kBurst) turn_.stay_busy();
  port.counters.received_frames += count;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    __builtin_prefetch(packets[i]->data);
    bytes += packets[i]->length;
    packets[i]->dies_ns = port.arrivals.seen_empty_ns_;  // and its life, once that is known
    packets[i]->input.port = port.index;
  }
  port.counters.received_bytes += bytes;
  if (port.is_fabric())
    fabric_receive_.receive(port, packets, count, now);
  else
    edge_receive_.receive(port, packets, count, now);
}

// K8: an upper bound of how long the next frames have lain in the receive queue. Links in memory know when their first
// frame came; of a device is known that what it held when it was last marked has been taken, a queue's length later.
void Receive::bound_arrivals(Port& port, Nanos now) {
  const Nanos head = port.device->next_arrival();
  if (head != kNever) port.arrivals.seen_empty_ns_ = std::max(port.arrivals.seen_empty_ns_, std::min(head, now));
  if (port.counters.received_frames - port.arrivals.mark_frames_ < port.receive_room) return;
  port.arrivals.seen_empty_ns_ = std::max(port.arrivals.seen_empty_ns_, port.arrivals.mark_ns_);
  port.arrivals.mark_ns_ = now;
  port.arrivals.mark_frames_ = port.counters.received_frames;
}

Nanos Receive::next_wake(const Port& port, Nanos now) const {
  if (!port.input.waiting.empty() && port.input.flows.available() != 0) return now;
  return port.device->next_arrival();
}

}  // namespace heddle
