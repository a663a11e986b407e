// SPDX-License-Identifier: Apache-2.0
#include "node/regrouping.h"

namespace heddle {

void Regrouping::run() {
  edge_.look_again();  // entries without a flow get their group with their next frame
  for (Port* port : ports_)
    if (!port->is_fabric()) run(*port);
}

void Regrouping::run(Port& port) {
  InputSide& input = port.input;
  const uint32_t groups_before = input.arbiter.groups();
  flow_pauses_.end_groups(port);
  std::vector<FlowList> wanting;  // by output and channel
  std::vector<FlowList> ready = input.arbiter.take_all();
  for (OutputIds& ids : input.ids)
    for (uint8_t channel = 0; channel < port.channels; ++channel)
      wanting.push_back(ids.wanting.take_all(input.flows, channel));
  PacketQueue waiting;
  while (!input.waiting.empty()) waiting.push(input.waiting.pop_any());

  // Who has which IDs is counted anew.
  const uint32_t groups = input.arbiter.groups();
  for (OutputIds& ids : input.ids) ids.wanting = WantingFlows(groups, port.channels);
  input.waiting = WaitingFrames(groups);
  input.queues.begin_regrouping(groups);
  for (uint32_t i = 1; i <= input.flows.size(); ++i)
    if (input.flows[FlowId::of(i)].in_use()) regroup(port, FlowId::of(i));
  input.queues.end_regrouping(groups, groups != groups_before);

  while (!waiting.empty()) {
    Packet* packet = waiting.pop();
    input.waiting.push(regroup(packet->position), packet);
  }
  for (size_t i = 0; i < wanting.size(); ++i) {
    WantingFlows& flows = input.ids[i / port.channels].wanting;
    const auto channel = static_cast<uint8_t>(i % port.channels);
    while (!wanting[i].empty()) flows.push(input.flows, channel, input.flows.pop(wanting[i]));
  }
  for (VoqIndex queue = 0; queue < ready.size(); ++queue)
    while (!ready[queue].empty()) input.arbiter.push(queue, input.flows.pop(ready[queue]));
}

// With all that is counted by group. One whose station has moved has no match any more, nor has one at rest whose entry
// another one has got: it keeps its group while there are any.
void Regrouping::regroup(Port& port, FlowId id) {
  InputSide& input = port.input;
  InputFlow& flow = input.flows[id];
  const uint8_t before = flow.group;
  if (flow.match != kNoMatch && edge_.matches()[flow.match].flow == id)
    flow.group = regroup(flow.match);
  else if (!edge_.applications().configured)
    flow.group = 0;
  input.waiting.shares.took(flow.group);
  if (flow.branch.flow != kNoFlow) {
    const uint8_t channel = site_.lanes.channel(input.arbiter[flow.branch.voq].lane);
    input.ids[flow.branch.output()].wanting.took(channel, flow.group);
  }
  if (flow.group != before) {
    input.queues.regrouped(before, flow.group, flow.queued_packets, flow.queue_extent(),
                           site_.lanes.lossless(flow.ftag));
    port.counters.count(ProtocolEvent::flow_regrouped);
  }
  // Also the ID of its group may be another one.
  flow.branch.injects = input.arbiter.injects_as(input.arbiter[flow.branch.voq], flow.group);
  if (flow.flow_extent() != 0 && flow.branch.injects != kInjectsNothing)
    input.arbiter.inject(flow.branch.injects, flow.flow_extent());
}

uint8_t Regrouping::regroup(uint32_t match) {
  MatchEntry& entry = edge_.matches()[match];
  entry.group = group_of(edge_.applications(), edge_.matches().key_at(match));
  return entry.group;
}

}  // namespace heddle
