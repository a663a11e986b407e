// SPDX-License-Identifier: Apache-2.0
#include "topology/virtual_channels.h"

#include <algorithm>
#include <array>
#include <bit>

#include "topology/graph.h"
#include "wire/packet.h"

namespace heddle {

namespace {

// Links from each node to the nearest one with an edge port.
std::vector<uint16_t> heights(const Topology& topology) {
  std::vector<uint16_t> height(topology.nodes.size(), kNoDistance);
  std::vector<uint16_t> order;
  for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
    const auto& ports = topology.nodes[node].ports;
    if (std::all_of(ports.begin(), ports.end(), [](const TopologyPort& port) { return port.fabric; })) continue;
    height[node] = 0;
    order.push_back(node);
  }
  for (size_t next = 0; next < order.size(); ++next) {
    const uint16_t node = order[next];
    for (const TopologyPort& port : topology.nodes[node].ports) {
      if (!port.fabric || height[port.peer.node_index] != kNoDistance) continue;
      height[port.peer.node_index] = static_cast<uint16_t>(height[node] + 1);
      order.push_back(port.peer.node_index);
    }
  }
  return height;
}

// By node: turns from down to up on the worst shortest path from there on; [1]: of a frame that came down.
using Turns = std::vector<std::array<uint32_t, 2>>;

// To `destination`, where `then` are still to come. Nodes are taken from the nearest on: what is needed from a node
// depends on how a frame comes to it, and on the nodes that are nearer.
Turns turns_to(const Topology& topology, const std::vector<PortSet>& up, const std::vector<PortSet>& ports_up,
               uint16_t destination, const std::array<uint32_t, 2>& then) {
  const std::vector<uint16_t> distance = distances_from(topology, destination, ports_up);
  std::vector<uint16_t> order;
  for (uint16_t node = 0; node < distance.size(); ++node)
    if (distance[node] != kNoDistance) order.push_back(node);
  std::stable_sort(order.begin(), order.end(), [&](uint16_t a, uint16_t b) { return distance[a] < distance[b]; });
  Turns turns(distance.size(), {0, 0});
  turns[destination] = then;
  for (const uint16_t node : order) {
    const auto& ports = topology.nodes[node].ports;
    for (PortIndex port = 0; port < ports.size(); ++port) {
      if (!port_usable(topology, ports_up, node, port)) continue;
      const uint16_t next = ports[port].peer.node_index;
      if (distance[next] + ports[port].cost != distance[node]) continue;
      const bool goes_up = up[node] >> port & 1;
      for (unsigned came_down = 0; came_down < 2; ++came_down)
        turns[node][came_down] =
            std::max(turns[node][came_down], next_channel(0, came_down, goes_up) + turns[next][goes_up ? 0 : 1]);
    }
  }
  return turns;
}

// What frames may need that go from host to host over these links.
class ChannelCount {
 public:
  explicit ChannelCount(const Topology& topology) : topology_(topology), up_(up_ports(topology)) {
    const std::vector<uint16_t> height = heights(topology);
    for (uint16_t node = 0; node < height.size(); ++node)
      if (height[node] == 0) with_hosts_.push_back(node);
  }

  // On shortest paths, and on such to any node and from there on.
  ChannelsNeeded of(const std::vector<PortSet>& ports_up, bool detours) const {
    Turns from_via(topology_.nodes.size(), {0, 0});
    uint32_t shortest = 0, longer = 0;
    for (const uint16_t to : with_hosts_) {
      const Turns turns = turns_to(topology_, up_, ports_up, to, {0, 0});
      shortest = std::max(shortest, most(turns));
      for (size_t via = 0; via < turns.size(); ++via)
        for (unsigned i = 0; i < 2; ++i) from_via[via][i] = std::max(from_via[via][i], turns[via][i]);
    }
    for (uint16_t via = 0; via < topology_.nodes.size() && detours; ++via)
      longer = std::max(longer, most(turns_to(topology_, up_, ports_up, via, from_via[via])));
    return {1 + shortest, 1 + std::max(shortest, longer)};
  }

 private:
  // From a host.
  uint32_t most(const Turns& turns) const {
    uint32_t found = 0;
    for (const uint16_t from : with_hosts_) found = std::max(found, turns[from][0]);
    return found;
  }

  const Topology& topology_;
  const std::vector<PortSet> up_;
  std::vector<uint16_t> with_hosts_;
};

}  // namespace

std::vector<PortSet> up_ports(const Topology& topology) {
  const std::vector<uint16_t> height = heights(topology);
  std::vector<PortSet> up(topology.nodes.size(), 0);
  for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
    const auto& ports = topology.nodes[node].ports;
    for (size_t port = 0; port < ports.size(); ++port) {
      if (!ports[port].fabric) continue;
      const uint16_t peer = ports[port].peer.node_index;
      if (std::pair(height[peer], peer) > std::pair(height[node], node)) up[node] |= PortSet{1} << port;
    }
  }
  return up;
}

ChannelsNeeded lossless_channels_needed(const Topology& topology) {
  const ChannelCount count(topology);
  bool detours = topology.longer_way_cost_most != 0;
  std::vector<PortSet> ports_up = all_fabric_ports(topology);
  ChannelsNeeded needed = count.of(ports_up, detours);
  for (const TopologyLink& link : topology.links) {
    detours = detours && needed.with_detours <= kLosslessChannelsMax;
    if (needed.shortest > kLosslessChannelsMax) break;
    PortSet& ports = ports_up[link.ends[0].node_index];
    ports &= ~(PortSet{1} << link.ends[0].port);
    const ChannelsNeeded without = count.of(ports_up, detours);
    needed = {std::max(needed.shortest, without.shortest), std::max(needed.with_detours, without.with_detours)};
    ports |= PortSet{1} << link.ends[0].port;
  }
  return needed;
}

