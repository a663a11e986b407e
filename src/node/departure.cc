// SPDX-License-Identifier: Apache-2.0
#include "node/departure.h"

#include <algorithm>
#include <utility>

namespace heddle {

void Departure::send_stamped(Port& port, Nanos now) {
  send_burst<false>(port, port.output.stamped.data(), std::exchange(port.output.stamped_packets, 0), now);
}

template <bool kDeliver>
void Departure::send_burst(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0) return;
  PortCounters& counters = port.counters;
  const bool congested = kDeliver && port.output.congestion.congested();
  uint64_t bytes = 0, delivered_frames = 0, delivered_bytes = 0;
  Returns* returns = nullptr;
  PortIndex from = kNoPort;  // input port and lane of the packet before
  LaneIndex lane = 0xff;     // none
  uint64_t counted = 0;      // of the bytes, by class
  const auto count_class = [&] {
    if (from != kNoPort) port.output.sent_of_class[port.output.scheduler.class_of(lane)] += bytes - counted;
    counted = bytes;
  };
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    if (packet.input.port != from || packet.lane != lane) {
      if (packet.input.port == kNoPort) {  // made here
        bytes += packet.length;
        continue;
      }
      if (!kDeliver) count_class();
      returns = &port.output.room.returns_for(packet);
      from = packet.input.port;
      lane = packet.lane;
    }
    bytes += packet.length;
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
  if (!kDeliver) count_class();
  counters.sent_bytes += bytes;
  counters.delivered_frames += delivered_frames;
  counters.delivered_bytes += delivered_bytes;
  counters.sent_frames += count;
  port.output.transmitter.send(packets, count, now);
}

template void Departure::send_burst<false>(Port& port, Packet** packets, uint32_t count, Nanos now);
template void Departure::send_burst<true>(Port& port, Packet** packets, uint32_t count, Nanos now);

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
  const Nanos wake = std::min(output.transmitter.next_wake(now),
                              output.scheduler.ready_at(output.scheduler.lanes() & ~output.paused_lanes, now));
  const bool retries = port.retry.again() != nullptr && !output.scheduler.may_send(now);
  return retries ? std::min(wake, output.scheduler.pace_ready_at()) : wake;
}

}  // namespace heddle
