// SPDX-License-Identifier: Apache-2.0
// Local delivery: the longest short cut (decision 4). A frame for an edge port of this worker, from a host or at the end
// of its way over the fabric, goes to that port's device in the burst in which it came, if nothing is in its way. It has
// been delivered before anything could have been asked about its flow, so the flow needs no output flow ID for it, and
// one of a host none at all. Whatever the device refuses takes the ordinary way, as do all frames while one of their
// flow is on it.
#include <bit>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
using Way = uint32_t;  // where a frame goes, and its class
constexpr Way kNoWay = ~Way{0};
Way way_of(PortIndex output, uint8_t ftag) { return uint32_t{ftag} << 16 | output; }
}  // namespace

// A pass over a burst of a host, before any of it goes the ordinary way: what is delivered is taken out. `found`: where
// the match of each is.
void Worker::deliver_at_once(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  MatchTable& matches = edge_.matches();
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
    }
    if (output == nullptr || !edge_.is_current(match)) continue;
    if (flow_in_use(port, match, found[i]) != nullptr || match.waiting != 0) continue;
    if (!fits_host(*output, to, *packet)) continue;
    if (packet->vni != output->native_vlan) tag_for_host(*packet);
    packet->destination = match.destination;
    packet->position = found[i];
    match.bytes += packet->payload;
    gather(*output, to, packet);
    packets[i] = nullptr;
  }
  send_all_at_once(port, now);
}

// A frame of a flow that has nothing on the ordinary way, at its last hop. It is settled here, but for what the device
// refuses.
bool Worker::gather_from_fabric(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  if (!edge_.is_near(packet->destination)) return false;
  const PortIndex to = packet->destination.port;
  OutputSide* output = open_at_once(port, to, packet->ftag);
  if (output == nullptr) return false;
  if (!fits_host(*output, to, *packet) || life_over(*packet, now)) {
    if (output->at_once_packets != 0) send_at_once(port, own(to), now);  // of this flow, perhaps: they go before it
    return false;
  }
  flow.next_data_flow += packet->payload;
  flow.data_flow += packet->payload;
  flow.ack_flow += packet->payload;
  flow.congestion = 0;  // as when an ACK comes (C3)
  mark_ack_due(port, id, flow, now);
  port.credits[packet->vc].released(packet->cost);
  strip_fabric_header(*packet);
  if (packet->vni != output->native_vlan) tag_for_host(*packet);
  gather(*output, to, packet);
  return true;
}

bool Worker::fits_host(const OutputSide& output, PortIndex to, const Packet& packet) {
  if (packet.payload > output.longest_bytes) return false;
  return packet.vni == output.native_vlan || own(to).settings.vlans.member(packet.vni);
}

void Worker::gather(OutputSide& output, PortIndex to, Packet* packet) {
  output.at_once[output.at_once_packets++] = packet;
  at_once_outputs_ |= PortSet{1} << to;
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

void Worker::send_all_at_once(Port& port, Nanos now) {
  for (; at_once_outputs_ != 0; at_once_outputs_ &= at_once_outputs_ - 1)
    send_at_once(port, own(static_cast<PortIndex>(std::countr_zero(at_once_outputs_))), now);
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
  const uint8_t priority = port.is_fabric() ? output.at_once[0]->priority : round_trip_code_;
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
  if (sent != 0) output.last_priority = priority;
  if (!port.is_fabric()) port.counters.acknowledged_bytes += flow_bytes;
  for (uint32_t i = sent; i < count; ++i) take_the_ordinary_way(port, output, output.at_once[i], now);
}

// A frame that the device has refused; they come in order.
void Worker::take_the_ordinary_way(Port& port, const OutputSide& output, Packet* packet, Nanos now) {
  if (packet->vni != output.native_vlan) remove_tag(*packet);
  if (port.is_fabric()) {
    const FlowId id = packet->input.flow;
    InputFlow& flow = port.input.flows[id];
    flow.next_data_flow -= packet->payload;
    flow.data_flow -= packet->payload;
    flow.ack_flow -= packet->payload;
    port.credits[packet->vc].held_again(packet->cost);
    prepend_fabric_header(*packet);
    if (!flow.in_use()) begin_flow(port, flow, *packet);
    return admit(port, id, flow, packet, now);
  }
  const uint32_t match_index = packet->position;
  MatchEntry& match = edge_.matches()[match_index];
  match.bytes -= packet->payload;
  start_way(*packet);
  attach_flow(port, packet, match, match_index, 0, now);
}

}  // namespace heddle
