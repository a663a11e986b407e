// SPDX-License-Identifier: Apache-2.0
#include "topology/max_flow.h"

#include <gtest/gtest.h>

#include "wire/random.h"

namespace heddle::max_flow_test {
namespace {

TEST(MaxFlow, IsBoundedByTheNarrowestCut) {
  MaxFlow graph(6);
  graph.add_link(0, 1, 10);
  graph.add_link(0, 2, 10);
  graph.add_link(1, 3, 4);
  graph.add_link(1, 4, 8);
  graph.add_link(2, 4, 9);
  graph.add_link(3, 5, 10);
  graph.add_link(4, 5, 10);
  EXPECT_DOUBLE_EQ(graph.between(0, 5), 14);
  EXPECT_DOUBLE_EQ(MaxFlow(2).between(0, 1), 0) << "without links";
}

// A way that takes what two others need is given up again.
TEST(MaxFlow, FindsWaysThroughOthers) {
  MaxFlow graph(4);
  graph.add_link(0, 1, 1);
  graph.add_link(0, 2, 1);
  graph.add_link(1, 2, 1);
  graph.add_link(1, 3, 1);
  graph.add_link(2, 3, 1);
  EXPECT_DOUBLE_EQ(graph.between(0, 3), 2);
}

// By the definition: the least of all cuts.
TEST(MaxFlow, OfRandomGraphsIsTheLeastCut) {
  Random random(4);
  for (int run = 0; run < 200; ++run) {
    constexpr uint32_t kNodes = 7;
    double carries[kNodes][kNodes] = {};
    MaxFlow graph(kNodes);
    for (uint32_t a = 0; a < kNodes; ++a)
      for (uint32_t b = a + 1; b < kNodes; ++b) {
        carries[a][b] = carries[b][a] = static_cast<double>(random.below(5));
        graph.add_link(a, b, carries[a][b]);
      }
    double least = 1e9;
    for (uint32_t side = 0; side < 1u << kNodes; ++side) {
      if (!(side & 1) || (side >> (kNodes - 1) & 1)) continue;  // 0 on this side, the last node on the other
      double cut = 0;
      for (uint32_t a = 0; a < kNodes; ++a)
        for (uint32_t b = 0; b < kNodes; ++b)
          if ((side >> a & 1) && !(side >> b & 1)) cut += carries[a][b];
      least = std::min(least, cut);
    }
    ASSERT_DOUBLE_EQ(graph.between(0, kNodes - 1), least) << run;
  }
}

}  // namespace
}  // namespace heddle::max_flow_test
