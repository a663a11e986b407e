// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_receive.h"

#include <algorithm>

#include "node/short_way_tries.h"

namespace heddle {

void FabricReceive::receive(Port& port, Packet** packets, uint32_t count, Nanos now) {
  for (uint32_t i = 0; i < count;) {
    const uint32_t frames = take_data_frames(port, packets + i, count - i, now);
    receive_data(port, packets + i, frames, now);
    i += frames;
    if (i != count) receive_other(port, packets[i++], now);
  }
  at_once_.send_all(now);
}

// How many of the first frames are good data frames, of this session and each the next one: as nearly all are.
uint32_t FabricReceive::take_data_frames(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (!port.session.up()) return 0;
  const uint32_t tag = port.session.tag();
  uint32_t sequence = port.input.last_sequence;
  uint32_t frames = 0;
  for (; frames < count; ++frames) {
    Packet& packet = *packets[frames];
    if (!usually(is_data_frame(packet.data, packet.length))) break;
    LinkFrame frame;
    read_link_header(packet.data, frame);
    if (!usually(check_data_frame(packet.data, packet.length) == DropReason::none)) break;
    if (!usually(frame.session_tag == tag)) break;
    if (usually(frame.channel == 0)) {
      if (!usually(frame.sequence == sequence + 1)) break;
      sequence = frame.sequence;
    } else {
      if (frame.channel != HEDDLE_RETRY_CHANNEL || !port.retry.is_next(frame.sequence)) break;
      port.retry.judge(frame.sequence, now);
      packet.flags |= kPacketInTurn;
    }
    read_data_header(packet);
    if (port.input.flows.valid(packet.input.flow)) __builtin_prefetch(&port.input.flows[packet.input.flow]);
  }
  port.input.last_sequence = sequence;
  return frames;
}

// Any frame.
void FabricReceive::receive_other(Port& port, Packet* packet, Nanos now) {
  LinkFrame frame{};
  DropReason reason = check_frame(packet->data, packet->length, frame);
  if (reason == DropReason::bad_version) port.session.hear_other_version(now);
  const bool data = reason == DropReason::none && frame.kind == HEDDLE_DATA;
  if (data) read_data_header(*packet);
  if (reason == DropReason::none && frame.kind != HEDDLE_HELLO) reason = judge(port, frame, now);
  if (reason != DropReason::none) return turn_.drop_at_input(port, packet, reason);
  if (data) {
    if (frame.channel != 0) packet->flags |= kPacketInTurn;
    run_others(port, &packet, 1, now);
    return;
  }
  if (frame.kind == HEDDLE_HELLO)
    link_control_.receive_hello(port, frame, packet->length, now);
  else
    records_.receive(port, frame, now);
  ++port.counters.consumed_frames;
  turn_.discard(packet);
}

// Of this session (K1), and in its turn.
DropReason FabricReceive::judge(Port& port, const LinkFrame& frame, Nanos now) {
  if (!port.session.up()) return DropReason::link_not_up;
  if (frame.session_tag != port.session.tag()) return DropReason::stale_session;
  if (frame.channel != 0) return judge_in_turn(port, frame, now);
  if (frame.sequence != port.input.last_sequence + 1 && !skips_ahead(port, frame.sequence))
    return DropReason::old_sequence;
  port.input.last_sequence = frame.sequence;
  return DropReason::none;
}

// K2: a number that is not the next one. If it is newer, those between are lost, or will come too late.
bool FabricReceive::skips_ahead(Port& port, uint32_t sequence) {
  if (!serial_before(port.input.last_sequence, sequence)) return false;
  port.counters.lost_on_wire_frames += sequence - port.input.last_sequence - 1;
  return true;
}

// A frame in a retry channel: only the next one is taken.
DropReason FabricReceive::judge_in_turn(Port& port, const LinkFrame& frame, Nanos now) {
  if (frame.channel != HEDDLE_RETRY_CHANNEL || frame.kind != HEDDLE_DATA) return DropReason::bad_frame;
  switch (port.retry.judge(frame.sequence, now)) {
    case LinkRetry::Turn::next:
      return DropReason::none;
    case LinkRetry::Turn::old:
      return DropReason::old_sequence;
    case LinkRetry::Turn::ahead:
      return DropReason::ahead_of_turn;
  }
  __builtin_unreachable();
}

void FabricReceive::receive_data(Port& port, Packet** packets, uint32_t count, Nanos now) {
  const bool lossless = site_.lanes.any_lossless();
  ShortWayTries tries;
  uint32_t i = 0;
  while (i < count && port.session.up()) {
    express_.look_again();
    uint32_t frames = run_short<false>(port, packets + i, count - i, now);
    if (lossless) frames += run_short<true>(port, packets + i + frames, count - i - frames, now);
    i += frames;
    i += run_others(port, packets + i, std::min(tries.others_after(frames), count - i), now);
  }
  for (; i < count; ++i)  // one before has ended the session
    turn_.drop_at_input(port, packets[i], DropReason::link_not_up);
}

// How many of the first frames go on or are delivered by the short loops: lossy ones, or lossless ones.
template <bool kLossless>
uint32_t FabricReceive::run_short(Port& port, Packet** packets, uint32_t count, Nanos now) {
  const uint32_t on = run_express<kLossless>(port, packets, count, now);
  return on + run_deliveries<kLossless>(port, packets + on, count - on, now);
}

// How many of the first frames go on by the shortest way: lossy ones, or those of the first one's lossless channel. For
// that each is to be the next one of its flow, not by a detour, and one of those for which the port has room and the
// link had credit.
template <bool kLossless>
uint32_t FabricReceive::run_express(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0 || (packets[0]->vc != kLossyChannel) != kLossless) return 0;
  Express& express = express_;
  const uint8_t channel = kLossless ? packets[0]->vc : kLossyChannel;
  const bool in_turn = kLossless && (packets[0]->flags & kPacketInTurn);
  LinkCredits& credits = port.credits[channel];
  uint32_t most = std::min(count, credits.may_receive());
  if (!kLossless) most = std::min(most, admission_.room_to_enter(port));
  uint32_t frames = 0;
  for (; frames < most; ++frames) {
    Packet* packet = packets[frames];
    const FlowId id = packet->input.flow;
    if (!usually(port.input.flows.valid(id))) break;
    InputFlow& flow = port.input.flows[id];
    const bool next = usually(flow.next_data_flow == packet->position) &&
                      usually(flow.destination == packet->destination) && usually(flow.ftag == packet->ftag);
    if (!usually(next) || !usually(is_plain(*packet, channel, in_turn))) break;
    if (kLossless && !usually(site_.lanes.valid(packet->ftag, channel, in_turn))) break;
    if (!usually(packet->via == 0) || !usually(packet->hop_limit != 0)) break;
    if (!usually(express.take<kLossless>(port, true, flow, packet, now))) break;
  }
  credits.received(frames, in_turn);
  return frames;
}

