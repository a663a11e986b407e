// SPDX-License-Identifier: Apache-2.0
// The short cut past the queue of a fabric port (decision 4): a frame that crosses to one of its own worker where
// nothing waits gets its header at once and stands among those that go to the device next. What it has to have it has
// here as in the port's turn: life, credit of the link, and where the link sends again what it loses, a replica (K6).
// What has taken credit does not wait any more: so those that share the next hop's buffers count it as before (C8).
// All else takes the ordinary way, as do all frames of the port from then on until its queue is empty again.
#pragma once

#include "node/ports.h"
#include "node/retry_frames.h"
#include "node/settlement.h"
#include "node/stamping.h"
#include "topology/lanes.h"
#include "wire/inlining.h"

namespace heddle {

class StampingAtOnce {
 public:
  StampingAtOnce(const Site& site, Ports& ports, Stamping& stamping, RetryFrames& retry)
      : site_(site), ports_(ports), stamping_(stamping), retry_(retry) {}

  // A frame that has left its flow and has a lane and the room there. False, and nothing done, if it is to cross as
  // others do.
  bool take(const Port& input, const InputFlow& flow, Packet* packet, Nanos now) {
    Port* const there = ports_.find(flow.branch.output());
    if (there == nullptr || !is_open(*there)) return false;
    const FlowId id = flow.branch.flow;
    OutputFlow& entry = there->output.flows[id];
    const Stamping::Lane lane = lane_of(packet->lane);
    const LinkCredits& credits = there->credits[lane.channel];
    const uint32_t cost = Stamping::cost(credits, packet->payload);
    if (!has_place(*there, entry, credits, cost)) return false;
    const bool in_transit = input.is_fabric();
    const Nanos left = life_of(*packet, in_transit, now);
    if (!Stamping::lives(left)) return false;
    Packet* replica = nullptr;
    if (lane.retry && (replica = replica_for(*there, packet)) == nullptr) return false;
    put(*there, in_transit, id, entry, lane, flow.congestion, packet, cost, left, now);
    if (replica != nullptr) keep(*there, *packet, replica, now);
    return true;
  }
  // Would it take one of so many bytes of that lane, whose flow has this ID there, or kNoFlow yet, and which lives?
  static bool may_take(const Lanes& lanes, const Port& there, LaneIndex lane, FlowId id, uint32_t bytes) {
    const LinkCredits& credits = there.credits[lanes.channel(lane)];
    return is_open(there) && (!lanes.retry(lane) || there.retry.may_stamp()) &&
           has_place(there, there.output.flows[id], credits, Stamping::cost(credits, bytes));
  }
  // Nobody waits there, of its own flow neither, nor is anybody to: a port with a rate of its own is to have its queue
  // here (decision 6).
  static bool is_open(const Port& there) {
    return there.output.scheduler.lanes() == 0 && there.session.up() && !there.output.scheduler.has_rate() &&
           there.retry.again() == nullptr;
  }
  Stamping::Lane lane_of(LaneIndex lane) const { return Stamping::lane_of(site_.lanes, lane); }
  // Of the port that is open: may one more go, which takes so much of that credit of the link?
  static bool has_place(const Port& there, const OutputFlow& entry, const LinkCredits& credits, uint32_t cost) {
    return usually(!(entry.flags & kOutputEnded)) &&
           usually(there.output.stamped_packets != there.output.transmitter.room()) && credits.may_send(cost);
  }
  // K8: what is left of its life from here on.
  static Nanos life_of(const Packet& packet, bool in_transit, Nanos now) {
    return in_transit ? life_left(packet, now) : packet.dies_ns;
  }
  // Of one that may, whose flow has this ID there and knows of so much congestion.
  void put(Port& there, bool in_transit, FlowId id, OutputFlow& entry, Stamping::Lane lane, uint8_t congestion,
           Packet* packet, uint32_t cost, Nanos left, Nanos now) {
    OutputSide& output = there.output;
    there.credits[lane.channel].sent(cost, lane.retry, now);
    output.stamped[output.stamped_packets++] = packet;
    there.counters.count(ProtocolEvent::stamped_at_once);
    Settlement::congestion_known(entry, congestion);
    const uint32_t position = stamping_.advance(there.index, id, entry, packet->payload, now);
    if (!in_transit) {
      begin_life(*packet, now);
      prepend_fabric_header(*packet);
    }
    Stamping::stamp(there, *packet, lane, id, position, left);
  }
  // Of a lane that is sent again: what is to be kept, which is all that may be missing still; then it has its header.
  Packet* replica_for(Port& there, Packet* packet) { return retry_.replica_for(there, packet); }
  void keep(Port& there, const Packet& packet, Packet* replica, Nanos now) { retry_.keep(there, packet, replica, now); }

 private:
  const Site& site_;
  Ports& ports_;
  Stamping& stamping_;
  RetryFrames& retry_;
};

}  // namespace heddle
