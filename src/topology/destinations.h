// SPDX-License-Identifier: Apache-2.0
// What frames call by address, in the topology's indices: one look into an array. The topology outlives it.
#pragma once

#include <vector>

#include "topology/topology.h"

namespace heddle {

class Destinations {
 public:
  explicit Destinations(const Topology& topology) : topology_(topology) {
    for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
      const size_t address = topology.nodes[node].address;
      if (node_of_address_.size() <= address) node_of_address_.resize(address + 1);
      node_of_address_[address] = node;
    }
  }
  // Of an address that no node has, which only a broken neighbour uses: the first node.
  uint16_t node(uint16_t address) const {
    return address < node_of_address_.size() ? node_of_address_[address] : uint16_t{0};
  }
  // Bits per second of the host's port: as configured, else a usual one.
  uint64_t rate_bps(FabricAddress address) const {
    const TopologyNode& there = topology_.nodes[node(address.node)];
    return address.port < there.ports.size() ? shared_rate_bps(there.ports[address.port]) : kRateUnknownBps;
  }

 private:
  const Topology& topology_;
  std::vector<uint16_t> node_of_address_;
};

}  // namespace heddle
