// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/process_changes.h"
#include "config/topology_file.h"

namespace heddle::config_process_changes_test {
namespace {

using Texts = std::vector<std::string>;

ProcessConfig one_node(const std::string& more = "") {
  ConfigErrors errors;
  ProcessConfig process;
  process.topology =
      parse_topology("name: one\n" + more + "nodes: { left: { address: 1, ports: { p1: {}, p2: {} } } }\n", "t.yaml",
                     errors)
          .value();
  process.nodes.push_back({.node_index = 0, .workers = 1, .ports = {}});
  for (PortIndex port = 0; port < 2; ++port)
    process.nodes[0].ports.push_back(
        {.port = port, .device = "net_tap" + std::to_string(port), .host = {}, .impairment = {}});
  return process;
}

TEST(ProcessChanges, TheSameFileChangesNothing) { EXPECT_TRUE(process_changes(one_node(), one_node()).none()); }

TEST(ProcessChanges, WhatCanBeChangedWhileItRunsIsToldApart) {
  ProcessConfig running = one_node();
  ProcessConfig file = one_node();
  file.log_level = "debug";
  file.socket_group = "operators";
  file.memory_mb = 1024;
  file.nodes[0].ports[1].device = "net_tap7";
  const ProcessChanges changes = process_changes(running, file);
  EXPECT_EQ(changes.live, (Texts{"log_level: info, now debug", "socket_group: none, now operators"}));
  EXPECT_EQ(changes.restart, (Texts{"memory: 512M, now 1G", "left:p2: net_tap1, now net_tap7"}));
  take_live_changes(running, file);
  EXPECT_TRUE(process_changes(running, file).live.empty());
  EXPECT_EQ(process_changes(running, file).restart.size(), 2u);
}

// A9: another policy is taken at once, the first one and none any more, too.
TEST(ProcessChanges, ApplicationsChangeWhileItRuns) {
  ProcessConfig running = one_node();
  running.nodes[0].applications.configured = true;
  ProcessConfig file = running;
  file.nodes[0].applications.groups[3].weight = 2;
  file.nodes[0].applications.port_bytes = 64'000;
  const ProcessChanges changes = process_changes(running, file);
  EXPECT_EQ(changes.live, Texts{"left.applications"});
  EXPECT_EQ(changes.applications, std::vector<size_t>{0});
  EXPECT_TRUE(changes.restart.empty());
  take_live_changes(running, file);
  EXPECT_TRUE(process_changes(running, file).none());
  EXPECT_EQ(running.nodes[0].applications, file.nodes[0].applications);
  file.nodes[0].applications = {};
  EXPECT_EQ(process_changes(running, file).live, Texts{"left.applications"});
  EXPECT_EQ(process_changes(file, running).live, Texts{"left.applications"});
}

TEST(ProcessChanges, ShapersCanBeChangedAtAnyTime) {
  ProcessConfig running = one_node(), file = running;
  file.nodes[0].shapers.resize(2);
  file.nodes[0].shapers[0].configured = true;
  file.nodes[0].shapers[0].leaves[1].weight = 3;
  const ProcessChanges changes = process_changes(running, file);
  EXPECT_EQ(changes.live, Texts{"left.shapers"});
  EXPECT_EQ(changes.shapers, std::vector<size_t>{0});
  EXPECT_TRUE(changes.restart.empty());
  take_live_changes(running, file);
  EXPECT_EQ(running.nodes[0].shapers, file.nodes[0].shapers);
}

// Each key of the process changes something: one that was forgotten here would be ignored in silence.
TEST(ProcessChanges, EveryKeyIsCompared) {
  const std::vector<void (*)(ProcessConfig&)> edits = {
      [](ProcessConfig& p) { p.threads = 2; },
      [](ProcessConfig& p) { p.poll = true; },
      [](ProcessConfig& p) { p.huge_pages = true; },
      [](ProcessConfig& p) { p.memory_mb = 64; },
      [](ProcessConfig& p) { p.buffers = 2048; },
      [](ProcessConfig& p) { p.receive_descriptors = 4096; },
      [](ProcessConfig& p) { p.transmit_descriptors = 64; },
      [](ProcessConfig& p) { p.match_entries = 2048; },
      [](ProcessConfig& p) { p.station_entries = 2048; },
      [](ProcessConfig& p) { p.socket = "/run/x"; },
      [](ProcessConfig& p) { p.nodes[0].workers = 2; },
      [](ProcessConfig& p) { p.nodes[0].ports[0].complete_checksums = true; },
      [](ProcessConfig& p) { p.nodes[0].ports[0].impairment.loss_ppm = 5; },
      [](ProcessConfig& p) { p.nodes[0].ports[0].impairment.delay_ns = 5; },
      [](ProcessConfig& p) { p.nodes.push_back(p.nodes[0]); },
      [](ProcessConfig& p) { p.topology = one_node("edge_mtu: 9000\n").topology; },
  };
  for (size_t i = 0; i < edits.size(); ++i) {
    ProcessConfig file = one_node();
    edits[i](file);
    EXPECT_EQ(process_changes(one_node(), file).restart.size(), 1u) << "edit " << i;
  }
}

}  // namespace
}  // namespace heddle::config_process_changes_test
