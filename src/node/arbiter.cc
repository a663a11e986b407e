// SPDX-License-Identifier: Apache-2.0
#include "node/arbiter.h"

namespace heddle {

namespace {
// One virtual output queue's share of a turn: more than comes in meanwhile, so that it runs empty again.
constexpr uint32_t kQuantumPackets = 2 * kBurst;
}  // namespace

void Arbiter::run(Nanos now) {
  for (uint32_t rounds = active_.count(); rounds > 0; --rounds) {
    const ActiveQueues::Queue next = active_.pop();
    if (serve(next.input, next.input.input.voqs[next.index], now)) active_.push(next.input, next.index);
  }
}

// One quantum of one virtual output queue. False if it has nothing to send or no room: room or a flow wakes it.
bool Arbiter::serve(Port& input, Voq& voq, Nanos now) {
  InputFlowTable& flows = input.input.flows;
  flow_ids_.tell_wants(input, voq.output);
  if (voq.fifos != 0 && !fifos_.serve(input, voq, now)) return false;
  for (uint32_t sent = 0; sent < kQuantumPackets && !voq.ready.empty();) {
    const FlowId id = voq.ready.head;
    InputFlow& flow = flows[id];
    if (flow.flags & kFlowLeaving) {
      flows.pop(voq.ready);
      flow_life_.place(input, id, now);
      continue;
    }
    if ((voq.shares_credit && !shares_.has_share(flow, voq)) ||
        ((flow.flags & (kFlowLimited | kFlowMetered)) &&
         !flow_limits_.may_forward(input, id, flow, flow.queue.head->payload, now))) {
      flows.pop(voq.ready);
      flow_life_.block(input, id, flow, now);
      continue;
    }
    if (voq.room < flow.queue.head->cost) {
      room_.wait(input, voq);
      return false;
    }
    Packet* packet = flow_queues_.take(input, flow);
    flows.pop(voq.ready);
    if (flow.queue.empty()) {
      flow_life_.ran_empty(flow);
    } else {
      if (flow.turn_over()) flow_ids_.yield(input, flow);
      flows.push(voq.ready, id);
    }
    admission_.hand_on(input, flow, voq, packet, now);
    ++sent;
  }
  if (voq.told_waiters != 0) room_.tell_waiting(input, voq, 0);  // it is not room that it waits for
  return !voq.ready.empty() || voq.fifos != 0;
}

}  // namespace heddle
