// SPDX-License-Identifier: Apache-2.0
// Which flows of hosts move, how fast, and what becomes of them: the match entries of workers, seen twice. A match
// entry outlives the flow IDs it has (F4), so its totals tell rates where a flow ID would be gone.
#pragma once

#include <vector>

#include "io/switch_process.h"
#include "telemetry/show.h"

namespace heddle {

// Bytes of original frames since the entry was made; they wrap. After rate_flows: those of the interval.
struct FlowTotals {
  uint32_t offered = 0;  // came from the host
  uint32_t lost = 0;     // of those, dropped at this port or lost further on
  uint32_t held = 0;     // of those, still queued or in the fabric
  uint32_t delivered() const { return offered - lost - held; }
};

struct SampledFlow {
  const ProcessNode* node;
  WorkerIndex worker;
  uint32_t match;  // index in that worker's match table
  uint32_t hash;   // of its key: tells whether the entry is still the same
  FlowTotals totals;
  uint32_t delivered;  // as totals.delivered()
  bool attached;       // has a flow ID
  PortIndex port = kNoPort;
  uint8_t group = 0;          // of the port's applications (A1)
  uint32_t queued_bytes = 0;  // of those held
};

// What `heddle show flows` tells of one flow; copied from the tables.
struct FlowView {
  MatchKey key;
  FabricAddress destination;
  PortIndex input_port = kNoPort;
  uint32_t lost_bytes = 0;
  DropReason lost_reason = DropReason::none;  // none: further on
  FlowId flow = kNoFlow;                      // the rest is of this one
  uint32_t queue_bytes = 0, flow_extent_bytes = 0;
  uint16_t queued_packets = 0;
  PortIndex output_port = kNoPort;
  FlowId output_flow = kNoFlow;
  uint8_t level = 0;  // of its destination's congestion
  FlowState state = FlowState::idle;
  bool rests = false;
  bool at_limit = false;       // ready, and its injection limit ID is closed (A4)
  bool at_port_limit = false;  // for the port is (A7)
};

// Every used entry of a node's match tables, a bounded number of them per turn of the worker.
void sample_flows(const SwitchProcess& process, const ProcessNode& node, std::vector<SampledFlow>& samples);

// The same of all nodes that are asked for.
std::vector<SampledFlow> sample_flows(const SwitchProcess& process, const ShowRequest& request);

// `later` with its bytes turned into those since `earlier`; both in the order that sample_flows makes. Entries that are
// new count from zero.
void rate_flows(const std::vector<SampledFlow>& earlier, std::vector<SampledFlow>& later);

// False if the entry has gone since.
bool view_flow(const SwitchProcess& process, const SampledFlow& sample, FlowView& view);

}  // namespace heddle
