// SPDX-License-Identifier: Apache-2.0
#include "routing/path_choice.h"

#include <gtest/gtest.h>

#include "test_fabric.h"

namespace heddle {
namespace {

// Node 1, with two edge ports, below nodes 2 and 3, which lead to node 4; ports f0 and f1 lead up, e0 and e1 to hosts.
class PathChoiceTest : public testing::Test {
 protected:
  static constexpr uint8_t kLossless = 1;  // FTAG
  static constexpr uint8_t kFirst = kFirstLosslessChannel, kLast = kFirst + 1;
  PathChoiceTest() : topology_(make()), lanes_(topology_), board_(4), paths_(topology_, 0, lanes_, board_) {
    paths_.compile(std::vector<PortSet>(topology_.nodes.size(), ~PortSet{0}));
    for (PortIndex port = 0; port < 4; ++port) board_.publish_state(port, true);
    for (PortIndex port = 0; port < 4; ++port)
      (topology_.nodes[0].ports[port].fabric ? fabric_ : edge_).push_back(port);
  }
  static Topology make() {
    Topology topology;
    topology.classes.resize(2);
    topology.classes[kLossless].ftag = kLossless;
    topology.classes[kLossless].lossless = true;
    topology.lossless_channels = 2;
    test::add_node(topology, 1, 2);
    test::add_node(topology, 2, 0);
    test::add_node(topology, 3, 0);
    test::add_node(topology, 4, 1);
    test::add_link(topology, 0, 1);
    test::add_link(topology, 0, 2);
    test::add_link(topology, 1, 3);
    test::add_link(topology, 2, 3);
    return topology;
  }
  PathChoice::Ways ways(PortIndex input, FabricAddress to, uint8_t hop_limit = 32,
                        uint8_t channel = kLossyChannel) const {
    return paths_.ways({.input = input, .channel = channel, .hop_limit = hop_limit, .destination = to});
  }
  PortIndex choose(PortIndex input, FabricAddress to, DropReason& reason, uint8_t hop_limit = 32) {
    return paths_.choose({.input = input, .channel = kLossyChannel, .hop_limit = hop_limit, .destination = to}, random_,
                         reason, 0);
  }
  PortIndex choose(PathPolicy policy, FabricAddress to, PortIndex had = kNoPort, PortSet left = 0) {
    DropReason reason = DropReason::none;
    return paths_.choose({.input = edge_[0],
                          .channel = kLossyChannel,
                          .hop_limit = 32,
                          .destination = to,
                          .had = had,
                          .left = left,
                          .policy = policy},
                         random_, reason, 0);
  }

  const Topology topology_;
  const Lanes lanes_;
  LoadBoard board_;
  PathChoice paths_;
  Random random_{1};
  std::vector<PortIndex> fabric_, edge_;
};

TEST_F(PathChoiceTest, AHostOfThisNodeHasOnePort) {
  EXPECT_EQ(ways(edge_[0], {1, edge_[1]}).ports, PortSet{1} << edge_[1]);
  EXPECT_EQ(ways(fabric_[0], {1, edge_[1]}, 0).ports, PortSet{1} << edge_[1]) << "it is there: no hop is left to count";
  EXPECT_EQ(ways(edge_[1], {1, edge_[1]}).ports, 0u);
  EXPECT_EQ(ways(edge_[1], {1, edge_[1]}).reason, DropReason::same_port);
  for (const PortIndex nowhere : {fabric_[0], PortIndex::of(17), PortIndex::of(64), kNoPort}) {
    EXPECT_EQ(ways(edge_[0], {1, nowhere}).ports, 0u) << nowhere;
    EXPECT_EQ(ways(edge_[0], {1, nowhere}).reason, DropReason::no_such_port) << nowhere;
  }
}

TEST_F(PathChoiceTest, OthersAreReachedOnShortestPathsAndNeverBack) {
  const PortSet both = PortSet{1} << fabric_[0] | PortSet{1} << fabric_[1];
  EXPECT_EQ(ways(edge_[0], {4, 0}).ports, both);
  EXPECT_EQ(ways(fabric_[0], {4, 0}).ports, PortSet{1} << fabric_[1]);
  EXPECT_EQ(ways(edge_[0], {2, 0}).ports, PortSet{1} << fabric_[0]);
  EXPECT_EQ(ways(edge_[0], {99, 0}).ports, 0u);
  EXPECT_EQ(ways(edge_[0], {99, 0}).reason, DropReason::no_route);
  EXPECT_EQ(ways(edge_[0], {4, 0}, 0).reason, DropReason::hop_limit);
  EXPECT_EQ(ways(edge_[0], {4, 0}, 0).ports, 0u);
}

TEST_F(PathChoiceTest, TheLeastLoadedThatIsUpIsTaken) {
  DropReason reason = DropReason::none;
  board_.publish_load(fabric_[0], 1000, 0, 0);
  EXPECT_EQ(choose(edge_[0], {4, 0}, reason), fabric_[1]);
  board_.publish_state(fabric_[1], false);
  EXPECT_EQ(choose(edge_[0], {4, 0}, reason), fabric_[0]);
  board_.publish_state(fabric_[0], false);
  EXPECT_EQ(choose(edge_[0], {4, 0}, reason), kNoPort);
  EXPECT_EQ(reason, DropReason::no_route);
  EXPECT_EQ(choose(edge_[0], {2, 0}, reason), kNoPort) << "the only one is down";
  EXPECT_EQ(choose(edge_[0], {4, 0}, reason, 0), kNoPort);
  EXPECT_EQ(reason, DropReason::hop_limit);
  EXPECT_EQ(choose(edge_[0], {1, edge_[1]}, reason), edge_[1]);
}

TEST_F(PathChoiceTest, AFixedPathIsTheDestinationsOwn) {
  const PortIndex one = choose(PathPolicy::fixed, {4, 2});
  const PortIndex other = one == fabric_[0] ? fabric_[1] : fabric_[0];
  EXPECT_EQ(choose(PathPolicy::fixed, {4, 3}), other) << "the next host comes down by another link";
  board_.publish_load(one, 1000, 0, 0);
  EXPECT_EQ(choose(PathPolicy::fixed, {4, 2}), one) << "whatever else goes there";
  board_.publish_state(one, false);
  EXPECT_EQ(choose(PathPolicy::fixed, {4, 2}), other);
}

TEST_F(PathChoiceTest, ByChanceEachIsTakenAsOften) {
  int taken[64] = {};
  board_.publish_load(fabric_[0], 1000, 0, 0);
  for (int times = 0; times < 1000; ++times) ++taken[choose(PathPolicy::random, {4, 2})];
  EXPECT_NEAR(taken[fabric_[0]], 500, 100);
  EXPECT_NEAR(taken[fabric_[1]], 500, 100);
  for (const PortIndex had : fabric_)
    for (int times = 0; times < 20; ++times)
      ASSERT_EQ(choose(PathPolicy::random, {4, 2}, had), had) << "a flow that has rested stays";
}

TEST_F(PathChoiceTest, AFlowKeepsOffThePortsThatItHasLeftWhileThereAreOthers) {
  for (const PathPolicy policy : {PathPolicy::fixed, PathPolicy::random, PathPolicy::adaptive}) {
    EXPECT_EQ(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0]), fabric_[1]);
    EXPECT_EQ(choose(policy, {4, 2}, fabric_[1], PortSet{1} << fabric_[1]), fabric_[0]);
    EXPECT_NE(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0] | PortSet{1} << fabric_[1]), kNoPort);
    board_.publish_state(fabric_[1], false);
    EXPECT_EQ(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0]), fabric_[0]) << "the other one is down";
    board_.publish_state(fabric_[1], true);
  }
}

