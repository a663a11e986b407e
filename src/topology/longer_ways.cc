// SPDX-License-Identifier: Apache-2.0
#include "topology/longer_ways.h"

#include <algorithm>

#include "topology/graph.h"

namespace heddle {

bool leads_by(const Topology& topology, const std::vector<PortSet>& ports_up, const LongerWay& way, uint16_t via,
              uint16_t cost_most) {
  if (way.to_from[via] == kNoDistance || way.to_to[via] == kNoDistance) return false;
  const uint32_t first = way.to_from[via], second = way.to_to[via], shortest = way.to_from[way.to];
  if (shortest < 2 || first + second <= shortest || first + second > cost_most) return false;
  if (shortest + second <= first || first + shortest <= second) return false;  // through an end
  return (ports_towards(topology, ports_up, way.to_from, via) & ports_towards(topology, ports_up, way.to_to, via)) == 0;
}

uint16_t longer_way_cost_most(const Topology& topology) {
  const std::vector<PortSet> ports_up = all_fabric_ports(topology);
  std::vector<uint16_t> with_hosts;
  std::vector<std::vector<uint16_t>> distances;  // to each of these
  uint32_t costliest = 0, longest = 0;
  for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
    bool hosts = false;
    for (const TopologyPort& port : topology.nodes[node].ports) {
      hosts = hosts || !port.fabric;
      if (port.fabric) costliest = std::max<uint32_t>(costliest, port.cost);
    }
    if (!hosts) continue;
    with_hosts.push_back(node);
    distances.push_back(distances_from(topology, node, ports_up));
  }
  for (const std::vector<uint16_t>& to : distances)
    for (const uint16_t from : with_hosts)
      if (to[from] != kNoDistance) longest = std::max<uint32_t>(longest, to[from]);
  const auto cost_most = static_cast<uint16_t>(std::min<uint32_t>(longest + costliest + 1, kNoDistance - 1));
  for (size_t i = 0; i < with_hosts.size(); ++i)
    for (size_t j = 0; j < with_hosts.size(); ++j) {
      const LongerWay way{with_hosts[i], with_hosts[j], distances[i], distances[j]};
      const PortSet own = ports_up[way.from], shortest = ports_towards(topology, ports_up, way.to_to, way.from);
      if (i == j || (own & ~shortest) == 0) continue;  // it has no other link to begin with
      for (uint16_t via = 0; via < topology.nodes.size(); ++via)
        if (leads_by(topology, ports_up, way, via, cost_most)) return cost_most;
    }
  return 0;
}

}  // namespace heddle
