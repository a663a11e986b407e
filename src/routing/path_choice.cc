// SPDX-License-Identifier: Apache-2.0
#include "routing/path_choice.h"

#include "wire/packet.h"

namespace heddle {

namespace {
// R4: of longer ways so many are looked at; and a shortest one is good enough while no more waits for it than it sends
// in this part of what counts as lately.
constexpr uint32_t kDraws = 4;
constexpr Nanos kPatience = 4;

// There are more of them.
PortIndex nth(PortSet ports, uint32_t number) {
  for (; number > 0; --number) ports &= ports - 1;
  return PortIndex::of(std::countr_zero(ports));
}
}  // namespace

PathChoice::PathChoice(const Topology& topology, uint16_t node_index, const Lanes& lanes, const LoadBoard& board)
    : lanes_(lanes),
      board_(board),
      index_(topology),
      distances_(topology),
      next_hops_(topology, node_index, index_, distances_),
      detours_(topology, node_index, index_, distances_),
      loads_(board, next_hops_),
      routes_(topology, node_index),
      lossless_detours_(topology.lossless_detours),
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
  if (frame.policy != PathPolicy::random)
    return loads_.least(up, heading_of(frame), drawn, frame.had.port, now, frame.of_class);
  if (frame.had.port != kNoPort && (up >> frame.had.port & 1)) return frame.had.port;
  return nth(up, static_cast<uint32_t>((drawn >> 32) % static_cast<uint32_t>(std::popcount(up))));
}

PathChoice::Way PathChoice::or_detour(const Frame& frame, PortIndex shortest, Random& random, Nanos now) const {
  const bool valiant = frame.policy == PathPolicy::valiant;
  Way best{shortest, 0};
  uint64_t least_ns = ~uint64_t{0};  // for twice the links
  if (shortest != kNoPort && !valiant && !(frame.left >> shortest & 1)) {
    if (loads_.waiting_ns(shortest, heading_of(frame), now, frame.of_class) <= board_.lately_ns(shortest) / kPatience)
      return best;
    least_ns = loads_.cost_ns(shortest, heading_of(frame), false, now, frame.of_class) / 2;
  }
  const auto look = [&](uint16_t via) {
    const PortSet ports = ports_by(via, frame);
    if (ports == 0) return;
    const Heading heading{via, frame.destination.node};
    const PortIndex had = via == frame.had.via ? frame.had.port : kNoPort;
    const PortIndex port = loads_.least(ports, heading, random.next(), had, now, frame.of_class);
    const uint64_t costs = loads_.cost_ns(port, heading, port == had, now, frame.of_class);
    if (costs >= least_ns) return;
    least_ns = costs;
    best = {port, via};
  };
  if (frame.had.via != 0) look(frame.had.via);
  for (uint32_t draw = 0; draw < kDraws && !(valiant && best.via != 0); ++draw)
    look(detours_.draw(frame.destination.node, random, now));
  return best;
}

bool PathChoice::has_detour_around(const Frame& frame, PortIndex output, uint16_t bottleneck, Random& random,
                                   Nanos now) const {
  if (!may_detour(frame)) return false;
  for (uint32_t draw = 0; draw < kDraws; ++draw) {
    const uint16_t via = detours_.draw(frame.destination.node, random, now);
    if (via == 0) continue;
    if (bottleneck != node_address_ && detours_.may_pass(frame.destination.node, via, bottleneck, now)) continue;
    const PortSet ports = ports_by(via, frame) & ~(PortSet{1} << output);
    const Heading heading{via, frame.destination.node};
    if (loads_.better(ports, heading, output, bottleneck == node_address_, now, frame.of_class) != kNoPort) return true;
  }
  return false;
}

PortIndex PathChoice::fixed_way(PortSet ways, const Frame& frame) const {
  const auto count = static_cast<uint32_t>(std::popcount(ways));
  uint32_t number = first_host_[frame.destination.node] + frame.destination.port;
  for (uint32_t hop = frame.hop_limit; hop < kHopLimit; ++hop) number /= count;
  return nth(ways, number % count);
}

}  // namespace heddle
