// SPDX-License-Identifier: Apache-2.0
// A process of two switches with one link and an unplugged edge port each, polled by the test in virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "config/topology_file.h"
#include "io/switch_process.h"

namespace heddle {

class SwitchProcessTest : public testing::Test {
 protected:
  SwitchProcessTest() {
    ConfigErrors errors;
    ProcessConfig config;
    config.topology = parse_topology(
                          "name: pair\n"
                          "nodes:\n"
                          "  left: { address: 1, ports: { p1: {}, host: {} } }\n"
                          "  right: { address: 2, ports: { p1: {}, host: {} } }\n"
                          "links: [{ ends: [\"left:p1\", \"right:p1\"] }]\n",
                          "pair.yaml", errors)
                          .value();
    for (uint16_t node = 0; node < 2; ++node) {
      NodeProcess settings{.node_index = node, .workers = 1, .ports = {}};
      for (PortIndex port = 0; port < 2; ++port)
        settings.ports.push_back({.port = port, .device = {}, .impairment = {}});
      config.nodes.push_back(settings);
    }
    config.nodes[0].ports[0].impairment.delay_ns = 3000;
    config.buffers = 4096;
    config.match_entries = 1024;
    process = std::make_unique<SwitchProcess>(std::move(config));
  }

  void run_for(Nanos duration) {
    constexpr Nanos kStep = 100 * kMicrosecond;
    for (const Nanos end = now + duration; now < end; now += kStep)
      for (const ProcessNode& node : process->nodes())
        if (node.node != nullptr) node.node->worker(0).poll(now);
  }
  const LinkSession& session(size_t node) const { return process->nodes()[node].node->port(0).session; }

  std::unique_ptr<SwitchProcess> process;
  Nanos now = kSecond;
};

}  // namespace heddle
