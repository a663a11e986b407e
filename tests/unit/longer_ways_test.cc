// SPDX-License-Identifier: Apache-2.0
// R4: which fabrics have longer ways that are worth something, and by whom they lead.
#include "topology/longer_ways.h"

#include <gtest/gtest.h>

#include <array>

#include "plan_topology.h"
#include "topology/graph.h"

namespace heddle::test::longer_ways_test {
namespace {

// Nodes by which a way leads from one to another.
std::vector<uint16_t> vias(const Topology& topology, uint16_t from, uint16_t to, const std::vector<PortSet>& ports_up) {
  const std::vector<uint16_t> to_from = distances_from(topology, from, ports_up);
  const std::vector<uint16_t> to_to = distances_from(topology, to, ports_up);
  std::vector<uint16_t> found;
  for (uint16_t via = 0; via < topology.nodes.size(); ++via)
    if (leads_by(topology, ports_up, {from, to, to_from, to_to}, via, topology.longer_way_cost_most))
      found.push_back(via);
  return found;
}
std::vector<uint16_t> vias(const Topology& topology, uint16_t from, uint16_t to) {
  return vias(topology, from, to, all_fabric_ports(topology));
}

TEST(LongerWays, AreThereOnlyWhereTheyUseOtherLinks) {
  EXPECT_EQ(dragonfly().longer_way_cost_most, 4 + 2 + 1);
  EXPECT_EQ(ring_of(5).longer_way_cost_most, 2 + 1 + 1);
  EXPECT_EQ(topology_of(leaf_spine_plan(4, 3, 2)).longer_way_cost_most, 0);
  EXPECT_EQ(topology_of(fat_tree_plan(4, 2)).longer_way_cost_most, 0);
  EXPECT_EQ(topology_of(leaf_spine_plan(1, 0, 2)).longer_way_cost_most, 0) << "alone";
  Topology tree;  // a line, and a twig: all with hosts
  for (const uint16_t address : {1, 2, 3, 4, 5}) add_node(tree, address, 1);
  for (const uint16_t node : {0, 1, 2}) add_link(tree, node, static_cast<uint16_t>(node + 1));
  add_link(tree, 1, 4);
  EXPECT_EQ(longer_way_cost_most(tree), 0) << "all of them turn back";
}

// The longest that is allowed: two links between groups, and one inside of each group on the way.
TEST(LongerWays, OfADragonflyGoByEachOtherGroup) {
  const Topology topology = dragonfly();
  std::array<uint32_t, 9> in_group{};  // from node 0 to node 7
  for (const uint16_t via : vias(topology, 0, 7)) ++in_group[via / 4];
  for (uint32_t group = 2; group < 9; ++group) EXPECT_GE(in_group[group], 1u) << "group " << group;
  EXPECT_TRUE(vias(topology, 0, 1).empty()) << "it is just beside";
  EXPECT_TRUE(vias(topology, 0, 0).empty());
}

// In a ring of five with a link down no other way is left.
TEST(LongerWays, LeadOverLinksThatAreUp) {
  const Topology topology = ring_of(5);
  EXPECT_EQ(vias(topology, 0, 2), (std::vector<uint16_t>{3, 4}));
  std::vector<PortSet> ports_up = all_fabric_ports(topology);
  ports_up[3] &= ~(PortSet{1} << port_to(topology, 3, 2));
  EXPECT_TRUE(vias(topology, 0, 2, ports_up).empty()) << "node 3 and 4 would send it back";
  ports_up = all_fabric_ports(topology);
  ports_up[1] = 0;
  EXPECT_TRUE(vias(topology, 0, 1, ports_up).empty()) << "there is no way at all";
}

}  // namespace
}  // namespace heddle::test::longer_ways_test
