// SPDX-License-Identifier: Apache-2.0
#include "sim/host.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace heddle::sim {

HostActor::HostActor(Fabric& fabric, uint16_t index, Device& device, uint64_t seed)
    : fabric_(fabric), index_(index), device_(device), random_(seed) {}

const TopologyPort& HostActor::port() const {
  const LinkEnd end = setup().port;
  return fabric_.topology().nodes[end.node_index].ports[end.port];
}

void HostActor::begin(const std::vector<uint16_t>& flows, const std::vector<uint16_t>& vlans) {
  const Nanos now = fabric_.engine().now();
  next_of_flow_.assign(fabric_.traffic().flows.size(), kNever);
  vlans_ = vlans;
  for (const uint16_t flow : flows) resume(flow);
  if (setup().announce_interval_ns != kNever)
    next_announcement_ns_ = now + random_.below(setup().announce_interval_ns / 4 + 1);
  if (hostile_ != nullptr) next_hostile_ns_ = hostile_->options().starts_ns;
  fabric_.engine().wake(*this, std::min(next_announcement_ns_, next_hostile_ns_));
}

void HostActor::resume(uint16_t flow) {
  if (next_of_flow_.size() <= flow) next_of_flow_.resize(flow + size_t{1}, kNever);
  schedule(flow, std::max(fabric_.traffic().flows[flow].starts_ns, fabric_.engine().now()));
}

void HostActor::schedule(uint16_t flow, Nanos at) {
  next_of_flow_[flow] = at;
  if (at == kNever) return;
  due_.push_back({at, flow});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
  fabric_.engine().wake(*this, std::max(at, free_ns_));
}

void HostActor::act(Nanos now) {
  free_ns_ = now + kTurnNs;
  if (now >= paused_until_ns_) receive(now);
  if (!stopped_) {
    if (now >= next_announcement_ns_) announce(now);
    send_due(now);
    if (now >= next_hostile_ns_) {
      HostileSender::Result result = hostile_->next(setup(), port(), now);
      next_hostile_ns_ = result.next_ns;
      for (uint32_t i = 0; i < result.frames; ++i) {
        Packet* packet = nullptr;
        fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
        hostile_->write(*packet, fabric_, index_, now);
        transmit(packet, now);
      }
    }
    fabric_.engine().wake(*this, std::max(free_ns_, std::min(next_announcement_ns_, next_hostile_ns_)));
  }
  const Nanos arrival = device_.next_arrival();
  if (arrival != kNever) fabric_.engine().wake(*this, std::max({arrival, free_ns_, paused_until_ns_}));
}

// --- receiving ---

void HostActor::receive(Nanos now) {
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
  if (fabric_.watcher() != nullptr && !control)
    fabric_.watcher()->on_host_frame(index_, packet, SimPool::tag(packet).flooded, now);
  Trailer trailer;
  if (hear_pause(packet, now)) return;
  if (!read_trailer(packet.data, packet.length, trailer)) return;
  if (trailer.flow >= fabric_.traffic().flows.size()) return;
  HostFlow& flow = fabric_.traffic().flows[trailer.flow];
  if (flow.destination != index_) return;  // flooded to all
  const bool marked = is_marked(packet.data, packet.length, flow,
                                packet.length != load_be16(packet.data + packet.length - kTrailerBytes + 12));
  if (flow.ecn) hear_mark(flow, trailer.sequence, marked);
  count_delivery(flow, trailer, packet.length, now);
}

// PAUSE and PFC of the switch.
bool HostActor::hear_pause(const Packet& packet, Nanos now) {
  PauseFrame frame;
  if (!read_pause(packet.data, packet.length, frame)) return false;
  const uint64_t rate_bps = port().rate_bps != 0 ? port().rate_bps : kRateUnknownBps;
  for (unsigned p = 0; p < kPriorities; ++p) {
    if (frame.by_priority && !(frame.enabled >> p & 1)) continue;
    told_to_wait_until_ns_[p] = now + pause_ns(frame.quanta[frame.by_priority ? p : 0], rate_bps);
  }
  const std::vector<uint16_t> waiting = std::exchange(told_to_wait_, {});
  for (const uint16_t flow : waiting) schedule(flow, now);
  return true;
}

// Hosts know which priorities the class of a flow has.
Nanos HostActor::paused_until(const HostFlow& flow) const {
  const uint8_t priorities = fabric_.topology().classes[flow.class_index].priorities();
  Nanos until = 0;
  for (unsigned p = 0; p < kPriorities; ++p)
    if (priorities >> p & 1) until = std::max(until, told_to_wait_until_ns_[p]);
  return until;
}

void HostActor::count_delivery(HostFlow& flow, const Trailer& trailer, uint32_t length, Nanos now) {
  if (trailer.sequence >= flow.sent_frames) return;
  ++flow.delivered_frames;
  flow.delivered_bytes += length;
  flow.latency.add(static_cast<uint32_t>(now) - trailer.time_ns);
  if (trailer.sequence < flow.next_expected) {
    ++flow.late_frames;
  } else {
    flow.next_expected = trailer.sequence + 1;
  }
  const Nanos before = std::max(flow.last_delivery_ns, flow.gap_since_ns);
  if (flow.last_delivery_ns != 0 && before < now && now - before > flow.longest_gap_ns) {
    flow.longest_gap_ns = now - before;
    flow.longest_gap_at_ns = before;
  }
  if (flow.first_delivery_ns == 0) flow.first_delivery_ns = now;
  flow.last_delivery_ns = now;
  if (flow.message_frames != 0) count_message(flow, trailer, now);
  fabric_.host(flow.source).frame_delivered(flow);
}

