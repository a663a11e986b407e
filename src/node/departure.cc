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
  send_burst(port, burst, count, now);
  return port.output.pending_packets == 0;
}

// Hands frames to the device; what it takes has left: room and credit go back, and at an edge port the frame counts as
// delivered (F8). What it refuses stays first in line. The packets are the device's once it has taken them, so all are
// settled before, and those that it refuses are taken back.
void Worker::send_burst(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0) return;
  PortCounters& counters = port.counters;
  const bool deliver = !port.is_fabric();
  const size_t dirty_before = dirty_.size();
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    counters.sent_bytes += packet.length;
    if (packet.input.port == kNoPort) continue;  // made here
    give_room_back(port, packet);
    if (!deliver || packet.output_flow == kNoFlow) continue;
    OutputFlow& entry = port.output.flows[packet.output_flow];
    --entry.queued;
    entry.pending_ack += packet.payload;
    if ((entry.congestion | entry.told) != 0 || port.output.congestion.congested()) note_departure(port, packet, entry);
    mark_dirty(port, packet.output_flow, entry);
    ++counters.delivered_frames;
    counters.delivered_bytes += packet.payload;
  }
  const uint32_t sent = port.device->transmit(packets, count, now);
  counters.sent_frames += sent;
  port.output.pending_packets = count - sent;
  if (sent != count) take_back(port, packets + sent, count - sent, dirty_before);
}

// As if they had not been offered: whoever waits for a slow device has nothing to do meanwhile. Entries from
// `dirty_before` on have become dirty by this burst.
void Worker::take_back(Port& port, Packet** packets, uint32_t count, size_t dirty_before) {
  std::copy_n(packets, count, port.output.pending.begin());
  PortCounters& counters = port.counters;
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    counters.sent_bytes -= packet.length;
    if (packet.input.port == kNoPort) continue;
    Returns& returns = port.output.returns[voq_index(packet.input.port, packet.lane)];
    returns.room -= packet.cost;
    if (!(packet.flags & kPacketCopy)) returns.held -= packet.cost;
    if (port.is_fabric() || packet.output_flow == kNoFlow) continue;
    OutputFlow& entry = port.output.flows[packet.output_flow];
    ++entry.queued;
    entry.pending_ack -= packet.payload;
    --counters.delivered_frames;
    counters.delivered_bytes -= packet.payload;
  }
  const auto nothing_to_tell = [&port](uint32_t item) {
    OutputFlow& entry = port.output.flows[item & 0xffff];
    if (entry.pending_ack != 0 || (entry.flags & (kOutputEndDue | kOutputTell | kOutputCredit))) return false;
    entry.flags &= static_cast<uint8_t>(~kOutputDirty);
    return true;
  };
  dirty_.erase(std::remove_if(dirty_.begin() + static_cast<ptrdiff_t>(dirty_before), dirty_.end(), nothing_to_tell),
               dirty_.end());
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
  give_room_back(output, *packet);
  discard(packet);
}

void Worker::give_room_back(Port& output, const Packet& packet) {
  Returns& returns = output.output.returns[voq_index(packet.input.port, packet.lane)];
  returns.room += packet.cost;
  if (!(packet.flags & kPacketCopy)) returns.held += packet.cost;
  output.output.returns_due |= PortSet{1} << packet.input.port;
}

}  // namespace heddle
