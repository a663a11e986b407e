// SPDX-License-Identifier: Apache-2.0
// Receive: bursts from the devices, sorted by the role of the port; edge frames on to their flow.
#include <algorithm>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr Nanos kSweepNs = 10 * kMillisecond;  // between looks for aged stations
}  // namespace

void Worker::receive(Nanos now) {
  for (Port* port : own_ports_) {
    if (!port->input.waiting.empty()) serve_waiting(*port, now);
    receive_port(*port, now);
  }
  if (edge_ports_ != 0 && now >= next_sweep_ns_) {
    const uint32_t before = edge_.stations().used();
    edge_.stations().age(now);
    for (uint32_t aged = before - edge_.stations().used(); aged > 0; --aged)
      own_ports_.front()->counters.count(ProtocolEvent::station_aged);
    next_sweep_ns_ = now + kSweepNs;
  }
}

void Worker::receive_port(Port& port, Nanos now) {
  Packet* packets[kBurst];
  bound_arrivals(port, now);
  const uint32_t count = port.device->receive(packets, kBurst, now);
  if (count == 0) {
    if (port.device->receive_queue_empty()) port.seen_empty_ns = now;
    return;
  }
  result_.packets += count;
  result_.busy = result_.busy || count == kBurst;
  port.counters.received_frames += count;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    __builtin_prefetch(packets[i]->data);
    bytes += packets[i]->length;
    packets[i]->dies_ns = port.seen_empty_ns;  // and its life, once that is known
    packets[i]->input.port = port.index;
  }
  port.counters.received_bytes += bytes;
  if (port.is_fabric())
    fabric_receive(port, packets, count, now);
  else
    edge_receive(port, packets, count, now);
}

// K8: an upper bound of how long the next frames have lain in the receive queue. Links in memory know when their first
// frame came; of a device is known that what it held when it was last marked has been taken, a queue's length later.
void Worker::bound_arrivals(Port& port, Nanos now) {
  const Nanos head = port.device->next_arrival();
  if (head != kNever) port.seen_empty_ns = std::max(port.seen_empty_ns, std::min(head, now));
  if (port.counters.received_frames - port.mark_frames < port.receive_room) return;
  port.seen_empty_ns = std::max(port.seen_empty_ns, port.mark_ns);
  port.mark_ns = now;
  port.mark_frames = port.counters.received_frames;
}

// In passes over the burst, so that memory is fetched while something else is done: headers, records, flows (F4).
void Worker::edge_receive(Port& port, Packet** packets, uint32_t count, Nanos now) {
  EdgeKey keys[kBurst];
  uint32_t found[kBurst];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    const DropReason reason = edge_.read(*packet, port.input.edge, keys[kept]);
    if (reason != DropReason::none) {
      if (reason != DropReason::mac_control_at_edge || !hear_pause(port, packet, now))
        drop_at_input(port, packet, reason);
      continue;
    }
    if (packet->flags & kPacketChecksumPartial) port.counters.count(ProtocolEvent::checksum_completed);
    packets[kept++] = packet;
  }
  MatchTable& matches = edge_.matches();
  for (uint32_t i = 0; i < kept; ++i) found[i] = matches.prefetch_likely(keys[i].hash);
  uint8_t match_flags = 0;  // of any of them
  for (uint32_t i = 0; i < kept; ++i) {
    found[i] = matches.find_likely(keys[i].match, keys[i].hash, found[i]);
    if (found[i] == kNotFound) continue;
    const MatchEntry& match = matches[found[i]];
    __builtin_prefetch(&port.input.flows[match.flow]);
    match_flags |= match.flags;
  }
  if (kept == 0) return;
  if (match_flags & kMatchNear) deliver_at_once(port, packets, found, kept, now);
  if (match_flags & kMatchBeside) cross_at_once(port, packets, found, kept, now);
  uint32_t evictions = matches.evictions();
  const Packet* last_packet = packets[kept - 1];
  const uint32_t last_bytes = last_packet != nullptr ? last_packet->payload : 0;
  for (uint32_t i = 0; i < kept; ++i) {
    Packet* packet = packets[i];
    if (packet == nullptr) continue;
    start_way(*packet);
    if (found[i] != kNotFound) {
      MatchEntry& match = matches[found[i]];
      if (edge_.is_current(match)) [[likely]] {
        packet->destination = match.destination;
        attach_flow(port, packet, match, found[i], 0, now);
        continue;
      }
    }
    edge_decide(port, packet, keys[i], found[i], now);
    if (matches.evictions() == evictions) continue;
    evictions = matches.evictions();
    std::fill(found + i + 1, found + kept, kNotFound);  // another one may have the index now
  }
  if (round_trips_.timing() || found[kept - 1] == kNotFound) return;
  if (own_ports_[polls_ % own_ports_.size()] != &port) return;  // by turns
  const MatchEntry& last = matches[found[kept - 1]];
  const InputFlow* flow = flow_in_use(port, last, found[kept - 1]);
  if (flow != nullptr && flow->queue.empty() && flow->flow_extent() != 0)
    time_round_trip(port, last.flow, last_bytes, now);
}

// What frames on the fabric bring with them in their header.
void Worker::start_way(Packet& packet) const {
  packet.hop_limit = kHopLimit;
  packet.priority |= round_trips_.code_bits();
  packet.cost = static_cast<uint16_t>((packet.length + kBufferBytes - 1) / kBufferBytes);
}

