// SPDX-License-Identifier: Apache-2.0
// Local delivery: the longest short cut (decision 4). A frame for an edge port of this node, from a host or at the end
// of its way over the fabric, goes to that port's device in the burst in which it came, if nothing is in its way. It
// has been delivered before anything could have been asked about its flow, so the flow needs no output flow ID for it,
// and one of a host none at all. Whatever the device refuses takes the ordinary way, as do all frames while one of
// their flow is on it.
//
// A host's frame for a port of another worker crosses to it without a flow (X1), in the room of its input, and is
// delivered there at once; with the room comes back how many bytes have been delivered. The other worker says on the
// board whether its port takes such frames. Those that it can't deliver at once stand in the port's queue, in order
// with what comes after them.
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
  uint64_t gathered_bytes = 0;
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
    if (output == nullptr || !has_nothing_on_its_way(port, match, found[i])) continue;
    if (!fits_host(*output, to, *packet)) continue;
    if (packet->vni != output->native_vlan) tag_for_host(*packet);
    packet->destination = match.destination;
    packet->position = found[i];
    match.bytes += packet->payload;
    gathered_bytes += packet->payload;
    gather(*output, packet);
    packets[i] = nullptr;
  }
  port.counters.acknowledged_bytes += gathered_bytes;
  if (at_once_outputs_ != 0) send_all_at_once(now);
}

// The same for other workers' ports.
void Worker::cross_at_once(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  MatchTable& matches = edge_.matches();
  Voq* voq = nullptr;
  Outbox::Way out;
  PortSet closed = 0;  // for the whole burst: what the board says may change meanwhile
  uint32_t kept = 0;   // room
  uint32_t crossed = 0;
  Way way = kNoWay;
  for (uint32_t i = 0; i < count; ++i) {
    if (found[i] == kNotFound || packets[i] == nullptr) continue;
    MatchEntry& match = matches[found[i]];
    if (!(match.flags & kMatchBeside)) continue;
    Packet* packet = packets[i];
    const PortIndex to = match.destination.port;
    if (const Way next = way_of(to, packet->ftag); next != way) {
      way = next;
      voq = closed >> to & 1 ? nullptr : open_beside(port, to, packet->ftag);
      if (voq == nullptr) closed |= PortSet{1} << to;
      kept = frame_buffers_ + (voq != nullptr && anybody_waits(port, *voq) ? crossing_room(settings_, true) / 2u : 0);
      out = outbox_.way_to(to);
    }
    // Room for whichever frame may come: one that finds none is not to be overtaken by a shorter one. Flows that wait
    // keep half of it, as from other frames without a flow: else nothing would cross at once any more after a stall.
    if (voq == nullptr || voq->room < kept || !has_nothing_on_its_way(port, match, found[i])) continue;
    start_way(*packet);
    packet->destination = match.destination;
    packet->output_flow = kNoFlow;
    packet->flags |= kPacketAtOnce;
    match.bytes += packet->payload;
    packet->dies_ns += now;  // K8, as in cross()
    take_lane(*packet, *voq);
    outbox_.packet(out, {packet, to, 0, false});
    packets[i] = nullptr;
    ++crossed;
  }
  port.counters.count(ProtocolEvent::crossed_at_once, crossed);
}

// All there is to say of its frames is in the match, and none of them waits or is under way with a flow.
bool Worker::has_nothing_on_its_way(Port& port, const MatchEntry& match, uint32_t match_index) {
  return edge_.is_current(match) && flow_in_use(port, match, match_index) == nullptr && match.waiting == 0;
}

// It has come from another worker, to whom room and bytes go back.
void Worker::gather_crossed(Port& there, Packet* packet, Nanos now) {
  OutputSide& output = there.output;
  if (!opens_at_once(there) || !fits_host(output, there.index, *packet) || life_over(*packet, now)) {
    send_at_once(there, now);  // they go before it
    return accept(there, packet, 0);
  }
  Returns& returns = there.output.room.returns_for(*packet);
  returns.room += packet->cost;
  returns.delivered += packet->payload;
  if (packet->vni != output.native_vlan) tag_for_host(*packet);
  gather(output, packet);
}

