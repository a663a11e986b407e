// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "routing/link_state.h"
#include "routing/load_board.h"
#include "routing/route_table.h"
#include "test_fabric.h"

namespace heddle::routing_test {
namespace {

//      1
//     / \        four nodes in a ring; ports in the order in which the links are added
//    2   3
//     \ /
//      4
Topology ring() {
  Topology topology;
  for (uint16_t address = 1; address <= 4; ++address) test::add_node(topology, address, 0);
  test::add_link(topology, 0, 1);  // n1 f0 - n2 f0
  test::add_link(topology, 0, 2);  // n1 f1 - n3 f0
  test::add_link(topology, 1, 3);  // n2 f1 - n4 f0
  test::add_link(topology, 2, 3);  // n3 f1 - n4 f1
  return topology;
}

TEST(RouteTable, KeepsAllEqualCostPorts) {
  const Topology topology = ring();
  LinkState links(topology, 0, true);
  links.originate(0b11, 0);
  RouteTable routes(topology, 0);
  routes.compile(links.ports_up());
  EXPECT_EQ(routes.primary(4), PortSet{0b11});
  EXPECT_EQ(routes.primary(2), PortSet{0b01});
  EXPECT_EQ(routes.primary(1), PortSet{0});
  EXPECT_EQ(routes.primary(999), PortSet{0});
}

TEST(RouteTable, GoesAroundADeadLinkElsewhere) {
  const Topology topology = ring();
  LinkState links(topology, 0, true);
  links.originate(0b11, 0);
  ASSERT_TRUE(links.apply(1, {5, 0b01, 0}));  // n2 has lost its link to n4
  RouteTable routes(topology, 0);
  routes.compile(links.ports_up());
  EXPECT_EQ(routes.primary(4), PortSet{0b10});
}

TEST(RouteTable, TheTreesOfAllNodesReachEveryNodeOnce) {
  const Topology topology = ring();
  uint32_t ports = 0;
  for (uint16_t node = 0; node < 4; ++node) {
    LinkState links(topology, node, true);
    links.originate(0b11, 0);
    RouteTable routes(topology, node);
    routes.compile(links.ports_up());
    ports += static_cast<uint32_t>(__builtin_popcountll(routes.tree()));
  }
  EXPECT_EQ(ports, 2u * 3);  // three links, two ends each
}

TEST(LinkState, OnlyNewerRecordsAreNews) {
  const Topology topology = ring();
  LinkState links(topology, 0, true);
  EXPECT_TRUE(links.apply(2, {7, 0b01, 0}));
  EXPECT_FALSE(links.apply(2, {7, 0b01, 0}));
  EXPECT_FALSE(links.apply(2, {6, 0b11, 0}));
  EXPECT_TRUE(links.apply(2, {8, 0b11, 0}));
}

TEST(LinkState, EqualRecordsMakeEqualDigests) {
  const Topology topology = ring();
  LinkState a(topology, 0, true), b(topology, 0, true);
  a.apply(1, {3, 0b01, 0});
  a.apply(2, {4, 0b10, 0});
  b.apply(2, {4, 0b10, 0});
  EXPECT_NE(a.digest(), b.digest());
  b.apply(1, {2, 0b11, 0});
  b.apply(1, {3, 0b01, 0});
  EXPECT_EQ(a.digest(), b.digest());
}

TEST(LinkState, WhatIsSettledIsSaidAnew) {
  const Topology topology = ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.originate(0b01, 0));
  const uint32_t sequence = links.record(0).sequence;
  const uint64_t digest = links.digest();
  EXPECT_FALSE(links.originate(0b01, 0));
  EXPECT_TRUE(links.originate(0b01, 0b10));
  EXPECT_EQ(links.record(0).sequence, sequence + 1);
  EXPECT_EQ(links.record(0).ports_settled, PortSet{0b10});
  EXPECT_NE(links.digest(), digest);
  LinkState one(topology, 1, true), other(topology, 1, true);
  one.apply(0, {3, 0b01, 0b10});
  other.apply(0, {3, 0b01, 0b00});
  EXPECT_NE(one.digest(), other.digest());
}

TEST(LinkState, ANodeOverridesWhatItSaidBeforeItsRestart) {
  const Topology topology = ring();
  LinkState links(topology, 0, true);
  links.originate(0b11, 0);
  EXPECT_TRUE(links.apply(0, {1000, 0b00, 0}));
  EXPECT_EQ(links.record(0).sequence, 1001u);
  EXPECT_EQ(links.record(0).ports_up, PortSet{0b11});
}

// A node that restarts counts from 1 again and may come to a sequence of its former life before it hears of it.
TEST(LinkState, TwoRecordsWithOneSequenceComeToAnEnd) {
  const Topology topology = ring();
  LinkState one(topology, 1, true), other(topology, 2, true);
  one.apply(3, {5, 0b01, 0});
  other.apply(3, {5, 0b11, 0});
  EXPECT_TRUE(one.apply(3, {5, 0b11, 0}));  // the larger mask wins, whoever hears of it first
  EXPECT_FALSE(other.apply(3, {5, 0b01, 0}));
  EXPECT_EQ(one.record(3).ports_up, other.record(3).ports_up);
  EXPECT_TRUE(one.apply(3, {5, 0b11, 0b100})) << "then the larger mask of settled ones";
  EXPECT_FALSE(one.apply(3, {5, 0b11, 0b000}));

  LinkState self(topology, 3, true);
  self.originate(0b01, 0);
  const uint32_t sequence = self.record(3).sequence;
  EXPECT_TRUE(self.apply(3, {sequence, 0b11, 0}));  // not what it says now: said again, later
  EXPECT_EQ(self.record(3).sequence, sequence + 1);
  EXPECT_EQ(self.record(3).ports_up, PortSet{0b01});
  EXPECT_TRUE(self.apply(3, {sequence + 1, 0b00, 0}));  // also against a smaller mask
  EXPECT_EQ(self.record(3).ports_up, PortSet{0b01});
}

}  // namespace
}  // namespace heddle::routing_test
