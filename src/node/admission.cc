// SPDX-License-Identifier: Apache-2.0
// Flow queues (F7): a frame joins its flow, and a flow with frames stands in the list that fits its state.
#include <bit>
#include <utility>

#include "node/worker.h"

namespace heddle {

// Every frame of a flow passes here, at the edge and in transit.
void Worker::admit(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  flow.next_data_flow += packet->payload;
  packet->input = port.input.ref.with(id);
  if (flow.state != FlowState::idle || !pass_through(port, id, flow, packet, now))
    join_queue(port, id, flow, packet, now);
}

// Past a mark the tail of a lossy class is dropped (A8). No flow may have more of the input's buffers than it leaves
// free, so that however many flows are held up, one that is not finds room (C8). An empty queue takes any frame.
void Worker::join_queue(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  DropReason reason = DropReason::none;
  if (packet->hop_limit == 0 && flow.destination.node != node_address_)
    reason = DropReason::hop_limit;
  else if (lanes_.lossless(flow.ftag))
    reason = wait_lossless(port, flow);
  else if (!flow.queue.empty() && flow.queue_extent() > flow_queue_mark(flow))
    reason = DropReason::flow_queue_full;
  else if (input_buffers(port) > settings_.input_drop_mark_packets)
    reason = DropReason::input_full;
  else if (flow.queued_packets > settings_.input_drop_mark_packets - input_buffers(port))
    reason = DropReason::flow_queue_full;
  if (reason != DropReason::none) {
    drop_from_flow(port, id, packet, reason);
    return finish_if_empty(port, id, flow);
  }
  if (port.is_fabric()) grant_by_credit(port, id, flow, *packet, now);
  flow.queue.push(packet);
  ++flow.queued_packets;
  ++port.input.queued_packets;
  if (lanes_.lossless(flow.ftag)) ++port.input.lossless_packets;
  if (flow.state == FlowState::idle) place(port, id, now);
}

uint32_t Worker::flow_queue_mark(const InputFlow& flow) const {
  return edge_.classifier().of_ftag(flow.ftag).flow_queue_bytes;
}

// The short cut past the input queue (decision 4): the flow's own queue is empty, nobody with an output flow ID waits
// here for the same output, and there is room. What it has to have, it has here as in arbitration; how much one flow
// may pass by it in a turn is bounded by the room.
bool Worker::pass_through(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  const uint16_t special = flow.flags & (kFlowLeaving | kFlowPending | kFlowLimited | kFlowMetered | kFlowFull);
  if (port.is_fabric()) {
    if (packet->hop_limit == 0) return false;
    if (packet->vc == kLossyChannel && port.credits[kLossyChannel].held() > settings_.input_drop_mark_packets)
      return false;
  }
  if (special != 0 && !may_pass(port, id, flow, packet->payload, now)) return false;
  if (flow.branch.flow == kNoFlow) {
    DropReason reason = DropReason::none;
    const PortIndex output = choose_port(port, *packet, reason);
    if (output == kNoPort || !reserve_output(port, flow, output, *packet)) return false;
  } else if (!port.input.ids[flow.branch.output].wanting.empty()) {
    yield_id(port, flow);  // its queue ran empty: it has had its turn
    return false;
  }
  Voq& voq = port.input.voqs[flow.branch.voq];
  if (!voq.ready.empty() || voq.room < packet->cost) return false;
  if (voq.shares_credit && !has_share(flow, voq)) return false;
  if (special & kFlowFull) look_at_full(port, flow, *packet);
  hand_on(port, flow, voq, packet, now);
  return true;
}

// Of a flow with something special about it.
bool Worker::may_pass(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
  if (flow.flags & (kFlowLeaving | kFlowPending)) return false;
  return !(flow.flags & (kFlowLimited | kFlowMetered)) || may_forward(port, id, flow, bytes, now);
}

// A packet leaves its flow for the crossing; the flow has an output flow ID, and the room is there.
void Worker::hand_on(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now) {
  flow.data_flow += packet->payload;
  packet->output_flow = flow.branch.flow;
  take_lane(*packet, voq);
  if (flow.flags & kFlowLimited) spend_share(port, packet->input.flow, packet->payload, now);
  cross(port, flow.branch.output, packet, &flow, now);
}

// What the port's frames hold, this one included. On a fabric port those in the outputs count too: they hold link
// credits, and lossy frames must not hold them all (C9).
uint32_t Worker::input_buffers(const Port& port) const {
  return port.is_fabric() ? port.credits[kLossyChannel].held()
                          : port.input.queued_packets - port.input.lossless_packets + 1;
}

// A frame of the flow that never goes on: settled here, as lost (K4).
void Worker::drop_from_flow(Port& port, FlowId id, Packet* packet, DropReason reason) {
  InputFlow& flow = port.input.flows[id];
  flow.settle_lost(packet->payload);
  if (port.is_fabric())
    mark_ack_due(port, id, flow, now_);
  else if (flow.match != kNoMatch)
    edge_.matches()[flow.match].lose(packet->payload, reason);
  drop_at_input(port, packet, reason);
}

void Worker::drop_queue(Port& port, FlowId id, DropReason reason) {
  InputFlow& flow = port.input.flows[id];
  while (!flow.queue.empty()) {
    drop_from_flow(port, id, take_from_queue(port, flow), reason);
  }
  flow.state = FlowState::idle;
  finish_if_empty(port, id, flow);
}

// A flow with a queue and in no list: where does it stand?
void Worker::place(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  if (flow.branch.flow != kNoFlow && !(flow.flags & (kFlowLeaving | kFlowPending))) {
    flow.state = FlowState::ready;
    port.input.flows.push(port.input.voqs[flow.branch.voq].ready, id);
    return activate(port, flow.branch.voq);
  }
  if (flow.flow_extent() != 0 || (flow.flags & kFlowPending)) {  // the old path is not settled (K9), or E1's wait
    flow.state = FlowState::held;
    port.counters.count(ProtocolEvent::flow_held);
    return;
  }
  if (flow.branch.flow != kNoFlow) {
    give_back(port, flow, false);
    flow.flags &= static_cast<uint16_t>(~kFlowOfItsId);
    port.counters.count(ProtocolEvent::flow_moved);
  }
  route(port, id, now);
}

// R6: at extent zero the flow takes the preferred port, and asks for a flow ID there.
void Worker::route(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  DropReason reason = DropReason::none;
  const PortIndex output = choose_port(port, *flow.queue.head, reason);
  if (output == kNoPort) return drop_queue(port, id, reason);
  if (reserve_output(port, flow, output, *flow.queue.head)) return place(port, id, now);
  flow.state = FlowState::wanting;
  port.input.flows.push(port.input.ids[output].wanting, id);
  port.input.wanting_outputs |= PortSet{1} << output;
  port.counters.count(ProtocolEvent::id_waited);
  tell_wants(port, output);
}

PortIndex Worker::choose_port(const Port& input, const Packet& packet, DropReason& reason) {
  return paths_.choose(
      {.input = input.index, .channel = packet.vc, .hop_limit = packet.hop_limit, .destination = packet.destination},
      random_, reason);
}

Packet* Worker::take_from_queue(Port& port, InputFlow& flow) {
  --flow.queued_packets;
  --port.input.queued_packets;
  if (lanes_.lossless(flow.ftag)) --port.input.lossless_packets;
  Packet* packet = flow.queue.pop();
  if (port.is_fabric() && flow.queue.empty()) --port.input.queued_flows[packet->vc];
  if (flow.flags & kFlowFull) look_at_full(port, flow, *packet);
  return packet;
}

void Worker::finish_if_empty(Port& port, FlowId id, InputFlow& flow) {
  if (flow.in_use() && flow.queue.empty() && flow.flow_extent() == 0) finish(port, id, flow);
}

// F9: with an empty queue and nothing outstanding the flow is gone; its IDs are free, the way back first.
void Worker::finish(Port& port, FlowId id, InputFlow& flow) {
  if (flow.flags & kFlowPending) return;  // its timer comes back to it
  if (flow.branch.flow != kNoFlow) give_back(port, flow, false);
  flow.flags &= kFlowAckDue | kFlowTimed;
  flow.state = FlowState::idle;
  if (!port.is_fabric()) port.input.flows.put(id);
  port.counters.count(ProtocolEvent::flow_freed);
}

// E1: nothing of the flow moves before `until`.
void Worker::hold_for(Port& port, FlowId id, Nanos until) {
  port.counters.count(ProtocolEvent::pair_held);
  set_hold(port, id, until);
}

void Worker::set_hold(Port& port, FlowId id, Nanos until) {
  InputFlow& flow = port.input.flows[id];
  flow.flags |= kFlowPending;
  if (!(flow.flags & kFlowTimed)) add_hold_timer(port, id, until);
}

// K8: frames die in transit also while their flow waits for a flow ID. So flows that wait for each other's IDs around a
// ring do not wait for ever.
void Worker::age_waiting(Nanos now) {
  if (now < next_age_ns_) return;
  next_age_ns_ = now + kMillisecond;
  for (Port* port : own_ports_) {
    for (PortSet rest = port->input.lent_outputs; rest != 0; rest &= rest - 1)
      return_lent_ids(*port, static_cast<PortIndex>(std::countr_zero(rest)), false);
    if (!port->is_fabric()) continue;
    for (PortSet rest = port->input.wanting_outputs; rest != 0; rest &= rest - 1) {
      const auto output = static_cast<PortIndex>(std::countr_zero(rest));
      FlowList& wanting = port->input.ids[output].wanting;
      FlowList waiting = std::exchange(wanting, {});
      while (!waiting.empty()) {
        const FlowId id = port->input.flows.pop(waiting);
        drop_expired_frames(*port, id, now);
        if (port->input.flows[id].state == FlowState::wanting) port->input.flows.push(wanting, id);
      }
      if (wanting.empty()) port->input.wanting_outputs &= ~(PortSet{1} << output);
    }
  }
}

void Worker::drop_expired_frames(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  while (!flow.queue.empty() && life_over(*flow.queue.head, now)) {
    drop_from_flow(port, id, take_from_queue(port, flow), DropReason::life_ended);
  }
  if (!flow.queue.empty()) return;
  flow.state = FlowState::idle;
  finish_if_empty(port, id, flow);
}

// R12: after a change of routes, flows whose port no longer lies on a shortest path leave it, each when its extent is
// zero, so that order is kept.
void Worker::leave_stale_paths() {
  if (!routes_stale_) return;
  routes_stale_ = false;
  paths_.compile(link_state_.ports_up());
  for (Port* port : own_ports_) {
    port->counters.count(ProtocolEvent::routes_compiled);
    for (PortSet rest = port->input.lent_outputs; rest != 0; rest &= rest - 1)  // of a session that may have ended
      return_lent_ids(*port, static_cast<PortIndex>(std::countr_zero(rest)), true);
    for (uint32_t i = 1; i <= port->input.flows.size(); ++i) {
      const auto id = static_cast<FlowId>(i);
      InputFlow& flow = port->input.flows[id];
      if (!flow.in_use() || flow.branch.flow == kNoFlow || flow.destination.node == node_address_) continue;
      if (paths_.routes().primary(flow.destination.node) >> flow.branch.output & 1) continue;
      flow.flags |= kFlowLeaving;
      if (flow.queue.empty()) finish_if_empty(*port, id, flow);
    }
  }
}

}  // namespace heddle
