// SPDX-License-Identifier: Apache-2.0
#include "telemetry/inspect.h"

namespace heddle {

namespace {

// All counters of the ports of a node, and the sum over them: both from one moment per worker.
struct NodeDrops {
  std::vector<std::array<uint64_t, kDropReasons>> by_port;
  FrameBalance balance;
};

NodeDrops drops_of(const SwitchProcess& process, const ProcessNode& node) {
  NodeDrops drops;
  drops.by_port.resize(node.ports.size());
  for (uint32_t index = 0; index < node.node->workers(); ++index) {
    process.run_on(node, index, [&] {
      for (const Port* port : node.node->worker(index).ports()) {
        drops.by_port[port->index] = port->counters.drops;
        drops.balance.add(*port);
      }
    });
  }
  return drops;
}

}  // namespace

Json show_drops(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  Json sums = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    const NodeDrops drops = drops_of(process, node);
    for_each_port(node, request, [&](PortIndex port) {
      for (unsigned reason = 0; reason < kDropReasons; ++reason) {
        if (drops.by_port[port][reason] == 0) continue;
        rows.push_back({{"node", about.name},
                        {"port", about.ports[port].name},
                        {"reason", kDropReasonNames[reason]},
                        {"frames", drops.by_port[port][reason]},
                        {"text", kDropReasonTexts[reason]}});
      }
    });
    Json sum{{"node", about.name}};
    sum.update(drops.balance.json());
    sums.push_back(std::move(sum));
  });
  return {{"drops", std::move(rows)}, {"sums", std::move(sums)}};
}

}  // namespace heddle
