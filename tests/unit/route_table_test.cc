// SPDX-License-Identifier: Apache-2.0
#include "routing/route_table.h"

#include <gtest/gtest.h>

#include "memory_ports.h"
#include "routing/link_state.h"

namespace heddle::route_table_test {
namespace {

TEST(RouteTable, KeepsAllEqualCostPorts) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate({.ports_up = 0b11});
  RouteTable routes(topology, 0);
  routes.compile(links.ports_up());
  EXPECT_EQ(routes.primary(4), PortSet{0b11});
  EXPECT_EQ(routes.primary(2), PortSet{0b01});
  EXPECT_EQ(routes.primary(1), PortSet{0});
  EXPECT_EQ(routes.primary(999), PortSet{0});
}

TEST(RouteTable, GoesAroundADeadLinkElsewhere) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate({.ports_up = 0b11});
  ASSERT_TRUE(links.apply(1, {5, 0b01, 0}));  // n2 has lost its link to n4
  RouteTable routes(topology, 0);
  routes.compile(links.ports_up());
  EXPECT_EQ(routes.primary(4), PortSet{0b10});
}

TEST(RouteTable, TheTreesOfAllNodesReachEveryNodeOnce) {
  const Topology topology = test::ring();
  uint32_t ports = 0;
  for (uint16_t node = 0; node < 4; ++node) {
    LinkState links(topology, node, true);
    links.originate({.ports_up = 0b11});
    RouteTable routes(topology, node);
    routes.compile(links.ports_up());
    ports += static_cast<uint32_t>(__builtin_popcountll(routes.tree()));
  }
  EXPECT_EQ(ports, 2u * 3);  // three links, two ends each
}

TEST(RouteTable, NothingIsReachedBeforeTheFirstCompilation) {
  const Topology topology = test::ring();
  const RouteTable routes(topology, 0);
  for (const uint16_t address : {0, 1, 4, 5}) {
    EXPECT_EQ(routes.primary(address), PortSet{0}) << address;
    EXPECT_EQ(routes.cost(address), kNoDistance) << address;
  }
  EXPECT_EQ(routes.tree(), PortSet{0});
}

// Nodes 300, 7 and 40 in a row; this is the one in the middle. A fourth has been taken out again.
TEST(RouteTable, NodesAreFoundByTheirAddressesNotByTheirPlaces) {
  Topology topology;
  for (const uint16_t address : {300, 7, 40, 299}) test::add_node(topology, address, 0);
  topology.nodes.pop_back();
  test::add_link(topology, 0, 1);
  test::add_link(topology, 1, 2);
  RouteTable routes(topology, 1);
  routes.compile(all_fabric_ports(topology));
  EXPECT_EQ(routes.primary(300), PortSet{0b01});
  EXPECT_EQ(routes.primary(40), PortSet{0b10});
  EXPECT_EQ(routes.primary(7), PortSet{0});
  EXPECT_EQ(routes.cost(300), 1);
  EXPECT_EQ(routes.cost(40), 1);
  EXPECT_EQ(routes.cost(7), 0) << "it is here";
  for (const uint16_t nobody : {0, 1, 299, 301, 0xffff}) {
    EXPECT_EQ(routes.primary(nobody), PortSet{0}) << nobody;
    EXPECT_EQ(routes.cost(nobody), kNoDistance) << nobody;
  }
}

TEST(RouteTable, TheCheapestPathCountsWhateverItsLength) {
  Topology topology = test::ring();
  RouteTable routes(topology, 0);
  const auto compile = [&](uint8_t cost) {  // of the link between n1 and n2
    topology.nodes[0].ports[0].cost = topology.nodes[1].ports[0].cost = cost;
    routes.compile(all_fabric_ports(topology));
  };
  compile(2);
  EXPECT_EQ(routes.primary(2), PortSet{0b01});
  EXPECT_EQ(routes.cost(2), 2);
  compile(3);
  EXPECT_EQ(routes.primary(2), PortSet{0b11});
  EXPECT_EQ(routes.cost(2), 3);
  compile(4);
  EXPECT_EQ(routes.primary(2), PortSet{0b10});
  EXPECT_EQ(routes.cost(2), 3);
}

TEST(RouteTable, ANodeIsLostWithItsLastLinkAndComesBackWithIt) {
  const Topology topology = test::ring();
  std::vector<PortSet> ports_up = all_fabric_ports(topology);
  RouteTable routes(topology, 0);
  routes.compile(ports_up);
  EXPECT_EQ(routes.cost(4), 2);
  ports_up[3] = 0;
  routes.compile(ports_up);
  EXPECT_EQ(routes.primary(4), PortSet{0});
  EXPECT_EQ(routes.cost(4), kNoDistance);
  EXPECT_EQ(routes.cost(2), 1);
  ports_up[3] = 0b10;
  routes.compile(ports_up);
  EXPECT_EQ(routes.primary(4), PortSet{0b10});
  EXPECT_EQ(routes.cost(4), 2);
}

// The root is n1; n4 hangs on n2, or else on n3.
TEST(RouteTable, TheTreesPortsAreThoseOfThisNode) {
  const Topology topology = test::ring();
  std::vector<PortSet> ports_up = all_fabric_ports(topology);
  const auto trees = [&] {
    std::vector<PortSet> found;
    for (uint16_t node = 0; node < 4; ++node) {
      RouteTable routes(topology, node);
      routes.compile(ports_up);
      found.push_back(routes.tree());
    }
    return found;
  };
  EXPECT_EQ(trees(), (std::vector<PortSet>{0b11, 0b11, 0b01, 0b01}));
  ports_up[1] = 0b01;
  EXPECT_EQ(trees(), (std::vector<PortSet>{0b11, 0b01, 0b11, 0b10}));
}

}  // namespace
}  // namespace heddle::route_table_test
