// SPDX-License-Identifier: Apache-2.0
// The tables of one node between turns: positions and extents (1), frames (2), credits and room (6). Exact where one
// worker runs the node; where there are several, what is between them can't be seen, and sums may fall short by it.
#include <algorithm>
#include <array>

#include "sim/checker/checker.h"

namespace heddle::sim {

namespace {
std::string numbers(const InputFlow& flow) {
  return "next_data_flow " + std::to_string(flow.next_data_flow) + ", data_flow " + std::to_string(flow.data_flow) +
         ", ack_flow " + std::to_string(flow.ack_flow) + ", lost " + std::to_string(flow.lost_total) + ", state " +
         std::to_string(static_cast<int>(FlowState{flow.state})) + ", flags " + std::to_string(flow.flags);
}
std::string numbers(const OutputFlow& entry) {
  return "data_flow " + std::to_string(entry.data_flow) + ", ack_flow " + std::to_string(entry.ack_flow) +
         ", pending " + std::to_string(entry.pending_ack) + ", queued " + std::to_string(entry.queued) + ", state " +
         std::to_string(static_cast<int>(entry.state)) + ", flags " + std::to_string(entry.flags);
}
}  // namespace

void Checker::Held::reset(size_t ports, uint32_t lanes, uint32_t flow_ids) {
  lane_count = lanes;
  cost_by_input.assign(ports, {});
  orphans_by_input.assign(ports, 0);
  for (std::vector<uint32_t>& one : room) one.assign(ports * ports * lane_count, 0);
  bytes.assign(ports * (flow_ids + size_t{1}), 0);
  packets.assign(ports * (flow_ids + size_t{1}), 0);
  copies = 0;
}

void Checker::check_node(uint16_t node) {
  ++checks_;
  check_counters(node);
  const Node& state = *fabric_.node(node);
  held_.reset(state.ports(), lanes_.count(), fabric_.topology().settings.flow_ids);
  held_.exact = state.workers() == 1;
  for (PortIndex index = 0; index < state.ports(); ++index) hold_output(node, state.port(index));
  for (PortIndex index = 0; index < state.ports(); ++index) check_output_flows(node, state.port(index));
  for (PortIndex index = 0; index < state.ports(); ++index) {
    const Port& port = state.port(index);
    check_input_flows(node, port);
    check_lists(node, port);
    check_injection(node, port);
    check_shaper(node, port);
    check_held(node, port);
    cover_states(node, port);
    const uint32_t link = link_of_[node][index];
    if (link == ~0u) continue;
    check_link(link, 0);
    check_link(link, 1);
  }
  if (held_.exact && state.worker(0).copies_out() != held_.copies)
    fail(2, "node " + state.description().name + ": " + std::to_string(state.worker(0).copies_out()) +
                " copies are counted, " + std::to_string(held_.copies) + " are there");
}

// Invariant 2. What a node holds is known from who owns each packet.
void Checker::check_counters(uint16_t node) {
  const Node& state = *fabric_.node(node);
  uint64_t in = 0, out = 0;
  for (PortIndex index = 0; index < state.ports(); ++index) {
    const PortCounters& port = state.port(index).counters;
    in += port.received_frames + port.originated_frames + port.copied_frames;
    out += port.sent_frames + port.consumed_frames;
    for (const uint64_t drops : port.drops) out += drops;
    check_lossless(node, state.port(index));
  }
  const auto held = static_cast<uint64_t>(fabric_.pool().held(fabric_.owner(node)));
  if (in != out + held)
    fail(2, "node " + state.description().name + ": " + std::to_string(in) + " frames came in, " + std::to_string(out) +
                " went, but it holds " + std::to_string(held));
}

// Invariant 7: a lossless frame dies of faults and of age, or of what its host or the file says, never of a mark.
void Checker::check_lossless(uint16_t node, const Port& port) {
  constexpr DropReason kAllowed[] = {DropReason::life_ended,     DropReason::link_down,   DropReason::protocol_error,
                                     DropReason::no_route,       DropReason::hop_limit,   DropReason::same_port,
                                     DropReason::no_such_port,   DropReason::vlan_egress, DropReason::bad_frame,
                                     DropReason::output_too_long};
  uint64_t allowed = 0;
  for (const DropReason reason : kAllowed) allowed += port.counters.drops[static_cast<unsigned>(reason)];
  const uint64_t lost = port.counters.events[static_cast<unsigned>(ProtocolEvent::lossless_lost)];
  if (lost > allowed)
    fail(7, place(node, port.index) + ": " + std::to_string(lost) + " lossless frames lost, " +
                std::to_string(allowed) + " for a reason that there may be");
}

void Checker::hold_packet(const Port& port, const Packet& packet) {
  if (packet.input.port == kNoPort) return;
  const bool copy = packet.flags & kPacketCopy;
  held_.room_of(packet.input.port, port.index, packet.lane, copy) += packet.cost;
  if (copy)
    held_.copies += packet.cost;
  else
    held_.cost_by_input[packet.input.port][packet.vc] += packet.cost;
}

void Checker::hold_output(uint16_t node, const Port& port) {
  const auto hold_flow = [&](const Packet& packet) {
    if (packet.output_flow == kNoFlow) return;
    held_.bytes[flow_slot(port.index, packet.output_flow)] += packet.payload;
    ++held_.packets[flow_slot(port.index, packet.output_flow)];
  };
  for (LaneIndex lane = 0; lane < lanes_.count(); ++lane) {
    bool any = false;
    for (PortIndex input = 0; input < fabric_.topology().nodes[node].ports.size(); ++input) {
      const PacketQueue& packets = port.output.scheduler.packets_of(lane, input);
      for (const Packet* packet = packets.head; packet != nullptr; packet = packet->next) {
        if (packet->lane != lane || packet->input.port != input)
          fail(2, place(node, port.index) + ": a packet in the queue of another lane or input");
        hold_packet(port, *packet);
        hold_flow(*packet);
      }
      if (packets.empty() == ((port.output.scheduler.inputs(lane) >> input & 1) != 0))
        fail(8, place(node, port.index) + ": lane " + std::to_string(lane) + ", input " + std::to_string(input) +
                    " is not marked as it is");
      any |= !packets.empty();
    }
    if (any != ((port.output.scheduler.lanes() >> lane & 1) != 0))
      fail(8, place(node, port.index) + ": lane " + std::to_string(lane) + " is not marked as it is");
  }
  const size_t ports = held_.cost_by_input.size();
  for (PortIndex input = 0; input < ports; ++input) {
    held_.orphans_by_input[input] += port.output.room.orphans(input);
    for (LaneIndex lane = 0; lane < lanes_.count(); ++lane) {
      const Returns& returns = port.output.room.returns(input, lane);
      const uint8_t came_in =
          fabric_.node(node)->port(input).input.arbiter[VoqIndex::of(lane * ports + port.index)].came_in;
      held_.room_of(input, port.index, lane, false) += returns.room;
      held_.room_of(input, port.index, lane, true) += returns.copy_room;
      held_.cost_by_input[input][came_in] += returns.held;
      held_.copies += returns.copies;
    }
  }
}

void Checker::check_output_flows(uint16_t node, const Port& port) {
  uint32_t used = 0;
  std::array<uint32_t, kFtags> used_of{};
  for (uint32_t i = 1; i <= port.output.flows.size(); ++i) {
    const auto id = FlowId::of(i);
    const OutputFlow& entry = port.output.flows[id];
    const auto where = [&] { return place(node, port.index) + " output flow " + std::to_string(i) + ": "; };
    if (static_cast<int32_t>(entry.extent()) < 0) fail(1, where() + "ack beyond data: " + numbers(entry));
    if (entry.pending_lost > entry.pending_ack) fail(1, where() + "more lost than settled: " + numbers(entry));
    if (held_.exact && port.is_fabric()) check_meter(node, port, id);
    const uint32_t queued = held_.packets[flow_slot(port.index, id)];
    if (entry.queued != queued) fail(2, where() + std::to_string(queued) + " packets are queued: " + numbers(entry));
    if (entry.state == OutputFlowState::free) {
      if (entry.extent() != 0 || entry.queued != 0 || entry.pending_ack != 0)
        fail(1, where() + "free, and not empty: " + numbers(entry));
      continue;
    }
    ++used;
    ++used_of[entry.ftag & (kFtags - 1)];
    if (entry.flags & kOutputCounted) ++held_.orphans_by_input[entry.input.port];
  }
  check_shares(node, port);
  if (used != port.output.flows.used())
    fail(4, place(node, port.index) + ": " + std::to_string(port.output.flows.used()) + " flow IDs counted as used, " +
                std::to_string(used) + " are");
  for (uint8_t ftag = 0; ftag < kFtags; ++ftag)
    if (used_of[ftag] != port.output.flows.used_of(ftag))
      fail(4, place(node, port.index) + ": " + std::to_string(port.output.flows.used_of(ftag)) +
                  " flow IDs counted as used by class " + std::to_string(ftag) + ", " + std::to_string(used_of[ftag]) +
                  " are");
}

// Invariant 6 of one flow: nothing crosses beyond what the next hop has granted it, but a packet when nothing is under
// way (C6).
void Checker::check_meter(uint16_t node, const Port& port, FlowId id) {
  const OutputFlow& entry = port.output.flows[id];
  MeterGhost& ghost = meters_[node][port.index][id];
  if (entry.state != OutputFlowState::reserved || (entry.flags & kOutputEnded) || !(entry.flags & kOutputMetered)) {
    ghost = {};
    return;
  }
  const uint32_t there = entry.data_flow + held_.bytes[flow_slot(port.index, id)];
  const bool all_settled = !serial_before(entry.ack_flow, ghost.there);
  // Between two looks it may have been free, and come to the very limit that it had.
  const uint64_t lifted = port.counters.events[static_cast<unsigned>(ProtocolEvent::meter_lifted)];
  if (!ghost.metered || all_settled || ghost.limit != entry.credit_limit || ghost.lifted != lifted)
    ghost.ceiling = serial_before(there, entry.credit_limit) ? entry.credit_limit : there;
  ghost = {true, entry.credit_limit, there, ghost.ceiling, lifted};
  if (serial_before(ghost.ceiling, there))
    fail(6, place(node, port.index) + " output flow " + std::to_string(id) + ": at " + std::to_string(there) +
                ", granted up to " + std::to_string(entry.credit_limit) + ": " + numbers(entry));
}

// K11: whatever the others take, an input port can always have its share of an output's flow IDs: one in each virtual
// channel that its flows may go on in, and of half of the others an equal part.
void Checker::check_shares(uint16_t node, const Port& port) {
  const Topology& topology = fabric_.topology();
  const OutputFlowTable& flows = port.output.flows;
  const std::vector<TopologyPort>& inputs = topology.nodes[node].ports;
  std::vector<std::array<uint32_t, kVirtualChannels>> taken(inputs.size());
  for (uint32_t i = 1; i <= flows.size(); ++i) {
    const OutputFlow& entry = flows[FlowId::of(i)];
    if (entry.state != OutputFlowState::free) ++taken[entry.input.port][entry.channel];
  }
  uint32_t others = 0, first_ones = 0, kept = 0;
  std::vector<uint32_t> more(inputs.size());  // taken besides the first ones
  for (size_t input = 0; input < inputs.size(); ++input) {
    if (input == port.index) continue;
    const ChannelSet channels = flow_channels(topology, inputs[input]);
    others += channels != 0;
    for (unsigned channel = 0; channel < kVirtualChannels; ++channel) {
      const uint32_t first = channels >> channel & 1, here = taken[input][channel];
      first_ones += first;
      kept += first - std::min(first, here);
      more[input] += here - std::min(first, here);
    }
  }
  if (others == 0) return;
  const uint32_t part = (flows.size() - first_ones) / (2 * others);
  for (size_t input = 0; input < inputs.size(); ++input)
    if (input != port.index && flow_channels(topology, inputs[input]) != 0) kept += part - std::min(part, more[input]);
  if (flows.size() - flows.used() < kept)
    fail(8, place(node, port.index) + ": " + std::to_string(flows.used()) + " of " + std::to_string(flows.size()) +
                " flow IDs are taken, " + std::to_string(kept) +
                " are to be kept for inputs that have less than theirs");
}

void Checker::check_input_flows(uint16_t node, const Port& port) {
  PacketsOfClasses packets{};
  for (const Fifo& fifo : port.input.fifos) {
    for (const Packet* packet = fifo.queue.head; packet != nullptr; packet = packet->next) {
      ++packets[packet->ftag];
      held_.cost_by_input[port.index][packet->vc] += packet->cost;
    }
  }
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const auto id = FlowId::of(i);
    const InputFlow& flow = port.input.flows[id];
    // Of a session that has ended: nothing reaches it any more, and positions are set anew when the next one begins.
    if (!flow.in_use() && flow.queue.empty() && !port.usable()) {
      const EndedSession& ended = ended_[node][port.index];
      if (ended.epoch == port.input.ref.epoch && ended.ack_flow[id] != flow.ack_flow)
        fail(4, place(node, port.index) + " input flow " + std::to_string(i) +
                    ": acknowledged after its session: " + numbers(flow));
      continue;
    }
    if (!flow.in_use() && flow.queue.empty() && flow.flow_extent() == 0 && flow.queue_extent() == 0) continue;
    check_input_flow(node, port, id, packets);
    check_reservation(node, port, id);
  }
  const InputQueues& queues = port.input.queues;
  uint32_t all = 0;
  for (uint8_t ftag = 0; ftag < kFtags; ++ftag) {
    all += packets[ftag];
    if (packets[ftag] != queues.packets_of_class(ftag))
      fail(2, place(node, port.index) + ": " + std::to_string(packets[ftag]) + " packets of class " +
                  std::to_string(ftag) + " in queues, " + std::to_string(queues.packets_of_class(ftag)) + " counted");
  }
  if (all != queues.packets())
    fail(2, place(node, port.index) + ": " + std::to_string(all) + " packets in queues, " +
                std::to_string(queues.packets()) + " counted");
}

