// SPDX-License-Identifier: Apache-2.0
// The checks of a topology as a whole.
#include <algorithm>
#include <map>

#include "config/budget.h"
#include "config/config_keys.h"
#include "config/topology_builder.h"
#include "config/units.h"
#include "topology/graph.h"
#include "topology/lanes.h"
#include "topology/longer_ways.h"
#include "topology/virtual_channels.h"
#include "wire/packet.h"

namespace heddle {

void TopologyBuilder::check(bool graph_known) {
  check_addresses();
  check_ports();
  if (!graph_known) return;
  check_reachable();
  topology_.longer_way_cost_most = longer_way_cost_most(topology_);
  if (topology_.any_lossless()) settle_lossless();
  check_flow_ids();
}

void TopologyBuilder::check_addresses() const {
  std::map<uint16_t, std::string> owners;
  for (size_t i = 0; i < topology_.nodes.size(); ++i) {
    const TopologyNode& node = topology_.nodes[i];
    if (node.address == 0) continue;  // reported when it was read
    const auto [owner, is_new] = owners.emplace(node.address, node.name);
    if (!is_new) {
      sources_[i].value["address"].problem(std::to_string(node.address) + ", the address of " + owner->second,
                                           "one that no other node has");
    }
  }
}

void TopologyBuilder::check_ports() const {
  for (size_t i = 0; i < topology_.nodes.size(); ++i) {
    const TopologyNode& node = topology_.nodes[i];
    if (node.ports.empty()) {
      sources_[i].value.problem_at_key("a node without ports", "1 to " + std::to_string(kPortsMax) + " ports");
    }
    for (size_t port = 0; port < node.ports.size(); ++port) {
      check_room(node, node.ports[port]);
      if (!node.ports[port].fabric) continue;
      for (std::string_view key : config_keys::kPort) {
        const YamlValue value = sources_[i].ports[port][key];
        if (!value.present()) continue;
        const bool of_link = key == "rate" || key == "overhead" || key == "mtu";
        value.problem_at_key("the key on a port of a link",
                             of_link ? "the key on the link itself" : "the key on edge ports");
      }
    }
  }
}

// K11: each input port must be able to have one in each virtual channel.
void TopologyBuilder::check_flow_ids() const {
  uint32_t needed = 0;
  std::string most;
  for (const TopologyNode& node : topology_.nodes) {
    const uint32_t here = flow_ids_needed(topology_, node);
    if (here <= needed) continue;
    most = node.name;
    needed = here;
  }
  if (topology_.settings.flow_ids >= needed) return;
  root_["settings"]["flow_ids"].problem(std::to_string(topology_.settings.flow_ids),
                                        "at least " + std::to_string(needed) + ", so that at " + most +
                                            " each port can have one of each other port's" +
                                            (topology_.any_lossless() ? ", in each virtual channel" : ""));
}

// The largest frame of a port must be able to cross (X1).
void TopologyBuilder::check_room(const TopologyNode& node, const TopologyPort& port) const {
  const uint32_t room = topology_.settings.output_room_buffers;
  const uint32_t buffers = (frame_bytes_max(port) + kBufferBytes - 1) / kBufferBytes;
  if (buffers <= room) return;
  root_["settings"]["output_room"].problem(
      std::to_string(room),
      "at least " + std::to_string(buffers) + ", the buffers of the largest frame of " + node.name + ":" + port.name);
}

void TopologyBuilder::check_reachable() const {
  for (uint16_t node_index : unreachable_nodes(topology_)) {
    sources_[node_index].value.problem_at_key("no path to " + topology_.nodes[0].name, "nodes that links connect");
  }
}

// K8: what lossless frames may need in the fullest fabric, to the slowest edge port.
Nanos TopologyBuilder::least_lossless_life_ns() const { return 4 * lossless_drain_ns(topology_); }

// As " (node:port)"; nothing where no rate is known.
std::string TopologyBuilder::slowest_edge_port() const {
  std::string slowest;
  uint64_t rate_bps = ~uint64_t{0};
  for (const TopologyNode& node : topology_.nodes)
    for (const TopologyPort& port : node.ports)
      if (!port.fabric && port.rate_bps != 0 && port.rate_bps < rate_bps) {
        rate_bps = port.rate_bps;
        slowest = " (" + node.name + ":" + port.name + ")";
      }
  return slowest;
}

// C9, K8: so few buffers that lives are long enough; fewer than usual only where the file does not say how many.
bool TopologyBuilder::settle_lossless_credits() {
  uint32_t& credits = topology_.settings.lossless_credits;
  const Nanos least = least_lossless_life_ns();
  if (least <= kLifeMaxNs) return true;
  const auto most = static_cast<uint32_t>(credits * kLifeMaxNs / least);
  const YamlValue setting = root_["settings"]["lossless_credits"];
  const std::string port = slowest_edge_port();
  if (most < kLosslessCreditsMin) {
    root_["classes"].problem_at_key("a lossless class in a fabric whose slowest edge port" + port +
                                        " drains no more than " + std::to_string(most) +
                                        " lossless_credits of each link in a quarter of the longest life",
                                    "one that drains " + std::to_string(kLosslessCreditsMin));
    return false;
  }
  if (setting.present()) {
    setting.problem(std::to_string(credits), "at most " + std::to_string(most) + ", so that the slowest edge port" +
                                                 port + " drains all in a quarter of the longest life");
    return false;
  }
  credits = most;
  return true;
}

// C9, R5, K8: lossless frames need channels in which no ring of buffers can form, and time to drain.
void TopologyBuilder::settle_lossless() {
  const YamlValue classes = root_["classes"];
  const ChannelsNeeded channels = lossless_channels_needed(topology_);
  if (channels.shortest > kLosslessChannelsMax) {
    classes.problem_at_key(
        "a lossless class on a graph whose paths need " + std::to_string(channels.shortest) + " virtual channels",
        "paths that turn from down to up at most " + std::to_string(kLosslessChannelsMax - 1) +
            " times, with any one link down");
    return;
  }
  settle_lossless_channels(topology_, channels);
  const bool fits = Lanes::needed(topology_) <= kLanesMax &&
                    (!root_["settings"]["lossless_credits"].present() || least_lossless_life_ns() <= kLifeMaxNs);
  if (!fits) settle_lossless_channels(topology_, {channels.shortest, kLosslessChannelsMax + 1u});
  const uint32_t needed = topology_.lossless_channels;
  if (const std::string ring = find_buffer_ring(topology_, needed); !ring.empty())
    classes.problem_at_key("a lossless class on a graph with a ring of buffers: " + ring, "a graph without");
  if (Lanes::needed(topology_) > kLanesMax) {
    classes.problem_at_key(std::to_string(Lanes::needed(topology_)) + " pairs of class and virtual channel (" +
                               std::to_string(needed) + " channels for each lossless class)",
                           std::to_string(kLanesMax));
    return;
  }
  if (!settle_lossless_credits()) return;
  const Nanos least = least_lossless_life_ns();
  const std::vector<YamlValue> items = classes.items();
  for (size_t i = 0; i < topology_.classes.size() && i < items.size(); ++i) {
    TrafficClass& traffic_class = topology_.classes[i];
    if (!traffic_class.lossless) continue;
    if (items[i]["life"].present() && traffic_class.life_ns < least)
      items[i]["life"].problem(
          format_duration(traffic_class.life_ns),
          "at least " + format_duration(least) + ", four times what the slowest edge port takes to drain the fabric");
    traffic_class.life_ns = std::max(traffic_class.life_ns, least);
  }
}

}  // namespace heddle
