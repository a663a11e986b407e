// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

struct WorkerSummary {
  FrameBalance balance;
  uint32_t links_up = 0;
  uint32_t stations = 0;
  uint32_t matches = 0;
};

WorkerSummary summary_of(const Worker& worker) {
  WorkerSummary summary{.balance = balance_of(worker),
                        .stations = worker.edge_input().stations().used(),
                        .matches = worker.edge_input().matches().used()};
  for (const Port* port : worker.ports()) summary.links_up += port->is_fabric() && port->session.up();
  return summary;
}

Json node_json(const SwitchProcess& process, const ProcessNode& node) {
  const TopologyNode& about = description(process, node);
  const auto fabric_ports =
      std::count_if(about.ports.begin(), about.ports.end(), [](const TopologyPort& port) { return port.fabric; });
  Json json{{"node", about.name},
            {"address", about.address},
            {"up", node.node != nullptr},
            {"starts", node.starts},
            {"workers", node.settings.workers},
            {"edge_ports", about.ports.size() - static_cast<size_t>(fabric_ports)},
            {"links", fabric_ports}};
  if (node.node == nullptr) return json;
  WorkerSummary sum;
  for (WorkerIndex index = 0; index < node.node->workers(); ++index) {
    WorkerSummary summary;
    process.run_on(node, index, [&] { summary = summary_of(node.node->worker(index)); });
    sum.links_up += summary.links_up;
    sum.matches += summary.matches;
    sum.stations = std::max(sum.stations, summary.stations);  // workers tell each other
    sum.balance.in += summary.balance.in;
    sum.balance.out += summary.balance.out;
    sum.balance.held += summary.balance.held;
    sum.balance.drops += summary.balance.drops;
  }
  json["links_up"] = sum.links_up;
  json["stations"] = sum.stations;
  json["matches"] = sum.matches;
  json["frames"] = sum.balance.json();
  return json;
}

}  // namespace

Json show_nodes(const SwitchProcess& process, const ShowRequest& request) {
  Json nodes = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) { nodes.push_back(node_json(process, node)); });
  Json reply{{"fabric", process.topology().name},
             {"uptime_seconds", (monotonic_now() - process.started_ns()) / kSecond},
             {"nodes", std::move(nodes)}};
  add_buffers(process, reply);
  return reply;
}

}  // namespace heddle
