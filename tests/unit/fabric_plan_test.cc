// SPDX-License-Identifier: Apache-2.0
// R11: fabrics that a few numbers describe.
#include "topology/fabric_plan.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>

namespace heddle::fabric_plan_test {
namespace {

using Pair = std::pair<uint32_t, uint32_t>;

// Links by the nodes at their ends, lower one first; each port is used once.
std::multiset<Pair> links_of(const FabricPlan& plan) {
  std::multiset<Pair> links;
  std::set<std::pair<uint32_t, std::string>> ports;
  for (const auto& [ends, cost] : plan.links) {
    const auto& [one, other] = ends;
    EXPECT_TRUE(ports.emplace(one.node, one.port).second) << plan.nodes[one.node] << ':' << one.port;
    EXPECT_TRUE(ports.emplace(other.node, other.port).second) << plan.nodes[other.node] << ':' << other.port;
    links.emplace(std::min(one.node, other.node), std::max(one.node, other.node));
  }
  for (const FabricPlan::Host& host : plan.hosts)
    EXPECT_TRUE(ports.emplace(host.end.node, host.end.port).second) << host.name;
  return links;
}

std::map<std::string, uint32_t> degrees_of(const FabricPlan& plan) {
  std::map<std::string, uint32_t> degrees;
  for (const auto& link : plan.links)
    for (const FabricPlan::End& end : link.ends) ++degrees[plan.nodes[end.node]];
  return degrees;
}

TEST(FabricPlan, EachLeafIsLinkedToEachSpine) {
  const FabricPlan plan = leaf_spine_plan(3, 2, 4);
  EXPECT_EQ(plan.nodes, (std::vector<std::string>{"spine1", "spine2", "leaf1", "leaf2", "leaf3"}));
  const std::multiset<Pair> links = links_of(plan);
  EXPECT_EQ(links.size(), 6u);
  for (uint32_t spine = 0; spine < 2; ++spine)
    for (uint32_t leaf = 2; leaf < 5; ++leaf) EXPECT_EQ(links.count({spine, leaf}), 1u);
  ASSERT_EQ(plan.hosts.size(), 12u);
  EXPECT_EQ(plan.hosts[5].name, "h2-2");
  EXPECT_EQ(plan.hosts[5].end.node, 3u);
}

TEST(FabricPlan, AFatTreeHasItsPodsAndEachSwitchItsRadix) {
  const FabricPlan plan = fat_tree_plan(4, 2);
  EXPECT_EQ(plan.nodes.size(), 20u);
  EXPECT_EQ(plan.hosts.size(), 16u);
  EXPECT_EQ(links_of(plan).size(), 32u);
  std::map<std::string, uint32_t> degrees = degrees_of(plan);
  for (const FabricPlan::Host& host : plan.hosts) ++degrees[plan.nodes[host.end.node]];
  for (const auto& [node, degree] : degrees) EXPECT_EQ(degree, 4u) << node;
  EXPECT_EQ(plan.hosts.back().name, "h4-2-2");
  EXPECT_EQ(plan.nodes[plan.hosts.back().end.node], "edge4-2");
}

// Each core has one link to each pod, and the n-th aggregation switch of each pod has the n-th cores.
TEST(FabricPlan, OfAFatTreeEachCoreReachesEachPodOnce) {
  const FabricPlan plan = fat_tree_plan(6, 3);
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& link : plan.links)
    for (const auto& [from, to] : {std::pair(link.ends[0], link.ends[1]), std::pair(link.ends[1], link.ends[0])})
      if (plan.nodes[from.node].starts_with("core")) reached[plan.nodes[from.node]].insert(plan.nodes[to.node]);
  EXPECT_EQ(reached.size(), 9u);
  EXPECT_EQ(reached["core4"], (std::set<std::string>{"agg1-2", "agg2-2", "agg3-2", "agg4-2", "agg5-2", "agg6-2"}));
}

TEST(FabricPlan, OfADragonflyEachTwoGroupsHaveOneLink) {
  const DragonflySize size{.groups = 9, .routers = 4, .globals = 2, .hosts = 2};
  const FabricPlan plan = dragonfly_plan(size);
  EXPECT_EQ(plan.nodes.size(), 36u);
  EXPECT_EQ(plan.hosts.size(), 72u);
  std::map<Pair, uint32_t> between;
  for (const Pair& link : links_of(plan)) ++between[{link.first / 4, link.second / 4}];
  for (uint32_t one = 0; one < 9; ++one) {
    EXPECT_EQ((between[{one, one}]), 6u) << "all to all within a group";
    for (uint32_t other = one + 1; other < 9; ++other) EXPECT_EQ((between[{one, other}]), 1u);
  }
  for (const auto& [node, degree] : degrees_of(plan)) EXPECT_EQ(degree, 3u + 2u) << node;
}

TEST(FabricPlan, OfASmallDragonflyNoRouterHasMoreThanItsGlobalLinks) {
  for (uint32_t groups = 2; groups <= 9; ++groups) {
    const FabricPlan plan = dragonfly_plan({.groups = groups, .routers = 4, .globals = 2, .hosts = 0});
    links_of(plan);
    for (const auto& [node, degree] : degrees_of(plan)) EXPECT_LE(degree, 3u + 2u) << node << " of " << groups;
  }
}

// The numbers of each switch, from its name.
std::vector<std::vector<int>> points_of(const FabricPlan& plan) {
  std::vector<std::vector<int>> points;
  for (const std::string& name : plan.nodes) {
    std::istringstream numbers(name.substr(1));
    for (points.emplace_back(); numbers;) {
      int number = 0;
      if (numbers >> number) points.back().push_back(number);
      numbers.get();  // the dash
    }
  }
  return points;
}

// The links are those between switches that differ in one dimension, by as much as the lattice says.
void expect_lattice(Lattice lattice, const std::vector<uint32_t>& dimensions, bool (*near)(int away, int size)) {
  const FabricPlan plan = lattice_plan(lattice, dimensions, 2);
  const std::vector<std::vector<int>> points = points_of(plan);
  const std::multiset<Pair> links = links_of(plan);
  for (uint32_t one = 0; one < points.size(); ++one) {
    ASSERT_EQ(points[one].size(), dimensions.size());
    EXPECT_EQ(plan.nodes[plan.hosts[2 * one].end.node], plan.nodes[one]);
    EXPECT_EQ(plan.hosts[2 * one + 1].name, "h" + plan.nodes[one].substr(1) + "-2");
    for (uint32_t other = one + 1; other < points.size(); ++other) {
      int differ = 0;
      bool linked = false;
      for (size_t i = 0; i < dimensions.size(); ++i) {
        const int away = std::abs(points[one][i] - points[other][i]);
        differ += away != 0;
        linked |= away != 0 && near(away, static_cast<int>(dimensions[i]));
      }
      EXPECT_EQ(links.count({one, other}), differ == 1 && linked ? 1u : 0u)
          << plan.nodes[one] << ' ' << plan.nodes[other];
    }
  }
  uint32_t most = 0;
  for (const auto& [node, degree] : degrees_of(plan)) most = std::max(most, degree);
  EXPECT_EQ(lattice_degree(lattice, dimensions), most);
}

TEST(FabricPlan, InAMeshSwitchesBesideEachOtherAreLinked) {
  for (const std::vector<uint32_t>& dimensions : {std::vector<uint32_t>{5}, {2, 2}, {3, 4}, {2, 3, 4}, {2, 2, 3, 2}})
    expect_lattice(Lattice::mesh, dimensions, [](int away, int) { return away == 1; });
}

// Of two in a line there is one link only: around the end is the same one.
TEST(FabricPlan, InATorusEachLineIsARing) {
  for (const std::vector<uint32_t>& dimensions : {std::vector<uint32_t>{5}, {2, 2}, {3, 4}, {2, 3, 4}, {8, 8}})
    expect_lattice(Lattice::torus, dimensions, [](int away, int size) { return away == 1 || away == size - 1; });
}

TEST(FabricPlan, InAHyperXAllOfALineAreLinked) {
  for (const std::vector<uint32_t>& dimensions : {std::vector<uint32_t>{5}, {2, 2}, {3, 4}, {2, 3, 4}, {4, 4}})
    expect_lattice(Lattice::hyperx, dimensions, [](int, int) { return true; });
}

TEST(FabricPlan, APortOfALatticeSaysWhereItLeads) {
  const FabricPlan plan = lattice_plan(Lattice::torus, {4, 3}, 1);
  for (const auto& link : plan.links)
    for (const auto& [from, to] : {std::pair(link.ends[0], link.ends[1]), std::pair(link.ends[1], link.ends[0])}) {
      const std::vector<int> there = points_of(plan)[to.node];
      EXPECT_TRUE(from.port == "x" + std::to_string(there[0]) || from.port == "y" + std::to_string(there[1]))
          << from.port;
    }
  EXPECT_EQ(plan.nodes[5], "s2-3");
}

}  // namespace
}  // namespace heddle::fabric_plan_test
