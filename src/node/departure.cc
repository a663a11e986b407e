// SPDX-License-Identifier: Apache-2.0
#include "node/departure.h"

#include <algorithm>

namespace heddle {

bool Departure::send_pending(Port& port, Nanos now) {
  Packet* burst[kBurst];
  const uint32_t count = port.output.pending_packets;
  std::copy_n(port.output.pending.begin(), count, burst);
  port.output.pending_packets = port.output.refused_packets = 0;
  if (port.is_fabric())
    send_burst<false>(port, burst, count, now);
  else
    send_burst<true>(port, burst, count, now);
  return port.output.pending_packets == 0;
}

template <bool kDeliver>
void Departure::send_burst(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0) return;
  PortCounters& counters = port.counters;
  const bool congested = kDeliver && port.output.congestion.congested();
  const size_t marked_before = settlement_.marked();
  uint64_t bytes = 0, delivered_frames = 0, delivered_bytes = 0;
  Returns* returns = nullptr;
  PortIndex from = kNoPort;  // input port and lane of the packet before
  LaneIndex lane = 0xff;     // none
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    bytes += packet.length;
    if (packet.input.port != from || packet.lane != lane) {
      if (packet.input.port == kNoPort) continue;  // made here
      returns = &port.output.room.returns_for(packet);
      from = packet.input.port;
      lane = packet.lane;
    }
    returns->add(packet);
    if (!kDeliver) continue;
    if (packet.output_flow == kNoFlow) {
      if (!(packet.flags & kPacketAtOnce)) continue;
      returns->delivered += packet.payload;
      ++delivered_frames;
      delivered_bytes += packet.payload;
      continue;
    }
    OutputFlow& entry = port.output.flows[packet.output_flow];
    --entry.queued;
    entry.pending_ack += packet.payload;
    if ((entry.congestion | entry.told | uint8_t{congested}) != 0) note_departure(port, packet, entry);
    settlement_.mark(port, packet.output_flow, entry);
    ++delivered_frames;
    delivered_bytes += packet.payload;
  }
  counters.sent_bytes += bytes;
  counters.delivered_frames += delivered_frames;
  counters.delivered_bytes += delivered_bytes;
  const uint32_t sent = port.device->transmit(packets, count, now);
  counters.sent_frames += sent;
  port.output.pending_packets = port.output.refused_packets = count - sent;
  if (sent != count) take_back(port, packets + sent, count - sent, marked_before);
}

template void Departure::send_burst<false>(Port& port, Packet** packets, uint32_t count, Nanos now);
template void Departure::send_burst<true>(Port& port, Packet** packets, uint32_t count, Nanos now);

// As if they had not been offered: whoever waits for a slow device has nothing to do meanwhile. Entries from
// `marked_before` on have become dirty by this burst.
void Departure::take_back(Port& port, Packet** packets, uint32_t count, size_t marked_before) {
  std::copy_n(packets, count, port.output.pending.begin());
  PortCounters& counters = port.counters;
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    counters.sent_bytes -= packet.length;
    if (packet.input.port == kNoPort) continue;
    Returns& returns = port.output.room.returns_for(packet);
    returns.remove(packet);
    const bool has_flow = packet.output_flow != kNoFlow;
    if (port.is_fabric() || (!has_flow && !(packet.flags & kPacketAtOnce))) continue;
    --counters.delivered_frames;
    counters.delivered_bytes -= packet.payload;
    if (!has_flow) {
      returns.delivered -= packet.payload;
      continue;
    }
    OutputFlow& entry = port.output.flows[packet.output_flow];
    ++entry.queued;
    entry.pending_ack -= packet.payload;
  }
  settlement_.unmark_idle(port, marked_before);
}

// C2: the ACK of a packet that leaves says whether its host is congested still.
void Departure::note_departure(Port& port, const Packet& packet, OutputFlow& entry) {
  EndpointCongestion& congestion = port.output.congestion.of(port.output.scheduler.class_of(packet.lane));
  uint8_t level = 0;
  if (congestion.congested() && site_.classes.of(packet.ftag).congestion_control) {
    level = congestion.next_level() | kCongestionPersistent;
    port.counters.count(ProtocolEvent::congestion_persistent);
  }
  settlement_.note_congestion(port, packet.output_flow, entry, level);
}

Nanos Departure::next_wake(const Port& port, Nanos now) const {
  const OutputSide& output = port.output;
  const Nanos again = output.pending_packets != 0 ? now + kMicrosecond : kNever;
  const Nanos wake = std::min(again, output.scheduler.ready_at(output.scheduler.lanes() & ~output.paused_lanes, now));
  const bool retries = port.retry.again() != nullptr && !output.scheduler.may_send(now);
  return retries ? std::min(wake, output.scheduler.pace_ready_at()) : wake;
}

}  // namespace heddle
