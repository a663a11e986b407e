// SPDX-License-Identifier: Apache-2.0
// Output flow IDs (F6, K11): reserved where one worker has both ports; asked for, granted and lent where it has not;
// given back at extent zero.
#include <bit>
#include <cassert>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kGrantsPerTurn = 64;  // one output's flow IDs to waiting inputs
}

// The flow takes this output from now on, `first` its first packet. True if it has an ID there: at once only where the
// same worker gives it out, or another one has lent some. Whoever waits for an ID already comes first (K11): a shortage
// must not starve the inputs of other workers.
bool Worker::reserve_output(Port& port, InputFlow& flow, PortIndex output, const Packet& first) {
  if (flow.branch.output != kNoPort && flow.branch.output != output) ++flow.path_epoch;
  flow.branch.output = output;
  const uint16_t lossy = lossy_voqs_[flow.ftag & 15];
  flow.branch.voq = static_cast<uint16_t>(
      lossy != kNoVoq ? lossy + output : voq_index(output, paths_.lane(port.index, output, flow.ftag, first.vc)));
  Port* there = ports_[output];
  if (there == nullptr) return take_lent_id(port, flow);
  if (!there->usable() || there->output.wanting_inputs != 0) return false;
  flow.branch.flow = there->output.flows.reserve(first.input, flow.ftag);
  if (flow.branch.flow == kNoFlow) return false;
  flow.branch.turn_start = flow.data_flow;
  there->counters.count(ProtocolEvent::id_reserved);
  return true;
}

bool Worker::take_lent_id(Port& port, InputFlow& flow) {
  LentIds& lent = port.input.ids[flow.branch.output].lent;
  flow.branch.flow = lent.take();
  if (flow.branch.flow == kNoFlow) return false;
  flow.branch.turn_start = flow.data_flow;
  port.counters.count(ProtocolEvent::id_lent);
  return true;
}

// Flows wait for IDs: the output's worker hears of all that it has not heard of yet.
void Worker::tell_wants(Port& input, PortIndex output) {
  OutputIds& ids = input.input.ids[output];
  if (ids.wanting.count <= ids.asked) return;
  const uint32_t flows = ids.wanting.count - ids.asked;
  if (is_own(output)) {
    ids.asked += flows;
    return on_want(own(output), input.index, flows);
  }
  if (outbox_.send(output, WantIds{output, input.index, flows}))
    ids.asked += flows;
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
  if (!output.usable()) return refuse_ids(output, input, now);
  const FlowId id = output.output.flows.reserve(InputFlowRef::of(0, input, kNoFlow), 0);
  if (id == kNoFlow) return false;
  if (!is_own(input) && !outbox_.send(input, GrantId{input, output.index, id})) {
    output.output.flows.free(id);
    result_.busy = true;  // the ring is full: next turn
    return false;
  }
  if (--output.output.wanted[input] == 0) output.output.wanting_inputs &= ~(PortSet{1} << input);
  output.counters.count(ProtocolEvent::id_reserved);
  if (is_own(input)) on_grant(own(input), output.index, id);
  return true;
}

bool Worker::refuse_ids(Port& output, PortIndex input, Nanos now) {
  const uint32_t flows = output.output.wanted[input];
  if (!is_own(input) && !outbox_.send(input, RefuseIds{input, output.index, flows})) {
    result_.busy = true;
    return false;
  }
  output.output.wanted[input] = 0;
  output.output.wanting_inputs &= ~(PortSet{1} << input);
  output.counters.count(ProtocolEvent::id_refused);
  if (is_own(input)) on_refuse(own(input), output.index, flows, now);
  return true;
}

void Worker::on_grant(Port& port, PortIndex output, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  --ids.asked;
  if (!is_own(output)) ids.lent.came();
  if (!ids.wanting.empty()) {
    give_id(port, output, id);
  } else {  // the session has ended meanwhile, the frames' lives have, or another flow has left its own
    InputFlow nobody{};
    nobody.branch.output = output;
    nobody.branch.flow = id;
    give_back(port, nobody, false);
  }
  tell_wants(port, output);
}

