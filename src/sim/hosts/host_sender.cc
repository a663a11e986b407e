// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/host_sender.h"

#include <algorithm>
#include <utility>

namespace heddle::sim {

namespace {
constexpr Nanos kNoRateNs = 1 * kMicrosecond;    // between frames of a flow without a rate on a link without one
constexpr Nanos kCatchUpNs = 16 * kMicrosecond;  // a flow catches up with so much, or with so many intervals
constexpr Nanos kCatchUpIntervals = 16;
constexpr uint32_t kRefillFrames = 8;  // of a full ring: woken when so many find room
}  // namespace

HostSender::HostSender(Fabric& fabric, uint16_t host, Device& device, Random& random)
    : fabric_(fabric), host_(host), device_(device), random_(random), flow_pauses_(fabric, host) {}

const TopologyPort& HostSender::port() const {
  const LinkEnd end = setup().port;
  return fabric_.topology().nodes[end.node_index].ports[end.port];
}

Nanos HostSender::room_at(uint32_t frames) const { return fabric_.host_link(host_).transmit_room_at(1, frames); }

void HostSender::resume(uint16_t flow) {
  if (senders_.size() <= flow) senders_.resize(flow + size_t{1});
  Sender& sender = senders_[flow];
  const Nanos now = fabric_.engine().now();
  sender.due_ns = std::max(fabric_.traffic().flows[flow].starts_ns, now);
  sender.burst_left = 0;
  if (sender.waits != Waits::for_room) wait(flow, Waits::for_time, sender.due_ns);
}

void HostSender::wait(uint16_t flow, Waits waits, Nanos until) {
  Sender& sender = senders_[flow];
  sender.waits = waits;
  sender.wake_ns = until;
  if (until == kNever) return;
  wakes_.push_back({until, flow});
  std::push_heap(wakes_.begin(), wakes_.end(), std::greater<>());
}

void HostSender::ready(uint16_t flow) {
  senders_[flow].waits = Waits::for_room;
  ready_.push_back(flow);
}

uint16_t HostSender::take_wake() {
  const uint16_t flow = wakes_.front().flow;
  std::pop_heap(wakes_.begin(), wakes_.end(), std::greater<>());
  wakes_.pop_back();
  return flow;
}

// When the next flow is to be woken. Of those for which something else came before, such as room in the window, the
// entries are dropped here.
Nanos HostSender::next_wake() {
  for (; !wakes_.empty(); take_wake()) {
    const Wake& wake = wakes_.front();
    const Sender& sender = senders_[wake.flow];
    if (sender.waits != Waits::for_room && sender.wake_ns == wake.at) return wake.at;
  }
  return kNever;
}

Nanos HostSender::send(Nanos now) {
  const uint32_t refill = std::clamp(setup().to_switch.transmit_frames, 1u, kRefillFrames);
  while (next_wake() <= now) ready(take_wake());
  while (!ready_.empty()) {
    if (room_at(1) > now) return room_at(refill);
    const uint16_t id = ready_.front();
    const Step step = take_turn(fabric_.traffic().flows[id], senders_[id], now);
    if (step.waits == Waits::for_room && step.until_ns > now)  // it stays the first
      return std::max(step.until_ns, room_at(refill));
    ready_.pop_front();
    if (step.waits == Waits::for_room)
      ready_.push_back(id);
    else
      wait(id, step.waits, step.until_ns);
    if (step.waits == Waits::for_pause) paused_.push_back(id);
    if (step.waits == Waits::for_credit) flow_pauses_.hold(id, now);
  }
  return next_wake();
}

// not_at_all: it may.
HostSender::Step HostSender::may_send(const HostFlow& flow, Nanos now) const {
  if (now >= flow.stops_ns || flow.sent_frames >= flow.frames_max) return {Waits::for_time, kNever};
  if (now < flow.starts_ns) return {Waits::for_time, flow.starts_ns};
  if (flow.on_ns != 0) {
    const Nanos period = flow.on_ns + flow.off_ns, phase = (now - flow.starts_ns) % period;
    if (phase >= flow.on_ns) return {Waits::for_time, now + period - phase};
  }
  if (const Nanos until = paused_until(flow); now < until) return {Waits::for_pause, until};
  return {Waits::not_at_all, now};
}

// A flow sends what is left of the burst that is due.
HostSender::Step HostSender::take_turn(HostFlow& flow, Sender& sender, Nanos now) {
  if (const Step step = may_send(flow, now); step.waits != Waits::not_at_all) {
    if (step.waits == Waits::for_time) sender.due_ns = step.until_ns;
    return step;
  }
  if (sender.burst_left == 0) sender.burst_left = flow.burst_frames;
  for (; sender.burst_left != 0; --sender.burst_left) {
    if (flow.sent_frames >= flow.frames_max) return {Waits::for_time, kNever};
    if (!window_open(flow, now)) return {Waits::for_window, flow.window_moved_ns + flow.window_patience_ns};
    const Nanos until = obeys() ? flow_pauses_.may_send_at(flow.id, flow.length_max, now) : 0;
    if (until > now) return {Waits::for_credit, until};
    if (const Nanos room = room_at(1); room > now) return {Waits::for_room, room};
    if (!send_one(flow, now)) return {Waits::for_room, now + kNoRateNs};  // too many frames are under way
  }
  const Nanos late = std::max(kCatchUpNs, kCatchUpIntervals * flow.interval_ns);
  sender.due_ns = std::max(sender.due_ns + flow.interval_ns, now - std::min(now, late));
  if (flow.interval_ns == 0) sender.due_ns = setup().to_switch.rate_bps == 0 ? now + kNoRateNs : now;
  if (sender.due_ns <= now) return {Waits::for_room, now};
  return {Waits::for_time, sender.due_ns};
}

bool HostSender::window_open(HostFlow& flow, Nanos now) {
  if (flow.window_frames == 0) return true;
  if (flow.sent_frames - flow.window_base < (flow.ecn_window != 0 ? flow.ecn_window : flow.window_frames)) return true;
  if (now < flow.window_moved_ns + flow.window_patience_ns) return false;
  flow.window_base = flow.sent_frames;  // given up
  flow.window_moved_ns = now;
  return true;
}

void HostSender::window_moved(HostFlow& flow, Nanos now) {
  if (flow.window_frames == 0) return;
  flow.window_base = std::max(flow.window_base, flow.next_expected);
  flow.window_moved_ns = now;
  if (senders_[flow.id].waits == Waits::for_window) ready(flow.id);
}

bool HostSender::send_one(HostFlow& flow, Nanos now) {
  const bool tagged = flow.vlan != port().vlans.native;
  const auto spread = static_cast<uint64_t>(flow.length_max - flow.length_min);
  const auto length = static_cast<uint16_t>(flow.length_min + (spread == 0 ? 0 : random_.below(spread + 1)));
  Packet* packet = nullptr;
  fabric_.pool().allocate_for(kHostsOwner, &packet, 1);
  const uint32_t sequence = flow.sent_frames;
  const uint32_t bytes = write_frame(packet->data, flow, station(host_), station(flow.destination), tagged, length,
                                     sequence, now, fabric_.setup().checked);
  packet->length = static_cast<uint16_t>(bytes);
  if (!transmit(packet, now)) return false;
  if (flow.sent_frames == flow.window_base) flow.window_moved_ns = now;
  ++flow.sent_frames;
  flow.sent_bytes += bytes;
  flow_pauses_.sent(flow.id, length, now);
  if (flow.message_frames != 0 && sequence % flow.message_frames == 0) flow.messages.push_back({now, 0});
  if (fabric_.watcher() != nullptr) fabric_.watcher()->on_host_sent(flow.id, sequence, now);
  return true;
}

bool HostSender::transmit(Packet* packet, Nanos now) {
  if (device_.transmit(nullptr, 0, now) == 0) {
    fabric_.pool().release(&packet, 1);
    return false;
  }
  device_.transmit(&packet, 1, now);
  return true;
}

void HostSender::hear_pause(const PauseFrame& frame, Nanos now) {
  const uint64_t rate_bps = port().rate_bps != 0 ? port().rate_bps : kRateUnknownBps;
  for (unsigned p = 0; p < kPriorities; ++p) {
    if (frame.by_priority && !(frame.enabled >> p & 1)) continue;
    told_to_wait_until_ns_[p] = now + pause_ns(frame.quanta[frame.by_priority ? p : 0], rate_bps);
  }
  for (const uint16_t flow : std::exchange(paused_, {}))  // they look again
    if (senders_[flow].waits == Waits::for_pause) ready(flow);
}

void HostSender::hear_flow_pause(const FgfcPause& pause, Nanos now) {
  for (const uint16_t flow : flow_pauses_.hear(pause, now))
    if (senders_[flow].waits == Waits::for_credit) ready(flow);
}

// Hosts know which priorities the class of a flow has.
Nanos HostSender::paused_until(const HostFlow& flow) const {
  const uint8_t priorities = fabric_.topology().classes[flow.class_index].priorities();
  Nanos until = 0;
  for (unsigned p = 0; p < kPriorities; ++p)
    if (priorities >> p & 1) until = std::max(until, told_to_wait_until_ns_[p]);
  return until;
}

}  // namespace heddle::sim
