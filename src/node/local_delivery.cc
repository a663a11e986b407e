// SPDX-License-Identifier: Apache-2.0
// Local delivery: the longest short cut (decision 4). A host's frame for another edge port of the same worker goes to
// that one's device in the burst in which it came, if nothing is in its way. It has been delivered, and acknowledged,
// before anything could have been asked about its flow, so the flow needs no IDs for it. Whatever the device refuses
// takes the ordinary way, as do all frames while one of their flow is on it.
#include <bit>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
using Way = uint32_t;  // where a frame goes, and its class
constexpr Way kNoWay = ~Way{0};
Way way_of(PortIndex output, uint8_t ftag) { return uint32_t{ftag} << 16 | output; }
}  // namespace

// A pass over a burst, before any of it goes the ordinary way: what is delivered is taken out. `found`: where the match
// of each is.
void Worker::deliver_at_once(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  MatchTable& matches = edge_.matches();
  PortSet gathered = 0;
  OutputSide* output = nullptr;  // where the frames of `way` go at once; nullptr if they don't
  Way way = kNoWay;              // of the frame before
  for (uint32_t i = 0; i < count; ++i) {
    if (found[i] == kNotFound) continue;
    MatchEntry& match = matches[found[i]];
    if (!(match.flags & kMatchNear)) continue;
    Packet* packet = packets[i];
    const PortIndex to = match.destination.port;
    if (const Way next = way_of(to, packet->ftag); next != way) {
      way = next;
      output = open_at_once(port, to, packet->ftag);
      if (output != nullptr) gathered |= PortSet{1} << to;
    }
    if (output == nullptr || packet->payload > output->longest_bytes || !edge_.is_current(match)) continue;
    if (flow_in_use(port, match, found[i]) != nullptr || match.waiting != 0) continue;
    if (packet->vni != output->native_vlan) {
      if (!own(to).settings.vlans.member(packet->vni)) continue;
      tag_for_host(*packet);
    }
    packet->destination = match.destination;
    packet->position = found[i];
    match.bytes += packet->payload;
    output->at_once[output->at_once_packets++] = packet;
    packets[i] = nullptr;
  }
  for (; gathered != 0; gathered &= gathered - 1)
    send_at_once(port, own(static_cast<PortIndex>(std::countr_zero(gathered))), now);
}

// The output that frames of this class may be gathered for, nullptr if there is none: nobody of this input waits for it
// (decision 4), and it has nothing else to do.
OutputSide* Worker::open_at_once(const Port& port, PortIndex to, uint8_t ftag) {
  if (to == port.index) return nullptr;
  const uint16_t voq = lossy_voqs_[ftag & 15];
  if (voq == kNoVoq || !port.input.voqs[voq + to].ready.empty()) return nullptr;
  Port& there = own(to);
  return there.output.at_once_packets != 0 || takes_at_once(there) ? &there.output : nullptr;
}

// Nobody waits there, nor is anybody to: a port with a rate of its own is to have its queue here (decision 6).
bool Worker::takes_at_once(const Port& there) {
  const OutputSide& output = there.output;
  const uint64_t busy = output.queued_lanes | output.paused_lanes | output.wanting_inputs | output.pending_packets |
                        output.control_packets;
  return busy == 0 && !output.congestion.congested() && !output.pace.limits();
}

// Sums are made before: the packets are the device's once it has taken them.
void Worker::send_at_once(Port& port, Port& there, Nanos now) {
  OutputSide& output = there.output;
  const uint32_t count = std::exchange(output.at_once_packets, 0);
  if (count == 0) return;
  uint64_t frame_bytes = 0, flow_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    frame_bytes += output.at_once[i]->length;
    flow_bytes += output.at_once[i]->payload;
  }
  const uint32_t sent = there.device->transmit(output.at_once.data(), count, now);
  for (uint32_t i = sent; i < count; ++i) {
    frame_bytes -= output.at_once[i]->length;
    flow_bytes -= output.at_once[i]->payload;
  }
  there.counters.sent_frames += sent;
  there.counters.sent_bytes += frame_bytes;
  there.counters.delivered_frames += sent;
  there.counters.delivered_bytes += flow_bytes;
  there.counters.count(ProtocolEvent::delivered_at_once, sent);
  output.taken_bytes += flow_bytes;
  if (sent != 0) output.last_priority = round_trip_code_;
  port.counters.acknowledged_bytes += flow_bytes;
  if (sent != count) take_the_ordinary_way(port, there, sent, count, now);
}

// What the device has refused, in order.
void Worker::take_the_ordinary_way(Port& port, Port& there, uint32_t first, uint32_t count, Nanos now) {
  for (uint32_t i = first; i < count; ++i) {
    Packet* packet = there.output.at_once[i];
    if (packet->vni != there.output.native_vlan) remove_tag(*packet);
    const uint32_t match_index = packet->position;
    MatchEntry& match = edge_.matches()[match_index];
    match.bytes -= packet->payload;
    start_way(*packet);
    attach_flow(port, packet, match, match_index, 0, now);
  }
}

}  // namespace heddle