// To the flow that has waited longest.
void Worker::give_id(Port& port, PortIndex output, FlowId id) {
  const FlowId flow_id = port.input.flows.pop(port.input.ids[output].wanting);
  InputFlow& flow = port.input.flows[flow_id];
  flow.branch.flow = id;
  if (Port* there = ports_[output]) {
    there->output.flows[id].input = port.input.ref.with(flow_id);
    there->output.flows[id].ftag = flow.ftag;
  }
  flow.branch.turn_start = flow.data_flow;
  const bool here = flow.destination.node == node_address_;
  if (!here && !(paths_.routes().primary(flow.destination.node) >> output & 1)) flow.flags |= kFlowLeaving;  // R12
  place(port, flow_id, now_);
}

// The output's link is down: all flows that wait for it take another way, or are dropped.
void Worker::on_refuse(Port& input, PortIndex output, uint32_t flows, Nanos now) {
  OutputIds& ids = input.input.ids[output];
  ids.asked -= flows;
  FlowList waiting = std::exchange(ids.wanting, {});
  while (!waiting.empty()) {
    const FlowId id = input.input.flows.pop(waiting);
    place(input, id, now);
  }
}

// The first packet of another flow on an ID that is lent to the worker of its input port (K11).
void Worker::bind(OutputFlow& entry, const InputFlowRef& input) {
  assert(!is_own(input.port) && entry.input.port == input.port);  // invariant 4
  assert(entry.queued == 0 && entry.extent() == 0 && entry.pending_ack == 0);
  entry.input = input;
  entry.congestion = 0;
  if (entry.flags & kOutputEnded) entry.flags |= kOutputEndDue;
}

// K11: the flow goes behind those that wait for an ID at the same output, if any do, once its extent is zero.
void Worker::yield_id(Port& port, InputFlow& flow) {
  if (port.input.ids[flow.branch.output].wanting.empty() || (flow.flags & kFlowLeaving)) return;
  flow.flags |= kFlowLeaving;
  port.counters.count(ProtocolEvent::id_yielded);
}

// Ends the pin on the output flow ID; the caller clears kFlowOfItsId. `count_orphan`: the flow's own session has ended
// and packets of it may still be on their way (K9).
void Worker::give_back(Port& port, InputFlow& flow, bool count_orphan) {
  const FlowId id = flow.branch.flow;
  flow.branch.flow = kNoFlow;
  if (count_orphan) {
    ++port.input.orphans;
    port.counters.count(ProtocolEvent::orphan_made);
  }
  if (Port* output = ports_[flow.branch.output]) {
    port.counters.count(ProtocolEvent::id_given_back);
    return release_output_flow(*output, id, count_orphan);
  }
  LentIds& lent = port.input.ids[flow.branch.output].lent;
  const bool leaving = flow.flags & kFlowLeaving;
  if (!count_orphan && !leaving && lent.held() <= lent_max_) return keep_id(port, flow.branch.output, id);
  lent.went_home();
  port.counters.count(ProtocolEvent::id_given_back);
  outbox_.give_back({flow.branch.output, id, count_orphan});
}

// An ID of another worker's output stays with the input port, for the flow that waits for one or for the next one.
void Worker::keep_id(Port& port, PortIndex output, FlowId id) {
  OutputIds& ids = port.input.ids[output];
  if (!ids.wanting.empty()) return give_id(port, output, id);
  if (ids.lent.count() == 0) port.input.lent_outputs |= PortSet{1} << output;
  ids.lent.put(id);
}

// Flow IDs that are lent to an input port go home: all, or those that it has not needed since the last time.
void Worker::return_lent_ids(Port& port, PortIndex output, bool all) {
  LentIds& lent = port.input.ids[output].lent;
  for (uint32_t count = all ? lent.count() : lent.spare(); count > 0; --count) {
    outbox_.give_back({output, lent.take(), false});
    lent.went_home();
    port.counters.count(ProtocolEvent::id_given_back);
  }
  lent.mark();
  if (lent.count() == 0) port.input.lent_outputs &= ~(PortSet{1} << output);
}

void Worker::release_output_flow(Port& output, FlowId id, bool counted) {
  OutputFlow& entry = output.output.flows[id];
  if (!counted && entry.at_rest()) return output.output.flows.free(id);
  entry.state = OutputFlowState::orphan;
  if (counted) entry.flags |= kOutputCounted;
  free_if_drained(output, id, entry);
}

}  // namespace heddle
