// SPDX-License-Identifier: Apache-2.0
// Flows of one input port that wait for a flow ID of one output (K11), by the virtual channel that they go on in and by
// group, and how many IDs of there each group has (A8). An ID is of one channel, so that a flow waits behind those of
// its own only. The flows' links are the flow table's.
#pragma once

#include <vector>

#include "flow/input_flow.h"
#include "ingress/group_turns.h"
#include "ingress/id_shares.h"

namespace heddle {

class WantingFlows {
 public:
  WantingFlows(uint32_t groups, uint32_t channels) : shares(groups), channels_(channels, Channel(groups)) {}

  bool empty() const { return shares.waiting() == 0; }
  uint32_t count() const { return shares.waiting(); }
  uint32_t count(uint8_t channel) const { return channels_[channel].count; }
  const FlowList& of(uint8_t channel, uint8_t group) const { return channels_[channel].of_group[group]; }

  void push(InputFlowTable& flows, uint8_t channel, FlowId id) {
    Channel& waiting = channels_[channel];
    const uint8_t group = flows[id].group;
    flows.push(waiting.of_group[group], id);
    waiting.turns.enter(group);
    ++waiting.count;
    shares.waits(group);
  }
  // The one of the channel that has waited longest, of the group whose turn it is; there is one.
  FlowId pop(InputFlowTable& flows, uint8_t channel) {
    Channel& waiting = channels_[channel];
    const uint8_t group = waiting.turns.next();
    const FlowId id = flows.pop(waiting.of_group[group]);
    if (waiting.of_group[group].empty()) waiting.turns.leave(group);
    --waiting.count;
    shares.waits_no_more(group);
    return id;
  }
  // All of them.
  FlowList take_all(InputFlowTable& flows, uint8_t channel) {
    FlowList all;
    while (count(channel) != 0) flows.push(all, pop(flows, channel));
    return all;
  }
  // The port's session has ended: they wait no more.
  void clear() {
    for (Channel& waiting : channels_) {
      for (uint32_t group = 0; group < waiting.of_group.size(); ++group)
        for (; waiting.of_group[group].count != 0; --waiting.of_group[group].count)
          shares.waits_no_more(static_cast<uint8_t>(group));
      waiting = Channel(static_cast<uint32_t>(waiting.of_group.size()));
    }
  }

  IdShares shares;

 private:
  struct Channel {
    explicit Channel(uint32_t groups) : of_group(groups) {}
    std::vector<FlowList> of_group;
    GroupTurns turns;
    uint32_t count = 0;  // of all groups
  };

  std::vector<Channel> channels_;
};

}  // namespace heddle