void Checker::check_input_flow(uint16_t node, const Port& port, FlowId id, PacketsOfClasses& packets) {
  const InputFlow& flow = port.input.flows[id];
  const auto where = [&] { return place(node, port.index) + " input flow " + std::to_string(id) + ": "; };
  if (static_cast<int32_t>(flow.queue_extent()) < 0) fail(1, where() + "data beyond next: " + numbers(flow));
  if (static_cast<int32_t>(flow.flow_extent()) < 0) fail(1, where() + "ack beyond data: " + numbers(flow));
  uint32_t bytes = 0, count = 0;
  for (const Packet* packet = flow.queue.head; packet != nullptr; packet = packet->next) {
    bytes += packet->payload;
    ++count;
    held_.cost_by_input[port.index][packet->vc] += packet->cost;
  }
  packets[flow.ftag] += count;
  if (flow.queue_extent() != bytes || flow.queued_packets != count)
    fail(1, where() + std::to_string(bytes) + " bytes in " + std::to_string(count) +
                " packets are queued: " + numbers(flow));
  if (!flow.in_use()) fail(4, where() + "not in use, and not empty: " + numbers(flow));
  if (flow.at_rest())
    check_rest(node, port, id);
  else if (flow.queue.empty() && flow.flow_extent() == 0 && !(flow.flags & kFlowPending))
    fail(9, where() + "in use, and empty: " + numbers(flow));
}

