// SPDX-License-Identifier: Apache-2.0
// The short cut past the queue of a fabric port (decision 4): a frame that crosses to one of its own worker where
// nothing waits gets its header at once and stands among those that go to the device next. What it has to have it has
// here as in the port's turn: life and credit of the link. All else takes the ordinary
// way, as do all frames of the port from then on until its queue is empty again.
#pragma once

#include "node/ports.h"
#include "node/settlement.h"
#include "node/stamping.h"
#include "wire/inlining.h"

namespace heddle {

class StampingAtOnce {
 public:
  StampingAtOnce(Ports& ports, Stamping& stamping) : ports_(ports), stamping_(stamping) {}

  // A frame of a lossy channel that has left its flow and has a lane and the room there. False, and nothing done, if it
  // is to cross as others do.
  bool take(const Port& input, const InputFlow& flow, Packet* packet, Nanos now) {
    Port* const there = ports_.find(flow.branch.output());
    const FlowId id = flow.branch.flow;
    if (there == nullptr || !may_take(*there, id, packet->payload)) return false;
    const bool in_transit = input.is_fabric();
    const Nanos left = life_of(*packet, in_transit, now);
    if (!Stamping::lives(left)) return false;
    const uint32_t cost = Stamping::cost(there->credits[kLossyChannel], packet->payload);
    put(*there, in_transit, id, there->output.flows[id], flow.congestion, packet, cost, left, now);
    return true;
  }
  // Would it take one of so many bytes, whose flow has this ID there, or kNoFlow yet, and which lives?
  static bool may_take(const Port& there, FlowId id, uint32_t bytes) {
    return is_open(there) &&
           has_place(there, there.output.flows[id], Stamping::cost(there.credits[kLossyChannel], bytes));
  }
  // Nobody waits there, of its own flow neither, nor is anybody to: a port with a rate of its own is to have its queue
  // here (decision 6).
  static bool is_open(const Port& there) {
    return there.output.scheduler.lanes() == 0 && there.session.up() && !there.output.scheduler.has_rate() &&
           there.retry.again() == nullptr;
  }
  // Of the port that is open: may one more go, which takes so much credit of the link?
  static bool has_place(const Port& there, const OutputFlow& entry, uint32_t cost) {
    return usually(!(entry.flags & kOutputEnded)) &&
           usually(there.output.stamped_packets != there.output.transmitter.room()) &&
           there.credits[kLossyChannel].may_send(cost);
  }
  // K8: what is left of its life from here on.
  static Nanos life_of(const Packet& packet, bool in_transit, Nanos now) {
    return in_transit ? life_left(packet, now) : packet.dies_ns;
  }
  // Of one that may, whose flow has this ID there and knows of so much congestion.
  void put(Port& there, bool in_transit, FlowId id, OutputFlow& entry, uint8_t congestion, Packet* packet,
           uint32_t cost, Nanos left, Nanos now) {
    OutputSide& output = there.output;
    there.credits[kLossyChannel].sent(cost, false, now);
    output.stamped[output.stamped_packets++] = packet;
    there.counters.count(ProtocolEvent::stamped_at_once);
    Settlement::congestion_known(entry, congestion);
    const uint32_t position = stamping_.advance(there.index, id, entry, packet->payload, now);
    if (!in_transit) {
      begin_life(*packet, now);
      prepend_fabric_header(*packet);
    }
    Stamping::stamp(there, *packet, there.lossy_stamp, id, position, false, left);
  }

 private:
  Ports& ports_;
  Stamping& stamping_;
};

}  // namespace heddle
