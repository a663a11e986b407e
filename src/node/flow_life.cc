// SPDX-License-Identifier: Apache-2.0
#include "node/flow_life.h"

#include <bit>

namespace heddle {

void FlowLife::place_flow(Port& port, FlowId id) {
  InputFlow& flow = port.input.flows[id];
  if (flow.branch.flow != kNoFlow && !(flow.flags & (kFlowLeaving | kFlowPending))) return make_ready(port, id, flow);
  if (flow.flow_extent() != 0 || (flow.flags & kFlowPending)) {  // the old path is not settled (K9), or E1's wait
    flow.state = FlowState::held;
    port.counters.count(ProtocolEvent::flow_held);
    return;
  }
  if (flow.branch.flow != kNoFlow) {  // it leaves its path
    unbind(port, flow);
    port.counters.count(ProtocolEvent::flow_moved);
  }
  route(port, id);
}

void FlowLife::choose_anew(Port& port, InputFlow& flow, const Packet& packet) {
  if (ways_.stays(port, packet.input.flow, packet)) return;
  place(port, unbind(port, flow));
  port.counters.count(ProtocolEvent::flow_moved);
}

void FlowLife::end(Port& port, InputFlow& flow) {
  if (flow.branch.flow != kNoFlow) flow_ids_.give_back(port, flow, true);
  flow_ids_.forget_output(flow);
  flow.flags &= kFlowTimed;
  flow.queued_packets = 0;
  flow.state = FlowState::idle;
}

void FlowLife::drop_from_flow(Port& port, FlowId id, Packet* packet, DropReason reason) {
  InputFlow& flow = port.input.flows[id];
  flow.settle_lost(packet->payload);
  if (port.is_fabric())
    acks_.mark_due(port, id, flow, turn_.now());
  else if (flow.match != kNoMatch)
    edge_.matches()[flow.match].lose(packet->payload, reason);
  port.input.queues.dropped_of_group(flow.group, reason);
  turn_.drop_at_input(port, packet, reason);
}

void FlowLife::finish_if_empty(Port& port, FlowId id, InputFlow& flow) {
  if (flow.in_use() && flow.queue.empty() && flow.flow_extent() == 0) finish(port, id, flow);
}

void FlowLife::hold_for(Port& port, FlowId id, Nanos until) {
  port.counters.count(ProtocolEvent::pair_held);
  set_hold(port, id, until);
}

void FlowLife::block(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  flow.state = FlowState::blocked;
  port.counters.count(ProtocolEvent::flow_blocked);
  const Nanos release = flow.flags & kFlowLimited ? port.input.limits[id].release_ns() : 0;
  if (release <= now) return;  // an acknowledgement or credit wakes it
  if (flow.flow_extent() == 0 && flow.branch.flow != kNoFlow) place(port, unbind(port, flow));  // K11
  if (flow.flags & kFlowTimed) return;
  flow.flags |= kFlowTimed;
  releases_.add_input(port.index, id, release);
}

void FlowLife::on_ack(Port& port, Epoch epoch, FlowId id, uint32_t acknowledged, uint32_t lost, bool path_ended,
                      Nanos now) {
  if (!usually(epoch == port.input.ref.epoch)) return port.counters.count(ProtocolEvent::ack_absorbed);
  InputFlow& flow = port.input.flows[id];
  if (usually(acknowledged != 0)) settle(port, port.is_fabric(), id, flow, acknowledged, lost, now);
  if (path_ended && flow.branch.flow != kNoFlow) {  // not of an ID that it once had (K11)
    flow.flags |= kFlowLeaving;
    port.counters.count(ProtocolEvent::path_ended);
    if (flow.branch.output() != kNoPort) flow_ids_.return_lent(port, flow.branch.output(), true);
  }
  if (usually(!(flow.flags & kFlowLimited)))
    FlowLimits::forget(flow);  // of the flow that was here before
  else if (acknowledged != 0)
    flow_limits_.renew(port, id, acknowledged - lost, now);

  // A blocked one has less under way now (C4, C6, C8).
  if (!usually(flow.state != FlowState::blocked)) return unblock(port, id, flow, now);
  if (flow.flow_extent() != 0 || !usually(flow.in_use())) return;
  if (usually(flow.queue.empty()))
    finish(port, id, flow);
  else if (flow.state == FlowState::held)
    place(port, id);
}

void FlowLife::on_congestion(Port& port, Epoch epoch, FlowId id, uint8_t congestion, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (flow_limits_.tell(port, id, flow, congestion, now) && flow.state == FlowState::blocked)
    unblock(port, id, flow, now);
}

void FlowLife::on_credit(Port& port, Epoch epoch, FlowId id, bool metered, uint32_t granted, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (!flow.in_use() || flow.branch.flow == kNoFlow) return;
  if (metered) {
    flow.flags |= kFlowMetered;
    port.input.meters[id].set_limit(flow.branch.turn_start + granted);
  } else {
    flow.flags &= static_cast<uint16_t>(~kFlowMetered);
  }
  if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
}

void FlowLife::on_grant(Port& port, PortIndex output, uint8_t channel, FlowId id) {
  place(port, flow_ids_.granted(port, output, channel, id));
  flow_ids_.tell_wants(port, output);
}

void FlowLife::on_refuse(Port& input, PortIndex output, uint8_t channel, uint32_t flows) {
  FlowList waiting = flow_ids_.refused(input, output, channel, flows);
  while (!waiting.empty()) {
    const FlowId id = input.input.flows.pop(waiting);
    place(input, id);
  }
}

void FlowLife::on_timer(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  flow.flags &= static_cast<uint16_t>(~kFlowPending);
  const Nanos until = flow.match == kNoMatch ? 0 : edge_.held_until(edge_.matches()[flow.match]);
  if (now < until) return set_hold(port, id, until);  // beyond the wheel: not yet
  if (flow.queue.empty())
    finish_if_empty(port, id, flow);
  else if (flow.state == FlowState::held)
    place(port, id);
}

void FlowLife::run_releases(Nanos now) {
  const auto release = [this, now](Port& port, FlowId id) {
    InputFlow& flow = port.input.flows[id];
    flow.flags &= static_cast<uint16_t>(~kFlowTimed);
    if (flow.flags & kFlowPending) return holds_.add_input(port.index, id, now);  // E1 has come meanwhile
    if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
  };
  releases_.advance(now, release, [](Port&, FlowId) {});
}

void FlowLife::leave_stale_paths() {
  end_all_rest();  // there may be other ways now
  for (Port* port : ports_) {
    port->counters.count(ProtocolEvent::routes_compiled);
    for (PortSet rest = port->input.lent_outputs; rest != 0; rest &= rest - 1)  // of a session that may have ended
      flow_ids_.return_lent(*port, PortIndex::of(std::countr_zero(rest)), true);
    for (uint32_t i = 1; i <= port->input.flows.size(); ++i) {
      const auto id = FlowId::of(i);
      InputFlow& flow = port->input.flows[id];
      if (!flow.in_use() || flow.branch.flow == kNoFlow || !ways_.is_stale(*port, id, flow.branch.output())) continue;
      flow.flags |= kFlowLeaving;
      if (flow.queue.empty()) finish_if_empty(*port, id, flow);
    }
  }
}

void FlowLife::age_waiting(Nanos now) {
  if (now < next_age_ns_) return;
  next_age_ns_ = now + kMillisecond;
  for (Port* port : ports_) {
    for (PortSet rest = port->input.lent_outputs; rest != 0; rest &= rest - 1)
      flow_ids_.return_lent(*port, PortIndex::of(std::countr_zero(rest)), false);
    if (!port->is_fabric()) continue;
    for (PortSet rest = port->input.wanting_outputs; rest != 0; rest &= rest - 1) {
      const auto output = PortIndex::of(std::countr_zero(rest));
      WantingFlows& wanting = port->input.ids[output].wanting;
      for (uint8_t channel = 0; channel < port->channels; ++channel) {
        FlowList waiting = wanting.take_all(port->input.flows, channel);
        while (!waiting.empty()) {
          const FlowId id = port->input.flows.pop(waiting);
          drop_expired_frames(*port, id, now);
          if (port->input.flows[id].state == FlowState::wanting) wanting.push(port->input.flows, channel, id);
        }
      }
      if (wanting.empty()) port->input.wanting_outputs = port->input.wanting_outputs & ~(PortSet{1} << output);
    }
  }
}

// R6: at extent zero the flow takes the preferred port, and asks for a flow ID there.
void FlowLife::route(Port& port, FlowId id) {
  InputFlow& flow = port.input.flows[id];
  DropReason reason = DropReason::none;
  flow_ids_.forget_output(flow);
  const PortIndex output = ways_.choose_for(port, id, *flow.queue.head, reason);
  if (output == kNoPort) return drop_queue(port, id, reason);
  const Packet& first = *flow.queue.head;
  ways_.took(port, id, output, first);
  if (flow_ids_.reserve(port, flow, output, first)) return make_ready(port, id, flow);
  Port* there = ports_.find(output);
  if (there != nullptr && reclaim(*there, port.index, flow_ids_.channel_of(port, flow)) &&
      flow_ids_.reserve(port, flow, output, first))
    return make_ready(port, id, flow);
  flow.state = FlowState::wanting;
  flow_ids_.wait(port, id);
  port.input.wanting_outputs = port.input.wanting_outputs | PortSet{1} << output;
  port.counters.count(ProtocolEvent::id_waited);
  flow_ids_.tell_wants(port, output);
}

void FlowLife::drop_queue(Port& port, FlowId id, DropReason reason) {
  InputFlow& flow = port.input.flows[id];
  while (!flow.queue.empty()) drop_from_flow(port, id, flow_queues_.take(port, flow), reason);
  flow.state = FlowState::idle;
  finish_if_empty(port, id, flow);
}

// F9: with an empty queue and nothing outstanding the flow rests, or is gone.
void FlowLife::finish(Port& port, FlowId id, InputFlow& flow) {
  if (!usually(!(flow.flags & kFlowPending))) return;  // its timer comes back to it
  if (!usually(flow_ids_.rest(port, id, flow))) leave(port, id, flow);
}

bool FlowLife::reclaim(Port& output, PortIndex input, uint8_t channel) {
  while (output.usable() && !output.output.flows.may_reserve(input, channel)) {
    const InputFlowRef longest = flow_ids_.longest_at_rest_at(output);
    if (longest.flow == kNoFlow) return false;
    Port& port = ports_.own(longest.port);
    end_rest(port, longest.flow, port.input.flows[longest.flow]);
  }
  return output.usable();
}

bool FlowLife::reclaim(Port& port) {
  const FlowId id = flow_ids_.longest_at_rest_of(port);
  if (id == kNoFlow) return false;
  end_rest(port, id, port.input.flows[id]);
  return true;
}

void FlowLife::end_rest(Port& port, FlowId id, InputFlow& flow) {
  port.counters.count(ProtocolEvent::rest_ended);
  leave(port, id, flow);
}

void FlowLife::end_all_rest() {
  for (Port* port : ports_) {
    for (uint32_t i = 1; i <= port->input.flows.size(); ++i) {
      InputFlow& flow = port->input.flows[FlowId::of(i)];
      if (flow.at_rest()) end_rest(*port, FlowId::of(i), flow);
    }
  }
}

// Its IDs are free, the way back first.
void FlowLife::leave(Port& port, FlowId id, InputFlow& flow) {
  FlowId next = kNoFlow;
  if (flow.branch.flow != kNoFlow) next = flow_ids_.give_back(port, flow, false);
  flow.flags &= kFlowAckDue | kFlowTimed;
  flow.state = FlowState::idle;
  port.counters.count(ProtocolEvent::flow_freed);
  if (!port.is_fabric()) {
    port.input.waiting.shares.gave(flow.group);
    port.input.flows.put(id);
  }
  place(port, next);
}

void FlowLife::set_hold(Port& port, FlowId id, Nanos until) {
  InputFlow& flow = port.input.flows[id];
  flow.flags |= kFlowPending;
  if (!(flow.flags & kFlowTimed)) holds_.add_input(port.index, id, until);
}

void FlowLife::unblock(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  if (port.is_fabric()) {  // K8: frames die while they wait here, too
    drop_expired_frames(port, id, now);
    if (flow.state != FlowState::blocked) return;
  }
  if (!flow_limits_.may_forward(port, id, flow, flow.queue.head->payload, now)) return block(port, id, flow, now);
  place(port, id);
}

void FlowLife::drop_expired_frames(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  while (!flow.queue.empty() && life_over(*flow.queue.head, now))
    drop_from_flow(port, id, flow_queues_.take(port, flow), DropReason::life_ended);
  if (!flow.queue.empty()) return;
  flow.state = FlowState::idle;
  finish_if_empty(port, id, flow);
}

}  // namespace heddle
