// SPDX-License-Identifier: Apache-2.0
// Arbitration and crossing (A10, X1): round robin over the virtual output queues that have something to send, and over
// the flows in each. A packet crosses only with room at its output and an output flow ID reserved there.
#include <bit>
#include <cassert>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kQuantumPackets = kBurst;  // one virtual output queue's share of a turn
constexpr uint32_t kGrantsPerTurn = 64;       // one output's flow IDs to waiting inputs
}  // namespace

void Worker::activate(Port& input, PortIndex output) {
  Voq& voq = input.input.voqs[output];
  if (voq.active) return;
  voq.active = true;
  voq.next_active = kNoItem;
  const uint32_t item = reference(input.index, output);
  if (active_head_ == kNoItem)
    active_head_ = item;
  else
    own(static_cast<PortIndex>(active_tail_ >> 16)).input.voqs[active_tail_ & 0xffff].next_active = item;
  active_tail_ = item;
  ++active_count_;
}

void Worker::arbitrate(Nanos now) {
  for (uint32_t rounds = active_count_; rounds > 0; --rounds) {
    const uint32_t item = active_head_;
    Port& input = own(static_cast<PortIndex>(item >> 16));
    const auto output = static_cast<PortIndex>(item & 0xffff);
    Voq& voq = input.input.voqs[output];
    active_head_ = voq.next_active;
    if (active_head_ == kNoItem) active_tail_ = kNoItem;
    --active_count_;
    voq.active = false;
    if (serve(input, output, now)) activate(input, output);
  }
}

// One quantum of one virtual output queue. False if it has nothing to send or no room: room or a flow wakes it.
bool Worker::serve(Port& input, PortIndex output, Nanos now) {
  Voq& voq = input.input.voqs[output];
  InputFlowTable& flows = input.input.flows;
  tell_wants(input, output);
  for (uint32_t sent = 0; sent < kQuantumPackets && !voq.ready.empty();) {
    const FlowId id = voq.ready.head;
    InputFlow& flow = flows[id];
    if (flow.flags & kFlowLeaving) {
      flows.pop(voq.ready);
      place(input, id, now);
      continue;
    }
    if (voq.room < flow.queue.head->cost) {
      voq.room_blocked = true;
      input.counters.count(ProtocolEvent::room_blocked);
      return false;
    }
    Packet* packet = flow.queue.pop();
    --flow.queued_packets;
    --input.input.queued_packets;
    flows.pop(voq.ready);
    if (flow.queue.empty()) {
      flow.state = FlowState::idle;
    } else {
      if (flow.turn_over()) yield_id(input, flow);
      flows.push(voq.ready, id);
    }
    hand_on(input, flow, voq, packet, now);
    ++sent;
  }
  return !voq.ready.empty();
}

void Worker::cross(Port& input, PortIndex output, Packet* packet, Nanos now) {
  if (!input.is_fabric()) packet->arrival_ns = now;  // K8: life counts from leaving the ingress edge queue
  if (is_own(output)) return accept(own(output), packet);
  const uint32_t worker = worker_of_port_[output];
  const CrossingPacket crossing{packet, output, {}};
  to_[worker]->data.push(&crossing);
  result_.woken |= uint64_t{1} << worker;
  ++result_.crossings;
}

// The output side of the crossing. An output flow ID reserved in a session that has ended takes nothing more.
void Worker::accept(Port& output, Packet* packet) {
  bool dead = !output.usable();
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    if (entry.input.flow == kNoFlow) entry.input = packet->input;  // the first one on an ID that was asked for
    assert(entry.state != OutputFlowState::free && entry.input == packet->input);  // invariant 4
    ++entry.queued;
    dead = dead || (entry.flags & kOutputEnded);
  }
  if (dead) return drop_at_output(output, packet, DropReason::link_down);
  output.output.queue.push(packet);
  ++output.output.queued_packets;
  output.output.queued_bytes += packet->payload;
}

