// SPDX-License-Identifier: Apache-2.0
// Transmit: from the output queues to the devices. Position and link sequence are stamped here, at hand-over to the one
// transmit queue (F6, K2), and nothing overtakes below that point. Frames made here go before data.
#include <algorithm>
#include <bit>

#include "node/worker.h"

namespace heddle {

void Worker::transmit(Nanos now) {
  for (Port* port : own_ports_) {
    for (uint32_t burst = 0; burst < kBurstsOutPerTurn; ++burst) {
      const bool more = port->is_fabric() ? transmit_fabric(*port, now) : transmit_edge(*port, now);
      if (!more) break;
      if (burst + 1 == kBurstsOutPerTurn) result_.busy = true;
    }
    publish_load(*port);
    if (port->is_fabric()) continue;
    look_for_congestion(*port, now);
    publish_at_once(*port);
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
  output.congestion.look(now, output.queues.bytes(), output.queues.packets(), output.flows.used(), output.taken_bytes,
                         output.last_priority);
  output.last_priority = 0;
}

void Worker::publish_load(Port& port) {
  for (uint32_t channel = kFirstLosslessChannel; channel < port.channels && port.is_fabric(); ++channel)
    publish_free(port, channel);
  if (port.output.queues.bytes() == port.output.published_bytes) return;
  port.output.published_bytes = port.output.queues.bytes();
  board_.publish_load(port.index, port.output.queues.bytes());
}

void Worker::publish_free(Port& port, uint32_t channel) {
  const uint32_t free = free_buffers(port, channel);
  uint32_t& published = port.output.published_free[channel];
  if (free == published) return;
  published = free;
  board_.publish_free(port.index, channel, free);
}

// What the next hop has free in a channel, less what waits here.
uint32_t Worker::free_buffers(const Port& port, uint32_t channel) {
  const LinkCredits& credits = port.credits[channel];
  const uint32_t left = credits.limit() - credits.sent_total();
  return left - std::min(left, port.output.queues.buffers(channel));
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
    if (lanes_.any_retry()) send_retry_records(port, now);
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
  if (port.retry.again() != nullptr) count = send_again(port, burst, count, now);
  LaneSet without_credit = 0;
  while (count < kBurst && (output.queues.lanes() & ~without_credit) != 0 && (!paced || output.pace.allows(now))) {
    OutputQueues::Turn turn = output.queues.begin_turn(output.queues.lanes() & ~without_credit);
    const uint8_t channel = turn.channel();
    const bool retry = lanes_.retry(turn.lane());
    LinkCredits& credits = port.credits[channel];
    do {
      const Nanos left = life_left(*turn.head(), now);
      if (left < HEDDLE_LIFE_UNIT_NS) {  // K8, also of a frame that waits for credit
        drop_at_output(port, turn.take(), DropReason::life_ended);
        continue;
      }
      const uint32_t cost = credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + turn.head()->payload);
      if (!credits.may_send(cost)) {
        port.counters.count(ProtocolEvent::credit_blocked);
        without_credit |= LaneSet{1} << turn.lane();
        break;
      }
      Packet* replica = nullptr;
      if (retry && (replica = replica_for(port, turn.head())) == nullptr) {
        without_credit |= LaneSet{1} << turn.lane();
        break;
      }
      Packet* packet = turn.take();
      stamp(port, packet, channel, retry, left, now);
      credits.sent(cost, retry, now);
      if (retry) keep_for_retry(port, *packet, replica, now);
      if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
      burst[count++] = packet;
    } while (count < kBurst && turn.goes_on() && (!paced || output.pace.allows(now)));
    turn.end();
  }
  send_burst<false>(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

void Worker::stamp(Port& port, Packet* packet, uint8_t channel, bool retry, Nanos left, Nanos now) {
  Stamp stamp{.session_tag = port.session.tag(),
              .vc = channel,
              .channel = retry ? uint8_t{HEDDLE_RETRY_CHANNEL} : uint8_t{0},
              .flags = channel != kLossyChannel ? uint8_t{HEDDLE_DATA_LOSSLESS} : uint8_t{0},
              .sequence = retry ? port.retry.next_sequence() : ++port.output.sequence,
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
    if (packet->input.port != kNoPort || (packet->flags & kPacketAgain))
      restamp_life(*packet, life_units(life_left(*packet, now)));
  }
}

bool Worker::transmit_edge(Port& port, Nanos now) {
  OutputSide& output = port.output;
  if (lanes_.any_lossless()) control_host(port, now);
  if ((output.queues.lanes() & output.paused_lanes) != 0) drop_expired(port, now);
  if (output.pending_packets != 0 && !send_pending(port, now)) {
    drop_expired(port, now);
    return false;
  }
  Packet* burst[kBurst];
  uint32_t count = 0;
  while (count < kBurst && !output.control.empty()) {
    burst[count++] = output.control.pop();
    --output.control_packets;
  }
  const bool paced = output.pace.limits();
  const LaneSet going = ~output.paused_lanes;
  while (count < kBurst && (output.queues.lanes() & going) != 0 && (!paced || output.pace.allows(now))) {
    OutputQueues::Turn turn = output.queues.begin_turn(output.queues.lanes() & going);
    output.last_priority = turn.head()->priority;
    do {
      Packet* packet = turn.take();
      const DropReason reason = prepare_for_host(port, packet, now);
      if (reason != DropReason::none) {
        drop_at_output(port, packet, reason);
        continue;
      }
      if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
      burst[count++] = packet;
    } while (count < kBurst && turn.goes_on() && (!paced || output.pace.allows(now)));
    turn.end();
    output.taken_bytes += turn.bytes();
  }
  send_burst<true>(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

// W4: the host sees the frame that was sent, with the tag its port wants.
DropReason Worker::prepare_for_host(Port& port, Packet* packet, Nanos now) {
  const bool native = packet->vni == port.output.native_vlan;
  if (life_over(*packet, now)) return DropReason::life_ended;
  if (!native && !port.settings.vlans.member(packet->vni)) return DropReason::vlan_egress;
  if (packet->payload > port.output.longest_bytes) return DropReason::output_too_long;
  if (packet->flags & kPacketFabric) strip_fabric_header(*packet);
  if (port.output.congestion.congested()) mark_for_host(port, *packet);
  if (!native) tag_for_host(*packet);
  return DropReason::none;
}

void Worker::tag_for_host(Packet& packet) {
  insert_tag(packet, static_cast<uint16_t>(packet.priority << 12 | packet.vni));
}

// C10: a host that understands ECN hears of its congestion.
void Worker::mark_for_host(Port& port, Packet& packet) {
  if (edge_.classifier().of_ftag(packet.ftag).ecn && mark_congestion_experienced(packet.data, packet.length))
    port.counters.count(ProtocolEvent::ecn_marked);
}

// K8: a host that takes nothing holds up nobody's buffers and flow IDs for longer than a life.
void Worker::drop_expired(Port& port, Nanos now) {
  OutputSide& output = port.output;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < output.pending_packets; ++i) {
    if (output.pending[i]->input.port != kNoPort && life_over(*output.pending[i], now))
      drop_at_output(port, output.pending[i], DropReason::life_ended);
    else
      output.pending[kept++] = output.pending[i];
  }
  output.pending_packets = kept;
  const uint32_t queued_before = output.queues.bytes();
  for (LaneSet rest = output.queues.lanes(); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    const PacketQueue& queue = output.queues.of(lane);
    while (!queue.empty() && life_over(*queue.head, now))
      drop_at_output(port, output.queues.take(lane), DropReason::life_ended);
  }
  output.taken_bytes += queued_before - output.queues.bytes();
}

}  // namespace heddle
