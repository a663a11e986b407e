// SPDX-License-Identifier: Apache-2.0
#include "routing/path_choice.h"

#include "wire/packet.h"

namespace heddle {

namespace {
// There are more of them.
PortIndex nth(PortSet ports, uint32_t number) {
  for (; number > 0; --number) ports &= ports - 1;
  return PortIndex::of(std::countr_zero(ports));
}
}  // namespace

PathChoice::PathChoice(const Topology& topology, uint16_t node_index, const Lanes& lanes, const LoadBoard& board)
    : lanes_(lanes),
      board_(board),
      loads_(board),
      routes_(topology, node_index),
      up_ports_(up_ports(topology)[node_index]),
      node_address_(topology.nodes[node_index].address) {
  const std::vector<TopologyPort>& ports = topology.nodes[node_index].ports;
  for (PortIndex port = 0; port < ports.size(); ++port)
    if (!ports[port].fabric) edge_ports_ |= PortSet{1} << port;
  uint32_t hosts = 0;
  for (const TopologyNode& node : topology.nodes) {
    if (first_host_.size() <= node.address) first_host_.resize(node.address + size_t{1});
    first_host_[node.address] = hosts;
    for (const TopologyPort& port : node.ports) hosts += !port.fabric;
  }
}

PortIndex PathChoice::choose_among(PortSet up, const Frame& frame, Random& random, Nanos now) const {
  if (frame.policy == PathPolicy::fixed) return fixed_way(up, frame);
  const uint64_t drawn = random.next();
  if (frame.policy != PathPolicy::random) return loads_.least(up, drawn, frame.had, now);
  if (frame.had != kNoPort && (up >> frame.had & 1)) return frame.had;
  return nth(up, static_cast<uint32_t>((drawn >> 32) % static_cast<uint32_t>(std::popcount(up))));
}

PortIndex PathChoice::fixed_way(PortSet ways, const Frame& frame) const {
  const auto count = static_cast<uint32_t>(std::popcount(ways));
  uint32_t number = first_host_[frame.destination.node] + frame.destination.port;
  for (uint32_t hop = frame.hop_limit; hop < kHopLimit; ++hop) number /= count;
  return nth(ways, number % count);
}

}  // namespace heddle
