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
                         reason);
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
  board_.publish_load(fabric_[0], 1000);
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
