// SPDX-License-Identifier: Apache-2.0
// What a fabric's graph gives: paths, virtual channels, what its halves can tell each other, what a failure costs
// (R11). For people who plan one; takes time in proportion to links x nodes x (nodes + links). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.h"
#include "topology/virtual_channels.h"

namespace heddle {

struct TopologyReport {
  struct Range {
    double least = 0, most = 0, mean = 0;
  };
  // What is lost without one link, or one switch; of pairs of switches with hosts that are up.
  struct Failure {
    std::string where;     // the worst one
    uint32_t cut_off = 0;  // pairs without a path
    uint32_t longer = 0;   // whose path costs more
    uint32_t by_most = 0;  // as much as this
  };
  uint32_t switches = 0, links = 0, edge_ports = 0;
  uint32_t pairs = 0;                  // of switches with hosts, in both directions
  Range path_links, path_cost, paths;  // of the pairs: links and cost of a shortest path, how many of them
  uint32_t pairs_with_detours = 0;     // R4
  ChannelsNeeded channels{};
  std::string ring;  // of buffers in that many channels (R5); empty if there is none
  // Switches with hosts, in the order of the file: what the first half can send to the second at once, over links and
  // in bits per second (links without a rate count as usual ones); and what all their hosts could.
  uint32_t half_links = 0;
  double half_bps = 0, half_hosts_bps = 0;
  Failure link, node;
};

TopologyReport report_topology(const Topology& topology);

// In the language of Graphviz: switches with the number of their edge ports, links with their ports and rates.
std::string topology_dot(const Topology& topology);

}  // namespace heddle
