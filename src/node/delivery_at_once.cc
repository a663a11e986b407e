// SPDX-License-Identifier: Apache-2.0
#include "node/delivery_at_once.h"

#include <bit>
#include <utility>

namespace heddle {

namespace {
using Way = uint32_t;  // where a frame goes, and its class
constexpr Way kNoWay = ~Way{0};
Way way_of(PortIndex output, uint8_t ftag) { return uint32_t{ftag} << 16 | output; }
}  // namespace

uint32_t DeliveryAtOnce::deliver(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  const EdgeInput& edge = edge_;
  MatchTable& matches = edge_.matches();
  OutputSide* output = nullptr;  // where the frames of `way` go at once; nullptr if they don't
  Way way = kNoWay;              // of the frame before
  uint32_t gathered = 0;
  uint64_t gathered_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    if (!usually(found[i] != kNotFound)) continue;
    MatchEntry& match = matches[found[i]];
    if (!usually(match.flags & kMatchNear)) continue;
    Packet* packet = packets[i];
    const PortIndex to = match.destination.port;
    if (const Way next = way_of(to, packet->ftag); next != way) {
      way = next;
      output = open_for_burst(port, to, *packet, count);
    }
    if (!usually(output != nullptr) || !usually(has_nothing_on_its_way(edge, port, match, found[i]))) continue;
    if (!usually(output->host_frames.takes(*packet))) continue;
    output->host_frames.finish(*packet);
    packet->destination = match.destination;
    packet->position = found[i];
    match.bytes += packet->payload;
    gathered_bytes += packet->payload;
    gather(*output, packet);
    packets[i] = nullptr;
    ++gathered;
  }
  port.counters.acknowledged_bytes += gathered_bytes;
  if (at_once_outputs_ != 0) send_all(now);
  return gathered;
}

uint32_t DeliveryAtOnce::cross(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now) {
  const EdgeInput& edge = edge_;
  MatchTable& matches = edge_.matches();
  Outbox& outbox = outbox_;
  const uint8_t round_trip_bits = flow_limits_.round_trips().code_bits();
  Voq* voq = nullptr;
  Outbox::Way out;
  PortSet closed = 0;  // for the whole burst: what the board says may change meanwhile
  uint32_t asked = 0;  // room
  uint32_t crossed = 0;
  Way way = kNoWay;
  for (uint32_t i = 0; i < count; ++i) {
    if (!usually(found[i] != kNotFound) || !usually(packets[i] != nullptr)) continue;
    MatchEntry& match = matches[found[i]];
    if (!usually(match.flags & kMatchBeside)) continue;
    Packet* packet = packets[i];
    const PortIndex to = match.destination.port;
    if (const Way next = way_of(to, packet->ftag); next != way) {
      way = next;
      voq = closed >> to & 1 ? nullptr : open_beside(port, to, *packet);
      if (voq == nullptr) closed |= PortSet{1} << to;
      asked = voq != nullptr ? room_asked(site_, port, *voq) : 0;
      out = outbox.way_to(to);
    }
    if (!usually(voq != nullptr) || !usually(voq->room >= asked)) continue;
    if (!usually(has_nothing_on_its_way(edge, port, match, found[i]))) continue;
    start_way(*packet, round_trip_bits);
    packet->destination = match.destination;
    packet->output_flow = kNoFlow;
    packet->flags |= kPacketAtOnce;
    match.bytes += packet->payload;
    begin_life(*packet, now);
    voq->take_lane(*packet);
    outbox.packet(out, {packet, to, 0, false});
    packets[i] = nullptr;
    ++crossed;
  }
  port.counters.count(ProtocolEvent::crossed_at_once, crossed);
  return crossed;
}

void DeliveryAtOnce::gather_crossed(Port& there, Packet* packet, Nanos now) {
  OutputSide& output = there.output;
  if (!usually(opens_at_once(there)) || !may_gather(output, *packet, now)) {
    output.at_once.close();
    return crosspoint_.accept(there, packet, 0);
  }
  Returns& returns = there.output.room.returns_for(*packet);
  returns.room += packet->cost;
  returns.delivered += packet->payload;
  output.host_frames.finish(*packet);
  gather(output, packet);
}

bool DeliveryAtOnce::gather_from_fabric(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  if (!edge_.is_near(packet->destination.port)) return false;
  const PortIndex to = packet->destination.port;
  OutputSide* output = open_at_once(port, to, *packet);
  if (output == nullptr || !may_gather(*output, *packet, now)) return false;
  Turn::release_buffers(port, *packet);
  settle_and_gather(port, id, flow, *output, packet, now);
  return true;
}