// F9, K11: what rests is bound, and whoever needs its IDs finds them.
void Checker::check_rest(uint16_t node, const Port& port, FlowId id) {
  const InputFlow& flow = port.input.flows[id];
  const std::string where = place(node, port.index) + " input flow " + std::to_string(id) + ": ";
  if (flow.branch.flow == kNoFlow || flow.state != FlowState::idle)
    return fail(9, where + "rests without a flow ID: " + numbers(flow));
  const Port& output = fabric_.node(node)->port(flow.branch.output());
  const bool found =
      output.output.flows.resting().has(flow.branch.flow) && (port.is_fabric() || port.input.flows.resting().has(id));
  if (!found) fail(9, where + "rests, and nobody would find it: " + numbers(flow));
}

// Invariant 1 inside a node: what an input flow has handed on is queued at its output, or stamped and not settled, or
// settled and not yet told.
void Checker::check_reservation(uint16_t node, const Port& port, FlowId id) {
  const InputFlow& flow = port.input.flows[id];
  const auto where = [&] { return place(node, port.index) + " input flow " + std::to_string(id) + ": "; };
  if (flow.branch.flow == kNoFlow) {
    if (flow.flow_extent() != 0) fail(1, where() + "extent without output flow: " + numbers(flow));
    return;
  }
  const Node& state = *fabric_.node(node);
  const PathChoice& choice = state.worker(state.worker_of_port(port.index)).paths();
  const PortSet paths = choice.routes().primary(choice.heading(flow.destination.node, port.input.flows.via(id)));
  const bool here = flow.destination.node == state.description().address;
  if (!here && !(flow.flags & kFlowLeaving) && !(paths >> flow.branch.output() & 1))
    fail(8, where() + "stays on port " + std::to_string(flow.branch.output()) + ", which leads nowhere (R12)");
  const Port& output = state.port(flow.branch.output());
  const OutputFlow& entry = output.output.flows[flow.branch.flow];
  const bool serves = entry.input == port.input.ref.with(id);
  // Of another worker's port: lent, and no packet of this flow has come there yet.
  const bool lent = !held_.exact && entry.input.port == port.index && entry.queued == 0 && entry.extent() == 0 &&
                    entry.pending_ack == 0;
  if (entry.state != OutputFlowState::reserved || !(serves || lent))
    fail(4, where() + "its output flow " + std::to_string(flow.branch.flow) + " at " +
                place(node, flow.branch.output()) + " serves another: " + numbers(entry));
  if (entry.channel != lanes_.channel(port.input.arbiter[flow.branch.voq].lane))
    fail(8,
         where() + "goes on in another channel than that of its flow ID, " + std::to_string(entry.channel) + " (K11)");
  const uint32_t known =
      held_.bytes[flow_slot(flow.branch.output(), flow.branch.flow)] + entry.extent() + entry.pending_ack;
  const uint32_t extent = flow.flow_extent();
  if (held_.exact ? known != extent : known > extent)
    fail(1, where() + numbers(flow) + "; downstream " + std::to_string(known) + " bytes are known: " + numbers(entry) +
                " at " + place(node, flow.branch.output()));
}

