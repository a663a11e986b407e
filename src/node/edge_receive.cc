// SPDX-License-Identifier: Apache-2.0
#include "node/edge_receive.h"

#include <algorithm>

#include "node/short_way_tries.h"
#include "wire/fgfc.h"

namespace heddle {

namespace {
constexpr Nanos kSweepNs = 10 * kMillisecond;  // between looks for aged stations

// What edge input asks about the flows of its entries; `heddle trace` asks, too, which is no reason for a call.
struct FlowsOfMatches {
  const Site& site;
  const EdgeInput& edge;
  Ports& ports;
  Nanos now;
  [[gnu::always_inline]] bool idle(uint32_t match) const {
    const MatchEntry& entry = edge.matches()[match];
    // A wait depends on a flood (E1).
    if (entry.flooded_ns + dead_after_ns(site.classes.longest_life_ns()) > now) return false;
    const InputFlow* flow = EdgeFlows::find(port_of(match), entry, match);
    return flow == nullptr || flow->at_rest();
  }
  bool queued(uint32_t match) const {
    const MatchEntry& entry = edge.matches()[match];
    const InputFlow* flow = EdgeFlows::find(port_of(match), entry, match);
    return entry.waiting != 0 || (flow != nullptr && !flow->queue.empty());
  }
  Port& port_of(uint32_t match) const { return ports.own(edge.matches().key_at(match).input_port); }
};
}  // namespace

void EdgeReceive::receive(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (port.input.edge.policer.polices()) [[unlikely]]
    count = police(port, packets, count, now);
  EdgeKey keys[kBurst];
  uint32_t found[kBurst];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    const DropReason reason = edge_.read(*packet, port.input.edge, keys[kept]);
    if (reason != DropReason::none) {
      refuse(port, packet, reason, now);
      continue;
    }
    if (packet->flags & (kPacketChecksumPartial | kPacketClassRefused)) [[unlikely]]
      count_marks(port, *packet);
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
  uint32_t left = kept;
  if (match_flags & kMatchNear) left -= at_once_.deliver(port, packets, found, kept, now);
  if (match_flags & kMatchBeside) left -= at_once_.cross(port, packets, found, kept, now);
  if (left == 0) return;
  const Packet* last_packet = packets[kept - 1];
  const uint32_t last_bytes = last_packet != nullptr ? last_packet->payload : 0;
  const bool lossless = site_.lanes.any_lossless();
  ShortWayTries tries;
  for (uint32_t i = 0; i < kept;) {
    if (packets[i] == nullptr) {
      ++i;
      continue;
    }
    express_.look_again();
    uint32_t frames = run_express<false>(port, packets + i, found + i, kept - i, now);
    if (lossless) frames += run_express<true>(port, packets + i + frames, found + i + frames, kept - i - frames, now);
    i += frames;
    const uint32_t others = std::min(tries.others_after(frames), kept - i);
    run_others(port, packets + i, keys + i, found + i, others, kept - i, now);
    i += others;
  }
  if (flow_limits_.round_trips().timing() || found[kept - 1] == kNotFound) return;
  if (ports_.all()[turn_.number() % ports_.size()] != &port) return;  // by turns
  const MatchEntry& last = matches[found[kept - 1]];
  const InputFlow* flow = EdgeFlows::find(port, last, found[kept - 1]);
  if (flow != nullptr && flow->queue.empty() && flow->flow_extent() != 0)
    flow_limits_.time_round_trip(port, last.flow, last_bytes, now);
}

// How many of the first frames, lossy or lossless ones, go on by the shortest way, or have gone already.
template <bool kLossless>
uint32_t EdgeReceive::run_express(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  Express& express = express_;
  const EdgeInput& edge = edge_;
  MatchTable& matches = edge_.matches();
  const uint8_t round_trip_bits = flow_limits_.round_trips().code_bits();
  if (!port.input.waiting.empty()) return 0;
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    if (!usually(packet != nullptr)) continue;
    if (!usually(found[i] != kNotFound)) return i;
    MatchEntry& match = matches[found[i]];
    InputFlow* const flow = EdgeFlows::find(port, match, found[i]);
    if (!usually(flow != nullptr) || !usually(edge.is_current(match))) return i;
    if (!usually(packet->payload <= kOneBufferPayloadMax)) return i;
    start_way(*packet, round_trip_bits);
    packet->destination = match.destination;
    if (!usually(express.take<kLossless>(port, false, *flow, packet, now))) return i;
    match.bytes += packet->payload;
  }
  return count;
}

