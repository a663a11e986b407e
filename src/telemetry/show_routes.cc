// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "telemetry/inspect.h"

namespace heddle {

namespace {

Json port_names(const TopologyNode& node, PortSet ports) {
  Json names = Json::array();
  for (; ports != 0; ports &= ports - 1) names.push_back(node.ports[static_cast<size_t>(std::countr_zero(ports))].name);
  return names;
}

}  // namespace

// Towards each other node: the ports that lie on a shortest path over the links that are up (R2, R12). Frames that are
// flooded follow the ports of one spanning tree (E1).
Json show_routes(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    std::vector<PortSet> primary;
    PortSet tree = 0;
    process.run_on(node, 0, [&] {
      const RouteTable& routes = node.node->worker(0).paths().routes();
      for (const TopologyNode& other : process.topology().nodes) primary.push_back(routes.primary(other.address));
      tree = routes.tree();
    });
    for (size_t other = 0; other < primary.size(); ++other) {
      if (other == node.settings.node_index) continue;
      if (request.port && !(primary[other] >> *request.port & 1)) continue;
      rows.push_back({{"node", about.name},
                      {"to", process.topology().nodes[other].name},
                      {"ports", port_names(about, primary[other])}});
    }
    if (!request.port || (tree >> *request.port & 1))
      rows.push_back({{"node", about.name}, {"to", nullptr}, {"ports", port_names(about, tree)}});
  });
  return {{"routes", std::move(rows)}};
}

}  // namespace heddle