// A flow with a queue stands in the list that its state names, once.
void Checker::check_lists(uint16_t node, const Port& port) {
  uint32_t listed = 0, standing = 0;
  const auto look = [&](const FlowList& list, FlowState wanted, PortIndex output, const Voq* voq) {
    uint32_t count = 0;
    for (FlowId id = list.head; id != kNoFlow; id = port.input.flows[id].next_in_list) {
      const InputFlow& flow = port.input.flows[id];
      if (flow.state != wanted || flow.branch.output() != output || flow.queue.empty() ||
          (voq != nullptr && &port.input.arbiter[flow.branch.voq] != voq))
        fail(8, place(node, port.index) + " input flow " + std::to_string(id) +
                    ": in a list it does not belong in: " + numbers(flow));
      if (++listed > port.input.flows.size()) fail(8, place(node, port.index) + ": a list of flows has a loop");
      ++count;
    }
    return count;
  };
  for (PortIndex output = 0; output < port.input.ids.size(); ++output) {
    const OutputIds& ids = port.input.ids[output];
    for (uint8_t channel = 0; channel < port.channels; ++channel) {
      if (ids.lent.count(channel) != 0 && ids.wanting.count(channel) != 0)
        fail(8, place(node, port.index) + ": flows wait for a flow ID of port " + std::to_string(output) +
                    ", which has lent some");
      uint32_t wanting = 0;
      for (uint8_t group = 0; group < port.input.arbiter.groups(); ++group)
        wanting += look(ids.wanting.of(channel, group), FlowState::wanting, output, nullptr);
      if (held_.exact && fabric_.node(node)->port(output).output.wanted.of(port.index, channel) != ids.asked[channel])
        fail(8, place(node, port.index) + ": " + std::to_string(ids.asked[channel]) + " flow IDs asked for at port " +
                    std::to_string(output) + ", which knows of " +
                    std::to_string(fabric_.node(node)->port(output).output.wanted.of(port.index, channel)));
      if (wanting != ids.wanting.count(channel))
        fail(8, place(node, port.index) + ": " + std::to_string(wanting) + " flows wait for a flow ID in channel " +
                    std::to_string(channel) + ", " + std::to_string(ids.wanting.count(channel)) + " counted");
    }
  }
  const InputArbiter& arbiter = port.input.arbiter;
  for (VoqIndex queue = 0; queue < arbiter.size(); ++queue) {
    const Voq& voq = arbiter[queue];
    uint32_t ready = 0;
    for (uint8_t group = 0; group < arbiter.groups() && voq.ready() != 0; ++group) {
      const FlowList& flows = arbiter.ready(queue, group);
      if (!flows.empty() && arbiter.groups() != 1 && port.input.flows[flows.head].group != group)
        fail(8, place(node, port.index) + ": a flow stands in another group's list");
      ready += look(flows, FlowState::ready, voq.output, &voq);
    }
    if (ready != voq.ready())
      fail(8, place(node, port.index) + ": " + std::to_string(ready) + " flows are ready, " +
                  std::to_string(voq.ready()) + " counted");
  }
  for (uint32_t fifo = 0; fifo < lanes_.count(); ++fifo) {
    const Fifo& waiting = port.input.fifos[fifo];
    for (const Voq& voq : port.input.arbiter) {
      const bool marked = voq.fifos() >> fifo & 1;
      if (marked != (!waiting.queue.empty() && &port.input.arbiter[waiting.voq] == &voq))
        fail(8, place(node, port.index) + ": fifo " + std::to_string(fifo) + " waits elsewhere than is marked");
    }
  }
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const InputFlow& flow = port.input.flows[FlowId::of(i)];
    if (flow.state == FlowState::ready || flow.state == FlowState::wanting) ++standing;
    if (!flow.queue.empty() && flow.state == FlowState::idle)
      fail(8, place(node, port.index) + " input flow " + std::to_string(i) + ": idle, with a queue");
  }
  if (listed != standing)
    fail(8, place(node, port.index) + ": " + std::to_string(standing) + " flows should stand in lists, " +
                std::to_string(listed) + " do");
}

