// SPDX-License-Identifier: Apache-2.0
// Flows of one input port that wait for a flow ID of one output (K11), and how many IDs of there it has: by the virtual
// channel that they go on in, and in each by group (A8). An ID is of one channel, so that a flow waits behind those of
// its own only. The flows' links are the flow table's.
#pragma once

#include <array>
#include <vector>

#include "flow/input_flow.h"
#include "ingress/group_turns.h"
#include "ingress/id_shares.h"

namespace heddle {

class WantingFlows {
 public:
  WantingFlows(uint32_t groups, uint32_t channels) : channels_(channels, Channel(groups)), several_(groups > 1) {}

  bool empty() const { return waiting_ == 0; }
  uint32_t count(uint8_t channel) const { return shares(channel).waiting(); }
  const FlowList& of(uint8_t channel, uint8_t group) const { return channels_[channel].of_group[group]; }
  // A flow has an ID of the channel. It has one no more.
  void took(uint8_t channel, uint8_t group) {
    ++held_[channel];
    if (several_) channels_[channel].shares.took(group);
  }
  void gave(uint8_t channel, uint8_t group) {
    --held_[channel];
    if (several_) channels_[channel].shares.gave(group);
  }
  uint32_t held(uint8_t channel) const { return held_[channel]; }  // by flows
  // What groups have of the channel's; not counted where there is one.
  const IdShares& shares(uint8_t channel) const { return channels_[channel].shares; }
  // While any flows wait: has one of that channel and group to leave its ID once it has had its turn? To others of its
  // channel, as groups share; where only flows of other channels wait, all but the one that is kept for the channel.
  bool yields(uint8_t channel, uint8_t group) const {
    const IdShares& own = shares(channel);
    return own.waiting() != 0 ? own.has_to_yield(group) : held(channel) > 1;
  }

  void push(InputFlowTable& flows, uint8_t channel, FlowId id) {
    Channel& there = channels_[channel];
    const uint8_t group = flows[id].group;
    flows.push(there.of_group[group], id);
    there.turns.enter(group);
    there.shares.waits(group);
    ++waiting_;
  }
  // The one of the channel that has waited longest, of the group whose turn it is; there is one.
  FlowId pop(InputFlowTable& flows, uint8_t channel) {
    Channel& there = channels_[channel];
    const uint8_t group = there.turns.next();
    const FlowId id = flows.pop(there.of_group[group]);
    waits_no_more(there, group);
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
    for (Channel& there : channels_) {
      for (uint8_t group = 0; group < there.of_group.size(); ++group) {
        there.of_group[group] = {};
        while (there.shares.waiting(group) != 0) waits_no_more(there, group);
      }
    }
  }

 private:
  struct Channel {
    explicit Channel(uint32_t groups) : shares(groups), of_group(groups) {}
    IdShares shares;
    GroupTurns turns;
    std::vector<FlowList> of_group;
  };

  void waits_no_more(Channel& there, uint8_t group) {
    there.shares.waits_no_more(group);
    if (there.shares.waiting(group) == 0) there.turns.leave(group);
    --waiting_;
  }

  std::vector<Channel> channels_;
  uint32_t waiting_ = 0;                           // of all channels
  bool several_;                                   // groups: what they have is counted
  std::array<uint16_t, kVirtualChannels> held_{};  // IDs that flows have, by channel
};

}  // namespace heddle