void settle_lossless_channels(Topology& topology, const ChannelsNeeded& needed) {
  topology.lossless_detours = topology.any_lossless_detours() && needed.with_detours <= kLosslessChannelsMax;
  topology.lossless_channels = topology.lossless_detours ? needed.with_detours : needed.shortest;
}

ChannelSet flow_channels(const Topology& topology, const TopologyPort& input) {
  unsigned channels = 0;
  const unsigned lossless = input.fabric ? topology.lossless_channels : 1;  // a path begins in the first one
  for (const TrafficClass& traffic_class : topology.classes) {
    if (!traffic_class.flow_channels) continue;
    channels |= traffic_class.lossless ? ((1u << lossless) - 1) << kFirstLosslessChannel : 1u << kLossyChannel;
  }
  return static_cast<ChannelSet>(channels);
}

uint32_t flow_ids_needed(const Topology& topology, const TopologyNode& node) {
  uint32_t all = 0, fewest = kVirtualChannels;
  for (const TopologyPort& port : node.ports) {
    const auto channels = static_cast<uint32_t>(std::popcount(flow_channels(topology, port)));
    all += channels;
    fewest = std::min(fewest, channels);
  }
  return std::max(1u, all - std::min(all, fewest));  // nothing goes out by the port that it came in by
}

Nanos lossless_drain_ns(const Topology& topology) {
  uint64_t slowest_bps = kRateUnknownBps, fabric_ports = 0;
  for (const TopologyNode& node : topology.nodes) {
    for (const TopologyPort& port : node.ports) {
      fabric_ports += port.fabric;
      if (!port.fabric && port.rate_bps != 0) slowest_bps = std::min(slowest_bps, port.rate_bps);
    }
  }
  const uint64_t buffer_bits =
      8 * std::min<uint64_t>(kBufferBytes, topology.edge_mtu_bytes + kEthernetHeaderBytes + 24);
  const uint64_t bits = fabric_ports * topology.settings.lossless_credits * topology.lossless_channels * buffer_bits;
  constexpr double kLongest = 1e18;  // leaves room to multiply
  return static_cast<Nanos>(std::min(kLongest, static_cast<double>(bits) * 1e9 / static_cast<double>(slowest_bps)));
}

namespace {

// Depth-first search for a ring among buffers. A buffer is that behind a link (node and port that it is left by), in
// one channel; a frame that holds it waits for one of those that the next node's links lead to.
class RingSearch {
 public:
  RingSearch(const Topology& topology, uint32_t channels, ChannelRule rule)
      : topology_(topology),
        channels_(channels),
        rule_(rule),
        up_(up_ports(topology)),
        state_(topology.nodes.size() * kPortsMax * channels, State::fresh) {}

  std::string run() {
    for (uint16_t node = 0; node < topology_.nodes.size(); ++node) {
      for (PortIndex port = 0; port < topology_.nodes[node].ports.size(); ++port) {
        for (uint32_t channel = 0; channel < channels_ && topology_.nodes[node].ports[port].fabric; ++channel) {
          const std::string ring = search({node, port, channel});
          if (!ring.empty()) return ring;
        }
      }
    }
    return {};
  }

 private:
  enum class State : uint8_t { fresh, open, done };
  struct Buffer {
    uint16_t node;
    PortIndex port;
    uint32_t channel;
    PortIndex next = 0;  // port of the peer that is looked at next
    bool operator==(const Buffer& other) const {
      return node == other.node && port == other.port && channel == other.channel;
    }
  };

  State& state(const Buffer& buffer) {
    return state_[(buffer.node * kPortsMax + buffer.port) * channels_ + buffer.channel];
  }

  std::string search(const Buffer& start) {
    if (state(start) != State::fresh) return {};
    enter(start);
    while (!path_.empty()) {
      Buffer& last = path_.back();
      const PortPeer peer = topology_.nodes[last.node].ports[last.port].peer;
      const auto& ports = topology_.nodes[peer.node_index].ports;
      if (last.next == ports.size()) {
        state(last) = State::done;
        path_.pop_back();
        continue;
      }
      const PortIndex out = last.next;
      ++last.next;
      if (!ports[out].fabric || out == peer.port) continue;
      const bool came_down = up_[peer.node_index] >> peer.port & 1, goes_up = up_[peer.node_index] >> out & 1;
      const Buffer next{peer.node_index, out, rule_(static_cast<uint8_t>(last.channel), came_down, goes_up)};
      if (next.channel >= channels_) continue;  // no such path is taken
      if (state(next) == State::open) return ring_from(next);
      if (state(next) == State::fresh) enter(next);
    }
    return {};
  }

  void enter(const Buffer& buffer) {
    state(buffer) = State::open;
    path_.push_back(buffer);
  }

  std::string ring_from(const Buffer& first) const {
    std::string ring;
    for (auto at = std::find(path_.begin(), path_.end(), first); at != path_.end(); ++at) {
      const TopologyNode& node = topology_.nodes[at->node];
      ring += (ring.empty() ? "" : ", ") + node.name + ":" + node.ports[at->port].name + " channel " +
              std::to_string(at->channel + kFirstLosslessChannel);
    }
    return ring;
  }

  const Topology& topology_;
  const uint32_t channels_;
  const ChannelRule rule_;
  const std::vector<PortSet> up_;
  std::vector<State> state_;
  std::vector<Buffer> path_;
};

}  // namespace

std::string find_buffer_ring(const Topology& topology, uint32_t channels, ChannelRule rule) {
  return RingSearch(topology, channels, rule).run();
}

}  // namespace heddle