// Flows wait for IDs: the output's worker hears of all that it has not heard of yet.
void Worker::tell_wants(Port& input, PortIndex output) {
  Voq& voq = input.input.voqs[output];
  if (voq.wanting.count <= voq.asked) return;
  const uint32_t flows = voq.wanting.count - voq.asked;
  if (is_own(output)) {
    voq.asked += flows;
    return on_want(own(output), input.index, flows);
  }
  Message message{.kind = MessageKind::want};
  message.input = input.index;
  message.output = output;
  message.value = flows;
  if (send(worker_of_port_[output], message))
    voq.asked += flows;
  else
    activate(input, output);  // the ring is full: said again next turn
}

void Worker::on_want(Port& output, PortIndex input, uint32_t flows) {
  output.output.wanted[input] += flows;
  output.output.wanting_inputs |= PortSet{1} << input;
}

// Flow IDs for inputs that wait for one, round robin (K11); refused where the link is down.
void Worker::grant_ids(Nanos now) {
  for (Port* port : own_ports_) {
    OutputSide& output = port->output;
    uint32_t granted = 0;
    int refused = 0;  // in a row
    while (granted < kGrantsPerTurn && refused < std::popcount(output.wanting_inputs)) {
      const PortSet later = output.wanting_inputs & ~((PortSet{1} << output.next_wanting) - 1);
      const auto input = static_cast<PortIndex>(std::countr_zero(later != 0 ? later : output.wanting_inputs));
      output.next_wanting = static_cast<PortIndex>((input + 1) % kPortsMax);
      const bool answered = grant_id(*port, input, now);
      granted += answered;
      refused = answered ? 0 : refused + 1;
    }
    if (granted == kGrantsPerTurn) result_.busy = true;  // the others next turn
  }
}

// The answer to one input: an ID for one of its flows, whichever waits first when it comes, or that there is none to
// come. False if nothing could be said.
bool Worker::grant_id(Port& output, PortIndex input, Nanos now) {
  uint32_t& wanted = output.output.wanted[input];
  const bool usable = output.usable();
  Message message{.kind = usable ? MessageKind::grant : MessageKind::refuse};
  message.input = input;
  message.output = output.index;
  message.flow = usable ? output.output.flows.reserve(InputFlowRef::of(0, input, kNoFlow)) : kNoFlow;
  message.value = usable ? 1 : wanted;
  if (usable && message.flow == kNoFlow) return false;
  if (!is_own(input) && !send(worker_of_port_[input], message)) {
    if (usable) output.output.flows.free(message.flow);
    result_.busy = true;  // the ring is full: next turn
    return false;
  }
  wanted -= message.value;
  if (wanted == 0) output.output.wanting_inputs &= ~(PortSet{1} << input);
  output.counters.count(usable ? ProtocolEvent::id_reserved : ProtocolEvent::id_refused);
  if (is_own(input)) take(message, now);
  return true;
}

void Worker::on_grant(Port& port, PortIndex output, FlowId id, Nanos now) {
  Voq& voq = port.input.voqs[output];
  --voq.asked;
  if (voq.wanting.empty()) {  // the session has ended meanwhile, or the frames' lives have
    InputFlow nobody{};
    nobody.follow_port = output;
    nobody.output_flow = id;
    give_back(port, nobody, false);
  } else {
    const FlowId flow_id = port.input.flows.pop(voq.wanting);
    InputFlow& flow = port.input.flows[flow_id];
    flow.output_flow = id;
    flow.turn_start = flow.data_flow;
    const bool here = flow.destination.node == node_address_;
    if (!here && !(routes_.primary(flow.destination.node) >> output & 1)) flow.flags |= kFlowLeaving;  // R12
    place(port, flow_id, now);
  }
  tell_wants(port, output);
}

// The output's link is down: all flows that wait for it take another way, or are dropped.
void Worker::on_refuse(Port& input, PortIndex output, uint32_t flows, Nanos now) {
  Voq& voq = input.input.voqs[output];
  voq.asked -= flows;
  FlowList waiting = std::exchange(voq.wanting, {});
  while (!waiting.empty()) {
    const FlowId id = input.input.flows.pop(waiting);
    place(input, id, now);
  }
}

}  // namespace heddle
