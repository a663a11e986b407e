// SPDX-License-Identifier: Apache-2.0
#include "telemetry/flow_sample.h"

#include <algorithm>
#include <tuple>

#include "flow/congestion_level.h"
#include "ingress/application_groups.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

constexpr uint32_t kEntriesAtOnce = 8192;  // looked at per turn

// The input flow that the entry has now, or none.
FlowId attached_flow(const MatchEntry& entry, uint32_t match, const Port& port) {
  if (!port.input.flows.valid(entry.flow)) return kNoFlow;
  const InputFlow& flow = port.input.flows[entry.flow];
  return flow.in_use() && flow.match == match ? entry.flow : kNoFlow;
}

}  // namespace

void sample_flows(const SwitchProcess& process, const ProcessNode& node, std::vector<SampledFlow>& samples) {
  for (WorkerIndex worker = 0; worker < node.node->workers(); ++worker) {
    const EdgeInput& edge = node.node->worker(worker).edge_input();
    const MatchTable& matches = edge.matches();
    const uint32_t indices = matches.indices();  // never changes
    for (uint32_t first = 0; first < indices; first += kEntriesAtOnce) {
      samples.reserve(samples.size() + kEntriesAtOnce);  // not in the worker's thread
      bool empty = false;
      process.run_on(node, worker, [&] {
        empty = matches.used() == 0;
        const uint32_t last = std::min(first + kEntriesAtOnce, indices);
        for (uint32_t match = first; match < last && !empty; ++match) {
          const MatchEntry& entry = matches[match];
          if (!entry.used()) continue;
          const MatchKey& key = matches.key_at(match);
          const Port& port = node.node->port(key.input_port);
          const FlowId id = attached_flow(entry, match, port);
          FlowTotals totals{.offered = entry.bytes, .lost = entry.lost_bytes, .held = 0};
          if (id != kNoFlow) totals.held = port.input.flows[id].queue_extent() + port.input.flows[id].flow_extent();
          const uint32_t queued = id != kNoFlow ? port.input.flows[id].queue_extent() : 0;
          samples.push_back({.node = &node,
                             .worker = worker,
                             .match = match,
                             .hash = matches.hash(key),
                             .totals = totals,
                             .delivered = totals.delivered(),
                             .attached = id != kNoFlow,
                             .port = key.input_port,
                             .group = group_of(edge.applications(), key),
                             .queued_bytes = queued});
        }
      });
      if (empty) break;
    }
  }
}

std::vector<SampledFlow> sample_flows(const SwitchProcess& process, const ShowRequest& request) {
  std::vector<SampledFlow> samples;
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node != nullptr) sample_flows(process, node, samples);
  });
  return samples;
}

void rate_flows(const std::vector<SampledFlow>& earlier, std::vector<SampledFlow>& later) {
  const auto place = [](const SampledFlow& flow) { return std::tie(flow.node, flow.worker, flow.match); };
  auto before = earlier.begin();
  for (SampledFlow& flow : later) {
    while (before != earlier.end() && place(*before) < place(flow)) ++before;
    const bool same = before != earlier.end() && place(*before) == place(flow) && before->hash == flow.hash;
    if (!same) continue;
    flow.totals.offered -= before->totals.offered;
    flow.totals.lost -= before->totals.lost;
    // Frames that wait for a flow ID, or have crossed without one, are held and not counted so: what came in before may
    // seem to go back by those few.
    const int32_t delivered = serial_distance(before->delivered, flow.delivered);
    flow.delivered = static_cast<uint32_t>(std::max(delivered, 0));
  }
}

bool view_flow(const SwitchProcess& process, const SampledFlow& sample, FlowView& view) {
  bool found = false;
  process.run_on(*sample.node, sample.worker, [&] {
    const Node& node = *sample.node->node;
    const MatchTable& matches = node.worker(sample.worker).edge_input().matches();
    const MatchEntry& entry = matches[sample.match];
    const MatchKey& key = matches.key_at(sample.match);
    if (!entry.used() || matches.hash(key) != sample.hash) return;
    found = true;
    view = {.key = key,
            .destination = entry.destination,
            .input_port = key.input_port,
            .lost_bytes = entry.lost_bytes,
            .lost_reason = entry.lost_reason};
    const Port& port = node.port(key.input_port);
    view.flow = attached_flow(entry, sample.match, port);
    if (view.flow == kNoFlow) return;
    const InputFlow& flow = port.input.flows[view.flow];
    view.queue_bytes = flow.queue_extent();
    view.flow_extent_bytes = flow.flow_extent();
    view.queued_packets = flow.queued_packets;
    view.state = flow.state;
    view.rests = flow.at_rest();
    view.at_limit = flow.state == FlowState::ready && port.input.arbiter.at_limit(flow.branch.voq, flow.group);
    view.at_port_limit = view.at_limit && !port.input.arbiter.injection().port_open();
    view.level = flow.congestion & kCongestionLevelMask;
    if (flow.flow_extent() == 0 && flow.queue_extent() == 0) return;
    view.output_port = flow.branch.output();
    view.output_flow = flow.branch.flow;
  });
  return found;
}

}  // namespace heddle
