// SPDX-License-Identifier: Apache-2.0
#include "telemetry/transit_flows.h"

#include "flow/congestion_level.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

constexpr size_t kRowsMax = 4096;
constexpr uint32_t kFlowsAtOnce = 8192;  // looked at per turn

struct TransitView {
  PortIndex port;
  FlowId flow;
  FabricAddress destination;
  uint32_t queue_bytes, extent_bytes;
  PortIndex output_port;
  FlowId output_flow;
  FlowState state;
  bool rests;
  uint8_t level;
};

void view_port(const SwitchProcess& process, const ProcessNode& node, PortIndex index,
               std::vector<TransitView>& views) {
  const uint32_t flows = node.node->port(index).input.flows.size();  // never changes
  for (uint32_t first = 1; first <= flows; first += kFlowsAtOnce) {
    views.reserve(views.size() + kFlowsAtOnce);  // not in the worker's thread
    look_at_port(process, node, index, [&](const Port& port) {
      for (uint32_t i = first; i <= std::min(flows, first + kFlowsAtOnce - 1); ++i) {
        const auto id = FlowId::of(i);
        const InputFlow& flow = port.input.flows[id];
        if (!flow.in_use()) continue;
        views.push_back({.port = index,
                         .flow = id,
                         .destination = flow.destination,
                         .queue_bytes = flow.queue_extent(),
                         .extent_bytes = flow.flow_extent(),
                         .output_port = flow.branch.output(),
                         .output_flow = flow.branch.flow,
                         .state = flow.state,
                         .rests = flow.at_rest(),
                         .level = static_cast<uint8_t>(flow.congestion & kCongestionLevelMask)});
      }
    });
  }
}

}  // namespace

const char* state_text(FlowState state, bool rests) {
  if (rests) return "resting";
  switch (state) {
    case FlowState::idle:
      return "idle";
    case FlowState::ready:
      return "ready";
    case FlowState::wanting:
      return "wanting";
    case FlowState::held:
      return "held";
    case FlowState::blocked:
      return "blocked";
  }
  return "?";
}

std::string destination_text(const SwitchProcess& process, FabricAddress address) {
  const int node = process.topology().node_of_address(address.node);
  if (node < 0 || address.port >= process.topology().nodes[static_cast<size_t>(node)].ports.size()) return "flooded";
  return port_name(process, static_cast<uint16_t>(node), address.port);
}

void add_output(Json& json, const SwitchProcess& process, const TopologyNode& about, PortIndex port, FlowId flow) {
  if (port == kNoPort) return;
  const TopologyPort& output = about.ports[port];
  json["by"] = output.name;
  json["by_flow_id"] = flow;
  if (output.fabric) json["next"] = port_name(process, output.peer.node_index, output.peer.port);
}

Json transit_json(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    std::vector<TransitView> views;
    for_each_port(node, request, [&](PortIndex index) {
      if (about.ports[index].fabric) view_port(process, node, index, views);
    });
    std::stable_sort(views.begin(), views.end(), [](const TransitView& a, const TransitView& b) {
      return a.queue_bytes + a.extent_bytes > b.queue_bytes + b.extent_bytes;
    });
    for (const TransitView& view : views) {
      if (rows.size() == kRowsMax) return;
      Json row{{"node", about.name},
               {"port", about.ports[view.port].name},
               {"flow_id", view.flow},
               {"to", destination_text(process, view.destination)},
               {"queue_bytes", view.queue_bytes},
               {"in_fabric_bytes", view.extent_bytes},
               {"level", view.level},
               {"state", state_text(view.state, view.rests)}};
      add_output(row, process, about, view.output_port, view.output_flow);
      rows.push_back(std::move(row));
    }
  });
  return rows;
}

}  // namespace heddle
