// SPDX-License-Identifier: Apache-2.0
#include "node/arbitration.h"

#include <algorithm>

namespace heddle {

namespace {
// One virtual output queue's share of a turn: more than comes in meanwhile, so that it runs empty again.
constexpr uint32_t kQuantumPackets = 2 * kBurst;
}  // namespace

void Arbitration::run(Nanos now) {
  uint32_t turns = 0;
  for (const Port* port : ports_) turns += port->input.arbiter.count();
  for (; turns > 0; --turns) {
    Port* next = nullptr;
    for (Port* port : ports_) {
      const InputArbiter& arbiter = port->input.arbiter;
      if (arbiter.count() != 0 && (next == nullptr || arbiter.woken() < next->input.arbiter.woken())) next = port;
    }
    const VoqIndex queue = next->input.arbiter.begin_turn();
    const bool has_room = serve(*next, queue, now);
    if (next->input.arbiter.end_turn(queue, has_room)) next->counters.count(ProtocolEvent::injection_waited);
  }
}

bool Arbitration::work_left() const {
  return std::any_of(ports_.begin(), ports_.end(), [](const Port* port) { return port->input.arbiter.count() != 0; });
}

// One quantum of one virtual output queue. False if it has no room: that wakes it.
bool Arbitration::serve(Port& input, VoqIndex queue, Nanos now) {
  InputArbiter& arbiter = input.input.arbiter;
  Voq& voq = arbiter[queue];
  flow_ids_.tell_wants(input, voq.output);
  if (voq.fifos() != 0 && !fifos_.serve(input, queue, now)) return false;
  for (uint32_t sent = 0; sent < kQuantumPackets;) {
    const FlowId id = arbiter.peek(queue);
    if (id == kNoFlow) break;
    InputFlow& flow = input.input.flows[id];
    if (flow.flags & kFlowLeaving) {
      arbiter.set_aside(queue);
      flow_life_.place(input, id);
      continue;
    }
    if (!may_go(input, voq, id, flow, now)) {
      arbiter.set_aside(queue);
      flow_life_.block(input, id, flow, now);
      continue;
    }
    if (voq.room < flow.queue.head->cost) {
      room_.wait(input, voq);
      return false;
    }
    Packet* packet = flow_queues_.take(input, flow);
    const bool more = !flow.queue.empty();
    if (!more)
      flow_life_.ran_empty(flow);
    else if (flow.turn_over())
      flow_ids_.yield(input, flow);
    arbiter.commit(queue, more, voq.bytes.of(*packet));
    admission_.hand_on(input, flow, voq, packet, now);
    ++sent;
  }
  if (voq.told_waiters != 0) room_.tell_waiting(input, voq, 0);  // it is not room that it waits for
  return true;
}

// Whether it may inject, the queue's arbiter has asked.
bool Arbitration::may_go(Port& input, const Voq& voq, FlowId id, InputFlow& flow, Nanos now) {
  if (flow.flags & (kFlowLimited | kFlowMetered))
    return flow_limits_.may_forward(input, id, flow, flow.queue.head->payload, now);
  return !voq.shares_credit || within_share(flow, shares_.free_bytes_of(voq));
}

}  // namespace heddle