void DeliveryAtOnce::send_all(Nanos now) {
  for (; at_once_outputs_ != 0; at_once_outputs_ &= at_once_outputs_ - 1)
    send(ports_.own(PortIndex::of(std::countr_zero(at_once_outputs_))), now);
}

void DeliveryAtOnce::send(Port& there, Nanos now) {
  OutputSide& output = there.output;
  const uint32_t count = std::exchange(output.at_once.count_, 0);
  output.at_once.most_ = 0;
  if (count == 0) return;
  Packet** const frames = output.at_once.frames_.data();
  const Packet& first = *frames[0];
  output.congestion.leaves(
      0, first.flags & (kPacketFabric | kPacketAtOnce) ? first.priority : flow_limits_.round_trips().code_bits());
  uint64_t frame_bytes = 0, flow_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    frame_bytes += frames[i]->length;
    flow_bytes += frames[i]->payload;
  }
  output.transmitter.send(frames, count, now);
  there.counters.sent_frames += count;
  there.counters.sent_bytes += frame_bytes;
  there.counters.delivered_frames += count;
  there.counters.delivered_bytes += flow_bytes;
  there.counters.count(ProtocolEvent::delivered_at_once, count);
  output.taken_bytes += flow_bytes;
}

void DeliveryAtOnce::publish(Port& port) {
  const bool takes = takes_at_once(port);
  if (takes == port.output.at_once.published_) return;
  port.output.at_once.published_ = takes;
  board_.publish_at_once(port.index, takes);
}

// For the whole burst, in whatever part of it: what has been left goes behind.
OutputSide* DeliveryAtOnce::open_for_burst(const Port& port, PortIndex to, const Packet& packet, uint32_t frames) {
  OutputSide* output = to == port.index ? nullptr : open_at_once(port, to, packet);
  return output != nullptr && output->at_once.most_ >= frames ? output : nullptr;
}

OutputSide* DeliveryAtOnce::open_for_run(const Port& port, const Packet& packet, uint32_t frames) {
  const PortIndex to = packet.destination.port;
  OutputSide* output = edge_.is_near(to) ? open_at_once(port, to, packet) : nullptr;
  return output != nullptr && output->at_once.most_ - output->at_once.count_ >= frames ? output : nullptr;
}

// The output that a frame like this one may be gathered for, nullptr if there is none: nobody of this input waits for
// it (decision 4), and it has nothing else to do.
OutputSide* DeliveryAtOnce::open_at_once(const Port& port, PortIndex to, const Packet& packet) {
  if (port.input.arbiter[ways_.queue(port, to, packet.ftag, packet.vc)].ready() != 0) return nullptr;
  return opens_at_once(ports_.own(to)) ? &ports_.own(to).output : nullptr;
}

// The same of another worker's output, as the board has it.
Voq* DeliveryAtOnce::open_beside(Port& port, PortIndex to, const Packet& packet) {
  return board_.takes_at_once(to) ? &port.input.arbiter[ways_.queue(port, to, packet.ftag, packet.vc)] : nullptr;
}

uint32_t DeliveryAtOnce::room_asked(const Site& site, const Port& port, const Voq& voq) {
  return site.frame_buffers + (anybody_waits(port, voq) ? room_of_flows(site.settings, true) : 0);
}

bool DeliveryAtOnce::anybody_waits(const Port& port, const Voq& voq) {
  return voq.ready() != 0 || !port.input.ids[voq.output].wanting.empty();
}

bool DeliveryAtOnce::takes_at_once(const Port& there) {
  const OutputSide& output = there.output;
  const uint64_t busy =
      output.scheduler.lanes() | output.paused_lanes | output.wanted.inputs() | output.control_packets;
  return busy == 0 && output.transmitter.room() != 0 && !output.congestion.congested() && !output.scheduler.has_rate();
}

// All there is to say of its frames is in the match, and none of them waits or is under way with a flow.
bool DeliveryAtOnce::has_nothing_on_its_way(const EdgeInput& edge, Port& port, const MatchEntry& match,
                                            uint32_t match_index) {
  return usually(edge.is_current(match)) && usually(EdgeFlows::find(port, match, match_index) == nullptr) &&
         match.waiting == 0;
}

// May a frame be gathered for it? For the rest of a burst if so once, while its device has room.
bool DeliveryAtOnce::opens_at_once(Port& there) {
  AtOnceFrames& frames = there.output.at_once;
  if (frames.count_ != frames.most_) return true;
  if (frames.count_ != 0 || !takes_at_once(there)) return false;
  frames.most_ = there.output.transmitter.room();
  at_once_outputs_ |= PortSet{1} << there.index;
  return true;
}

}  // namespace heddle
