// SPDX-License-Identifier: Apache-2.0
// Questions about the configured graph, answered by pure functions: same topology and same port states, same
// answer on every node. Of paths the cheapest is the shortest: each link has a cost, by default 1. Nodes and ports are
// indices into the topology. Work is proportional to nodes plus links.
//
// `ports_up` has one mask per node, by node index: bit p = the fabric port p is usable as that node reports
// it (W6). A link counts as usable only if both of its ends are, so two nodes that disagree about a link
// agree on its being down.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

constexpr uint16_t kNoDistance = 0xffff;  // cannot be reached

// Every fabric port of every node up: the graph as configured.
std::vector<PortSet> all_fabric_ports(const Topology& topology);

// True if `port` of the node is a fabric port and both ends of its link are up.
bool port_usable(const Topology& topology, const std::vector<PortSet>& ports_up, uint16_t node_index, PortIndex port);

// What the links of a shortest path between `node_index` and every node cost, over usable links; kNoDistance where
// there is no path.
std::vector<uint16_t> distances_from(const Topology& topology, uint16_t node_index,
                                     const std::vector<PortSet>& ports_up);

// Ports of `node_index` that lie on a shortest path to the node that these are the distances to, over usable links; 0
// for that node itself, and where there is no path.
PortSet ports_towards(const Topology& topology, const std::vector<PortSet>& ports_up,
                      const std::vector<uint16_t>& distances, uint16_t node_index);

// Does a shortest path from a neighbour of the node to another one with hosts lead by it, over all configured links?
bool is_transit(const Topology& topology, uint16_t node_index);

// Nodes without a configured path to the first node, in index order. Empty for a topology of one node or
// none.
std::vector<uint16_t> unreachable_nodes(const Topology& topology);

// Per node, its ports on the spanning tree over usable links (E1). Each connected part has its own tree,
// rooted at the lowest address in it; every other node hangs on a neighbour on a shortest path to the root, the one of
// the lowest node index, by its lowest port.
std::vector<PortSet> spanning_tree_ports(const Topology& topology, const std::vector<PortSet>& ports_up);

// Per destination node index, all ports of `node_index` that lie on a shortest path over usable links; 0 for
// the node itself and where there is no path.
std::vector<PortSet> shortest_path_ports(const Topology& topology, uint16_t node_index,
                                         const std::vector<PortSet>& ports_up);

}  // namespace heddle