// The first `count` frames, each by itself; `left` with all behind them.
void EdgeReceive::run_others(Port& port, Packet** packets, const EdgeKey* keys, uint32_t* found, uint32_t count,
                             uint32_t left, Nanos now) {
  EdgeFlows& flows = edge_flows_;
  const EdgeInput& edge = edge_;
  MatchTable& matches = edge_.matches();
  const uint8_t round_trip_bits = flow_limits_.round_trips().code_bits();
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    if (packet == nullptr) continue;
    start_way(*packet, round_trip_bits);
    if (found[i] != kNotFound) {
      MatchEntry& match = matches[found[i]];
      if (edge.is_current(match)) [[likely]] {
        packet->destination = match.destination;
        flows.attach(port, packet, match, found[i], 0, now);
        continue;
      }
    }
    const uint32_t evictions = matches.evictions();
    decide(port, packet, keys[i], found[i], now);
    if (matches.evictions() == evictions) continue;
    std::fill(found + i + 1, found + left, kNotFound);  // another one may have the index now
  }
}

// What a host says to this switch goes no further, and what it may not say goes nowhere.
void EdgeReceive::refuse(Port& port, Packet* packet, DropReason reason, Nanos now) {
  if (reason == DropReason::mac_control_at_edge && host_control_.hear(port, packet, now)) return;
  if (reason == DropReason::fgfc_at_edge && flow_pauses_.hear(port, packet, now)) return;
  turn_.drop_at_input(port, packet, reason);
}

bool EdgeReceive::counts_in_rate(const Packet& packet) {
  const bool mac_control = packet.length >= kEthernetHeaderBytes && load_be16(packet.data + 12) == kEtherTypeMacControl;
  return !mac_control && !is_fgfc(packet.data, packet.length);
}

bool EdgeReceive::would_police(const EdgePortInput& input, const Packet& packet, Nanos now) {
  Policer policer = input.policer;
  return policer.polices() && counts_in_rate(packet) &&
         !policer.lets_in(packet.length + input.settings->overhead_bytes, now);
}

uint32_t EdgeReceive::police(Port& port, Packet** packets, uint32_t count, Nanos now) {
  EdgePortInput& input = port.input.edge;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!counts_in_rate(*packets[i]) || input.policer.lets_in(packets[i]->length + input.settings->overhead_bytes, now))
      packets[kept++] = packets[i];
    else
      turn_.drop_at_input(port, packets[i], DropReason::policed);
  }
  return kept;
}

void EdgeReceive::count_marks(Port& port, Packet& packet) {
  if (packet.flags & kPacketChecksumPartial) port.counters.count(ProtocolEvent::checksum_completed);
  if (packet.flags & kPacketClassRefused) port.counters.count(ProtocolEvent::class_refused);
  packet.flags &= static_cast<uint8_t>(~kPacketClassRefused);
}

// A frame that the match table alone does not place: its stations are looked up.
void EdgeReceive::decide(Port& port, Packet* packet, const EdgeKey& key, uint32_t match, Nanos now) {
  const EdgeDecision decision =
      edge_.decide(*packet, port.input.edge, key, match, now, FlowsOfMatches{site_, edge_, ports_, now});
  if (decision.learned != Learned::known)
    bridging_.announce(port, decision.learned, load_mac(packet->data + 6), packet->vni, port.input.edge.address);
  if (decision.moved && decision.verdict != EdgeVerdict::drop)
    edge_flows_.detach(port, decision.match, decision.left_beside, now);
  switch (decision.verdict) {
    case EdgeVerdict::drop:
      if (decision.match != kNotFound) {
        edge_.matches()[decision.match].bytes += packet->payload;
        edge_.matches()[decision.match].lose(packet->payload, decision.reason);
      }
      return turn_.drop_at_input(port, packet, decision.reason);
    case EdgeVerdict::flow: {
      MatchEntry& entry = edge_.matches()[decision.match];
      flow_pauses_.sort(port, decision.match);
      return edge_flows_.attach(port, packet, entry, decision.match, edge_.held_until(entry), now);
    }
    case EdgeVerdict::no_flow:
      return fifos_.receive(port, packet, now);
    case EdgeVerdict::flood:
      return bridging_.flood(port, packet, now);
  }
}

DropReason EdgeReceive::refusal(uint32_t match, FabricAddress destination, Nanos now) const {
  const FlowsOfMatches flows{site_, edge_, ports_, now};
  if (match == kNotFound) return edge_.matches().has_room(flows) ? DropReason::none : DropReason::match_table_full;
  return edge_.has_to_wait(match, destination, flows) ? DropReason::station_moved : DropReason::none;
}

void EdgeReceive::age_stations(Nanos now) {
  if (site_.edge_ports == 0 || now < next_sweep_ns_) return;
  const uint32_t before = edge_.stations().used();
  edge_.stations().age(now);
  for (uint32_t aged = before - edge_.stations().used(); aged > 0; --aged)
    ports_.front().counters.count(ProtocolEvent::station_aged);
  next_sweep_ns_ = now + kSweepNs;
}

}  // namespace heddle
