// SPDX-License-Identifier: Apache-2.0
// R4, R8: how far nodes are, over the links that are up.
#include "routing/distances.h"

#include <gtest/gtest.h>

#include "plan_topology.h"
#include "topology/graph.h"

namespace heddle::test::distances_test {
namespace {

TEST(Distances, AreThoseOfTheLinksThatAreUp) {
  const Topology ring = ring_of(5);
  Distances distances(ring);
  EXPECT_EQ(distances.to(0, 1), nullptr) << "nothing is known of the links";
  std::vector<PortSet> ports_up = all_fabric_ports(ring);
  distances.compile(ports_up);
  ASSERT_NE(distances.to(0, 1), nullptr);
  EXPECT_EQ(*distances.to(0, 1), (std::vector<uint16_t>{0, 1, 2, 2, 1}));
  ports_up[0] &= ~(PortSet{1} << port_to(ring, 0, 1));
  distances.compile(ports_up);
  EXPECT_EQ(*distances.to(0, 1), (std::vector<uint16_t>{0, 4, 3, 2, 1}));
}

// However many are asked for.
TEST(Distances, InATurnSomeSearchesAreMade) {
  const Topology ring = ring_of(400);
  Distances distances(ring);
  distances.compile(all_fabric_ports(ring));
  const auto known = [&](Nanos now) {
    uint32_t count = 0;
    for (uint16_t node = 0; node < 400; ++node) count += distances.to(node, now) != nullptr;
    return count;
  };
  EXPECT_EQ(known(7), 3u);
  EXPECT_EQ(known(7), 3u) << "of the same turn";
  EXPECT_EQ(known(8), 6u) << "those before are remembered";
  distances.compile(all_fabric_ports(ring));
  EXPECT_EQ(known(8), 0u);
  EXPECT_EQ(known(9), 3u);
}

}  // namespace
}  // namespace heddle::test::distances_test
