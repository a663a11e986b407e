// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "topology/graph.h"

namespace heddle::topology_graph_test {
namespace {

Topology nodes(const std::vector<uint16_t>& addresses) {
  Topology topology;
  for (uint16_t address : addresses)
    topology.nodes.push_back({std::string("n").append(std::to_string(address)), address, {}});
  return topology;
}

PortIndex add_port(Topology& topology, uint16_t node, uint16_t peer_node, PortIndex peer_port) {
  std::vector<TopologyPort>& ports = topology.nodes[node].ports;
  TopologyPort port;
  port.name = std::string("p").append(std::to_string(ports.size()));
  port.fabric = true;
  port.peer = {peer_node, peer_port};
  ports.push_back(port);
  return PortIndex::of(ports.size() - 1);
}

void link(Topology& topology, uint16_t a, uint16_t b) {
  const auto a_port = PortIndex::of(topology.nodes[a].ports.size());
  const PortIndex b_port = add_port(topology, b, a, a_port);
  add_port(topology, a, b, b_port);
  topology.links.push_back({{{a, a_port}, {b, b_port}}});
}

// Spines 0 and 1, leaves 2, 3 and 4. A spine's port to leaf l is l - 2; a leaf's port to spine s is s.
Topology leaf_spine() {
  Topology topology = nodes({1, 2, 11, 12, 13});
  for (uint16_t leaf = 2; leaf < 5; ++leaf) {
    link(topology, leaf, 0);
    link(topology, leaf, 1);
  }
  return topology;
}

// 0 - 1 - 2 - 3 - 0; port 0 of each goes on to the next but for node 0, whose port 1 closes the ring.
Topology ring(const std::vector<uint16_t>& addresses) {
  Topology topology = nodes(addresses);
  for (uint16_t i = 0; i < addresses.size(); ++i) {
    link(topology, i, static_cast<uint16_t>((i + 1) % addresses.size()));
  }
  return topology;
}

// Edges of a forest: bits over two.
unsigned tree_edges(const std::vector<PortSet>& tree) {
  int bits = 0;
  for (PortSet set : tree) bits += __builtin_popcountll(set);
  return static_cast<unsigned>(bits) / 2;
}

TEST(Graph, DistancesCountLinks) {
  const Topology topology = leaf_spine();
  EXPECT_EQ(distances_from(topology, 2, all_fabric_ports(topology)), (std::vector<uint16_t>{1, 1, 0, 2, 2}));
}

TEST(Graph, ALinkThatOneEndReportsDownIsDown) {
  const Topology topology = leaf_spine();
  std::vector<PortSet> up = all_fabric_ports(topology);
  up[0] &= ~PortSet{1};  // spine 0 has lost leaf 2; the leaf has not seen it yet
  EXPECT_FALSE(port_usable(topology, up, 2, 0));
  EXPECT_FALSE(port_usable(topology, up, 0, 0));
  EXPECT_TRUE(port_usable(topology, up, 2, 1));
  EXPECT_EQ(distances_from(topology, 2, up), (std::vector<uint16_t>{3, 1, 0, 2, 2}));
}

TEST(Graph, EdgePortsAreNoWay) {
  Topology topology = nodes({1});
  topology.nodes[0].ports.emplace_back();
  EXPECT_EQ(all_fabric_ports(topology)[0], 0u);
  EXPECT_FALSE(port_usable(topology, {~PortSet{0}}, 0, 0));
}

// Of a tree the leaves lead nowhere; in a ring all nodes do, but for longer ways than the other way round.
TEST(Graph, ThoseLeadOnByWhomPathsToHostsGo) {
  const auto with_hosts = [](Topology topology, const std::vector<uint16_t>& at) {
    for (const uint16_t node : at) topology.nodes[node].ports.emplace_back();
    return topology;
  };
  const Topology tree = with_hosts(leaf_spine(), {2, 3, 4});
  for (const uint16_t spine : {0, 1}) EXPECT_TRUE(is_transit(tree, spine));
  for (const uint16_t leaf : {2, 3, 4}) EXPECT_FALSE(is_transit(tree, leaf));
  EXPECT_FALSE(is_transit(leaf_spine(), 0)) << "to nobody";
  EXPECT_FALSE(is_transit(with_hosts(leaf_spine(), {0}), 0)) << "to its own hosts";
  Topology square = with_hosts(ring({1, 2, 3, 4}), {2});
  EXPECT_TRUE(is_transit(square, 1));
  EXPECT_FALSE(is_transit(square, 0)) << "its neighbours are next to it";
  square.nodes[1].ports[1].cost = square.nodes[2].ports[0].cost = 4;
  EXPECT_TRUE(is_transit(square, 0)) << "a costly link is gone around";
  EXPECT_FALSE(is_transit(square, 1));
}

TEST(Graph, UnreachableNodesAreThoseWithoutPathToTheFirst) {
  Topology topology = nodes({1, 2, 3, 4});
  link(topology, 0, 2);
  EXPECT_EQ(unreachable_nodes(topology), (std::vector<uint16_t>{1, 3}));
  EXPECT_TRUE(unreachable_nodes(leaf_spine()).empty());
  EXPECT_TRUE(unreachable_nodes(Topology()).empty());
}

TEST(Graph, ShortestPathsTakeAllPortsOfEqualLength) {
  const Topology topology = leaf_spine();
  const auto ports = shortest_path_ports(topology, 2, all_fabric_ports(topology));
  EXPECT_EQ(ports, (std::vector<PortSet>{0b01, 0b10, 0, 0b11, 0b11}));
}

TEST(Graph, ShortestPathsOfParallelLinksTakeBoth) {
  Topology topology = nodes({1, 2});
  link(topology, 0, 1);
  link(topology, 0, 1);
  EXPECT_EQ(shortest_path_ports(topology, 0, all_fabric_ports(topology))[1], 0b11u);
}

TEST(Graph, ShortestPathsGoTheOtherWayRoundABrokenRing) {
  const Topology topology = ring({1, 2, 3, 4});
  std::vector<PortSet> up = all_fabric_ports(topology);
  const LinkEnd end = topology.links[0].ends[0];
  up[end.node_index] &= ~(PortSet{1} << end.port);
  const auto ports = shortest_path_ports(topology, 0, up);
  EXPECT_EQ(ports[1], ports[3]);
  EXPECT_EQ(__builtin_popcountll(ports[1]), 1);
  EXPECT_EQ(ports[0], 0u);
}

TEST(Graph, NoPathNoPorts) {
  const Topology topology = leaf_spine();
  std::vector<PortSet> up = all_fabric_ports(topology);
  up[4] = 0;
  EXPECT_EQ(shortest_path_ports(topology, 2, up)[4], 0u);
}

TEST(Graph, SpanningTreeHasNoLoopAndReachesAll) {
  const Topology topology = leaf_spine();
  const auto tree = spanning_tree_ports(topology, all_fabric_ports(topology));
  EXPECT_EQ(tree_edges(tree), 4u);
  for (uint16_t distance : distances_from(topology, 0, tree)) EXPECT_NE(distance, kNoDistance);
  EXPECT_EQ(tree[0], 0b111u);  // the lowest address is the root, with all its leaves
  EXPECT_EQ(tree[1], 0b001u);  // the other spine hangs on the leaf of the lowest index
}

TEST(Graph, SpanningTreeIsRootedAtTheLowestAddress) {
  const Topology topology = ring({9, 8, 1, 7});
  const auto tree = spanning_tree_ports(topology, all_fabric_ports(topology));
  EXPECT_EQ(tree_edges(tree), 3u);
  EXPECT_EQ(tree[2], 0b11u);
  EXPECT_EQ(__builtin_popcountll(tree[0]), 1);  // farthest from the root, by the neighbour of the lower index
  EXPECT_EQ(topology.nodes[0].ports[static_cast<size_t>(__builtin_ctzll(tree[0]))].peer.node_index, 1);
}

TEST(Graph, SpanningTreeTakesTheFirstOfParallelLinks) {
  Topology topology = nodes({1, 2});
  link(topology, 0, 1);
  link(topology, 0, 1);
  EXPECT_EQ(spanning_tree_ports(topology, all_fabric_ports(topology)), (std::vector<PortSet>{1, 1}));
}

TEST(Graph, EveryPartHasItsOwnTree) {
  Topology topology = nodes({4, 3, 2, 1});
  link(topology, 0, 1);
  link(topology, 2, 3);
  EXPECT_EQ(spanning_tree_ports(topology, all_fabric_ports(topology)), (std::vector<PortSet>{1, 1, 1, 1}));
}

TEST(Graph, SpanningTreeFollowsALostLink) {
  const Topology topology = ring({1, 2, 3, 4});
  for (const TopologyLink& lost : topology.links) {
    std::vector<PortSet> up = all_fabric_ports(topology);
    up[lost.ends[1].node_index] &= ~(PortSet{1} << lost.ends[1].port);
    const auto tree = spanning_tree_ports(topology, up);
    EXPECT_EQ(tree_edges(tree), 3u);
    EXPECT_EQ(tree[lost.ends[0].node_index] >> lost.ends[0].port & 1, 0u);
  }
}

TEST(Topology, FindsNodesAndPorts) {
  const Topology topology = leaf_spine();
  EXPECT_EQ(topology.find_node("n11"), 2);
  EXPECT_EQ(topology.find_node("n99"), -1);
  EXPECT_EQ(topology.node_of_address(13), 4);
  EXPECT_EQ(topology.node_of_address(0), -1);
  EXPECT_EQ(topology.find_port(2, "p1"), 1);
  EXPECT_EQ(topology.find_port(2, "p9"), -1);
  EXPECT_EQ(topology.find_port(99, "p1"), -1);
}

// 0 - 1 - 2 - 3 - 0, where the link from 0 to 1 costs more.
TEST(Graph, TheCheapestPathIsTheShortest) {
  Topology topology = ring({1, 2, 3, 4});
  const auto cost = [&](uint8_t value) {
    for (const LinkEnd& end : topology.links[0].ends) topology.nodes[end.node_index].ports[end.port].cost = value;
  };
  const PortIndex to_1 = topology.links[0].ends[0].port;
  const PortSet direct = PortSet{1} << to_1, round = PortSet{0b11} & ~direct;
  const std::vector<PortSet> up = all_fabric_ports(topology);
  EXPECT_EQ(shortest_path_ports(topology, 0, up)[1], direct);
  cost(3);
  EXPECT_EQ(distances_from(topology, 0, up), (std::vector<uint16_t>{0, 3, 2, 1}));
  EXPECT_EQ(shortest_path_ports(topology, 0, up)[1], direct | round) << "as far";
  cost(15);
  EXPECT_EQ(distances_from(topology, 0, up), (std::vector<uint16_t>{0, 3, 2, 1}));
  EXPECT_EQ(distances_from(topology, 1, up), (std::vector<uint16_t>{3, 0, 1, 2}));
  EXPECT_EQ(shortest_path_ports(topology, 0, up)[1], round);
  EXPECT_EQ(spanning_tree_ports(topology, up)[0], round) << "floods go there, too";
}

}  // namespace
}  // namespace heddle::topology_graph_test
