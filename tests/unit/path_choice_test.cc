// SPDX-License-Identifier: Apache-2.0
#include "routing/path_choice.h"

#include <gtest/gtest.h>

#include "plan_topology.h"
#include "wire/packet.h"

namespace heddle::path_choice_test {
namespace {

// Node 1, with two edge ports, below nodes 2 and 3, which lead to node 4; ports f0 and f1 lead up, e0 and e1 to hosts.
class PathChoiceTest : public testing::Test {
 protected:
  static constexpr uint8_t kLossless = 1;  // FTAG
  static constexpr uint8_t kFirst = kFirstLosslessChannel, kLast = kFirst + 1;
  PathChoiceTest() : topology_(make()), lanes_(topology_), board_(4), paths_(topology_, 0, lanes_, board_) {
    paths_.compile(std::vector<PortSet>(topology_.nodes.size(), ~PortSet{0}));
    for (PortIndex port = 0; port < 4; ++port) board_.publish_standing(port, LinkStanding::up);
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
    return paths_
        .choose({.input = input, .channel = kLossyChannel, .hop_limit = hop_limit, .destination = to}, random_, reason,
                0)
        .port;
  }
  PortIndex choose(PathPolicy policy, FabricAddress to, PortIndex had = kNoPort, PortSet left = 0) {
    DropReason reason = DropReason::none;
    return paths_
        .choose({.input = edge_[0],
                 .channel = kLossyChannel,
                 .hop_limit = 32,
                 .destination = to,
                 .had = {had, 0},
                 .left = left,
                 .policy = policy},
                random_, reason, 0)
        .port;
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
  board_.publish_standing(fabric_[1], LinkStanding::down);
  EXPECT_EQ(choose(edge_[0], {4, 0}, reason), fabric_[0]);
  board_.publish_standing(fabric_[0], LinkStanding::down);
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
  board_.publish_standing(one, LinkStanding::down);
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

TEST_F(PathChoiceTest, WhereNothingWaitsAFlowThatHasRestedSurelyStays) {
  const PortIndex had = fabric_[1];
  for (const PathPolicy policy : {PathPolicy::least_loaded, PathPolicy::shortest, PathPolicy::adaptive}) {
    EXPECT_TRUE(paths_.surely_stays(had, policy, 0, 0));
    board_.publish_load(had, 0, 5000, 0);
    EXPECT_TRUE(paths_.surely_stays(had, policy, 0, 0)) << "what it has sent may be the flow's own";
    for (int times = 0; times < 20; ++times) ASSERT_EQ(choose(policy, {4, 2}, had), had) << "and so it is chosen";
    board_.publish_load(had, 1, 0, 0);
    EXPECT_FALSE(paths_.surely_stays(had, policy, 0, 0)) << "that is to be compared";
    board_.publish_load(had, 0, 0, 0);
    board_.heard(had, 0, PortSet{1} << 1, 0);
    EXPECT_FALSE(paths_.surely_stays(had, policy, 0, 0)) << "and what waits at the next hop";
    board_.heard(had, 0, 0, 0);
    board_.publish_standing(had, LinkStanding::down);
    EXPECT_FALSE(paths_.surely_stays(had, policy, 0, 0));
    board_.publish_standing(had, LinkStanding::up);
  }
  for (const PathPolicy policy : {PathPolicy::fixed, PathPolicy::random, PathPolicy::valiant})
    EXPECT_FALSE(paths_.surely_stays(had, policy, 0, 0)) << "whatever waits, these look at something else";
}

TEST_F(PathChoiceTest, AFlowKeepsOffThePortsThatItHasLeftWhileThereAreOthers) {
  for (const PathPolicy policy : {PathPolicy::fixed, PathPolicy::random, PathPolicy::adaptive}) {
    EXPECT_EQ(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0]), fabric_[1]);
    EXPECT_EQ(choose(policy, {4, 2}, fabric_[1], PortSet{1} << fabric_[1]), fabric_[0]);
    EXPECT_NE(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0] | PortSet{1} << fabric_[1]), kNoPort);
    board_.publish_standing(fabric_[1], LinkStanding::down);
    EXPECT_EQ(choose(policy, {4, 2}, kNoPort, PortSet{1} << fabric_[0]), fabric_[0]) << "the other one is down";
    board_.publish_standing(fabric_[1], LinkStanding::up);
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

// R4: a host of node 0 in a dragonfly, towards hosts of the next group.
class PathDetoursTest : public testing::Test {
 protected:
  static constexpr uint16_t kTo = 6;  // address of a node that is reached by one port
  PathDetoursTest() {
    paths_.compile(std::vector<PortSet>(topology_.nodes.size(), ~PortSet{0}));
    for (PortIndex port = 0; port < kPorts; ++port) {
      board_.set_rate(port, 8'000'000'000, 1500);  // a byte takes a ns
      board_.publish_standing(port, LinkStanding::up);
    }
    shortest_ = PortIndex::of(std::countr_zero(paths_.routes().primary(kTo)));
    PathChoice::Frame moved = frame();
    moved.left = PortSet{1} << shortest_;
    for (int turn = 0; turn < 4; ++turn) choose(moved);
  }
  static Topology make() {
    Topology topology = test::dragonfly();
    topology.classes[0].lossless = true;
    return topology;
  }
  PathChoice::Frame frame() const {
    return {.input = 0, .channel = kLossyChannel, .hop_limit = kHopLimit, .destination = {kTo, 0}};
  }
  PathChoice::Way choose(const PathChoice::Frame& frame) {
    DropReason reason = DropReason::none;
    return paths_.choose(frame, random_, reason, ++now_);
  }
  bool has_detour_around(const PathChoice::Frame& frame, uint16_t bottleneck) {
    for (int turn = 0; turn < 100; ++turn) paths_.has_detour_around(frame, shortest_, bottleneck, random_, ++now_);
    return paths_.has_detour_around(frame, shortest_, bottleneck, random_, now_);
  }
  void wait_at(PortIndex port, uint32_t bytes) { board_.publish_load(port, bytes, 0, kSecond); }

  static constexpr PortIndex kPorts = 7;  // 2 hosts, 3 links in the group, 2 to others
  const Topology topology_ = make();
  const Lanes lanes_{topology_};
  LoadBoard board_{kPorts};
  PathChoice paths_{topology_, 0, lanes_, board_};
  Random random_{7};
  PortIndex shortest_ = kNoPort;
  Nanos now_ = kSecond;  // of a turn of its own for each question: what is far is searched for by and by
};

TEST_F(PathDetoursTest, TheShortestIsTakenWhileLittleWaitsForIt) {
  wait_at(shortest_, kLatelyNs / 4);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(choose(frame()), (PathChoice::Way{shortest_, 0}));
  wait_at(shortest_, kLatelyNs);
  for (int i = 0; i < 100; ++i) {
    const PathChoice::Way way = choose(frame());
    ASSERT_NE(way.via, 0);
    ASSERT_NE(way.port, shortest_);
    ASSERT_TRUE(paths_.routes().primary(way.via) >> way.port & 1) << "towards the node that it goes by";
  }
}

TEST_F(PathDetoursTest, ALongerOneMustHaveLessThanHalfToDo) {
  wait_at(shortest_, 2 * kLatelyNs);
  for (PortIndex port = 2; port < kPorts; ++port)
    if (port != shortest_) wait_at(port, kLatelyNs + 1);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(choose(frame()).via, 0);
  for (PortIndex port = 2; port < kPorts; ++port)
    if (port != shortest_) wait_at(port, kLatelyNs - 1);
  for (int i = 0; i < 100; ++i) ASSERT_NE(choose(frame()).via, 0);
}

TEST_F(PathDetoursTest, WhoMayNotTakeThemHasTheShortest) {
  wait_at(shortest_, 10 * kLatelyNs);
  PathChoice::Frame from_fabric = frame();
  from_fabric.input = shortest_ != 2 ? PortIndex::of(2) : PortIndex::of(3);
  EXPECT_EQ(choose(from_fabric).via, 0) << "it has begun elsewhere";
  PathChoice::Frame near = frame();
  near.destination.node = 2;
  EXPECT_EQ(choose(near).via, 0) << "in the group";
  PathChoice::Frame lossless = frame();
  lossless.lossless = true;
  EXPECT_EQ(choose(lossless).via, 0) << "there are not enough channels";
  Topology enough = topology_;
  enough.lossless_detours = true;
  PathChoice paths(enough, 0, lanes_, board_);
  paths.compile(std::vector<PortSet>(topology_.nodes.size(), ~PortSet{0}));
  DropReason reason = DropReason::none;
  for (int turn = 0; turn < 4; ++turn) paths.choose(lossless, random_, reason, ++now_);
  EXPECT_NE(paths.choose(lossless, random_, reason, now_).via, 0);
  for (const PathPolicy policy :
       {PathPolicy::fixed, PathPolicy::random, PathPolicy::least_loaded, PathPolicy::shortest}) {
    PathChoice::Frame other = frame();
    other.policy = policy;
    EXPECT_EQ(choose(other).via, 0);
  }
}

// R12: a destination that is away is not looked for elsewhere, nor is one that nobody has.
TEST_F(PathDetoursTest, ToWhatCannotBeReachedThereIsNoLongerWay) {
  PathChoice::Frame nobody = frame();
  nobody.destination.node = 60000;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(choose(nobody), PathChoice::Way{});
  nobody.input = shortest_;
  nobody.via = 30;
  for (const PathPolicy policy : {PathPolicy::fixed, PathPolicy::random, PathPolicy::adaptive}) {
    nobody.policy = policy;
    ASSERT_EQ(choose(nobody).port, kNoPort) << "whomever it goes by";
  }
  std::vector<PortSet> ports_up(topology_.nodes.size(), ~PortSet{0});
  ports_up[kTo - 1] = 0;
  paths_.compile(ports_up);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(choose(frame()), PathChoice::Way{});
}

TEST_F(PathDetoursTest, ValiantTakesOneWhateverWaitsAndKeepsIt) {
  PathChoice::Frame valiant = frame();
  valiant.policy = PathPolicy::valiant;
  const PathChoice::Way way = choose(valiant);
  ASSERT_NE(way.via, 0);
  valiant.had = way;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(choose(valiant), way);
}

TEST_F(PathDetoursTest, AFlowOnALongerWayReturnsWhenTheShortestIsFree) {
  PathChoice::Frame resting = frame();
  wait_at(shortest_, 10 * kLatelyNs);
  resting.had = choose(resting);
  ASSERT_NE(resting.had.via, 0);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(choose(resting), resting.had) << "it has nothing to gain by another";
  wait_at(shortest_, 0);
  EXPECT_EQ(choose(resting), (PathChoice::Way{shortest_, 0}));
}

// R9: as long as that lasts.
TEST_F(PathDetoursTest, AFlowThatHasLeftTheShortestTakesALongerOne) {
  PathChoice::Frame moved = frame();
  moved.left = PortSet{1} << shortest_;
  int longer = 0;
  for (int i = 0; i < 100; ++i) {
    const PathChoice::Way way = choose(moved);
    ASSERT_EQ(way.port == shortest_, way.via == 0);
    longer += way.via != 0;
  }
  EXPECT_GT(longer, 90) << "nearly always some try finds one";
}

TEST_F(PathDetoursTest, InTransitTheFrameGoesToTheNodeThatItIsToGoBy) {
  const uint16_t via = 30;
  PathChoice::Frame frame{.input = 2, .channel = kLossyChannel, .hop_limit = 9, .destination = {kTo, 0}, .via = via};
  frame.input = shortest_;
  EXPECT_EQ(paths_.ways(frame).ports, paths_.routes().primary(via) & ~(PortSet{1} << shortest_));
  EXPECT_EQ(paths_.heading(kTo, via), via);
  EXPECT_EQ(choose(frame).via, via) << "it stays so";
  frame.via = 999;
  frame.input = 0;
  EXPECT_EQ(paths_.ways(frame).ports, paths_.routes().primary(kTo)) << "that cannot be reached";
  EXPECT_EQ(paths_.heading(kTo, 999), kTo);
  EXPECT_EQ(paths_.heading(kTo, 0), kTo);
}

TEST_F(PathDetoursTest, AroundABottleneckElsewhereNoneIsTakenThatPassesIt) {
  board_.publish_load(shortest_, 0, kLatelyNs, kSecond);
  board_.add_waiting(0, shortest_, 0, 5000, 2);
  PathChoice::Frame asked = frame();
  EXPECT_TRUE(has_detour_around(asked, 1)) << "it is here";
  EXPECT_FALSE(has_detour_around(asked, kTo)) << "all come by there";
  asked.left = ~PortSet{0};
  EXPECT_FALSE(has_detour_around(asked, 1));
  asked.left = 0;
  asked.policy = PathPolicy::shortest;
  EXPECT_FALSE(has_detour_around(asked, 1));
}

}  // namespace
}  // namespace heddle::path_choice_test
