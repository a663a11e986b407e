// SPDX-License-Identifier: Apache-2.0
// Arbitration and crossing (A10, X1): round robin over the virtual output queues that have something to send, and over
// the flows in each. A packet crosses only with room at its output and an output flow ID reserved there.
#include <bit>
#include <cassert>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
// One virtual output queue's share of a turn: more than comes in meanwhile, so that it runs empty again.
constexpr uint32_t kQuantumPackets = 2 * kBurst;
}  // namespace

void Worker::activate(Port& input, uint32_t index) {
  Voq& voq = input.input.voqs[index];
  if (voq.active) return;
  voq.active = true;
  voq.next_active = kNoItem;
  const uint32_t item = uint32_t{input.index} << 16 | index;
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
    const uint32_t index = item & 0xffff;
    Voq& voq = input.input.voqs[index];
    active_head_ = voq.next_active;
    if (active_head_ == kNoItem) active_tail_ = kNoItem;
    --active_count_;
    voq.active = false;
    if (serve(input, voq, now)) activate(input, index);
  }
}

// One quantum of one virtual output queue. False if it has nothing to send or no room: room or a flow wakes it.
bool Worker::serve(Port& input, Voq& voq, Nanos now) {
  InputFlowTable& flows = input.input.flows;
  tell_wants(input, voq.output);
  if (voq.fifos != 0 && !serve_fifos(input, voq, now)) return false;
  for (uint32_t sent = 0; sent < kQuantumPackets && !voq.ready.empty();) {
    const FlowId id = voq.ready.head;
    InputFlow& flow = flows[id];
    if (flow.flags & kFlowLeaving) {
      flows.pop(voq.ready);
      place(input, id, now);
      continue;
    }
    if ((voq.shares_credit && !has_share(flow, voq)) ||
        ((flow.flags & (kFlowLimited | kFlowMetered)) &&
         !may_forward(input, id, flow, flow.queue.head->payload, now))) {
      flows.pop(voq.ready);
      block(input, id, flow, now);
      continue;
    }
    if (voq.room < flow.queue.head->cost) {
      wait_for_room(input, voq);
      return false;
    }
    Packet* packet = take_from_queue(input, flow);
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
  if (voq.told_waiters != 0) tell_waiting(input, voq, 0);  // it is not room that it waits for
  return !voq.ready.empty() || voq.fifos != 0;
}

// `flow`: that of the packet, which is in its extent; nullptr if it has none.
void Worker::cross(Port& input, PortIndex output, Packet* packet, const InputFlow* flow, Nanos now) {
  if (!input.is_fabric()) packet->dies_ns += now;  // K8: life counts from leaving the ingress edge queue
  const uint8_t known = flow == nullptr ? uint8_t{0} : flow->congestion;
  if (is_own(output)) return accept(own(output), packet, known);
  bool first = false;
  if (flow != nullptr) {
    const uint32_t before = flow->data_flow - packet->payload;
    first = before == flow->branch.turn_start && before == flow->ack_flow;
  }
  outbox_.packet({packet, output, known, first});
}

// The output side of the crossing; its flow has been told of so much congestion (C3). An output flow ID reserved in a
// session that has ended takes nothing more.
void Worker::accept(Port& output, Packet* packet, uint8_t told) {
  bool dead;
  if (packet->output_flow == kNoFlow) {
    dead = !output.usable();
  } else {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    assert(entry.input == packet->input);
    assert(entry.state != OutputFlowState::free);
    ++entry.queued;
    entry.told = told;
    dead = entry.flags & kOutputEnded;
  }
  if (dead) return drop_at_output(output, packet, DropReason::link_down);
  if (output.output.congestion.congested() && packet->output_flow != kNoFlow) tell_congestion(output, *packet);
  output.output.queues.push(packet);
}

// C2: while its host is congested a flow is told at once when its packet comes.
void Worker::tell_congestion(Port& output, const Packet& packet) {
  if (!edge_.classifier().of_ftag(packet.ftag).congestion_control) return;
  OutputFlow& entry = output.output.flows[packet.output_flow];
  entry.congestion = output.output.congestion.next_level() | kCongestionNew;
  entry.flags |= kOutputTell;
  mark_dirty(output, packet.output_flow, entry);
  output.counters.count(ProtocolEvent::congestion_new);
}

}  // namespace heddle
