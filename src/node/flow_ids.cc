// SPDX-License-Identifier: Apache-2.0
#include "node/flow_ids.h"

#include <cassert>

namespace heddle {

bool FlowIds::reserve(Port& port, InputFlow& flow, PortIndex output, const Packet& first) {
  waiting_.end(flow);
  flow.branch.set_output(output);
  waiting_.begin(flow);
  flow.branch.voq = ways_.queue(port, output, flow.ftag, first.vc);
  const Voq& voq = port.input.arbiter[flow.branch.voq];
  flow.branch.injects = port.input.arbiter.injects_as(voq, flow.group);
  Port* there = ports_.find(output);
  if (there == nullptr) return take_lent_id(port, flow);
  if (!takes_flows(*there)) return false;
  const uint8_t channel = site_.lanes.channel(voq.lane);
  flow.branch.flow = there->output.flows.reserve(first.input, flow.ftag, channel);
  if (flow.branch.flow == kNoFlow) return false;
  begin_turn(port.input.ids[output], channel, flow);
  flow.flags |= rest_flags(port, first.input.flow);
  there->counters.count(ProtocolEvent::id_reserved);
  return true;
}

void FlowIds::wait(Port& port, FlowId id) {
  const InputFlow& flow = port.input.flows[id];
  OutputIds& ids = port.input.ids[flow.branch.output()];
  if (ids.wanting.empty()) ids.wanting_since_ns = turn_.now();
  ids.wanting.push(port.input.flows, channel_of(port, flow), id);
}

void FlowIds::tell_wants(Port& input, PortIndex output) {
  if (input.input.ids[output].wanting.empty()) return;
  for (uint8_t channel = 0; channel < site_.lanes.channels(); ++channel) {
    if (tell_wants(input, output, channel)) continue;
    return input.input.arbiter.wake(site_.voq_index(output, 0));  // the ring is full: said again next turn
  }
}

bool FlowIds::tell_wants(Port& input, PortIndex output, uint8_t channel) {
  OutputIds& ids = input.input.ids[output];
  const uint32_t wanting = ids.wanting.count(channel), asked = ids.asked[channel];
  if (wanting <= asked) return true;
  if (ports_.is_own(output))
    on_want(ports_.own(output), input.index, channel, wanting - asked);
  else if (!outbox_.send(output, WantIds{output, input.index, channel, wanting - asked}))
    return false;
  ids.asked[channel] = static_cast<uint16_t>(wanting);
  return true;
}

FlowId FlowIds::granted(Port& port, PortIndex output, uint8_t channel, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  ids.asked[channel] = static_cast<uint16_t>(ids.asked[channel] - 1);
  Port* there = ports_.find(output);
  if (there == nullptr) ids.lent.came();
  if (ids.wanting.count(channel) != 0) return give_id(port, output, channel, id);
  // The session has ended meanwhile, the frames' lives have, or another flow has left its own.
  if (there == nullptr) return keep_or_return(port, output, channel, id, true, false);
  release(port, *there, id, false);
  return kNoFlow;
}

FlowList FlowIds::refused(Port& input, PortIndex output, uint8_t channel, uint32_t flows) {
  OutputIds& ids = input.input.ids[output];
  ids.asked[channel] = static_cast<uint16_t>(ids.asked[channel] - flows);
  return ids.wanting.take_all(input.input.flows, channel);
}

void FlowIds::bind(OutputFlow& entry, const InputFlowRef& input) {
  assert(!ports_.is_own(input.port) && entry.input.port == input.port);  // invariant 4
  assert(entry.queued == 0 && entry.extent() == 0 && entry.pending_ack == 0);
  entry.serve(input);
  if (entry.flags & kOutputEnded) entry.flags |= kOutputEndDue;
}

void FlowIds::yield(Port& port, InputFlow& flow) {
  if (!has_to_yield(port, flow) || (flow.flags & kFlowLeaving)) return;
  flow.flags |= kFlowLeaving;
  port.counters.count(ProtocolEvent::id_yielded);
}

FlowId FlowIds::give_back(Port& port, InputFlow& flow, bool count_orphan) {
  const FlowId id = flow.branch.flow;
  const PortIndex output = flow.branch.output();
  const uint8_t channel = channel_of(port, flow);
  flow.branch.flow = kNoFlow;
  port.input.ids[output].wanting.gave(channel, flow.group);
  if (count_orphan) orphans_.made(port);
  if (Port* there = ports_.find(output)) {
    release(port, *there, id, count_orphan);
    return kNoFlow;
  }
  const bool may_stay = !count_orphan && !(flow.flags & kFlowLeaving);
  return keep_or_return(port, output, channel, id, may_stay, count_orphan);
}

void FlowIds::release(Port& port, Port& output, FlowId id, bool counted) {
  port.counters.count(ProtocolEvent::id_given_back);
  settlement_.release(output, id, counted);
}

// One that is lent: to the next flow that waits for one, or for the next one that comes, or where it came from.
FlowId FlowIds::keep_or_return(Port& port, PortIndex output, uint8_t channel, FlowId id, bool may_stay, bool counted) {
  OutputIds& ids = port.input.ids[output];
  const bool of_use = ids.wanting.empty() || ids.wanting.count(channel) != 0;  // or only flows of other channels wait
  if (may_stay && of_use && ids.lent.held() <= site_.lent_max) return keep_id(port, output, channel, id);
  ids.lent.went_home();
  port.counters.count(ProtocolEvent::id_given_back);
  outbox_.give_back({output, id, counted});
  return kNoFlow;
}

bool FlowIds::rest(Port& port, FlowId id, const InputFlow& flow) {
  constexpr uint16_t kMayRest = kFlowInUse | kFlowAckDue | kFlowChooses | kFlowMoved | kFlowDetour;
  if (!usually((flow.flags & ~kMayRest) == kFlowMayRest)) return false;
  Port& there = ports_.own(flow.branch.output());
  const OutputFlow& entry = there.output.flows[flow.branch.flow];
  if (!usually((entry.congestion | entry.told) == 0) || !may_rest(port, there)) return false;
  enter_rest(port, port.is_fabric(), id, there, flow.branch.flow);
  return true;
}

InputFlowRef FlowIds::longest_at_rest_at(Port& output) {
  OutputFlowTable& flows = output.output.flows;
  for (FlowId id; (id = flows.resting().take()) != kNoFlow;) {
    const InputFlowRef& input = flows[id].input;
    if (flows[id].state != OutputFlowState::reserved || !ports_.is_own(input.port)) continue;
    Port& port = ports_.own(input.port);
    const InputFlow& flow = port.input.flows[input.flow];
    if (input.epoch == port.input.ref.epoch && flow.at_rest() && flow.branch.output() == output.index &&
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
  for (uint8_t channel = 0; channel < site_.lanes.channels(); ++channel) {
    for (uint32_t count = all ? lent.count(channel) : lent.spare(channel); count > 0; --count) {
      outbox_.give_back({output, lent.take(channel), false});
      lent.went_home();
      port.counters.count(ProtocolEvent::id_given_back);
    }
  }
  lent.mark();
  if (lent.count() == 0) port.input.lent_outputs = port.input.lent_outputs & ~(PortSet{1} << output);
}

bool FlowIds::take_lent_id(Port& port, InputFlow& flow) {
  OutputIds& ids = port.input.ids[flow.branch.output()];
  const uint8_t channel = channel_of(port, flow);
  flow.branch.flow = ids.lent.take(channel);
  if (flow.branch.flow == kNoFlow) return false;
  begin_turn(ids, channel, flow);
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
FlowId FlowIds::keep_id(Port& port, PortIndex output, uint8_t channel, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  if (ids.wanting.count(channel) != 0) return give_id(port, output, channel, id);
  if (ids.lent.count() == 0) port.input.lent_outputs = port.input.lent_outputs | PortSet{1} << output;
  ids.lent.put(channel, id);
  return kNoFlow;
}

// To the flow that has waited longest, of the group whose turn it is.
FlowId FlowIds::give_id(Port& port, PortIndex output, uint8_t channel, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  const FlowId flow_id = ids.wanting.pop(port.input.flows, channel);
  InputFlow& flow = port.input.flows[flow_id];
  begin_turn(ids, channel, flow);
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
