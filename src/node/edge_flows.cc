// SPDX-License-Identifier: Apache-2.0
#include "node/edge_flows.h"

namespace heddle {

void EdgeFlows::attach(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index, Nanos hold_until,
                       Nanos now) {
  match.bytes += packet->payload;
  if (!port.input.waiting.empty()) {
    const InputFlow* flow = find(port, match, match_index);
    const bool yields = flow != nullptr && flow->turn_over() && port.input.waiting.shares.has_to_yield(match.group);
    if (match.waiting != 0 || flow == nullptr || yields) return wait_for_id(port, packet, match, match_index);
  }
  const FlowId id = flow_of(port, match, match_index, hold_until, now);
  if (id == kNoFlow) return wait_for_id(port, packet, match, match_index);
  admission_.admit(port, id, port.input.flows[id], packet, now);
}

void EdgeFlows::serve_waiting(Port& port, Nanos now) {
  WaitingFrames& waiting = port.input.waiting;
  uint8_t stuck = kNoFlowGroup;  // the first group that found no ID since one has
  while (!waiting.empty()) {
    const uint8_t group = waiting.turns.next();
    if (group == stuck) return waiting.turns.keep(group);
    const uint32_t index = waiting.first(group)->position;
    MatchEntry& match = edge_.matches()[index];
    // One that has to leave its ID to another group ends before its next frames join a flow.
    const InputFlow* known = find(port, match, index);
    const bool leaves =
        known != nullptr && known->flow_extent() != 0 && known->turn_over() && waiting.shares.over_its_part(group);
    const FlowId id = leaves ? kNoFlow : flow_of(port, match, index, edge_.held_until(match), now);
    if (id == kNoFlow) {
      if (stuck == kNoFlowGroup) stuck = group;
      continue;
    }
    stuck = kNoFlowGroup;
    --match.waiting;
    admission_.admit(port, id, port.input.flows[id], waiting.pop(group), now);
  }
}

void EdgeFlows::detach(Port& port, uint32_t match_index, PortIndex left, Nanos now) {
  MatchEntry& match = edge_.matches()[match_index];
  InputFlow* flow = find(port, match, match_index);
  if (flow != nullptr && flow->at_rest()) {
    flow_life_.end_rest(port, match.flow, *flow);
    flow = nullptr;
  }
  if (flow != nullptr) flow->match = kNoMatch;
  if (flow != nullptr || (left != kNoPort && has_crossed_at_once(port, left, match.ftag))) {
    const TrafficClass& traffic_class = site_.classes.of(match.ftag);
    match.flooded_ns = now + dead_after_ns(traffic_class.life_ns) - dead_after_ns(traffic_class.flood_life_ns());
  }
  match.flow = kNoFlow;
}

bool EdgeFlows::has_crossed_at_once(const Port& port, PortIndex to, uint8_t ftag) const {
  const Voq& voq = port.input.arbiter[ways_.queue(port, to, ftag, kLossyChannel)];
  return voq.at_once && voq.room != crossing_room(site_.settings, true);
}

// The flow of a match, attached to a free ID if it has none (F4); kNoFlow if there is none free. It waits until
// `hold_until`, or moves at once with 0.
FlowId EdgeFlows::flow_of(Port& port, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now) {
  if (const InputFlow* known = find(port, match, match_index)) {
    if (hold_until > now && known->state == FlowState::idle && !(known->flags & kFlowPending))
      flow_life_.hold_for(port, match.flow, hold_until);
    return match.flow;
  }
  FlowId id = port.input.flows.take();
  if (id == kNoFlow) {
    if (!flow_life_.reclaim(port)) return kNoFlow;
    id = port.input.flows.take();
  }
  match.flow = id;
  port.input.waiting.shares.took(match.group);
  InputFlow& flow = port.input.flows[id];
  flow.begin(match.destination, match.ftag, match_index, match.group);
  if (match.flags & kMatchHeld) [[unlikely]]
    flow_pauses_.resume(port, id, flow);
  port.counters.count(ProtocolEvent::flow_created);
  if (hold_until > now) flow_life_.hold_for(port, id, hold_until);
  return id;
}

bool EdgeFlows::has_free_id(const Port& port) {
  const InputFlowTable& flows = port.input.flows;
  if (!port.input.waiting.empty()) return false;
  if (flows.available() != 0) return true;
  for (uint32_t id = 1; id <= flows.size(); ++id)
    if (flows[FlowId::of(id)].at_rest()) return true;  // and ends for it (K11)
  return false;
}

bool EdgeFlows::may_wait(const Site& site, const Port& port, uint8_t ftag, uint8_t group) {
  const WaitingFrames& waiting = port.input.waiting;
  if (site.lanes.lossless(ftag)) return waiting.count() < site.waiting_max;
  return waiting.has_room(group, site.lanes.any_lossless() ? site.waiting_max / 4 : site.waiting_max);
}

void EdgeFlows::wait_for_id(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index) {
  if (!may_wait(site_, port, packet->ftag, match.group)) {
    match.lose(packet->payload, DropReason::no_flow_id);
    port.input.queues.dropped_of_group(match.group, DropReason::no_flow_id);
    return turn_.drop_at_input(port, packet, DropReason::no_flow_id);
  }
  port.counters.count(ProtocolEvent::edge_id_waited);
  packet->position = match_index;
  ++match.waiting;
  port.input.waiting.push(match.group, packet);
  flow_pauses_.waits(port, match_index);
}

}  // namespace heddle
