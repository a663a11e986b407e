// SPDX-License-Identifier: Apache-2.0
// At rest nothing is left over (9), and what the edges say was settled is what hosts got (1, end to end).
#include "sim/checker/checker.h"

namespace heddle::sim {

namespace {

// What waits at an output, for a message: a packet that stays there is of one of its lanes.
std::string waiting_at(const OutputSide& output) {
  std::string text = std::to_string(output.scheduler.packets()) + " packets at the output";
  for (LaneIndex lane = 0; lane < output.scheduler.lane_count(); ++lane)
    if (output.scheduler.lanes() >> lane & 1) text += ", lane " + std::to_string(lane);
  return text;
}

}  // namespace

std::string Checker::unrest_of(uint16_t node, const Port& port) const {
  const std::string where = place(node, port.index) + ": ";
  if (port.is_fabric() && !port.session.up())
    return where + "no session, " + link_down_text(port.session.down_reason());
  if (port.output.flows.used() != 0) {
    std::string ids = where + std::to_string(port.output.flows.used()) + " output flow IDs in use:";
    for (uint32_t i = 1; i <= port.output.flows.size(); ++i) {
      const OutputFlow& entry = port.output.flows[FlowId::of(i)];
      if (entry.state == OutputFlowState::free) continue;
      ids += " " + std::to_string(i) + " (for port " + std::to_string(entry.input.port) + " flow " +
             std::to_string(entry.input.flow) + ", state " + std::to_string(static_cast<int>(entry.state)) +
             ", flags " + std::to_string(entry.flags) + ", queued " + std::to_string(entry.queued) + ", extent " +
             std::to_string(entry.extent()) + ")";
    }
    return ids + "; " + waiting_at(port.output);
  }
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i)
    if (port.input.flows[FlowId::of(i)].in_use()) return where + "input flow " + std::to_string(i) + " in use";
  if (port.input.queues.packets() != 0 || port.output.scheduler.packets() != 0 || port.input.waiting.count() != 0)
    return where + "packets queued: " + std::to_string(port.input.queues.packets()) + " at the input (" +
           std::to_string(port.input.queues.lossless_packets()) + " lossless), " +
           std::to_string(port.input.waiting.count()) + " wait for a flow ID, " +
           std::to_string(port.output.scheduler.packets()) + " at the output";
  if (port.input.orphans != 0) return where + std::to_string(port.input.orphans) + " orphans";
  for (uint32_t channel = 0; channel < port.channels && port.is_fabric(); ++channel) {
    const LinkCredits& credits = port.credits[channel];
    if (!credits.all_home())
      return where + "credits of channel " + std::to_string(channel) + " are not home: sent " +
             std::to_string(credits.sent_total()) + ", limit " + std::to_string(credits.limit());
    if (credits.held() != 0) return where + "buffers of channel " + std::to_string(channel) + " held";
  }
  if (port.retry.kept() != 0) return where + std::to_string(port.retry.kept()) + " frames kept to be sent again";
  if (port.input.queues.lossless_packets() != 0) return where + "lossless packets counted";
  if (const uint64_t injected = port.input.arbiter.injection().injected_bytes(); injected != 0)
    return where + std::to_string(injected) + " bytes counted as injected";
  for (uint8_t group = 0; group < port.input.arbiter.groups(); ++group) {
    if (port.input.queues.packets(group, false) + port.input.queues.packets(group, true) != 0 ||
        port.input.queues.of_group(group).bytes != 0)
      return where + "packets of a group counted";
    uint32_t held = port.input.waiting.shares.held(group);
    for (const OutputIds& ids : port.input.ids)
      for (uint8_t channel = 0; channel < port.channels; ++channel)
        held += ids.wanting.held(channel) + ids.wanting.shares(channel).held(group);
    if (held != 0) return where + "flow IDs of a group counted";
  }
  for (uint8_t ftag = 0; ftag < kFtags; ++ftag)
    if (port.input.queues.of_class(ftag).bytes + port.input.queues.packets_of_class(ftag) != 0)
      return where + "bytes of a class counted";
  for (const uint32_t full : port.input.flows_full)
    if (full != 0) return where + "a flow is counted as full";
  if (port.pause.told() != 0) return where + "the host is told to pause";
  for (const FlowPause& pause : port.input.paused.pauses)
    if (pause.number() != 0) return where + "the host is told to hold back a flow";
  if (!port.is_fabric() && port.input.flows.available() != port.input.flows.size())
    return where + "edge flow IDs missing";
  for (PortIndex input = 0; input < port.input.ids.size(); ++input)
    for (LaneIndex lane = 0; lane < port.output.scheduler.lane_count(); ++lane)
      if (const uint32_t waiting = port.output.scheduler.waiting(input, lane); waiting != 0)
        return where + std::to_string(waiting) + " flows of an input wait for room";
  for (VoqIndex queue = 0; queue < port.input.arbiter.size(); ++queue)
    if (port.input.arbiter.promised(queue) != 0) return where + "a turn of an injection limit ID is kept";
  for (const Voq& voq : port.input.arbiter)
    if (voq.room != crossing_room(fabric_.topology().settings, voq.at_once) ||
        voq.copy_room != copy_room(fabric_.topology().settings) || voq.ready() != 0 || voq.told_waiters != 0)
      return where + "room " + std::to_string(voq.room) + " towards an output, " + std::to_string(voq.copy_room) +
             " of copies, " + std::to_string(voq.told_waiters) + " flows said to wait for some";
  return {};
}

