// SPDX-License-Identifier: Apache-2.0
// R8: whose load counts for what goes by a neighbour.
#include "routing/next_hops.h"

#include <gtest/gtest.h>

#include "plan_topology.h"
#include "topology/graph.h"

namespace heddle::test::next_hops_test {
namespace {

TEST(NextHops, AreThePortsOfTheNeighbourThatLeadOn) {
  const Topology topology = topology_of(fat_tree_plan(4, 2));  // cores 0 to 3, then per pod two of each
  const uint16_t edge = 6, aggregation = 4, other_pod = 18;
  const Destinations index(topology);
  Distances distances(topology);
  distances.compile(all_fabric_ports(topology));
  Nanos now = 0;
  const NextHops of_edge(topology, edge, index, distances);
  const auto behind = [&](PortIndex port, Heading heading) { return of_edge.behind(port, heading, ++now); };
  const PortIndex up = port_to(topology, edge, aggregation);
  const PortSet cores = PortSet{1} << port_to(topology, aggregation, 0) | PortSet{1}
                                                                              << port_to(topology, aggregation, 1);
  EXPECT_EQ(behind(up, {other_pod + 1, other_pod + 1}), cores);
  EXPECT_EQ(behind(up, {8, 8}), PortSet{1} << port_to(topology, aggregation, 7)) << "beside it in its pod";
  EXPECT_EQ(behind(up, {aggregation + 1, aggregation + 1}), 0u) << "it ends there";
  EXPECT_EQ(behind(up, {aggregation + 1, other_pod + 1}), cores) << "on the way by there";
  EXPECT_EQ(behind(up, {aggregation + 1, 8}), PortSet{1} << port_to(topology, aggregation, 7));
}

TEST(NextHops, OfLinksThatCostDifferentlyTheCheapestPathCounts) {
  Topology topology;
  for (uint16_t node = 0; node < 4; ++node) add_node(topology, static_cast<uint16_t>(node + 1), 1);
  add_link(topology, 0, 1);
  add_link(topology, 1, 2);
  add_link(topology, 2, 3);
  add_link(topology, 1, 3);
  const auto cost = [&](uint8_t value) {
    topology.nodes[1].ports.back().cost = topology.nodes[3].ports.back().cost = value;
  };
  const auto behind = [&] {
    const Destinations index(topology);
    Distances distances(topology);
    distances.compile(all_fabric_ports(topology));
    return NextHops(topology, 0, index, distances).behind(port_to(topology, 0, 1), {4, 4}, 0);
  };
  const PortSet direct = PortSet{1} << port_to(topology, 1, 3), round = PortSet{1} << port_to(topology, 1, 2);
  EXPECT_EQ(behind(), direct);
  cost(2);
  EXPECT_EQ(behind(), direct | round);
  cost(3);
  EXPECT_EQ(behind(), round);
}

}  // namespace
}  // namespace heddle::test::next_hops_test
