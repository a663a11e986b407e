// SPDX-License-Identifier: Apache-2.0
// Processes of a few switches whose edge ports are unplugged, of one worker each.
#pragma once

#include "config/topology_file.h"
#include "io/switch_process.h"

namespace heddle::test {

// All nodes of the topology file.
inline ProcessConfig process_config(const std::string& topology) {
  ConfigErrors errors;
  ProcessConfig config;
  config.topology = parse_topology(topology, "topology.yaml", errors).value();
  for (uint16_t node = 0; node < config.topology.nodes.size(); ++node) {
    NodeProcess settings{.node_index = node, .workers = 1, .ports = {}};
    for (PortIndex port = 0; port < config.topology.nodes[node].ports.size(); ++port)
      settings.ports.push_back({.port = port, .device = {}, .host = {}, .impairment = {}});
    config.nodes.push_back(settings);
  }
  config.buffers = 4096;
  config.match_entries = 1024;
  return config;
}

// Two switches with one link and an edge port each.
inline ProcessConfig pair_config() {
  ProcessConfig config = process_config(
      "name: pair\n"
      "nodes:\n"
      "  left: { address: 1, ports: { p1: {}, host: {} } }\n"
      "  right: { address: 2, ports: { p1: {}, host: {} } }\n"
      "links: [{ ends: [\"left:p1\", \"right:p1\"] }]\n");
  config.nodes[0].ports[0].impairment.delay_ns = 3000;
  return config;
}

// One turn of every worker.
inline void poll_all(const SwitchProcess& process, Nanos now) {
  for (const ProcessNode& node : process.nodes())
    if (node.node != nullptr) node.node->worker(0).poll(now);
}

}  // namespace heddle::test
