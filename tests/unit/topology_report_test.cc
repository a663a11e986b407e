// SPDX-License-Identifier: Apache-2.0
// R11: what the graph of a fabric gives.
#include "topology/topology_report.h"

#include <gtest/gtest.h>

#include "plan_topology.h"

namespace heddle::test::topology_report_test {
namespace {

TEST(TopologyReport, OfAFatTreeIsAsThePlanSays) {
  const TopologyReport report = report_topology(topology_of(fat_tree_plan(4, 2)));
  EXPECT_EQ(report.switches, 20u);
  EXPECT_EQ(report.links, 32u);
  EXPECT_EQ(report.edge_ports, 16u);
  EXPECT_EQ(report.pairs, 8u * 7);
  EXPECT_EQ(report.path_links.least, 2u) << "in a pod";
  EXPECT_EQ(report.path_links.most, 4u);
  EXPECT_DOUBLE_EQ(report.path_links.mean, (1 * 2 + 6 * 4) / 7.0);
  EXPECT_EQ(report.paths.least, 2u);
  EXPECT_EQ(report.paths.most, 4u) << "one by each core";
  EXPECT_EQ(report.pairs_with_detours, 0u);
  EXPECT_EQ(report.channels.shortest, 1u);
  EXPECT_EQ(report.ring, "");
  EXPECT_EQ(report.half_links, 8u);
  EXPECT_DOUBLE_EQ(report.half_bps, report.half_hosts_bps) << "none is oversubscribed";
  EXPECT_EQ(report.link.cut_off + report.link.longer, 0u);
  EXPECT_EQ(report.node.cut_off, 0u) << "of those that are up";
}

TEST(TopologyReport, OfADragonflyHasLongerPaths) {
  const Topology topology = dragonfly();
  const TopologyReport report = report_topology(topology);
  EXPECT_EQ(report.path_links.most, 3u);
  EXPECT_EQ(report.path_cost.most, 4u);
  EXPECT_EQ(report.pairs, 36u * 35);
  EXPECT_EQ(report.pairs_with_detours, 36u * 32) << "to all other groups";
  EXPECT_GT(report.channels.with_detours, report.channels.shortest);
  EXPECT_LE(report.channels.with_detours, uint32_t{kLosslessChannelsMax});
  EXPECT_EQ(report.ring, "");
  EXPECT_EQ(report.half_links, 20u) << "four groups with four each, and the one in the middle";
  EXPECT_EQ(report.link.cut_off, 0u);
  EXPECT_GT(report.link.longer, 0u);
}

TEST(TopologyReport, NamesWhatCutsTheFabricInTwo) {
  Topology topology;
  for (const uint16_t address : {1, 2, 3, 4}) add_node(topology, address, 1);
  for (const uint16_t node : {0, 1, 2}) add_link(topology, node, static_cast<uint16_t>(node + 1));
  const TopologyReport report = report_topology(topology);
  EXPECT_EQ(report.link.where, "n2:f2 - n3:f1") << "the middle one";
  EXPECT_EQ(report.link.cut_off, 8u);
  EXPECT_EQ(report.node.cut_off, 4u);
  EXPECT_EQ(report.half_links, 1u);
}

TEST(TopologyReport, OfOneSwitchOrNoHostsThereIsLittleToSay) {
  Topology topology;
  add_node(topology, 1, 4);
  TopologyReport report = report_topology(topology);
  EXPECT_EQ(report.pairs, 0u);
  EXPECT_EQ(report.half_links, 0u);
  EXPECT_EQ(report.path_links.most, 0u);
  topology = {};
  add_node(topology, 1, 0);
  report = report_topology(topology);
  EXPECT_EQ(report.edge_ports, 0u);
  EXPECT_EQ(report.channels.shortest, 1u);
}

TEST(TopologyReport, ADrawingHasEachSwitchAndLink) {
  Topology topology = topology_of(leaf_spine_plan(2, 1, 2));
  topology.name = "a \"name\"";
  for (const LinkEnd& end : topology.links[0].ends) {
    topology.nodes[end.node_index].ports[end.port].rate_bps = 25'000'000'000;
    topology.nodes[end.node_index].ports[end.port].cost = 2;
  }
  EXPECT_EQ(
      topology_dot(topology),
      "graph \"a \\\"name\\\"\" {\n  node [shape=box];\n  \"spine1\";\n"
      "  \"leaf1\" [label=\"leaf1\\n2 edge ports\"];\n  \"leaf2\" [label=\"leaf2\\n2 edge ports\"];\n"
      "  \"leaf1\" -- \"spine1\" [taillabel=\"f2\", headlabel=\"f0\", label=\"25 Gb/s\", weight=0, style=dashed];\n"
      "  \"leaf2\" -- \"spine1\" [taillabel=\"f2\", headlabel=\"f1\"];\n}\n");
}

}  // namespace
}  // namespace heddle::test::topology_report_test
