// SPDX-License-Identifier: Apache-2.0
// The checks of a topology as a whole.
#include <map>

#include "config/budget.h"
#include "config/config_keys.h"
#include "config/topology_builder.h"
#include "topology/graph.h"
#include "wire/packet.h"

namespace heddle {

void TopologyBuilder::check(bool graph_known) const {
  check_addresses();
  check_ports();
  if (graph_known) check_reachable();
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
    if (node.ports.size() > topology_.settings.flow_ids) {  // each input port must be able to have one (K11)
      root_["settings"]["flow_ids"].problem(
          std::to_string(topology_.settings.flow_ids),
          "at least the " + std::to_string(node.ports.size()) + " ports of " + node.name);
    }
    for (size_t port = 0; port < node.ports.size(); ++port) {
      check_room(node, node.ports[port]);
      if (!node.ports[port].fabric) continue;
      for (std::string_view key : config_keys::kPort) {
        const YamlValue value = sources_[i].ports[port][key];
        if (!value.present()) continue;
        const bool of_link = key == "rate" || key == "mtu";
        value.problem_at_key("the key on a port of a link",
                             of_link ? "the key on the link itself" : "the key on edge ports");
      }
    }
  }
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

}  // namespace heddle
