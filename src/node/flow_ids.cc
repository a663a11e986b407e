// SPDX-License-Identifier: Apache-2.0
#include "node/flow_ids.h"

#include <cassert>

namespace heddle {

bool FlowIds::reserve(Port& port, InputFlow& flow, PortIndex output, const Packet& first) {
  waiting_.end(flow);
  flow.branch.output = output;
  waiting_.begin(flow);
  flow.branch.voq = ways_.queue(port, output, flow.ftag, first.vc);
  Port* there = ports_.find(output);
  if (there == nullptr) return take_lent_id(port, flow);
  if (!takes_flows(*there)) return false;
  flow.branch.flow = there->output.flows.reserve(first.input, flow.ftag);
  if (flow.branch.flow == kNoFlow) return false;
  begin_turn(port.input.ids[output], flow);
  flow.flags |= rest_flags(port, first.input.flow);
  there->counters.count(ProtocolEvent::id_reserved);
  return true;
}

void FlowIds::tell_wants(Port& input, PortIndex output) {
  OutputIds& ids = input.input.ids[output];
  if (ids.wanting.count() <= ids.asked) return;
  const uint32_t flows = ids.wanting.count() - ids.asked;
  if (ports_.is_own(output)) {
    ids.asked = ids.asked + flows;
    return on_want(ports_.own(output), input.index, flows);
  }
  if (outbox_.send(output, WantIds{output, input.index, flows}))
    ids.asked = ids.asked + flows;
  else
    input.input.arbiter.wake(site_.voq_index(output, 0));  // the ring is full: said again next turn
}

void FlowIds::on_want(Port& output, PortIndex input, uint32_t flows) {
  output.output.wanted[input] += flows;
  output.output.wanting_inputs |= PortSet{1} << input;
}

FlowId FlowIds::granted(Port& port, PortIndex output, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  ids.asked = ids.asked - 1;
  if (!ports_.is_own(output)) ids.lent.came();
  if (!ids.wanting.empty()) return give_id(port, output, id);
  // The session has ended meanwhile, the frames' lives have, or another flow has left its own.
  return send_home(port, output, id, false, false);
}

FlowList FlowIds::refused(Port& input, PortIndex output, uint32_t flows) {
  OutputIds& ids = input.input.ids[output];
  ids.asked = ids.asked - flows;
  return ids.wanting.take_all(input.input.flows);
}

void FlowIds::bind(OutputFlow& entry, const InputFlowRef& input) {
  assert(!ports_.is_own(input.port) && entry.input.port == input.port);  // invariant 4
  assert(entry.queued == 0 && entry.extent() == 0 && entry.pending_ack == 0);
  entry.serve(input);
  if (entry.flags & kOutputEnded) entry.flags |= kOutputEndDue;
}

void FlowIds::yield(Port& port, InputFlow& flow) {
  const IdShares& shares = port.input.ids[flow.branch.output].wanting.shares;
  if (!shares.has_to_yield(flow.group) || (flow.flags & kFlowLeaving)) return;
  flow.flags |= kFlowLeaving;
  port.counters.count(ProtocolEvent::id_yielded);
}

FlowId FlowIds::give_back(Port& port, InputFlow& flow, bool count_orphan) {
  const FlowId id = flow.branch.flow;
  flow.branch.flow = kNoFlow;
  port.input.ids[flow.branch.output].wanting.shares.gave(flow.group);
  return send_home(port, flow.branch.output, id, flow.flags & kFlowLeaving, count_orphan);
}

// Where it came from, or to the next flow that waits for one.
FlowId FlowIds::send_home(Port& port, PortIndex output, FlowId id, bool leaving, bool count_orphan) {
  if (count_orphan) orphans_.made(port);
  if (Port* there = ports_.find(output)) {
    port.counters.count(ProtocolEvent::id_given_back);
    settlement_.release(*there, id, count_orphan);
    return kNoFlow;
  }
  LentIds& lent = port.input.ids[output].lent;
  if (!count_orphan && !leaving && lent.held() <= site_.lent_max) return keep_id(port, output, id);
  lent.went_home();
  port.counters.count(ProtocolEvent::id_given_back);
  outbox_.give_back({output, id, count_orphan});
  return kNoFlow;
}

bool FlowIds::rest(Port& port, FlowId id, const InputFlow& flow) {
  if ((flow.flags & ~(kFlowInUse | kFlowAckDue | kFlowChooses | kFlowMoved | kFlowDetour)) != kFlowMayRest)
    return false;
  Port& there = ports_.own(flow.branch.output);
  const OutputFlow& entry = there.output.flows[flow.branch.flow];
  if ((entry.congestion | entry.told) != 0 || there.output.wanting_inputs != 0) return false;
  if (!port.is_fabric()) {
    if (!port.input.waiting.empty()) return false;
    port.input.flows.resting().enter(id);
  }
  there.output.flows.resting().enter(flow.branch.flow);
  port.counters.count(ProtocolEvent::flow_rested);
  return true;
}

InputFlowRef FlowIds::longest_at_rest_at(Port& output) {
  OutputFlowTable& flows = output.output.flows;
  for (FlowId id; (id = flows.resting().take()) != kNoFlow;) {
    const InputFlowRef& input = flows[id].input;
    if (flows[id].state != OutputFlowState::reserved || !ports_.is_own(input.port)) continue;
    Port& port = ports_.own(input.port);
    const InputFlow& flow = port.input.flows[input.flow];
    if (input.epoch == port.input.ref.epoch && flow.at_rest() && flow.branch.output == output.index &&
        flow.branch.flow == id)
      return input;
  }
  return InputFlowRef::of(0, kNoPort, kNoFlow);
}

FlowId FlowIds::longest_at_rest_of(Port& port) {
  for (FlowId id; (id = port.input.flows.resting().take()) != kNoFlow;)
    if (port.input.flows[id].at_rest()) return id;
  return kNoFlow;
}

void FlowIds::return_lent(Port& port, PortIndex output, bool all) {
  LentIds& lent = port.input.ids[output].lent;
  for (uint32_t count = all ? lent.count() : lent.spare(); count > 0; --count) {
    outbox_.give_back({output, lent.take(), false});
    lent.went_home();
    port.counters.count(ProtocolEvent::id_given_back);
  }
  lent.mark();
  if (lent.count() == 0) port.input.lent_outputs = port.input.lent_outputs & ~(PortSet{1} << output);
}

bool FlowIds::take_lent_id(Port& port, InputFlow& flow) {
  OutputIds& ids = port.input.ids[flow.branch.output];
  flow.branch.flow = ids.lent.take();
  if (flow.branch.flow == kNoFlow) return false;
  begin_turn(ids, flow);
  port.counters.count(ProtocolEvent::id_lent);
  return true;
}

// What goes to hosts here has a shorter way without a flow (decision 4). R6: with one way by the fabric there is
// nothing to choose.
uint16_t FlowIds::rest_flags(const Port& port, FlowId id) const {
  const InputFlow& flow = port.input.flows[id];
  if (flow.destination.node == site_.address) return 0;
  return ways_.has_choice(port, id) ? kFlowMayRest | kFlowChooses : kFlowMayRest;
}

// An ID of another worker's output stays with the input port, for the flow that waits for one or for the next one.
FlowId FlowIds::keep_id(Port& port, PortIndex output, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  if (!ids.wanting.empty()) return give_id(port, output, id);
  if (ids.lent.count() == 0) port.input.lent_outputs = port.input.lent_outputs | PortSet{1} << output;
  ids.lent.put(id);
  return kNoFlow;
}

// To the flow that has waited longest, of the group whose turn it is.
FlowId FlowIds::give_id(Port& port, PortIndex output, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  const FlowId flow_id = ids.wanting.pop(port.input.flows);
  InputFlow& flow = port.input.flows[flow_id];
  begin_turn(ids, flow);
  flow.branch.flow = id;
  if (Port* there = ports_.find(output)) {
    there->output.flows[id].input = port.input.ref.with(flow_id);
    there->output.flows.set_class(there->output.flows[id], flow.ftag);
    flow.flags |= rest_flags(port, flow_id);
  }
  if (ways_.is_stale(port, flow_id, output)) flow.flags |= kFlowLeaving;  // R12
  return flow_id;
}

}  // namespace heddle
