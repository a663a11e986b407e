// SPDX-License-Identifier: Apache-2.0
// Flows of one input port that wait for a flow ID of one output (K11), by group, and how many IDs of there each group
// has (A8). The flows' links are the flow table's.
#pragma once

#include <vector>

#include "flow/input_flow.h"
#include "ingress/id_shares.h"

namespace heddle {

class WantingFlows {
 public:
  explicit WantingFlows(uint32_t groups) : shares(groups), of_group_(groups) {}

  bool empty() const { return shares.waiting() == 0; }
  uint32_t count() const { return shares.waiting(); }
  const FlowList& of(uint8_t group) const { return of_group_[group]; }

  void push(InputFlowTable& flows, FlowId id) {
    const uint8_t group = flows[id].group;
    flows.push(of_group_[group], id);
    shares.waits(group);
  }
  // The one that has waited longest, of the group whose turn it is; there is one.
  FlowId pop(InputFlowTable& flows) { return pop(flows, shares.next_turn()); }
  // All of them.
  FlowList take_all(InputFlowTable& flows) {
    FlowList all;
    while (!empty()) flows.push(all, pop(flows));
    return all;
  }
  // The port's session has ended: they wait no more.
  void clear() {
    for (uint32_t group = 0; group < of_group_.size(); ++group) {
      while (shares.waiting(static_cast<uint8_t>(group)) != 0) shares.waits_no_more(static_cast<uint8_t>(group));
      of_group_[group] = {};
    }
  }

  IdShares shares;

 private:
  FlowId pop(InputFlowTable& flows, uint8_t group) {
    shares.waits_no_more(group);
    return flows.pop(of_group_[group]);
  }

  std::vector<FlowList> of_group_;
};

}  // namespace heddle