std::string Checker::unrest() const {
  for (uint16_t node = 0; node < fabric_.topology().nodes.size(); ++node) {
    const Node* state = fabric_.node(node);
    const std::string& name = fabric_.topology().nodes[node].name;
    if (state == nullptr) return "node " + name + " is down";
    uint32_t own = 0;  // frames made there that are on their way out: links never fall silent
    for (PortIndex index = 0; index < state->ports(); ++index) {
      const Port& port = state->port(index);
      std::string left = unrest_of(node, port);
      if (!left.empty()) return left;
      const LoadBoard& board = state->worker(0).board();
      if (board.waiting_bytes(index) != 0 || board.load(index, 0).flows != 0)
        return place(node, index) + ": " + std::to_string(board.waiting_bytes(index)) + " bytes said to wait for it";
      for (uint8_t of_class = 0; of_class < board.classes(); ++of_class) {
        uint32_t flows = 0;
        if (const uint64_t bytes = board.waiting_bytes(index, of_class, flows); bytes != 0 || flows != 0)
          return place(node, index) + ": " + std::to_string(bytes) + " bytes of class " + std::to_string(of_class) +
                 " said to wait for it";
      }
      own += port.output.control_packets + (port.output.probes != nullptr) + (port.output.probes_in_turn != nullptr);
    }
    for (WorkerIndex worker = 0; worker < state->workers(); ++worker) {
      if (state->worker(worker).copies_out() != 0) return "node " + name + ": copies out";
      if (state->worker(worker).link_state().digest() != fabric_.node(0)->worker(0).link_state().digest())
        return "node " + name + " worker " + std::to_string(worker) + " knows other link states than the first node";
    }
    const int64_t held = fabric_.pool().held(fabric_.owner(node));
    if (held != own)
      return "node " + name + " holds " + std::to_string(held) + " packets, " + std::to_string(own) + " of its own";
  }
  if (data_under_way_ != 0) return std::to_string(data_under_way_) + " data frames on links";
  return {};
}

void Checker::check_totals() const {
  const PortCounters total = fabric_.total();
  const std::string numbers = "edges delivered " + std::to_string(total.delivered_bytes) + " bytes of flows, " +
                              std::to_string(total.acknowledged_bytes) + " came back acknowledged";
  // Frames do not cross for ports that are not of their VLAN (E1). Of a broken neighbour's nothing is known.
  const uint64_t strays = total.drops[static_cast<unsigned>(DropReason::vlan_egress)];
  if (strays != 0 && fabric_.forged_frames() == 0)
    fail(3, std::to_string(strays) + " frames crossed to ports of other VLANs");
  if (total.acknowledged_bytes > total.delivered_bytes) fail(1, numbers);
  if (!sessions_lost_ && total.acknowledged_bytes != total.delivered_bytes) fail(1, numbers + ", no session ended");
}

}  // namespace heddle::sim