// How many of the first frames are delivered as those that have nothing on the ordinary way (decision 4), several to
// one port and each the next one of its flow, of which nothing is left here.
template <bool kLossless>
uint32_t FabricReceive::run_deliveries(Port& port, Packet** packets, uint32_t count, Nanos now) {
  if (count == 0 || (packets[0]->vc != kLossyChannel) != kLossless) return 0;
  DeliveryAtOnce& at_once = at_once_;
  const uint8_t channel = kLossless ? packets[0]->vc : kLossyChannel;
  const bool in_turn = kLossless && (packets[0]->flags & kPacketInTurn);
  LinkCredits& credits = port.credits[channel];
  const uint32_t most = std::min(count, credits.may_receive());
  OutputSide* output = nullptr;  // for frames like the one before
  FabricAddress to{};
  uint8_t ftag = 0;
  uint32_t frames = 0;
  for (; frames < most; ++frames) {
    Packet* packet = packets[frames];
    const FlowId id = packet->input.flow;
    if (!usually(port.input.flows.valid(id))) break;
    InputFlow& flow = port.input.flows[id];
    if (!usually(!flow.in_use()) || !usually(flow.next_data_flow == packet->position)) break;
    if (!usually(is_plain(*packet, channel, in_turn))) break;
    if (output == nullptr || packet->destination != to || packet->ftag != ftag) {
      if (packet->destination.node != site_.address) break;
      if (!site_.lanes.valid(packet->ftag, channel, in_turn)) break;
      output = at_once.open_for_run(port, *packet, most - frames);
      to = packet->destination;
      ftag = packet->ftag;
      if (output == nullptr) break;
    }
    if (!usually(at_once.may_gather(*output, *packet, now))) break;
    bridging_.meet_station(port, *packet, now);
    at_once.settle_and_gather(port, id, flow, *output, packet, now);
  }
  credits.received(frames, in_turn);
  credits.released(frames);
  return frames;
}

// All others, each by itself, as long as the session lasts. How many these were.
uint32_t FabricReceive::run_others(Port& port, Packet** packets, uint32_t count, Nanos now) {
  uint32_t i = 0;
  for (; i < count && port.session.up(); ++i)
    if (enter(port, packets[i], now)) receive_frame(port, packets[i], now);
  return i;
}

// It is of a lane that there is, in the channel of its link in which that goes (K6), and has credit (C9). False if it
// has gone the way of those that can't be.
bool FabricReceive::enter(Port& port, Packet* packet, Nanos now) {
  packet->cost = buffers_for(HEDDLE_DATA_OVERHEAD_BYTES + packet->payload);
  const bool in_turn = packet->flags & kPacketInTurn;
  const bool known = packet->destination.node == HEDDLE_FLOOD_NODE
                         ? packet->vc == kLossyChannel && !in_turn && site_.lanes.has(packet->ftag)
                         : site_.lanes.valid(packet->ftag, packet->vc, in_turn);
  if (!known || packet->cost > site_.frame_buffers) {  // it is longer than any host may send, else
    packet->cost = 0;                                  // counts nowhere
    break_off(port, packet, now);
    return false;
  }
  if (!port.credits[packet->vc].received(packet->cost, in_turn)) {
    break_off(port, packet, now);
    return false;
  }
  if (packet->via != 0) [[unlikely]]  // R4
    packet->via = via_from(site_.address, packet->destination.node, packet->via);
  return true;
}

void FabricReceive::receive_frame(Port& port, Packet* packet, Nanos now) {
  const bool flood = packet->destination.node == HEDDLE_FLOOD_NODE;
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
