// SPDX-License-Identifier: Apache-2.0
// R4, R8: what paths cost, and which fabrics have longer ones that are worth something.
#include "topology/distances.h"

#include <gtest/gtest.h>

#include "plan_topology.h"

namespace heddle::test {
namespace {

TEST(Distances, OnlyWhereLinksWouldStandIdleThereAreLongerWays) {
  EXPECT_TRUE(Distances(dragonfly()).detours());
  EXPECT_FALSE(Distances(topology_of(leaf_spine_plan(4, 3, 2))).detours());
  EXPECT_FALSE(Distances(topology_of(fat_tree_plan(4, 2))).detours());
  EXPECT_FALSE(Distances(topology_of(leaf_spine_plan(1, 0, 2))).detours()) << "alone";
  Topology ring;
  for (uint16_t node = 0; node < 5; ++node) add_node(ring, static_cast<uint16_t>(node + 1), 1);
  for (uint16_t node = 0; node < 5; ++node) add_link(ring, node, static_cast<uint16_t>((node + 1) % 5));
  EXPECT_TRUE(Distances(ring).detours()) << "the other way round";
}

TEST(Distances, OfADragonflyOneLinkBetweenGroupsIsShorterThanTwo) {
  const Topology topology = dragonfly();
  const Distances distances(topology);
  uint8_t farthest = 0;
  for (uint16_t from = 0; from < 36; ++from)
    for (uint16_t to = 0; to < 36; ++to) {
      farthest = std::max(farthest, distances.of(from, to));
      EXPECT_EQ(distances.of(from, to), distances.of(to, from));
      EXPECT_EQ(distances.of(from, to) < 2, from / 4 == to / 4) << from << " to " << to;
    }
  EXPECT_EQ(farthest, 4u) << "a link in the group, one between groups, one in the other";
}

// The longest that is allowed: two links between groups, and one inside of each group on the way.
TEST(Distances, LongerWaysGoByOneGroupMoreAndNoNodeTwice) {
  const Topology topology = dragonfly();
  const Distances distances(topology);
  std::array<uint32_t, 9> ways{};  // from node 0 to node 7, by group
  for (uint16_t via = 0; via < 36; ++via) {
    EXPECT_FALSE(distances.leads_by(via, 0, 1)) << "it is just beside";
    if (!distances.leads_by(via, 0, 7)) continue;
    ++ways[via / 4];
    EXPECT_LE(distances.of(0, via) + distances.of(via, 7), 7);
    EXPECT_GT(distances.of(0, via) + distances.of(via, 7), distances.of(0, 7));
  }
  for (uint32_t group = 2; group < 9; ++group) EXPECT_GE(ways[group], 1u) << "group " << group;
  EXPECT_FALSE(distances.leads_by(0, 0, 7));
  EXPECT_FALSE(distances.leads_by(7, 0, 7));
}

TEST(Distances, APathPassesTheNodesThatItIsShortestThrough) {
  const Topology topology = topology_of(leaf_spine_plan(3, 2, 1));  // spines 0 and 1, leaves 2 to 4
  const Distances distances(topology);
  EXPECT_TRUE(distances.passes(0, 2, 3));
  EXPECT_TRUE(distances.passes(1, 2, 3));
  EXPECT_TRUE(distances.passes(2, 2, 3));
  EXPECT_FALSE(distances.passes(4, 2, 3));
}

TEST(Distances, WhatCannotBeReachedIsFar) {
  Topology topology;
  add_node(topology, 1, 1);
  add_node(topology, 2, 1);
  const Distances distances(topology);
  EXPECT_EQ(distances.of(0, 1), 255);
  EXPECT_EQ(distances.of(0, 0), 0);
  EXPECT_FALSE(distances.detours());
}

}  // namespace
}  // namespace heddle::test
