// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/host.h"

#include <algorithm>

namespace heddle::sim {

HostActor::HostActor(Fabric& fabric, uint16_t index, Device& device, uint64_t seed)
    : fabric_(fabric), index_(index), device_(device), random_(seed), sender_(fabric, index, device, random_) {}

const TopologyPort& HostActor::port() const {
  const LinkEnd end = setup().port;
  return fabric_.topology().nodes[end.node_index].ports[end.port];
}

void HostActor::begin(const std::vector<uint16_t>& flows, const std::vector<uint16_t>& vlans) {
  const Nanos now = fabric_.engine().now();
  vlans_ = vlans;
  for (const uint16_t flow : flows) resume(flow);
  if (setup().announce_interval_ns != kNever)
    next_announcement_ns_ = now + random_.below(setup().announce_interval_ns / 4 + 1);
  if (hostile_ != nullptr) next_hostile_ns_ = hostile_->options().starts_ns;
  if (setup().fgfc != FgfcConduct::silent) next_obedience_ns_ = now;
  fabric_.engine().wake(*this, std::min({next_announcement_ns_, next_hostile_ns_, next_obedience_ns_}));
}

void HostActor::resume(uint16_t flow) {
  sender_.resume(flow);
  fabric_.engine().wake(*this, fabric_.engine().now());
}

void HostActor::act(Nanos now) {
  if (now >= std::max(free_ns_, paused_until_ns_)) receive(now);
  if (!stopped_) {
    if (now >= next_announcement_ns_) announce(now);
    if (now >= next_obedience_ns_) announce_obedience(now);
    const Nanos next_send_ns = sender_.send(now);
    if (now >= next_hostile_ns_) send_hostile(now);
    fabric_.engine().wake(*this, std::min({next_send_ns, next_announcement_ns_, next_hostile_ns_, next_obedience_ns_}));
  }
  if (const Nanos arrival = device_.next_arrival(); arrival != kNever) notify(arrival);
}

void HostActor::send_hostile(Nanos now) {
  const HostileSender::Result result = hostile_->next(setup(), port(), now);
  next_hostile_ns_ = result.next_ns;
  for (uint32_t i = 0; i < result.frames; ++i) {
    Packet* packet = nullptr;
    fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
    hostile_->write(*packet, fabric_, index_, now);
    sender_.transmit(packet, now);
  }
}

// --- receiving ---

void HostActor::receive(Nanos now) {
  if (device_.next_arrival() > now) return;
  free_ns_ = now + kTurnNs;
  Packet* packets[kBurst];
  while (const uint32_t count = device_.receive(packets, kBurst, now)) {
    for (uint32_t i = 0; i < count; ++i) take(*packets[i], now);
    fabric_.pool().release(packets, count);
    if (count < kBurst) break;
  }
}

void HostActor::take(Packet& packet, Nanos now) {
  ++received_frames_;
  PauseFrame pause;
  const bool control = read_pause(packet.data, packet.length, pause);
  if (take_fgfc(packet, now)) return;
  if (fabric_.watcher() != nullptr && !control)
    fabric_.watcher()->on_host_frame(index_, packet, SimPool::tag(packet).flooded, now);
  if (control) return sender_.hear_pause(pause, now);
  Trailer trailer;
  if (!read_trailer(packet.data, packet.length, trailer)) return;
  if (trailer.flow >= fabric_.traffic().flows.size()) return;
  HostFlow& flow = fabric_.traffic().flows[trailer.flow];
  if (flow.destination != index_) return;  // flooded to all
  const bool marked = is_marked(packet.data, packet.length, flow,
                                packet.length != load_be16(packet.data + packet.length - kTrailerBytes + 12));
  if (flow.ecn) hear_mark(flow, trailer.sequence, marked);
  count_delivery(flow, trailer, packet.length, now);
}

// Also of one that does not care.
bool HostActor::take_fgfc(const Packet& packet, Nanos now) {
  FgfcPause pause;
  if (!read_fgfc_pause(packet.data, packet.length, pause)) return false;
  const uint32_t lost_every = setup().fgfc_lost_every;
  const bool lost = lost_every != 0 && ++fgfc_frames_ % lost_every == 0;
  if (!lost && setup().fgfc != FgfcConduct::silent) sender_.hear_flow_pause(pause, now);
  return true;
}

void HostActor::count_delivery(HostFlow& flow, const Trailer& trailer, uint32_t length, Nanos now) {
  if (trailer.sequence >= flow.sent_frames) return;
  ++flow.delivered_frames;
  flow.delivered_bytes += length;
  const bool late = trailer.sequence < flow.next_expected;
  if (!late) flow.next_expected = trailer.sequence + 1;
  if (HostFlow::Measured* window = flow.measured_of(trailer.sequence); window != nullptr) {
    ++window->delivered_frames;
    window->late_frames += late;
    window->latency.add(static_cast<uint32_t>(now) - trailer.time_ns);
  }
  const Nanos before = std::max(flow.last_delivery_ns, flow.gap_since_ns);
  if (flow.last_delivery_ns != 0 && before < now && now - before > flow.longest_gap_ns) {
    flow.longest_gap_ns = now - before;
    flow.longest_gap_at_ns = before;
  }
  flow.last_delivery_ns = now;
  if (flow.message_frames != 0) count_message(flow, trailer, now);
  fabric_.host(flow.source).frame_delivered(flow);
}

void HostActor::count_message(HostFlow& flow, const Trailer& trailer, Nanos now) {
  const uint32_t number = trailer.sequence / flow.message_frames;
  while (!flow.messages.empty() && flow.first_message < number) {  // order is kept, so what is open here lost a frame
    if (HostFlow::Measured* window = flow.measured_of(flow.first_message * flow.message_frames))
      ++window->messages_broken;
    flow.messages.pop_front();
    ++flow.first_message;
  }
  if (flow.messages.empty() || flow.first_message != number) return;
  HostFlow::Message& message = flow.messages.front();
  if (++message.delivered < flow.message_frames) return;
  if (HostFlow::Measured* window = flow.measured_of(number * flow.message_frames)) {
    window->completion.add(now - message.sent_ns);
    ++window->messages_done;
  }
  flow.messages.pop_front();
  ++flow.first_message;
}

// --- sending ---

void HostActor::frame_delivered(HostFlow& flow) {
  sender_.window_moved(flow, fabric_.engine().now());
  if (!stopped_) fabric_.engine().wake(*this, fabric_.engine().now());
}

// As TCP does: half at once, and again one more for each window that came unmarked.
void HostActor::hear_mark(HostFlow& flow, uint32_t sequence, bool marked) {
  if (flow.ecn_window == 0) flow.ecn_window = flow.window_frames;
  if (!marked) {
    if (++flow.ecn_unmarked < flow.ecn_window) return;
    flow.ecn_unmarked = 0;
    flow.ecn_window = std::min(flow.window_frames, flow.ecn_window + 1);
    return;
  }
  ++flow.marked_frames;
  flow.ecn_unmarked = 0;
  if (sequence < flow.ecn_held_until) return;
  flow.ecn_held_until = flow.sent_frames;
  flow.ecn_window = std::max(1u, flow.ecn_window / 2);
}

void HostActor::announce_obedience(Nanos now) {
  next_obedience_ns_ = now + HEDDLE_FGFC_ANNOUNCE_NS;
  Packet* packet = nullptr;
  fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
  write_fgfc_announcement(*packet, true, setup().mac);
  sender_.transmit(packet, now);
}

// A broadcast per VLAN, so that every switch learns where this host is.
void HostActor::announce(Nanos now) {
  next_announcement_ns_ = now + setup().announce_interval_ns;
  for (const uint16_t vlan : vlans_) {
    HostFlow flow;
    flow.id = kAnnouncementFlow;
    flow.kind = FrameKind::ethernet;
    flow.vlan = vlan;
    Packet* packet = nullptr;
    fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
    packet->length = static_cast<uint16_t>(write_frame(packet->data, flow, station(), {0xffffffffffff, 0},
                                                       vlan != port().vlans.native, kLeastLength,
                                                       uint32_t{index_} << 16 | vlan, now, true));
    sender_.transmit(packet, now);
  }
}

}  // namespace heddle::sim
