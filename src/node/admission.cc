// SPDX-License-Identifier: Apache-2.0
#include "node/admission.h"

namespace heddle {

void Admission::admit(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  flow.next_data_flow += packet->payload;
  packet->input = port.input.ref.with(id);
  if (flow.state != FlowState::idle || !pass_through(port, id, flow, packet, now))
    join_queue(port, id, flow, packet, now);
}

void Admission::hand_on(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now) {
  leave(port, flow, voq, packet, now);
  crosspoint_.cross(port, flow.branch.output(), packet, &flow, now);
}

void Admission::leave(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now) {
  leave(port, false, flow, voq, packet);
  if (flow.flags & (kFlowLimited | kFlowDetour)) [[unlikely]] {
    packet->via = port.input.flows.via(packet->input.flow);
    if (flow.flags & kFlowLimited) flow_limits_.spend(port, packet->input.flow, packet->payload, now);
  }
}

void Admission::join_queue(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  flow_pauses_.came(port, id, flow, packet->payload, now);
  const DropReason reason = flow_queues_.refusal(port, flow, *packet);
  if (reason != DropReason::none) {
    flow_life_.drop_from_flow(port, id, packet, reason);
    return flow_life_.finish_if_empty(port, id, flow);
  }
  flow_queues_.push(port, id, flow, packet, now);
  if (flow.state == FlowState::idle) flow_life_.place(port, id);
}

// The short cut past the input queue (decision 4): the flow's own queue is empty, nobody with an output flow ID waits
// here for the same output, and there is room. What it has to have, it has here as in arbitration; how much one flow
// may pass by it in a turn is bounded by the room.
bool Admission::pass_through(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  const uint16_t special =
      flow.flags & (kFlowLeaving | kFlowPending | kFlowLimited | kFlowMetered | kFlowFull | kFlowChooses | kFlowPaused);
  if (!may_enter(port, *packet)) return false;
  if (special != 0 && !may_pass(port, id, flow, *packet, now)) return false;
  if (flow.branch.flow == kNoFlow) {
    if (!set_out(port, id, flow, *packet)) return false;
  } else if (flow_ids_.has_to_yield(port, flow)) {
    flow_ids_.yield(port, flow);  // its queue ran empty: it has had its turn
    return false;
  }
  Voq& voq = port.input.arbiter[flow.branch.voq];
  if (!may_cross(port, flow, voq, *packet)) return false;
  if (special & (kFlowFull | kFlowPaused)) [[unlikely]]
    pass_marks(port, id, flow, *packet, now);
  leave(port, flow, voq, packet, now);
  if (!at_once_.take(port, flow, packet, now)) crosspoint_.cross(port, flow.branch.output(), packet, &flow, now);
  return true;
}

// Of a flow that has no output: it chooses one. False if there is none, or no ID for it there.
bool Admission::set_out(Port& port, FlowId id, InputFlow& flow, const Packet& packet) {
  DropReason reason = DropReason::none;
  const PortIndex output = ways_.choose_for(port, id, packet, reason);
  if (output == kNoPort || !flow_ids_.reserve(port, flow, output, packet)) return false;
  ways_.took(port, id, output, packet);
  return true;
}

// Of a flow that was past a mark and is not any more.
void Admission::pass_marks(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now) {
  if (flow.flags & kFlowPaused) flow_pauses_.came(port, id, flow, packet.payload, now);
  flow_queues_.went(port, flow, packet);
}

// Of a flow with something special about it.
bool Admission::may_pass(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now) {
  if (flow.flags & (kFlowLeaving | kFlowPending)) return false;
  if ((flow.flags & kFlowChooses) && flow.flow_extent() == 0) flow_life_.choose_anew(port, flow, packet);
  return !(flow.flags & (kFlowLimited | kFlowMetered)) || flow_limits_.may_forward(port, id, flow, packet.payload, now);
}

}  // namespace heddle