// What edge input asks about the flows of its entries.
struct Worker::FlowsOfMatches {
  Worker& worker;
  Nanos now;
  bool idle(uint32_t match) const {
    const MatchEntry& entry = worker.edge_.matches()[match];
    // A wait depends on a flood (E1).
    if (entry.flooded_ns + worker.edge_.classifier().longest_life_ns() > now) return false;
    return worker.flow_in_use(port_of(match), entry, match) == nullptr;
  }
  bool queued(uint32_t match) const {
    const MatchEntry& entry = worker.edge_.matches()[match];
    const InputFlow* flow = worker.flow_in_use(port_of(match), entry, match);
    return entry.waiting != 0 || (flow != nullptr && !flow->queue.empty());
  }
  Port& port_of(uint32_t match) const { return worker.own(worker.edge_.matches().key_at(match).input_port); }
};

// A frame that the match table alone does not place: its stations are looked up.
void Worker::edge_decide(Port& port, Packet* packet, const EdgeKey& key, uint32_t match, Nanos now) {
  const EdgeDecision decision = edge_.decide(*packet, port.input.edge, key, match, now, FlowsOfMatches{*this, now});
  if (decision.learned != Learned::known)
    announce(port, decision.learned, load_mac(packet->data + 6), packet->vni, port.input.edge.address);
  if (decision.moved && decision.verdict != EdgeVerdict::drop)
    detach_flow(port, decision.match, decision.left_beside, now);
  switch (decision.verdict) {
    case EdgeVerdict::drop:
      if (decision.match != kNotFound) {
        edge_.matches()[decision.match].bytes += packet->payload;
        edge_.matches()[decision.match].lose(packet->payload, decision.reason);
      }
      return drop_at_input(port, packet, decision.reason);
    case EdgeVerdict::flow: {
      MatchEntry& entry = edge_.matches()[decision.match];
      return attach_flow(port, packet, entry, decision.match, edge_.held_until(entry), now);
    }
    case EdgeVerdict::no_flow:
      return receive_no_flow(port, packet, now);
    case EdgeVerdict::flood:
      return flood(port, packet, now);
  }
}

// The match's station is elsewhere now. What its flow has outstanding may still be under way to the old place, and the
// station may come back there: the next flow waits one life, as after a flood (E1). So may what has crossed without
// a flow to the port that it left, if that is another worker's.
void Worker::detach_flow(Port& port, uint32_t match_index, PortIndex left, Nanos now) {
  MatchEntry& match = edge_.matches()[match_index];
  InputFlow* flow = flow_in_use(port, match, match_index);
  if (flow != nullptr) flow->match = kNoMatch;
  if (flow != nullptr || (left != kNoPort && has_crossed_at_once(port, left, match.ftag))) {
    const TrafficClass& traffic_class = edge_.classifier().of_ftag(match.ftag);
    match.flooded_ns = now + traffic_class.life_ns - traffic_class.flood_life_ns();
  }
  match.flow = kNoFlow;
}

// The flow that a match has now; nullptr if it has none.
InputFlow* Worker::flow_in_use(Port& port, const MatchEntry& match, uint32_t match_index) {
  InputFlow& flow = port.input.flows[match.flow];  // that of kNoFlow is never in use
  return flow.in_use() && flow.match == match_index ? &flow : nullptr;
}

// The flow of a match, attached to a free ID if it has none (F4); kNoFlow if there is none free. It waits until
// `hold_until`, or moves at once with 0.
FlowId Worker::flow_of(Port& port, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now) {
  if (const InputFlow* known = flow_in_use(port, match, match_index)) {
    if (hold_until > now && known->state == FlowState::idle && !(known->flags & kFlowPending))
      hold_for(port, match.flow, hold_until);
    return match.flow;
  }
  const FlowId id = port.input.flows.take();
  if (id == kNoFlow) return kNoFlow;
  match.flow = id;
  InputFlow& flow = port.input.flows[id];
  flow.begin(match.destination, match.ftag, match_index);
  port.counters.count(ProtocolEvent::flow_created);
  if (hold_until > now) hold_for(port, id, hold_until);
  return id;
}

// F10: frames that find no free flow ID wait in order behind each other, up to a bound; so do then those of flows that
// have had their turn, so that an ID becomes free.
void Worker::attach_flow(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index, Nanos hold_until,
                         Nanos now) {
  match.bytes += packet->payload;
  if (!port.input.waiting.empty()) {
    const InputFlow* flow = flow_in_use(port, match, match_index);
    if (match.waiting != 0 || flow == nullptr || flow->turn_over())
      return wait_for_id(port, packet, match, match_index);
  }
  const FlowId id = flow_of(port, match, match_index, hold_until, now);
  if (id == kNoFlow) return wait_for_id(port, packet, match, match_index);
  admit(port, id, port.input.flows[id], packet, now);
}

void Worker::wait_for_id(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index) {
  // Lossy frames leave so much that lossless ones find room, and their host is not told to wait because of them.
  const bool lossy = lanes_.any_lossless() && !lanes_.lossless(packet->ftag);
  const uint32_t most = lossy ? waiting_max_ / 4 : waiting_max_;
  if (port.input.waiting_packets >= most) {
    match.lose(packet->payload, DropReason::no_flow_id);
    return drop_at_input(port, packet, DropReason::no_flow_id);
  }
  port.counters.count(ProtocolEvent::edge_id_waited);
  packet->position = match_index;
  ++match.waiting;
  ++port.input.waiting_packets;
  port.input.waiting.push(packet);
}

void Worker::serve_waiting(Port& port, Nanos now) {
  while (!port.input.waiting.empty()) {
    Packet* packet = port.input.waiting.head;
    MatchEntry& match = edge_.matches()[packet->position];
    const FlowId id = flow_of(port, match, packet->position, edge_.held_until(match), now);
    if (id == kNoFlow) return;
    port.input.waiting.pop();
    --port.input.waiting_packets;
    --match.waiting;
    admit(port, id, port.input.flows[id], packet, now);
  }
}

}  // namespace heddle
