// SPDX-License-Identifier: Apache-2.0
// Transmit: from the output queues to the devices. Position and link sequence are stamped here, at hand-over to the one
// transmit queue (F6, K2), and nothing overtakes below that point. Frames made here go before data.
#include <algorithm>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kWireExtraBytes =
    24;  // preamble, frame check sequence and gap: what a frame costs at the port's rate
}  // namespace

void Worker::transmit(Nanos now) {
  for (Port* port : own_ports_) {
    for (uint32_t burst = 0; burst < kBurstsOutPerTurn; ++burst) {
      const bool more = port->is_fabric() ? transmit_fabric(*port, now) : transmit_edge(*port, now);
      if (!more) break;
      if (burst + 1 == kBurstsOutPerTurn) result_.busy = true;
    }
    publish_load(*port);
    if (!port->is_fabric()) look_for_congestion(*port, now);
  }
}

// C2: the ACK of a packet that leaves says whether its host is congested still.
void Worker::note_departure(Port& port, const Packet& packet, OutputFlow& entry) {
  EndpointCongestion& congestion = port.output.congestion;
  const uint8_t before = entry.congestion;
  entry.congestion = 0;
  if (congestion.congested() && edge_.classifier().of_ftag(packet.ftag).congestion_control) {
    entry.congestion = congestion.next_level() | kCongestionPersistent;
    port.counters.count(ProtocolEvent::congestion_persistent);
  }
  if (entry.congestion != entry.told || entry.congestion != before) entry.flags |= kOutputTell;
}

// C1. Between bursts: the queue is what has come and not been handed to the device.
void Worker::look_for_congestion(Port& port, Nanos now) {
  OutputSide& output = port.output;
  output.congestion.look(now, output.queued_bytes, output.queued_packets, output.taken_bytes, output.last_priority);
  output.last_priority = 0;
}

void Worker::publish_load(Port& port) {
  if (port.output.queued_bytes == port.output.published_bytes) return;
  port.output.published_bytes = port.output.queued_bytes;
  board_.publish_load(port.index, port.output.queued_bytes);
}

Packet* Worker::take_queued(Port& port) {
  Packet* packet = port.output.queue.pop();
  --port.output.queued_packets;
  port.output.queued_bytes -= packet->payload;
  return packet;
}

