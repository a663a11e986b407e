// SPDX-License-Identifier: Apache-2.0
// Transmit: from the output queues to the devices. Position and link sequence are stamped here, at hand-over to the one
// transmit queue (F6, K2), and nothing overtakes below that point. Frames made here go before data.
#include <algorithm>
#include <bit>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr int32_t kLaneQuantumBytes = kBurst * 1500;
}  // namespace

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
  output.congestion.look(now, output.queued_bytes, output.queued_packets, output.flows.used(), output.taken_bytes,
                         output.last_priority);
  output.last_priority = 0;
}

void Worker::publish_load(Port& port) {
  for (uint32_t channel = kFirstLosslessChannel; channel < port.channels && port.is_fabric(); ++channel)
    publish_free(port, channel);
  if (port.output.queued_bytes == port.output.published_bytes) return;
  port.output.published_bytes = port.output.queued_bytes;
  board_.publish_load(port.index, port.output.queued_bytes);
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
  return left - std::min(left, port.output.queued_buffers[channel]);
}

// What has been taken from a lane's queue.
struct Worker::Taken {
  uint32_t packets = 0, bytes = 0, buffers = 0;
  Packet* from(PacketQueue& queue) {
    Packet* packet = queue.pop();
    ++packets;
    bytes += packet->payload;
    buffers += packet->cost;
    return packet;
  }
};

// The caller sees to queued_lanes, once it has taken all that it wants.
Packet* Worker::take_queued(Port& port, uint32_t lane) {
  Taken taken;
  Packet* packet = taken.from(port.output.queues[lane]);
  settle_taken(port, lane, taken);
  return packet;
}

void Worker::settle_taken(Port& port, uint32_t lane, const Taken& taken) {
  port.output.queued_packets -= taken.packets;
  port.output.queued_bytes -= taken.bytes;
  const uint8_t channel = lanes_.channel(lane);
  if (channel != kLossyChannel) port.output.queued_buffers[channel] -= taken.buffers;
}

// X5: whose turn it is among `lanes`, which is not empty: the one that has it as long as its share lasts, then the
// next.
uint32_t Worker::next_lane(OutputSide& output, LaneSet lanes) {
  if ((lanes >> output.lane & 1) && output.lane_bytes > 0) return output.lane;
  const LaneSet later = lanes & ~((LaneSet{2} << output.lane) - 1);
  output.lane = static_cast<uint32_t>(std::countr_zero(later != 0 ? later : lanes));
  output.lane_bytes = std::min(output.lane_bytes, 0) + kLaneQuantumBytes;
  return output.lane;
}

// The lane has been served: what it has taken is its share's.
void Worker::end_turn(Port& port, uint32_t lane, const Taken& taken) {
  settle_taken(port, lane, taken);
  port.output.lane_bytes -= static_cast<int32_t>(taken.bytes);
  note_empty(port.output, lane);
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
  while (count < kBurst && (output.queued_lanes & ~without_credit) != 0 && (!paced || output.pace.allows(now))) {
    const uint32_t lane = next_lane(output, output.queued_lanes & ~without_credit);
    const uint8_t channel = lanes_.channel(lane);
    const bool retry = lanes_.retry(lane);
    LinkCredits& credits = port.credits[channel];
    PacketQueue& queue = output.queues[lane];
    const auto share = static_cast<uint32_t>(output.lane_bytes);
    Taken taken;
    do {
      const Nanos left = life_left(*queue.head, now);
      if (left < HEDDLE_LIFE_UNIT_NS) {  // K8, also of a frame that waits for credit
        drop_at_output(port, taken.from(queue), DropReason::life_ended);
        continue;
      }
      const uint32_t cost = credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + queue.head->payload);
      if (!credits.may_send(cost)) {
        port.counters.count(ProtocolEvent::credit_blocked);
        without_credit |= LaneSet{1} << lane;
        break;
      }
      Packet* replica = nullptr;
      if (retry && (replica = replica_for(port, queue.head)) == nullptr) {
        without_credit |= LaneSet{1} << lane;
        break;
      }
      Packet* packet = taken.from(queue);
      stamp(port, packet, channel, retry, left, now);
      credits.sent(cost, retry, now);
      if (retry) keep_for_retry(port, *packet, replica, now);
      if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
      burst[count++] = packet;
    } while (count < kBurst && !queue.empty() && taken.bytes < share && (!paced || output.pace.allows(now)));
    end_turn(port, lane, taken);
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
  if ((output.queued_lanes & output.paused_lanes) != 0) drop_expired(port, now);
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
  while (count < kBurst && (output.queued_lanes & going) != 0 && (!paced || output.pace.allows(now))) {
    const uint32_t lane = next_lane(output, output.queued_lanes & going);
    PacketQueue& queue = output.queues[lane];
    const auto share = static_cast<uint32_t>(output.lane_bytes);
    Taken taken;
    output.last_priority = queue.head->priority;
    do {
      Packet* packet = taken.from(queue);
      const DropReason reason = prepare_for_host(port, packet, now);
      if (reason != DropReason::none) {
        drop_at_output(port, packet, reason);
        continue;
      }
      if (paced) output.pace.take(now, packet->length + kWireExtraBytes);
      burst[count++] = packet;
    } while (count < kBurst && !queue.empty() && taken.bytes < share && (!paced || output.pace.allows(now)));
    end_turn(port, lane, taken);
    output.taken_bytes += taken.bytes;
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
  const uint32_t queued_before = output.queued_bytes;
  for (LaneSet rest = output.queued_lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
    while (!output.queues[lane].empty() && life_over(*output.queues[lane].head, now))
      drop_at_output(port, take_queued(port, lane), DropReason::life_ended);
    note_empty(output, lane);
  }
  output.taken_bytes += queued_before - output.queued_bytes;
}

}  // namespace heddle
