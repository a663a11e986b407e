// SPDX-License-Identifier: Apache-2.0
// R4: by which node a flow goes that takes a longer way.
#include "routing/detours.h"

#include <gtest/gtest.h>

#include <set>

#include "plan_topology.h"
#include "topology/graph.h"

namespace heddle::test::detours_test {
namespace {

class DetoursTest : public testing::Test {
 protected:
  static constexpr uint16_t kSelf = 0;         // node; addresses are one more
  static constexpr uint16_t kDestination = 8;  // in the next group

  const Topology topology_ = dragonfly();
  const Destinations index_{topology_};
  Distances distances_{topology_};
  const Detours detours_{topology_, kSelf, index_, distances_};
  Random random_{5};
  Nanos now_ = kSecond;  // of a turn of its own for each question

  DetoursTest() { distances_.compile(all_fabric_ports(topology_)); }
  uint16_t draw(uint16_t destination) { return detours_.draw(destination, random_, ++now_); }
};

TEST_F(DetoursTest, AllOtherGroupsAreDrawn) {
  ASSERT_TRUE(detours_.any());
  std::set<uint32_t> groups;
  for (int i = 0; i < 1000; ++i) {
    const uint16_t via = draw(kDestination);
    if (via != 0) groups.insert((via - 1u) / 4);
  }
  for (uint32_t group = 2; group < 9; ++group) EXPECT_TRUE(groups.contains(group)) << group;
}

// Whatever shortest paths its two parts take, no frame goes back by the link that it came by, or comes home.
TEST_F(DetoursTest, NoneTurnsBack) {
  const std::vector<PortSet> all = all_fabric_ports(topology_);
  std::vector<std::vector<PortSet>> ports;  // by node, by destination
  for (uint16_t node = 0; node < 36; ++node) ports.push_back(shortest_path_ports(topology_, node, all));
  for (int i = 0; i < 1000; ++i) {
    const uint16_t to = static_cast<uint16_t>(4 + random_.below(32));
    const uint16_t via = draw(static_cast<uint16_t>(to + 1));
    if (via == 0) continue;
    uint16_t at = kSelf, heading = static_cast<uint16_t>(via - 1);
    PortPeer came{0xffff, kNoPort};
    for (int hops = 0; at != to; ++hops) {
      ASSERT_LT(hops, 7);
      if (at == via - 1) heading = to;
      PortSet ways = ports[at][heading];
      ASSERT_NE(ways, 0u);
      if (hops > 0) {
        ASSERT_NE(at, kSelf);
        ASSERT_FALSE(ways >> came.port & 1) << "back from node " << at << " on the way by " << via;
      }
      for (uint64_t skip = random_.below(static_cast<uint64_t>(std::popcount(ways))); skip > 0; --skip)
        ways &= ways - 1;
      came = topology_.nodes[at].ports[static_cast<size_t>(std::countr_zero(ways))].peer;
      at = came.node_index;
    }
  }
}

TEST_F(DetoursTest, ToWhatIsJustBesideNoneIsDrawn) {
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(draw(2), 0);
    ASSERT_EQ(draw(1), 0) << "the node itself";
  }
}

TEST_F(DetoursTest, AWayPassesTheNodesOfBothItsParts) {
  const uint16_t via = 13;  // of the fourth group
  const auto passes = [&](uint16_t node) {
    for (int turn = 0; turn < 3; ++turn) detours_.may_pass(kDestination, via, node, ++now_);
    return detours_.may_pass(kDestination, via, node, now_);
  };
  EXPECT_TRUE(passes(via));
  EXPECT_TRUE(passes(kDestination));
  EXPECT_TRUE(passes(kSelf + 1));
  uint32_t passed = 0;
  for (uint16_t address = 1; address <= 36; ++address) passed += passes(address);
  EXPECT_LE(passed, 7u);
  EXPECT_GE(passed, 4u);
}

// How far nodes are from each other is found out for so many of them in a turn: until then no longer way is begun, and
// none is left.
TEST_F(DetoursTest, WhatIsNotKnownYetIsNoReason) {
  const uint16_t via = 13, elsewhere = 20;
  ASSERT_FALSE(detours_.may_pass(kDestination, via, elsewhere, ++now_));
  const std::set<uint16_t> asked = {kSelf, kDestination - 1, via - 1, elsewhere - 1};
  // In a turn in which only one of these has been found out, and then so many others that no more are.
  for (const uint16_t known : asked) {
    distances_.compile(all_fabric_ports(topology_));
    ++now_;
    ASSERT_NE(distances_.to(known, now_), nullptr);
    for (uint16_t node = 0; node < 36; ++node)
      if (!asked.contains(node)) distances_.to(node, now_);
    EXPECT_EQ(detours_.draw(kDestination, random_, now_), 0) << known;
    EXPECT_TRUE(detours_.may_pass(kDestination, via, elsewhere, now_)) << known;
  }
}

}  // namespace
}  // namespace heddle::test::detours_test
