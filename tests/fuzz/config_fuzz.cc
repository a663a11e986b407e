// SPDX-License-Identifier: Apache-2.0
// Configuration files of any content: no crash, and either a value or at least one problem that fits on a line.
// The first byte chooses the loader.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/lab_file.h"
#include "config/node_file.h"
#include "config/topology_file.h"
#include "topology/graph.h"

namespace {

const char kTopology[] =
    "name: x\nnodes:\n  a: { address: 1, ports: { p1: , p2: } }\n  b: { address: 2, ports: { p1: , p2: } }\n"
    "links: [{ ends: [\"a:p1\", \"b:p1\"] }]\n";

void require(bool good) {
  if (!good) std::abort();
}

// What the rest of the program takes for granted in any topology that was loaded.
void check_topology(const heddle::Topology& topology) {
  require(!topology.nodes.empty() && !topology.classes.empty());
  require(heddle::unreachable_nodes(topology).empty());
  for (const heddle::TopologyNode& node : topology.nodes) {
    require(node.address != 0 && !node.ports.empty() && node.ports.size() <= heddle::kPortsMax);
    for (const heddle::TopologyPort& port : node.ports) {
      if (!port.fabric) continue;
      const heddle::TopologyPort& peer = topology.nodes.at(port.peer.node_index).ports.at(port.peer.port);
      require(peer.fabric && &topology.nodes[peer.peer.node_index].ports[peer.peer.port] == &port);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  heddle::ConfigErrors errors;
  bool loaded = false;
  if (data[0] % 3 == 0) {
    const auto topology = heddle::parse_topology(text, "fuzz.yaml", errors);
    loaded = topology.has_value();
    if (loaded) check_topology(*topology);
  } else if (data[0] % 3 == 1) {
    const auto load = [](const std::string& path, heddle::ConfigErrors& topology_errors) {
      return heddle::parse_topology(kTopology, path, topology_errors);
    };
    const auto process = heddle::parse_node_file(text, "fuzz.yaml", load, errors);
    loaded = process.has_value();
    if (loaded) require(!process->nodes.empty());
  } else {
    const auto lab = heddle::parse_lab(text, "fuzz.yaml", errors);
    loaded = lab.has_value();
    if (loaded) check_topology(lab->topology);
    if (loaded) require(lab->process().buffers > 0);
  }
  require(loaded == errors.empty());
  const std::string messages = errors.text();
  require(static_cast<size_t>(std::count(messages.begin(), messages.end(), '\n')) >= errors.items().size());
  return 0;
}
