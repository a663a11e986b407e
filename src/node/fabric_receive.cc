// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_receive.h"

namespace heddle {

void FabricReceive::receive(Port& port, Packet** packets, uint32_t count, Nanos now) {
  LinkFrame frames[kBurst];
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; ++i) {
    Packet* packet = packets[i];
    const DropReason reason = check_frame(packet->data, packet->length, frames[kept]);
    if (reason != DropReason::none) {
      if (reason == DropReason::bad_version) port.session.hear_other_version(now);
      turn_.drop_at_input(port, packet, reason);
      continue;
    }
    if (frames[kept].kind == HEDDLE_DATA) {
      read_data_header(*packet);
      if (packet->via != 0) [[unlikely]]  // R4
        packet->via = via_from(site_.address, packet->destination.node, packet->via);
      if (port.input.flows.valid(packet->input.flow)) __builtin_prefetch(&port.input.flows[packet->input.flow]);
    }
    packets[kept++] = packet;
  }
  for (uint32_t i = 0; i < kept; ++i) take_frame(port, packets[i], frames[i], now);
  at_once_.send_all(now);
}

void FabricReceive::take_frame(Port& port, Packet* packet, const LinkFrame& frame, Nanos now) {
  if (frame.kind == HEDDLE_HELLO) {
    link_control_.receive_hello(port, frame, packet->length, now);
  } else if (!port.session.up()) {
    return turn_.drop_at_input(port, packet, DropReason::link_not_up);
  } else if (frame.session_tag != port.session.tag()) {
    return turn_.drop_at_input(port, packet, DropReason::stale_session);
  } else if (frame.channel != 0) {
    return receive_in_turn(port, packet, frame, now);
  } else if (frame.sequence != port.input.last_sequence + 1 && !skips_ahead(port, frame.sequence)) {
    return turn_.drop_at_input(port, packet, DropReason::old_sequence);
  } else {
    port.input.last_sequence = frame.sequence;
    if (frame.kind == HEDDLE_DATA) return receive_data(port, packet, false, now);
    records_.receive(port, frame, now);
  }
  ++port.counters.consumed_frames;
  turn_.discard(packet);
}

// K2: a number that is not the next one. If it is newer, those between are lost, or will come too late.
bool FabricReceive::skips_ahead(Port& port, uint32_t sequence) {
  if (!serial_before(port.input.last_sequence, sequence)) return false;
  port.counters.lost_on_wire_frames += sequence - port.input.last_sequence - 1;
  return true;
}

// A frame in a retry channel: only the next one is taken.
void FabricReceive::receive_in_turn(Port& port, Packet* packet, const LinkFrame& frame, Nanos now) {
  if (frame.channel != HEDDLE_RETRY_CHANNEL || frame.kind != HEDDLE_DATA)
    return turn_.drop_at_input(port, packet, DropReason::bad_frame);
  switch (port.retry.judge(frame.sequence, now)) {
    case LinkRetry::Turn::next:
      return receive_data(port, packet, true, now);
    case LinkRetry::Turn::old:
      return turn_.drop_at_input(port, packet, DropReason::old_sequence);
    case LinkRetry::Turn::ahead:
      return turn_.drop_at_input(port, packet, DropReason::ahead_of_turn);
  }
}

// `in_turn`: it came in the retry channel, which must fit its class (K6).
void FabricReceive::receive_data(Port& port, Packet* packet, bool in_turn, Nanos now) {
  packet->cost = buffers_for(HEDDLE_DATA_OVERHEAD_BYTES + packet->payload);
  const bool flood = packet->destination.node == HEDDLE_FLOOD_NODE;
  const bool known = flood ? packet->vc == kLossyChannel && !in_turn && site_.lanes.has(packet->ftag)
                           : site_.lanes.valid(packet->ftag, packet->vc, in_turn);
  if (!known || packet->cost > site_.frame_buffers) {  // it is longer than any host may send, else
    packet->cost = 0;                                  // counts nowhere
    return break_off(port, packet, now);
  }
  if (!port.credits[packet->vc].received(packet->cost, in_turn)) return break_off(port, packet, now);
  if (flood || packet->destination.node == site_.address) bridging_.meet_station(port, *packet, now);
  if (packet->input.flow != kNoFlow) return receive_flow_data(port, packet, now);
  if (!flood) return fifos_.receive(port, packet, now);
  bridging_.flood(port, packet, now);
}

// F5, K4: the position tells what was lost before this frame and whether it has been here already.
void FabricReceive::receive_flow_data(Port& port, Packet* packet, Nanos now) {
  const FlowId id = packet->input.flow;
  const bool valid = port.input.flows.valid(id);
  InputFlow& flow = port.input.flows[valid ? id : kNoFlow];
  if (!valid ||
      (flow.next_data_flow != packet->position && !acks_.settle_hole(port, id, flow, packet->position, now))) {
    return break_off(port, packet, now);
  }
  if (flow.next_data_flow != packet->position) return turn_.drop_at_input(port, packet, DropReason::duplicate);
  if (flow.in_use() && !FlowLife::is_of(port, flow, *packet)) {
    if (!flow.at_rest()) return break_off(port, packet, now);
    flow_life_.end_rest(port, id, flow);
  }
  if (!flow.in_use()) {
    if (packet->destination.node == site_.address && at_once_.gather_from_fabric(port, id, flow, packet, now)) return;
    FlowLife::begin_transit(port, id, flow, *packet);
  }
  admission_.admit(port, id, flow, packet, now);
}

void FabricReceive::break_off(Port& port, Packet* packet, Nanos now) {
  turn_.drop_at_input(port, packet, DropReason::protocol_error);
  link_control_.reset(port, LinkDownReason::protocol_error, now);
}

}  // namespace heddle
