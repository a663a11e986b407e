// SPDX-License-Identifier: Apache-2.0
#include "node/group_pauses.h"

#include <algorithm>

namespace heddle {

// A half of what is free: one group alone has at most a third, of two each has a quarter.
bool GroupPauses::is_full(const Port& port, const InputFlow& flow) const {
  if (port.input.arbiter.groups() == 1) return false;  // it would be all that the host sends
  const InputQueues& queues = port.input.queues;
  const bool lossless = site_.lanes.lossless(flow.ftag);
  const uint32_t most = site_.settings.input_drop_mark_packets / (lossless ? 2 : 1);  // PAUSE's mark (F10), or drops
  const uint32_t all = lossless ? queues.lossless_packets() : queues.packets() - queues.lossless_packets();
  return all >= most || queues.packets(flow.group, lossless) > (most - all) / 2;
}

PausedGroup* GroupPauses::enter(Port& port, uint32_t match) const {
  std::vector<PausedGroup>& groups = port.input.paused.groups;
  const auto fields = fields_of_group(edge_.applications(), edge_.matches().key_at(match), site_.topology.classes);
  if (!fields) return nullptr;
  const PausedGroup entered{
      .host = host_of(match), .flow = described(port, match, *fields), .group = edge_.matches()[match].group};
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
