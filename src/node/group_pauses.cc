// SPDX-License-Identifier: Apache-2.0
#include "node/group_pauses.h"

#include <algorithm>

namespace heddle {

namespace {

// More than half of what is free: one alone gets a third of all, and two that grow together a quarter each.
bool is_too_much(uint32_t of_group, uint32_t of_all, uint32_t most) {
  return of_group != 0 && (of_all >= most || of_group > (most - of_all) / 2);
}

}  // namespace

bool GroupPauses::is_full(const Port& port, uint8_t group, bool lossless) const {
  if (port.input.arbiter.groups() == 1) return false;  // it would be all that the host sends
  const IdShares& waiting = port.input.waiting.shares;
  return is_too_much(port.input.queues.packets(group, lossless), packets(port, lossless), most_packets(lossless)) ||
         is_too_much(waiting.waiting(group), waiting.waiting(), site_.waiting_max / (lossless ? 2 : 4));
}

uint32_t GroupPauses::queue_bytes(const Port& port, uint8_t group) const {
  return port.input.queues.of_group(group).bytes + port.input.waiting.shares.waiting(group) * site_.frame_bytes;
}

// A third of what others leave is what it has where it has half of what is free.
void GroupPauses::aim(const Port& port, PausedGroup& group) const {
  const uint32_t of_group = port.input.queues.packets(group.group, group.lossless);
  const uint32_t others = packets(port, group.lossless) - of_group, most = most_packets(group.lossless);
  const uint64_t part = others < most ? (most - others) / 3 : 0;
  const uint64_t bytes = of_group != 0 ? port.input.queues.of_group(group.group).bytes * part / of_group : group.target;
  group.target = static_cast<uint32_t>(std::max<uint64_t>(bytes, kFramesMin * site_.frame_bytes));
}

uint32_t GroupPauses::sharers(const Port& port, const PausedGroup& group) const {
  const auto shares = [&](const PausedGroup& other) {
    return other.group == group.group && !port.input.paused.pauses[other.pause].ended();
  };
  const std::vector<PausedGroup>& groups = port.input.paused.groups;
  return static_cast<uint32_t>(std::count_if(groups.begin(), groups.end(), shares));
}

// That wait in the port's queues, and at which its host is paused (F10), or frames are dropped (A8).
uint32_t GroupPauses::packets(const Port& port, bool lossless) const {
  const InputQueues& queues = port.input.queues;
  return lossless ? queues.lossless_packets() : queues.packets() - queues.lossless_packets();
}

// Of several lossy classes one alone is dropped from half of the mark on, and beside others before.
uint32_t GroupPauses::most_packets(bool lossless) const {
  return site_.settings.input_drop_mark_packets / (lossless || site_.several_lossy_classes ? 2 : 1);
}

PausedGroup* GroupPauses::enter(Port& port, uint32_t match) const {
  std::vector<PausedGroup>& groups = port.input.paused.groups;
  const auto fields = fields_of_group(edge_.applications(), edge_.matches().key_at(match), site_.topology.classes);
  if (!fields) return nullptr;
  const PausedGroup entered{.host = host_of(match),
                            .flow = described(port, match, *fields),
                            .group = edge_.matches()[match].group,
                            .lossless = site_.lanes.lossless(edge_.matches()[match].ftag)};
  const auto known = std::find_if(groups.begin(), groups.end(), [&entered](const PausedGroup& group) {
    return group.host == entered.host && group.flow == entered.flow && group.group == entered.group;
  });
  if (known != groups.end()) return &*known;
  if (groups.size() == PausedFlows::kMostGroups || port.input.paused.unused.empty()) return nullptr;
  groups.push_back(entered);
  groups.back().pause = port.input.paused.take();
  return &groups.back();
}

bool GroupPauses::has(const Port& port, const PausedGroup& group, uint32_t match) const {
  return !port.input.paused.pauses[group.pause].ended() && edge_.matches()[match].group == group.group &&
         host_of(match) == group.host && described(port, match, group.flow.fields) == group.flow;
}

void GroupPauses::sort(Port& port, uint32_t index) const {
  PausedFlows& paused = port.input.paused;
  MatchEntry& match = edge_.matches()[index];
  const bool is_held = std::any_of(paused.groups.begin(), paused.groups.end(),
                                   [&](const PausedGroup& group) { return has(port, group, index); });
  if (!is_held) {
    if (!(match.flags & kMatchOfGroup)) return;
    match.flags &= static_cast<uint8_t>(~kMatchOfGroup);
    match.station_version = edge_.stations().version() - 1;  // its next frame sees where it leads
    return;                                                  // and its flow loses its flag as it sends
  }
  match.flags = static_cast<uint8_t>(kMatchUsed | (match.flags & kMatchPaused) | kMatchOfGroup);
  InputFlow* flow = port.input.flows.of_match(match.flow, index);
  if (flow == nullptr || (flow->flags & kFlowPaused)) return;
  flow->flags |= kFlowPaused;
  paused.of_flows[match.flow] = kNoPause;
}

}  // namespace heddle
