// SPDX-License-Identifier: Apache-2.0
// Which flows move, and how fast: the match entries of workers, seen twice. A match entry outlives the flow IDs it has
// (F4), so its byte total tells a rate where a flow ID would be gone.
#pragma once

#include <vector>

#include "io/switch_process.h"

namespace heddle {

struct SampledFlow {
  const ProcessNode* node;
  uint32_t worker;
  uint32_t match;  // index in that worker's match table
  uint32_t hash;   // of its key: tells whether the entry is still the same
  uint32_t bytes;  // total, wraps; after rate_flows: in the interval
  bool attached;   // has a flow ID
};

// What `heddle show flows` tells of one flow; copied from the tables.
struct FlowView {
  MatchKey key;
  FabricAddress destination;
  PortIndex input_port = kNoPort;
  FlowId flow = kNoFlow;  // the rest is of this one
  uint32_t queue_bytes = 0, flow_extent_bytes = 0;
  uint16_t queued_packets = 0;
  PortIndex output_port = kNoPort;
  FlowState state = FlowState::idle;
};

// Every used entry of a node's match tables, a bounded number of them per turn of the worker.
void sample_flows(const SwitchProcess& process, const ProcessNode& node, std::vector<SampledFlow>& samples);

// `later` with its bytes turned into those since `earlier`; both in the order that sample_flows makes. Entries that are
// new count from zero.
void rate_flows(const std::vector<SampledFlow>& earlier, std::vector<SampledFlow>& later);

// False if the entry has gone since.
bool view_flow(const SwitchProcess& process, const SampledFlow& sample, FlowView& view);

}  // namespace heddle
