// SPDX-License-Identifier: Apache-2.0
// Arbitration and crossing (A10, X1): round robin over the virtual output queues that have something to send, and over
// the flows in each. A packet crosses only with room at its output and an output flow ID reserved there.
#include <bit>
#include <cassert>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kQuantumPackets = kBurst;  // one virtual output queue's share of a turn
constexpr uint32_t kGrantsPerTurn = 16;       // one output's flow IDs to waiting inputs
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
    assert(entry.state != OutputFlowState::free && entry.input == packet->input);  // invariant 4
    ++entry.queued;
    dead = dead || (entry.flags & kOutputEnded);
  }
  if (dead) return drop_at_output(output, packet, DropReason::link_down);
  output.output.queue.push(packet);
  ++output.output.queued_packets;
  output.output.queued_bytes += packet->payload;
}

// A flow waits for an ID: the output's worker hears of one flow per virtual output queue at a time.
void Worker::tell_wants(Port& input, PortIndex output) {
  Voq& voq = input.input.voqs[output];
  if (voq.want_told || voq.wanting.empty()) return;
  if (is_own(output)) {
    voq.want_told = true;
    return on_want(own(output), input.index, voq.wanting.head, input.input.epoch);
  }
  Message message{.kind = MessageKind::want};
  message.input = input.index;
  message.output = output;
  message.flow = voq.wanting.head;
  message.epoch = input.input.epoch;
  voq.want_told = send(worker_of_port_[output], message);
  if (!voq.want_told) activate(input, output);  // the ring is full: said again next turn
}

void Worker::on_want(Port& output, PortIndex input, FlowId flow, Epoch epoch) {
  output.output.wanted[input] = {flow, epoch};
  output.output.wanting_inputs |= PortSet{1} << input;
}

// Flow IDs for inputs that wait for one, round robin (K11); refused where the link is down.
void Worker::grant_ids(Nanos now) {
  for (Port* port : own_ports_) {
    OutputSide& output = port->output;
    for (uint32_t grants = 0; output.wanting_inputs != 0 && grants < kGrantsPerTurn; ++grants) {
      const PortSet later = output.wanting_inputs & ~((PortSet{1} << output.next_wanting) - 1);
      const auto input = static_cast<PortIndex>(std::countr_zero(later != 0 ? later : output.wanting_inputs));
      output.next_wanting = static_cast<PortIndex>((input + 1) % kPortsMax);
      const OutputSide::Wanted wanted = output.wanted[input];
      Message message{.kind = port->usable() ? MessageKind::grant : MessageKind::refuse};
      message.input = input;
      message.output = port->index;
      message.flow = wanted.flow;
      message.epoch = wanted.epoch;
      if (port->usable()) {
        message.value = output.flows.reserve(InputFlowRef::of(wanted.epoch, input, wanted.flow));
        if (message.value == kNoFlow) {
          if ((output.wanting_inputs & (output.wanting_inputs - 1)) == 0) break;
          continue;
        }
      }
      if (is_own(input)) {
        output.wanting_inputs &= ~(PortSet{1} << input);
        take(message, now);
      } else if (send(worker_of_port_[input], message)) {
        output.wanting_inputs &= ~(PortSet{1} << input);
      } else {
        if (message.value != kNoFlow) output.flows.free(static_cast<FlowId>(message.value));
        result_.busy = true;  // the ring is full: next turn
        continue;
      }
      port->counters.count(port->usable() ? ProtocolEvent::id_reserved : ProtocolEvent::id_refused);
    }
  }
}

void Worker::on_grant(PortIndex input, PortIndex output, FlowId flow_id, Epoch epoch, FlowId id, Nanos now) {
  Port& port = own(input);
  Voq& voq = port.input.voqs[output];
  voq.want_told = false;
  InputFlow& flow = port.input.flows[flow_id];
  const bool wanted = epoch == port.input.epoch && voq.wanting.head == flow_id;
  if (!wanted) {  // its session has ended meanwhile
    InputFlow nobody{};
    nobody.follow_port = output;
    nobody.output_flow = id;
    give_back(port, nobody, false);
  } else {
    port.input.flows.pop(voq.wanting);
    flow.output_flow = id;
    flow.turn_start = flow.data_flow;
    const bool here = flow.destination.node == node_address_;
    if (!here && !(routes_.primary(flow.destination.node) >> output & 1)) flow.flags |= kFlowLeaving;  // R12
    place(port, flow_id, now);
  }
  tell_wants(port, output);
}

// The output's link is down: all flows that wait for it take another way, or are dropped.
void Worker::on_refuse(Port& input, PortIndex output, Nanos now) {
  Voq& voq = input.input.voqs[output];
  voq.want_told = false;
  FlowList waiting = voq.wanting;
  voq.wanting = {};
  while (!waiting.empty()) {
    const FlowId id = input.input.flows.pop(waiting);
    place(input, id, now);
  }
}

}  // namespace heddle
