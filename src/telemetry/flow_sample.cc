// SPDX-License-Identifier: Apache-2.0
#include "telemetry/flow_sample.h"

#include <algorithm>
#include <tuple>

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
  for (uint32_t worker = 0; worker < node.node->workers(); ++worker) {
    const MatchTable& matches = node.node->worker(worker).edge_input().matches();
    const uint32_t capacity = matches.capacity();  // never changes
    for (uint32_t first = 0; first < capacity; first += kEntriesAtOnce) {
      samples.reserve(samples.size() + kEntriesAtOnce);  // not in the worker's thread
      bool empty = false;
      process.run_on(node, worker, [&] {
        empty = matches.used() == 0;
        const uint32_t last = std::min(first + kEntriesAtOnce, capacity);
        for (uint32_t match = first; match < last && !empty; ++match) {
          const MatchEntry& entry = matches[match];
          if (!entry.used()) continue;
          const bool attached = attached_flow(entry, match, node.node->port(entry.input_port)) != kNoFlow;
          samples.push_back({&node, worker, match, entry.hash, entry.bytes, attached});
        }
      });
      if (empty) break;
    }
  }
}

void rate_flows(const std::vector<SampledFlow>& earlier, std::vector<SampledFlow>& later) {
  const auto place = [](const SampledFlow& flow) { return std::tie(flow.node, flow.worker, flow.match); };
  auto before = earlier.begin();
  for (SampledFlow& flow : later) {
    while (before != earlier.end() && place(*before) < place(flow)) ++before;
    const bool same = before != earlier.end() && place(*before) == place(flow) && before->hash == flow.hash;
    if (same) flow.bytes -= before->bytes;
  }
}

bool view_flow(const SwitchProcess& process, const SampledFlow& sample, FlowView& view) {
  bool found = false;
  process.run_on(*sample.node, sample.worker, [&] {
    const Node& node = *sample.node->node;
    const MatchTable& matches = node.worker(sample.worker).edge_input().matches();
    const MatchEntry& entry = matches[sample.match];
    if (!entry.used() || entry.hash != sample.hash) return;
    found = true;
    view = {.key = matches.key_at(sample.match), .destination = entry.destination, .input_port = entry.input_port};
    const Port& port = node.port(entry.input_port);
    view.flow = attached_flow(entry, sample.match, port);
    if (view.flow == kNoFlow) return;
    const InputFlow& flow = port.input.flows[view.flow];
    view.queue_bytes = flow.queue_extent();
    view.flow_extent_bytes = flow.flow_extent();
    view.queued_packets = flow.queued_packets;
    view.state = flow.state;
    if (flow.flow_extent() != 0 || flow.queue_extent() != 0) view.output_port = flow.follow_port;
  });
  return found;
}

}  // namespace heddle