void HostActor::count_message(HostFlow& flow, const Trailer& trailer, Nanos now) {
  const uint32_t number = trailer.sequence / flow.message_frames;
  while (!flow.messages.empty() && flow.first_message < number) {  // order is kept, so what is open here lost a frame
    flow.messages.pop_front();
    ++flow.first_message;
    ++flow.messages_broken;
  }
  if (flow.messages.empty() || flow.first_message != number) return;
  HostFlow::Message& message = flow.messages.front();
  if (++message.delivered < flow.message_frames) return;
  flow.completion.add(now - message.sent_ns);
  ++flow.messages_done;
  flow.messages.pop_front();
  ++flow.first_message;
}

// --- sending ---

void HostActor::frame_delivered(HostFlow& flow) {
  if (flow.window_frames == 0) return;
  flow.window_base = std::max(flow.window_base, flow.next_expected);
  flow.window_moved_ns = fabric_.engine().now();
  const Nanos now = fabric_.engine().now();
  if (!stopped_ && next_of_flow_[flow.id] > now + flow.interval_ns && next_of_flow_[flow.id] != kNever)
    schedule(flow.id, now + flow.interval_ns);
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

bool HostActor::window_open(HostFlow& flow, Nanos now) {
  if (flow.window_frames == 0) return true;
  if (flow.sent_frames - flow.window_base < (flow.ecn_window != 0 ? flow.ecn_window : flow.window_frames)) return true;
  if (now < flow.window_moved_ns + flow.window_patience_ns) return false;
  flow.window_base = flow.sent_frames;  // given up
  flow.window_moved_ns = now;
  return true;
}

void HostActor::send_due(Nanos now) {
  constexpr uint32_t kFlowsPerTurn = 64;
  for (uint32_t turns = 0; turns < kFlowsPerTurn && !due_.empty() && due_.front().at <= now; ++turns) {
    const Due due = due_.front();
    std::pop_heap(due_.begin(), due_.end(), std::greater<>());
    due_.pop_back();
    if (next_of_flow_[due.flow] != due.at) continue;
    HostFlow& flow = fabric_.traffic().flows[due.flow];
    schedule(due.flow, send_burst(flow, due.at, now));
  }
  if (!due_.empty()) fabric_.engine().wake(*this, std::max(due_.front().at, free_ns_));
}

// When the flow wants to send again.
Nanos HostActor::send_burst(HostFlow& flow, Nanos due, Nanos now) {
  if (now >= flow.stops_ns) return kNever;
  if (now < flow.starts_ns) return flow.starts_ns;
  if (flow.on_ns != 0) {
    const Nanos period = flow.on_ns + flow.off_ns, phase = (now - flow.starts_ns) % period;
    if (phase >= flow.on_ns) return now + period - phase;
  }
  if (const Nanos until = paused_until(flow); now < until) {
    told_to_wait_.push_back(flow.id);
    return until;
  }
  for (uint32_t i = 0; i < flow.burst_frames; ++i) {
    if (flow.sent_frames >= flow.frames_max) return kNever;
    if (!window_open(flow, now)) return flow.window_moved_ns + flow.window_patience_ns;
    if (!send_one(flow, now)) return now + kRetryNs;
  }
  const Nanos next = due + std::max<Nanos>(flow.interval_ns, 1);  // being late once does not slow it down
  return next + 8 * flow.interval_ns < now ? now : next;
}

bool HostActor::send_one(HostFlow& flow, Nanos now) {
  const bool tagged = flow.vlan != port().vlans.native;
  const auto spread = static_cast<uint64_t>(flow.length_max - flow.length_min);
  const auto length = static_cast<uint16_t>(flow.length_min + (spread == 0 ? 0 : random_.below(spread + 1)));
  Packet* packet = nullptr;
  fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
  const uint32_t sequence = flow.sent_frames;
  const uint32_t bytes = write_frame(packet->data, flow, station(), fabric_.host(flow.destination).station(), tagged,
                                     length, sequence, now, fabric_.setup().checked);
  packet->length = static_cast<uint16_t>(bytes);
  if (!transmit(packet, now)) return false;
  if (flow.sent_frames == flow.window_base) flow.window_moved_ns = now;
  ++flow.sent_frames;
  flow.sent_bytes += bytes;
  if (flow.message_frames != 0) {
    if (sequence % flow.message_frames == 0) flow.messages.push_back({now, 0});
  }
  if (fabric_.watcher() != nullptr) fabric_.watcher()->on_host_sent(flow.id, sequence, now);
  return true;
}

bool HostActor::transmit(Packet* packet, Nanos now) {
  if (device_.transmit(&packet, 1, now) == 1) return true;
  fabric_.pool().release(&packet, 1);
  return false;
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
    transmit(packet, now);
  }
}

}  // namespace heddle::sim