// Invariant 6 of the receiving side, the room of the crossing and the orphans.
void Checker::check_held(uint16_t node, const Port& port) {
  for (const Voq& voq : port.input.arbiter) {
    const OutputSide& output = fabric_.node(node)->port(voq.output).output;
    const uint32_t waiters = output.scheduler.waiting(port.index, voq.lane);
    if (held_.exact && waiters != voq.told_waiters)
      fail(8, place(node, port.index) + ": " + std::to_string(waiters) + " flows wait for room, it told of " +
                  std::to_string(voq.told_waiters));
    const auto check_room = [&](const char* what, uint32_t room, bool copies, uint32_t total) {
      const uint32_t there = room + held_.room_of(port.index, voq.output, voq.lane, copies);
      if (held_.exact ? there != total : there > total)
        fail(6, place(node, port.index) + " towards port " + std::to_string(voq.output) + " lane " +
                    std::to_string(voq.lane) + ": " + what + std::to_string(room) + ", " + std::to_string(there) +
                    " with what is used, of " + std::to_string(total));
    };
    check_room("room ", voq.room, false, crossing_room(fabric_.topology().settings, voq.at_once));
    check_room("room for copies ", voq.copy_room, true, copy_room(fabric_.topology().settings));
  }
  const uint32_t orphans = held_.orphans_by_input[port.index];
  if (held_.exact ? orphans != port.input.orphans : orphans > port.input.orphans)
    fail(1, place(node, port.index) + ": " + std::to_string(port.input.orphans) + " orphans counted, " +
                std::to_string(orphans) + " are there");
  for (uint32_t channel = 0; channel < port.channels && port.is_fabric(); ++channel)
    check_held_credits(node, port, channel);
}

