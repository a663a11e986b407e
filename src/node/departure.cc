// SPDX-License-Identifier: Apache-2.0
// Departure: what happens to packets when a device takes or refuses them, or when they die in an output. Room and link
// credits go back to their inputs, and at an edge port a frame counts as delivered.
#include <algorithm>

#include "node/worker.h"

namespace heddle {

bool Worker::send_pending(Port& port, Nanos now) {
  Packet* burst[kBurst];
  const uint32_t count = port.output.pending_packets;
  std::copy_n(port.output.pending.begin(), count, burst);
  port.output.pending_packets = 0;
  if (port.is_fabric())
    send_burst<false>(port, burst, count, now);
  else
    send_burst<true>(port, burst, count, now);
  return port.output.pending_packets == 0;
}

// Hands frames to the device; what it takes has left: room and credit go back, and at an edge port the frame counts as
// delivered (F8). What it refuses stays first in line. The packets are the device's once it has taken them, so all are
// settled before, and those that it refuses are taken back.
template <bool kDeliver>
void Worker::send_burst(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0) return;
  PortCounters& counters = port.counters;
  const bool congested = kDeliver && port.output.congestion.congested();
  const size_t dirty_before = dirty_.size();
  uint64_t bytes = 0, delivered_frames = 0, delivered_bytes = 0;
  Returns* returns = nullptr;
  uint32_t returns_to = ~0u;  // input port and lane of the packet before
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    bytes += packet.length;
    if (const uint32_t to = uint32_t{packet.input.port} << 8 | packet.lane; to != returns_to) {
      if (packet.input.port == kNoPort) continue;  // made here
      returns = &port.output.room.returns_for(packet);
      returns_to = to;
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
    mark_dirty(port, packet.output_flow, entry);
    ++delivered_frames;
    delivered_bytes += packet.payload;
  }
  counters.sent_bytes += bytes;
  counters.delivered_frames += delivered_frames;
  counters.delivered_bytes += delivered_bytes;
  const uint32_t sent = port.device->transmit(packets, count, now);
  counters.sent_frames += sent;
  port.output.pending_packets = count - sent;
  if (sent != count) take_back(port, packets + sent, count - sent, dirty_before);
}
template void Worker::send_burst<false>(Port& port, Packet** packets, uint32_t count, Nanos now);
template void Worker::send_burst<true>(Port& port, Packet** packets, uint32_t count, Nanos now);

// As if they had not been offered: whoever waits for a slow device has nothing to do meanwhile. Entries from
// `dirty_before` on have become dirty by this burst.
void Worker::take_back(Port& port, Packet** packets, uint32_t count, size_t dirty_before) {
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
  const auto nothing_to_tell = [&port](uint32_t item) {
    OutputFlow& entry = port.output.flows[item & 0xffff];
    if (entry.pending_ack != 0 || (entry.flags & (kOutputEndDue | kOutputTell | kOutputCredit))) return false;
    entry.flags &= static_cast<uint16_t>(~kOutputDirty);
    return true;
  };
  dirty_.erase_if(dirty_before, nothing_to_tell);
}

// A frame that crossed and was never stamped: this side settles it (K4).
void Worker::drop_at_output(Port& output, Packet* packet, DropReason reason) {
  output.counters.drop(reason);
  count_loss(output, *packet, reason);
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    --entry.queued;
    entry.settle_lost(packet->payload);
    entry.credit_base -= packet->payload;
    mark_dirty(output, packet->output_flow, entry);
  }
  output.output.room.returns_for(*packet).add(*packet);
  discard(packet);
}

}  // namespace heddle
