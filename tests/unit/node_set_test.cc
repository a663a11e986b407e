// SPDX-License-Identifier: Apache-2.0
#include "routing/node_set.h"

#include <gtest/gtest.h>

namespace heddle::node_set_test {
namespace {

std::vector<uint16_t> all(const NodeSet& set) {
  std::vector<uint16_t> nodes;
  set.each([&](uint16_t node) {
    nodes.push_back(node);
    return true;
  });
  return nodes;
}

TEST(NodeSet, HasWhatWasPutIn) {
  NodeSet set(130);
  EXPECT_TRUE(all(set).empty());
  for (const uint16_t node : {129, 0, 63, 64, 64}) set.insert(node);
  EXPECT_EQ(all(set), (std::vector<uint16_t>{0, 63, 64, 129}));
  set.erase(63);
  set.erase(1);
  EXPECT_EQ(all(set), (std::vector<uint16_t>{0, 64, 129}));
  set.clear();
  EXPECT_TRUE(all(set).empty());
}

TEST(NodeSet, WhoeverIsCalledMayStopOrTakeThemOut) {
  NodeSet set(130);
  for (const uint16_t node : {1, 2, 70, 71}) set.insert(node);
  EXPECT_FALSE(set.each([&](uint16_t node) {
    if (node == 70) return false;
    set.erase(node);
    return true;
  }));
  EXPECT_EQ(all(set), (std::vector<uint16_t>{70, 71}));
  EXPECT_TRUE(set.each([](uint16_t) { return true; }));
}

}  // namespace
}  // namespace heddle::node_set_test