void Checker::check_held_credits(uint16_t node, const Port& port, uint32_t channel) {
  const LinkCredits& credits = port.credits[channel];
  const uint32_t held = held_.cost_by_input[port.index][channel];
  const auto numbers_of = [&] {
    return place(node, port.index) + " channel " + std::to_string(channel) + ": granted " +
           std::to_string(credits.granted()) + ", received " + std::to_string(credits.received_total()) + ", held " +
           std::to_string(credits.held()) + " of " + std::to_string(credits.buffers());
  };
  if (held_.exact ? held != credits.held() : held > credits.held())
    fail(6, numbers_of() + ", but packets hold " + std::to_string(held));
  if (credits.held() > credits.buffers()) fail(6, numbers_of() + ": more held than there is");
  if (!port.session.up()) return;
  const auto granted_ahead = static_cast<int32_t>(credits.granted() - credits.received_total());
  if (granted_ahead > 0 && static_cast<uint32_t>(granted_ahead) + credits.held() > credits.buffers())
    fail(6, numbers_of() + ": more granted than there is");
}

void Checker::cover_states(uint16_t node, const Port& port) {
  static const char* const kInput[] = {"free", "idle", "ready", "wanting", "held", "blocked"};
  static const char* const kOutput[] = {"free", "reserved", "orphan"};
  std::vector<uint8_t>& before = states_[node][port.index];
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const InputFlow& flow = port.input.flows[FlowId::of(i)];
    const unsigned input = flow.in_use() ? 1u + static_cast<unsigned>(FlowState{flow.state}) : 0;
    const auto output = static_cast<unsigned>(port.output.flows[FlowId::of(i)].state);
    const auto now = static_cast<uint8_t>(input | output << 4);
    if (now == before[i]) continue;
    const unsigned old_input = before[i] & 15, old_output = before[i] >> 4;
    if (old_input != input) coverage_.reach(std::string("input flow: ") + kInput[old_input] + " to " + kInput[input]);
    if (old_output != output)
      coverage_.reach(std::string("output flow: ") + kOutput[old_output] + " to " + kOutput[output]);
    before[i] = now;
  }
}

}  // namespace heddle::sim
