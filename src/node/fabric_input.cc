// SPDX-License-Identifier: Apache-2.0
// Frames on fabric links: judged (K13), of this session (K1), in order (K2), then by kind.
#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kPlausibleHoleBytes = 1u << 30;  // more than a link can have outstanding (K13)
}  // namespace

// In passes, as at the edge: frames are judged, then their flows' entries have come.
void Worker::fabric_receive(Port& port, Packet** packets, uint32_t count, Nanos now) {
  LinkFrame frames[kBurst];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    const DropReason reason = check_frame(packet->data, packet->length, frames[kept]);
    if (reason != DropReason::none) {
      if (reason == DropReason::bad_version) port.session.hear_other_version(now);
      drop_at_input(port, packet, reason);
      continue;
    }
    if (frames[kept].kind == HEDDLE_DATA) {
      read_data_header(*packet);
      if (port.input.flows.valid(packet->input.flow)) __builtin_prefetch(&port.input.flows[packet->input.flow]);
    }
    packets[kept++] = packet;
  }
  for (uint32_t i = 0; i < kept; ++i) take_frame(port, packets[i], frames[i], now);
  if (at_once_outputs_ != 0) send_all_at_once(now);
}

void Worker::take_frame(Port& port, Packet* packet, const LinkFrame& frame, Nanos now) {
  if (frame.kind == HEDDLE_HELLO) {
    receive_hello(port, frame, packet->length, now);
  } else if (!port.session.up()) {
    return drop_at_input(port, packet, DropReason::link_not_up);
  } else if (frame.session_tag != port.session.tag()) {
    return drop_at_input(port, packet, DropReason::stale_session);
  } else if (frame.channel != 0) {
    return receive_in_turn(port, packet, frame, now);
  } else if (frame.sequence != port.input.last_sequence + 1 && !skips_ahead(port, frame.sequence)) {
    return drop_at_input(port, packet, DropReason::old_sequence);
  } else {
    port.input.last_sequence = frame.sequence;
    if (frame.kind == HEDDLE_DATA) return receive_data(port, packet, false, now);
    receive_records(port, frame, now);
  }
  ++port.counters.consumed_frames;
  discard(packet);
}

// K2: a number that is not the next one. If it is newer, those between are lost, or will come too late.
bool Worker::skips_ahead(Port& port, uint32_t sequence) {
  if (!serial_before(port.input.last_sequence, sequence)) return false;
  port.counters.lost_on_wire_frames += sequence - port.input.last_sequence - 1;
  return true;
}

// `in_turn`: it came in the retry channel, which must fit its class (K6).
void Worker::receive_data(Port& port, Packet* packet, bool in_turn, Nanos now) {
  packet->cost =
      static_cast<uint16_t>((HEDDLE_DATA_OVERHEAD_BYTES + packet->payload + kBufferBytes - 1) / kBufferBytes);
  const bool for_this_node = packet->destination.node == node_address_;
  const bool flood_frame = packet->destination.node == HEDDLE_FLOOD_NODE;
  const bool known = flood_frame ? packet->vc == kLossyChannel && !in_turn && lanes_.has(packet->ftag)
                                 : lanes_.valid(packet->ftag, packet->vc, in_turn);
  const bool possible = known && packet->cost <= frame_buffers_;  // else longer than any host may send
  if (!possible) packet->cost = 0;                                // counts nowhere
  if (!possible || !port.credits[packet->vc].received(packet->cost, in_turn)) {
    drop_at_input(port, packet, DropReason::protocol_error);
    return protocol_error(port, now);
  }
  if (for_this_node || flood_frame) meet_station(port, *packet, now);
  if (packet->input.flow != kNoFlow) return receive_flow_data(port, packet, now);
  if (!flood_frame) return receive_no_flow(port, packet, now);
  flood(port, packet, now);
}

// F5, K4: the position tells what was lost before this frame and whether it has been here already.
void Worker::receive_flow_data(Port& port, Packet* packet, Nanos now) {
  const FlowId id = packet->input.flow;
  const bool valid = port.input.flows.valid(id);
  InputFlow& flow = port.input.flows[valid ? id : kNoFlow];
  if (!valid || !advance_past_hole(port, id, flow, packet->position)) {
    drop_at_input(port, packet, DropReason::protocol_error);
    return protocol_error(port, now);
  }
  if (flow.next_data_flow != packet->position) return drop_at_input(port, packet, DropReason::duplicate);
  if (!flow.in_use() && packet->destination.node == node_address_ && gather_from_fabric(port, id, flow, packet, now))
    return;
  if (!flow.in_use()) {  // still, after those that were gathered before it
    flow.begin(packet->destination, packet->ftag, kNoMatch);
    port.counters.count(ProtocolEvent::flow_created);
  } else if (flow.destination != packet->destination || flow.ftag != packet->ftag ||
             (packet->vc != kLossyChannel && channel_changed(port, flow, packet->vc))) {
    drop_at_input(port, packet, DropReason::protocol_error);
    return protocol_error(port, now);  // an ID names one flow while it is in use (invariant 4)
  }
  admit(port, id, flow, packet, now);
}

// Frames of a lossless flow come in one virtual channel while it is in use: its path changes only at extent zero.
bool Worker::channel_changed(const Port& port, const InputFlow& flow, uint8_t channel) const {
  if (!flow.queue.empty()) return flow.queue.head->vc != channel;
  return flow.branch.output != kNoPort && port.input.voqs[flow.branch.voq].came_in != channel;
}