// One burst; true if there may be another one.
bool Worker::transmit_fabric(Port& port, Nanos now) {
  OutputSide& output = port.output;
  if (output.pending_packets != 0) {
    age_pending(port, now);
    if (!send_pending(port, now)) return false;
  }
  if (port.session.up()) {
    send_credits(port, now);
    send_probes(port);
    make_ack_frames(port, now);
  }
  Packet* burst[kBurst];
  uint32_t count = 0;
  while (count < kBurst && !output.control.empty()) {
    Packet* packet = output.control.pop();
    --output.control_packets;
    if (packet->flags & kPacketRecords) finish_records(*packet, port.session.tag(), ++output.sequence, port.mac);
    output.pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  const bool paced = output.pace.limits();
  while (count < kBurst && !output.queue.empty() && (!paced || output.pace.allows(now))) {
    const Nanos left = life_left(*output.queue.head, now);
    if (left < HEDDLE_LIFE_UNIT_NS) {  // K8, also of a frame that waits for credit
      drop_at_output(port, take_queued(port), DropReason::life_ended);
      continue;
    }
    const uint32_t cost = port.credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + output.queue.head->payload);
    if (!port.credits.may_send(cost)) {
      port.counters.count(ProtocolEvent::credit_blocked);
      break;
    }
    Packet* packet = take_queued(port);
    stamp(port, packet, left, now);
    port.credits.sent(cost, now);
    if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  send_burst(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

void Worker::stamp(Port& port, Packet* packet, Nanos left, Nanos now) {
  Stamp stamp{.session_tag = port.session.tag(),
              .sequence = ++port.output.sequence,
              .flow = packet->output_flow,
              .data_flow = 0,
              .life_units = life_units(left),
              .source_mac = port.mac};
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = port.output.flows[packet->output_flow];
    if (entry.extent() == 0) {  // K5 starts anew; a timer that still runs comes too early, and looks at due_ns
      entry.backoff = 0;
      entry.probe_mark = entry.ack_flow;
      entry.due_ns = now + settings_.probe_base_ns;
      if (!(entry.flags & kOutputTimed)) set_timer(port.index, packet->output_flow);
    }
    stamp.data_flow = entry.data_flow;
    entry.data_flow += packet->payload;
    --entry.queued;
  }
  if (!(packet->flags & kPacketFabric)) prepend_fabric_header(*packet);
  --packet->hop_limit;
  stamp_data_frame(*packet, stamp);
}

// K8: frames that the device has refused go on ageing. They have their positions, so one whose life is over is sent all
// the same, with no life: the next hop counts it and lets it die.
void Worker::age_pending(Port& port, Nanos now) {
  for (uint32_t i = 0; i < port.output.pending_packets; ++i) {
    Packet* packet = port.output.pending[i];
    if (packet->input.port != kNoPort) restamp_life(*packet, life_units(life_left(*packet, now)));
  }
}

bool Worker::transmit_edge(Port& port, Nanos now) {
  OutputSide& output = port.output;
  if (output.pending_packets != 0 && !send_pending(port, now)) {
    drop_expired(port, now);
    return false;
  }
  Packet* burst[kBurst];
  uint32_t count = 0;
  const bool paced = output.pace.limits();
  if (!output.queue.empty()) output.last_priority = output.queue.head->priority;
  const uint32_t queued_before = output.queued_bytes;
  while (count < kBurst && !output.queue.empty() && (!paced || output.pace.allows(now))) {
    Packet* packet = take_queued(port);
    const DropReason reason = prepare_for_host(port, packet, now);
    if (reason != DropReason::none) {
      drop_at_output(port, packet, reason);
      continue;
    }
    if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  output.taken_bytes += queued_before - output.queued_bytes;
  send_burst(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

// W4: the host sees the frame that was sent, with the tag its port wants.
DropReason Worker::prepare_for_host(Port& port, Packet* packet, Nanos now) {
  const VlanMembership& vlans = port.settings.vlans;
  const bool native = packet->vni == vlans.native && packet->vni != 0;
  if (life_over(*packet, now)) return DropReason::life_ended;
  if (!native && !vlans.member(packet->vni)) return DropReason::vlan_egress;
  if (packet->payload > port.settings.mtu_bytes + kEthernetHeaderBytes) return DropReason::output_too_long;
  if (packet->flags & kPacketFabric) strip_fabric_header(*packet);
  if (!native) insert_tag(*packet, static_cast<uint16_t>(packet->priority << 12 | packet->vni));
  return DropReason::none;
}

// K8: a host that takes nothing holds up nobody's buffers and flow IDs for longer than a life.
void Worker::drop_expired(Port& port, Nanos now) {
  OutputSide& output = port.output;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < output.pending_packets; ++i) {
    if (life_over(*output.pending[i], now))
      drop_at_output(port, output.pending[i], DropReason::life_ended);
    else
      output.pending[kept++] = output.pending[i];
  }
  output.pending_packets = kept;
  const uint32_t queued_before = output.queued_bytes;
  while (!output.queue.empty() && life_over(*output.queue.head, now))
    drop_at_output(port, take_queued(port), DropReason::life_ended);
  output.taken_bytes += queued_before - output.queued_bytes;
}

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
    Returns& returns = port.output.returns[packet.input.port];
    returns.room -= packet.cost;
    if (!(packet.flags & kPacketCopy)) returns.held -= packet.cost;
    if ((returns.room | returns.held | returns.orphans) == 0)
      port.output.returns_due &= ~(PortSet{1} << packet.input.port);
    if (port.is_fabric() || packet.output_flow == kNoFlow) continue;
    OutputFlow& entry = port.output.flows[packet.output_flow];
    ++entry.queued;
    entry.pending_ack -= packet.payload;
    --counters.delivered_frames;
    counters.delivered_bytes -= packet.payload;
  }
  const auto nothing_to_tell = [&port](uint32_t item) {
    OutputFlow& entry = port.output.flows[item & 0xffff];
    if (entry.pending_ack != 0 || (entry.flags & (kOutputEndDue | kOutputTell))) return false;
    entry.flags &= static_cast<uint8_t>(~kOutputDirty);
    return true;
  };
  dirty_.erase(std::remove_if(dirty_.begin() + static_cast<ptrdiff_t>(dirty_before), dirty_.end(), nothing_to_tell),
               dirty_.end());
}

// A frame that crossed and was never stamped: this side settles it (K4).
void Worker::drop_at_output(Port& output, Packet* packet, DropReason reason) {
  output.counters.drop(reason);
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    --entry.queued;
    entry.settle_lost(packet->payload);
    mark_dirty(output, packet->output_flow, entry);
  }
  give_room_back(output, *packet);
  discard(packet);
}

void Worker::give_room_back(Port& output, const Packet& packet) {
  Returns& returns = output.output.returns[packet.input.port];
  returns.room += packet.cost;
  if (!(packet.flags & kPacketCopy)) returns.held += packet.cost;
  output.output.returns_due |= PortSet{1} << packet.input.port;
}

}  // namespace heddle