// R9: node 4 is reached by node 2 or by node 3.
TEST_F(PathChoiceTest, WaysAroundABottleneckDoNotLeadThere) {
  const PathChoice::Frame frame{.input = edge_[0], .channel = kLossyChannel, .hop_limit = 32, .destination = {4, 2}};
  EXPECT_EQ(paths_.around(frame, fabric_[0], 1), PortSet{1} << fabric_[1]) << "it is here";
  EXPECT_EQ(paths_.around(frame, fabric_[0], 2), PortSet{1} << fabric_[1]) << "it is at the next node";
  EXPECT_EQ(paths_.around(frame, fabric_[0], 4), 0u) << "both come by there";
  EXPECT_EQ(paths_.around(frame, fabric_[0], 99), PortSet{1} << fabric_[1]) << "no such node";
}

// R5: it would need one more.
TEST_F(PathChoiceTest, InTheLastChannelWhatCameDownGoesUpNoMore) {
  EXPECT_EQ(ways(fabric_[0], {4, 0}, 32, kLast).ports, 0u);
  EXPECT_EQ(ways(fabric_[0], {4, 0}, 32, kLast).reason, DropReason::no_route);
  EXPECT_EQ(ways(fabric_[0], {4, 0}, 32, kFirst).ports, PortSet{1} << fabric_[1]) << "it has one";
  EXPECT_EQ(ways(fabric_[1], {4, 0}, 32, kLast).ports, 0u);
  EXPECT_EQ(std::popcount(ways(edge_[0], {4, 0}, 32, kLast).ports), 2) << "a host's has not come down";
  EXPECT_EQ(ways(fabric_[0], {1, edge_[0]}, 32, kLast).ports, PortSet{1} << edge_[0]);
}

TEST_F(PathChoiceTest, ATurnFromDownToUpChangesTheChannel) {
  EXPECT_EQ(paths_.lane(fabric_[0], fabric_[1], kLossless, kFirst), lanes_.of(kLossless, kLast));
  EXPECT_EQ(paths_.lane(fabric_[1], fabric_[0], kLossless, kFirst), lanes_.of(kLossless, kLast));
  EXPECT_EQ(paths_.lane(edge_[0], fabric_[0], kLossless, kFirst), lanes_.of(kLossless, kFirst));
  EXPECT_EQ(paths_.lane(fabric_[0], edge_[0], kLossless, kLast), lanes_.of(kLossless, kLast));
  EXPECT_EQ(paths_.lane(edge_[0], fabric_[0], kLossless, kLossyChannel), lanes_.of(kLossless, kFirst))
      << "a host's begins in the first one";
}

}  // namespace
}  // namespace heddle
