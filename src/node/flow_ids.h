// SPDX-License-Identifier: Apache-2.0
// Output flow IDs (F6, K11) as the input side has them: reserved where one worker has both ports; asked for and lent
// where it has not; given back at extent zero. An ID that comes goes to the flow that has waited longest: whose that is
// is the answer, and the caller places it.
#pragma once

#include "node/flow_ways.h"
#include "node/orphans.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "node/site.h"
#include "node/turn.h"
#include "node/waiting_load.h"
#include "wire/inlining.h"

namespace heddle {

class FlowIds {
 public:
  FlowIds(const Site& site, Ports& ports, const Turn& turn, Outbox& outbox, const FlowWays& ways,
          Settlement& settlement, Orphans& orphans, WaitingLoad& waiting)
      : site_(site),
        ports_(ports),
        turn_(turn),
        outbox_(outbox),
        ways_(ways),
        settlement_(settlement),
        orphans_(orphans),
        waiting_(waiting) {}

  // The flow takes this output from now on, `first` its first packet. True if it has an ID there: at once only where
  // the same worker gives it out, or another one has lent some. Whoever waits for an ID already comes first (K11): a
  // shortage must not starve the inputs of other workers.
  bool reserve(Port& port, InputFlow& flow, PortIndex output, const Packet& first);
  // Would it, for its packets in that queue?
  bool would_reserve(const Port& input, const Voq& voq) const {
    const Port* there = ports_.find(voq.output);
    const uint8_t channel = site_.lanes.channel(voq.lane);
    if (there == nullptr) return input.input.ids[voq.output].lent.count(channel) != 0;
    return takes_flows(*there) && there->output.flows.may_reserve(input.index, channel);
  }
  // May IDs be reserved there at all?
  static bool takes_flows(const Port& output) { return output.usable() && output.output.wanted.inputs() == 0; }
  // It is to choose an output: what it has queued waits for none meanwhile.
  void forget_output(InputFlow& flow) {
    waiting_.end(flow);
    flow.branch.set_output(kNoPort);
  }
  // The virtual channel in which the flow, which has an output, goes on: its ID is one of that channel (K11).
  uint8_t channel_of(const Port& port, const InputFlow& flow) const {
    return site_.lanes.channel(port.input.arbiter[flow.branch.voq].lane);
  }
  // K11: is it to leave the ID it has to those that wait for one there, once it has had its turn?
  bool has_to_yield(const Port& port, const InputFlow& flow) const {
    return !port.input.ids[flow.branch.output()].wanting.empty() && yields(port, flow);
  }
  // The flow waits for an ID at its output.
  void wait(Port& port, FlowId id);
  // Flows wait for IDs: the output's worker hears of all that it has not heard of yet.
  void tell_wants(Port& input, PortIndex output);
  // An ID that was asked for: whose it is now; kNoFlow if nobody waits any more.
  FlowId granted(Port& port, PortIndex output, uint8_t channel, FlowId id);
  // None are to come: those that waited, to be placed anew.
  FlowList refused(Port& input, PortIndex output, uint8_t channel, uint32_t flows);
  // The first packet of another flow on an ID that is lent to the worker of its input port (K11).
  void bind(OutputFlow& entry, const InputFlowRef& input);
  // K11: the flow goes behind those that wait for an ID at the same output, once its extent is zero, if its group has
  // to leave some.
  HEDDLE_COLD void yield(Port& port, InputFlow& flow);
  // Ends the pin on the output flow ID; the caller clears kFlowOfItsId. `count_orphan`: the flow's own session has
  // ended and packets of it may still be on their way (K9). Whose the ID is now; kNoFlow if it has gone home or is
  // kept.
  FlowId give_back(Port& port, InputFlow& flow, bool count_orphan);
  // F9: a flow of which nothing is left keeps its IDs; false if there is anything special about it, or others wait for
  // one.
  bool rest(Port& port, FlowId id, const InputFlow& flow);
  // May flows of the input rest with IDs of that output? Not where others wait for one.
  static bool may_rest(const Port& input, const Port& output) {
    return usually(output.output.wanted.inputs() == 0) && (input.is_fabric() || usually(input.input.waiting.empty()));
  }
  // A flow rests, of an input that is a fabric port or not, with an ID of that output.
  static void enter_rest(Port& input, bool in_transit, FlowId id, Port& output, FlowId output_id) {
    if (!in_transit) input.input.flows.resting().enter(id);
    output.output.flows.resting().enter(output_id);
    input.counters.count(ProtocolEvent::flow_rested);
  }
  // K11: the flow that has rested longest with an ID of the output, or with one of the edge port: to be ended by
  // whoever needs the ID. Of flow kNoFlow, or kNoFlow, if none does.
  InputFlowRef longest_at_rest_at(Port& output);
  FlowId longest_at_rest_of(Port& port);
  // Flow IDs that are lent to an input port go home: all, or those that it has not needed since the last time.
  HEDDLE_COLD void return_lent(Port& port, PortIndex output, bool all);

  // So many more flows of an input want an ID of the output, which is this worker's.
  static void on_want(Port& output, PortIndex input, uint8_t channel, uint32_t flows) {
    output.output.wanted.add(input, channel, flows);
  }

 private:
  uint16_t rest_flags(const Port& port, FlowId id) const;
  // It has an ID, which counts for its group; its first packet is the next one.
  static void begin_turn(OutputIds& ids, uint8_t channel, InputFlow& flow) {
    ids.wanting.took(channel, flow.group);
    flow.branch.turn_start = flow.data_flow;
  }
  // Others wait. For an ID of another worker's output that is no shortage before that worker has had time to answer.
  HEDDLE_COLD bool yields(const Port& port, const InputFlow& flow) const {
    const OutputIds& ids = port.input.ids[flow.branch.output()];
    if (turn_.now() < ids.wanting_since_ns + kAnswerNs && !ports_.is_own(flow.branch.output())) return false;
    return ids.wanting.yields(channel_of(port, flow), flow.group);
  }
  bool tell_wants(Port& input, PortIndex output, uint8_t channel);
  bool take_lent_id(Port& port, InputFlow& flow);
  void release(Port& port, Port& output, FlowId id, bool counted);
  [[gnu::noinline]] FlowId keep_or_return(Port& port, PortIndex output, uint8_t channel, FlowId id, bool may_stay,
                                          bool counted);
  FlowId keep_id(Port& port, PortIndex output, uint8_t channel, FlowId id);
  FlowId give_id(Port& port, PortIndex output, uint8_t channel, FlowId id);

  static constexpr Nanos kAnswerNs = 200 * kMicrosecond;  // another worker's turns: a full one takes less than 50

  const Site& site_;
  Ports& ports_;
  const Turn& turn_;
  Outbox& outbox_;
  const FlowWays& ways_;
  Settlement& settlement_;
  Orphans& orphans_;
  WaitingLoad& waiting_;
};

}  // namespace heddle