// F12: bytes up to `position` that never came are lost: counted at once in all totals, so that extents never hold
// them, and told upstream. False if that is impossible.
bool Worker::advance_past_hole(Port& port, FlowId id, InputFlow& flow, uint32_t position) {
  if (!serial_before(flow.next_data_flow, position)) return true;
  const uint32_t hole = position - flow.next_data_flow;
  if (hole > kPlausibleHoleBytes) return false;
  flow.next_data_flow = position;
  flow.settle_lost(hole);
  port.counters.count(ProtocolEvent::hole);
  port.counters.lost_on_wire_bytes += hole;
  mark_ack_due(port, id, flow, now_);
  return true;
}

void Worker::receive_records(Port& port, const LinkFrame& frame, Nanos now) {
  switch (frame.kind) {
    case HEDDLE_ACK:
      for (const AckRecord record : ack_records(frame)) {
        if (!receive_ack(port, record)) return protocol_error(port, now);
      }
      break;
    case HEDDLE_PROBE:
      for (const ProbeRecord record : probe_records(frame)) {
        if (!receive_probe(port, record, now)) return protocol_error(port, now);
      }
      break;
    case HEDDLE_CREDIT:
      for (const CreditRecord record : credit_records(frame)) {
        if (record.vc >= port.channels) return protocol_error(port, now);
        LinkCredits& credits = port.credits[record.vc];
        const uint32_t before = credits.received_total();
        const bool asks = record.flags & HEDDLE_CREDIT_ASK;
        if (!credits.apply(record.sent_total, record.limit, asks)) return protocol_error(port, now);
        if (before != credits.received_total()) port.counters.count(ProtocolEvent::credit_loss_synced);
      }
      break;
    case HEDDLE_RETRY:
      if (!receive_retry(port, frame, now)) return protocol_error(port, now);
      break;
    case HEDDLE_NOTICE:
      for (const NoticeRecord record : notice_records(frame)) {
        const int node = topology_.node_of_address(record.node);
        if (node < 0) continue;  // the topology hashes agree, so only a broken neighbour says that
        if (link_state_.apply(static_cast<uint16_t>(node), record.sequence, record.ports_up))
          link_states_changed(static_cast<uint16_t>(node));
      }
      break;
    default:
      break;  // load reports (R8) are not acted on yet
  }
}

// W2: absolute totals of one of our outgoing flow IDs; what is new in them goes to the flow's input port.
bool Worker::receive_ack(Port& port, const AckRecord& record) {
  if (!port.output.flows.valid(record.flow)) return false;
  OutputFlow& entry = port.output.flows[record.flow];
  if (entry.flags & kOutputEnded) return true;  // belongs to an earlier session
  if (serial_before(record.ack_flow, entry.ack_flow)) return true;
  const uint32_t acknowledged = record.ack_flow - entry.ack_flow;
  const uint32_t lost = record.lost_total - entry.lost_total;
  if (acknowledged > entry.extent() || lost > acknowledged) return false;  // K3
  port.counters.count(ProtocolEvent::ack_received);
  if ((record.severity | entry.told | entry.congestion) != 0) take_congestion(port, record, entry);
  if ((record.flags & HEDDLE_ACK_METERED) || (entry.flags & kOutputMetered)) {
    if (!take_credit(port, record, entry)) return false;
  }
  if (acknowledged == 0) return true;
  port.counters.events[static_cast<unsigned>(ProtocolEvent::ack_lost_bytes)] += lost;
  entry.ack_flow = record.ack_flow;
  entry.lost_total = record.lost_total;
  entry.pending_ack += acknowledged;
  entry.pending_lost += lost;
  mark_dirty(port, record.flow, entry);
  return true;
}

// C3: handed on to the input flow, with what is settled or by itself. Of an entry with nothing under way it is old
// news.
void Worker::take_congestion(Port& port, const AckRecord& record, OutputFlow& entry) {
  const uint8_t congestion = congestion_of(record.severity, record.flags);
  if (entry.extent() == 0 || (congestion == entry.told && congestion == entry.congestion)) return;
  entry.congestion = congestion;
  entry.flags |= kOutputTell;
  mark_dirty(port, record.flow, entry);
}

// K5: answered at once with the present totals.
bool Worker::receive_probe(Port& port, const ProbeRecord& record, Nanos now) {
  if (!port.input.flows.valid(record.flow)) return false;
  InputFlow& flow = port.input.flows[record.flow];
  if (!advance_past_hole(port, record.flow, flow, record.data_flow)) return false;
  port.counters.count(ProtocolEvent::probe_answered);
  mark_ack_due(port, record.flow, flow, now);
  port.input.ack_urgent = true;
  return true;
}

// F11, E1: no-flow frames are not acknowledged. Lossy ones wait nowhere: they cross now or die here.
void Worker::receive_no_flow(Port& port, Packet* packet, Nanos now) {
  if (lanes_.lossless(packet->ftag)) return join_fifo(port, packet, now);
  DropReason reason = DropReason::none;
  const PortIndex output = choose_port(port, *packet, reason);
  if (output == kNoPort) return drop_at_input(port, packet, reason);
  Voq& voq = port.input.voqs[voq_index(output, lanes_.of(packet->ftag, kLossyChannel))];
  // Flows that wait for the same output keep half of the room: frames without a flow come before them in a turn.
  const uint32_t kept = voq.ready.empty() ? 0 : crossing_room(settings_, voq.at_once) / 2u;
  if (voq.room < packet->cost + kept) return drop_at_input(port, packet, DropReason::output_full);
  packet->output_flow = kNoFlow;
  take_lane(*packet, voq);
  cross(port, output, packet, nullptr, now);
}

// K3: the link contradicts itself; its session is reset, the process goes on.
void Worker::protocol_error(Port& port, Nanos now) { reset_link(port, LinkDownReason::protocol_error, now); }

}  // namespace heddle
