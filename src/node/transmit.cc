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
    for (uint32_t burst = 0; burst < kBurstsPerTurn; ++burst) {
      const bool more = port->is_fabric() ? transmit_fabric(*port, now) : transmit_edge(*port, now);
      if (!more) break;
      if (burst + 1 == kBurstsPerTurn) result_.busy = true;
    }
    publish_load(*port);
  }
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
  while (count < kBurst && !output.queue.empty() && output.pace.allows(now)) {
    if (life_left(*output.queue.head, now) < HEDDLE_LIFE_UNIT_NS) {  // K8, also of a frame that waits for credit
      drop_at_output(port, take_queued(port), DropReason::life_ended);
      continue;
    }
    const uint32_t cost = port.credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + output.queue.head->payload);
    if (!port.credits.may_send(cost)) {
      port.counters.count(ProtocolEvent::credit_blocked);
      break;
    }
    Packet* packet = take_queued(port);
    stamp(port, packet, now);
    port.credits.sent(cost, now);
    output.pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  send_burst(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

void Worker::stamp(Port& port, Packet* packet, Nanos now) {
  Stamp stamp{.session_tag = port.session.tag(),
              .sequence = ++port.output.sequence,
              .flow = packet->output_flow,
              .data_flow = 0,
              .life_units = life_units(life_left(*packet, now)),
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
    if (packet->input_port != kNoPort) restamp_life(*packet, life_units(life_left(*packet, now)));
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
  while (count < kBurst && !output.queue.empty() && output.pace.allows(now)) {
    Packet* packet = take_queued(port);
    const DropReason reason = prepare_for_host(port, packet, now);
    if (reason != DropReason::none) {
      drop_at_output(port, packet, reason);
      continue;
    }
    output.pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  send_burst(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

// W4: the host sees the frame that was sent, with the tag its port wants.
DropReason Worker::prepare_for_host(Port& port, Packet* packet, Nanos now) {
  const VlanMembership& vlans = port.settings.vlans;
  if (life_left(*packet, now) == 0) return DropReason::life_ended;
  if (!vlans.member(packet->vni)) return DropReason::vlan_egress;
  if (packet->payload > port.settings.mtu_bytes + kEthernetHeaderBytes) return DropReason::output_too_long;
  if (packet->flags & kPacketFabric) strip_fabric_header(*packet);
  if (packet->vni != vlans.native) insert_tag(*packet, static_cast<uint16_t>(packet->priority << 12 | packet->vni));
  return DropReason::none;
}

// K8: a host that takes nothing holds up nobody's buffers and flow IDs for longer than a life.
void Worker::drop_expired(Port& port, Nanos now) {
  OutputSide& output = port.output;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < output.pending_packets; ++i) {
    if (life_left(*output.pending[i], now) == 0)
      drop_at_output(port, output.pending[i], DropReason::life_ended);
    else
      output.pending[kept++] = output.pending[i];
  }
  output.pending_packets = kept;
  while (!output.queue.empty() && life_left(*output.queue.head, now) == 0)
    drop_at_output(port, take_queued(port), DropReason::life_ended);
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
// delivered (F8). What it refuses stays first in line.
void Worker::send_burst(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0) return;
  std::array<Sent, kBurst> left;  // the packets themselves are the device's once it has taken them
  for (uint32_t i = 0; i < count; ++i) {
    const Packet& packet = *packets[i];
    left[i] = {packet.input_port, packet.output_flow, packet.length, packet.payload, packet.cost, packet.flags};
  }
  const uint32_t sent = port.device->transmit(packets, count, now);
  port.counters.sent_frames += sent;
  for (uint32_t i = 0; i < sent; ++i) {
    port.counters.sent_bytes += left[i].length;
    if (left[i].input_port == kNoPort) continue;  // made here
    give_room_back(port, left[i].input_port, left[i].cost, left[i].flags);
    if (port.is_fabric() || left[i].output_flow == kNoFlow) continue;
    OutputFlow& entry = port.output.flows[left[i].output_flow];
    --entry.queued;
    entry.data_flow += left[i].payload;
    entry.ack_flow += left[i].payload;
    entry.pending_ack += left[i].payload;
    mark_dirty(port, left[i].output_flow);
    ++port.counters.delivered_frames;
    port.counters.delivered_bytes += left[i].payload;
  }
  port.output.pending_packets = count - sent;
  std::copy_n(packets + sent, count - sent, port.output.pending.begin());
}

// A frame that crossed and was never stamped: this side settles it (K4).
void Worker::drop_at_output(Port& output, Packet* packet, DropReason reason) {
  output.counters.drop(reason);
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    --entry.queued;
    entry.settle_lost(packet->payload);
    mark_dirty(output, packet->output_flow);
  }
  give_room_back(output, packet->input_port, packet->cost, packet->flags);
  discard(packet);
}

void Worker::give_room_back(Port& output, PortIndex input, uint16_t cost, uint8_t flags) {
  Returns& returns = output.output.returns[input];
  returns.room += cost;
  if (!(flags & kPacketCopy)) returns.held += cost;
  output.output.returns_due |= PortSet{1} << input;
}

}  // namespace heddle