// A frame of a flow that has nothing on the ordinary way, at its last hop. It is settled here, but for what the device
// refuses.
bool Worker::gather_from_fabric(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  if (!edge_.is_near(packet->destination)) return false;
  const PortIndex to = packet->destination.port;
  OutputSide* output = open_at_once(port, to, packet->ftag);
  if (output == nullptr) return false;
  if (!fits_host(*output, to, *packet) || life_over(*packet, now)) {
    send_at_once(own(to), now);  // of this flow, perhaps: they go before it
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
  gather(*output, packet);
  return true;
}

bool Worker::fits_host(const OutputSide& output, PortIndex to, const Packet& packet) {
  if (packet.payload > output.longest_bytes) return false;
  return packet.vni == output.native_vlan || own(to).settings.vlans.member(packet.vni);
}

// The output that frames of this class may be gathered for, nullptr if there is none: nobody of this input waits for it
// (decision 4), and it has nothing else to do.
OutputSide* Worker::open_at_once(const Port& port, PortIndex to, uint8_t ftag) {
  if (to == port.index) return nullptr;
  const uint16_t voq = lossy_voqs_[ftag & 15];
  if (voq == kNoVoq || !port.input.voqs[voq + to].ready.empty()) return nullptr;
  return opens_at_once(own(to)) ? &own(to).output : nullptr;
}

// May frames be gathered for it? For the rest of a burst if so once.
bool Worker::opens_at_once(Port& there) {
  if (there.output.at_once_packets != 0) return true;
  if (!takes_at_once(there)) return false;
  at_once_outputs_ |= PortSet{1} << there.index;
  return true;
}

// The same of another worker's output, as the board has it.
Voq* Worker::open_beside(Port& port, PortIndex to, uint8_t ftag) {
  const uint16_t voq = lossy_voqs_[ftag & 15];
  return voq != kNoVoq && board_.takes_at_once(to) ? &port.input.voqs[voq + to] : nullptr;
}

bool Worker::anybody_waits(const Port& port, const Voq& voq) {
  return !voq.ready.empty() || !port.input.ids[voq.output].wanting.empty();
}

// Nobody waits there, nor is anybody to: a port with a rate of its own is to have its queue here (decision 6).
bool Worker::takes_at_once(const Port& there) {
  const OutputSide& output = there.output;
  const uint64_t busy = output.queues.lanes() | output.paused_lanes | output.wanting_inputs | output.pending_packets |
                        output.control_packets;
  return busy == 0 && !output.congestion.congested() && !output.pace.limits();
}

// Whether any frames of that class are still under way there without a flow.
bool Worker::has_crossed_at_once(const Port& port, PortIndex to, uint8_t ftag) const {
  const uint16_t lane = lossy_voqs_[ftag & 15];
  return lane != kNoVoq && port.input.voqs[lane + to].room != crossing_room(settings_, true);
}

// To the other workers, when it has changed.
void Worker::publish_at_once(Port& port) {
  const bool takes = takes_at_once(port);
  if (takes == port.output.published_at_once) return;
  port.output.published_at_once = takes;
  board_.publish_at_once(port.index, takes);
}

void Worker::send_all_at_once(Nanos now) {
  for (; at_once_outputs_ != 0; at_once_outputs_ &= at_once_outputs_ - 1)
    send_at_once(own(static_cast<PortIndex>(std::countr_zero(at_once_outputs_))), now);
}

void Worker::gather(OutputSide& output, Packet* packet) { output.at_once[output.at_once_packets++] = packet; }

// Sums are made before: the packets are the device's once it has taken them.
void Worker::send_at_once(Port& there, Nanos now) {
  OutputSide& output = there.output;
  const uint32_t count = std::exchange(output.at_once_packets, 0);
  if (count == 0) return;
  const Packet& first = *output.at_once[0];
  output.last_priority = first.flags & (kPacketFabric | kPacketAtOnce) ? first.priority : round_trips_.code_bits();
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
  for (uint32_t i = sent; i < count; ++i) take_the_ordinary_way(there, output.at_once[i], now);
}

// A frame that the device has refused, as if it had not been offered; they come in order.
void Worker::take_the_ordinary_way(Port& there, Packet* packet, Nanos now) {
  if (packet->vni != there.output.native_vlan) remove_tag(*packet);
  if (packet->flags & kPacketAtOnce) {
    Returns& returns = there.output.room.returns_for(*packet);
    returns.room -= packet->cost;
    returns.delivered -= packet->payload;
    return accept(there, packet, 0);
  }
  Port& port = own(packet->input.port);
  if (port.is_fabric()) {
    const FlowId id = packet->input.flow;
    InputFlow& flow = port.input.flows[id];
    flow.next_data_flow -= packet->payload;
    flow.data_flow -= packet->payload;
    flow.ack_flow -= packet->payload;
    port.credits[packet->vc].held_again(packet->cost);
    prepend_fabric_header(*packet);
    if (!flow.in_use()) {
      flow.begin(packet->destination, packet->ftag, kNoMatch);
      port.counters.count(ProtocolEvent::flow_created);
    }
    if (flow.destination == packet->destination && flow.ftag == packet->ftag) return admit(port, id, flow, packet, now);
    flow.next_data_flow += packet->payload;  // a broken neighbour has used the ID for another one since (invariant 4)
    return drop_from_flow(port, id, packet, DropReason::protocol_error);
  }
  const uint32_t match_index = packet->position;
  MatchEntry& match = edge_.matches()[match_index];
  match.bytes -= packet->payload;
  port.counters.acknowledged_bytes -= packet->payload;
  start_way(*packet);
  attach_flow(port, packet, match, match_index, 0, now);
}

}  // namespace heddle
