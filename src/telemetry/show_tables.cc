// SPDX-License-Identifier: Apache-2.0
#include "telemetry/inspect.h"

namespace heddle {

namespace {

struct PortTables {
  uint32_t input_ids = 0, used_ids = 0, resting_ids = 0;
  uint32_t blocked_flows = 0;  // have packets and wait: for a flow ID, for congestion to end, or are held
  uint32_t orphans = 0;
  uint64_t queue_extent_bytes = 0, flow_extent_bytes = 0, output_extent_bytes = 0;
  uint32_t input_packets = 0, waiting_packets = 0, output_packets = 0;
  uint32_t channels = 0;
  std::array<LinkCredits, kVirtualChannels> credits{};
  bool fabric = false, session_up = false;
};

void add_flows(const Port& port, uint32_t first, PortTables& tables) {
  const uint32_t last = std::min(first + kIdsAtOnce - 1, port.input.flows.size());
  for (uint32_t id = first; id <= last; ++id) {
    const InputFlow& in = port.input.flows[FlowId::of(id)];
    if (in.in_use() && !in.at_rest()) {
      ++tables.input_ids;
      tables.queue_extent_bytes += in.queue_extent();
      tables.flow_extent_bytes += in.flow_extent();
      tables.blocked_flows +=
          in.state == FlowState::wanting || in.state == FlowState::held || in.state == FlowState::blocked;
    }
    const OutputFlow& out = port.output.flows[FlowId::of(id)];
    if (out.state == OutputFlowState::free) continue;
    tables.output_extent_bytes += out.extent();
    tables.orphans += out.state == OutputFlowState::orphan;
    tables.resting_ids +=
        out.state == OutputFlowState::reserved && out.at_rest() && port.output.flows.resting().has(FlowId::of(id));
  }
}

PortTables tables_of(const SwitchProcess& process, const ProcessNode& node, PortIndex index) {
  PortTables tables;
  uint32_t ids = 1;
  for (uint32_t first = 1; first <= ids; first += kIdsAtOnce) {
    look_at_port(process, node, index, [&](const Port& port) {
      ids = port.input.flows.size();
      add_flows(port, first, tables);
      tables.used_ids = port.output.flows.used();
      tables.input_packets = port.input.queues.packets();
      tables.waiting_packets = port.input.waiting.count();
      tables.output_packets = port.output.scheduler.packets();
      tables.fabric = port.is_fabric();
      tables.channels = port.channels;
      tables.credits = port.credits;
      tables.session_up = port.session.up();
    });
  }
  return tables;
}

// Of the link as a whole, and of each virtual channel where there are several (C9).
Json credits_json(const PortTables& tables) {
  Json channels = Json::array();
  uint32_t left = 0, held = 0, buffers = 0;
  bool all_home = true;
  for (uint32_t channel = 0; channel < tables.channels; ++channel) {
    const LinkCredits& credits = tables.credits[channel];
    const uint32_t left_here = credits.left();
    left += left_here;
    held += credits.held();
    buffers += credits.buffers();
    all_home = all_home && (!tables.session_up || credits.all_home());
    channels.push_back({{"channel", channel},
                        {"sent", credits.sent_total()},
                        {"limit", credits.limit()},
                        {"left", left_here},
                        {"held", credits.held()},
                        {"buffers", credits.buffers()}});
  }
  return {{"left", left}, {"all_home", all_home}, {"held", held}, {"buffers", buffers}, {"channels", channels}};
}

Json port_json(const TopologyNode& about, PortIndex index, const PortTables& tables) {
  Json json{{"node", about.name},
            {"port", about.ports[index].name},
            {"input_ids", tables.input_ids},
            {"output_ids", tables.used_ids - tables.resting_ids},
            {"resting_ids", tables.resting_ids},
            {"orphans", tables.orphans},
            {"blocked_flows", tables.blocked_flows},
            {"queue_extent_bytes", tables.queue_extent_bytes},
            {"flow_extent_bytes", tables.flow_extent_bytes},
            {"output_extent_bytes", tables.output_extent_bytes},
            {"input_packets", tables.input_packets},
            {"waiting_packets", tables.waiting_packets},
            {"output_packets", tables.output_packets}};
  if (tables.fabric) json["credits"] = credits_json(tables);
  return json;
}

// F4: how full the workers' match tables are.
void add_matches(const SwitchProcess& process, const ProcessNode& node, Json& rows) {
  for (WorkerIndex worker = 0; worker < node.node->workers(); ++worker) {
    Json row{{"node", description(process, node).name}, {"worker", worker}};
    process.run_on(node, worker, [&] {
      const MatchTable& matches = node.node->worker(worker).edge_input().matches();
      row["matches"] = matches.used();
      row["matches_max"] = matches.capacity();
      row["matches_evicted"] = matches.evictions();
      row["matches_refused"] = matches.refused();
    });
    rows.push_back(std::move(row));
  }
}

}  // namespace

Json show_tables(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array(), matches = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    if (!request.port) add_matches(process, node, matches);
    for_each_port(node, request, [&](PortIndex index) {
      rows.push_back(port_json(description(process, node), index, tables_of(process, node, index)));
    });
  });
  Json reply{{"tables", std::move(rows)}, {"matches", std::move(matches)}};
  add_buffers(process, reply);
  return reply;
}

}  // namespace heddle
