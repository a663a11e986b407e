// SPDX-License-Identifier: Apache-2.0
// Longer ways (R4): to another node first, and from there on, both by shortest paths. Pure. Nodes are indices;
// distances are those of graph.h, from every node to one.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/topology.h"

namespace heddle {

// May a flow from one node to another go by `via`, over the links that are up? The way costs more than the shortest,
// which costs two or more, and at most `cost_most`; it passes neither end twice, and whichever shortest paths its parts
// take, no frame is to leave `via` by the port that it came by.
struct LongerWay {
  uint16_t from, to;
  const std::vector<uint16_t>& to_from;  // distances to `from`
  const std::vector<uint16_t>& to_to;    // and to `to`
};
bool leads_by(const Topology& topology, const std::vector<PortSet>& ports_up, const LongerWay& way, uint16_t via,
              uint16_t cost_most);

// What a longer way may cost in this fabric, all links up: as much as its longest shortest path, its costliest link and
// one usual one. 0 if there are none: as in trees, where they would use no other links.
uint16_t longer_way_cost_most(const Topology& topology);

}  // namespace heddle
