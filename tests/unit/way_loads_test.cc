// SPDX-License-Identifier: Apache-2.0
// R3, R9: which of several ports has least to do, and which would be a better one.
#include "routing/way_loads.h"

#include <gtest/gtest.h>

#include "memory_ports.h"
#include "topology/graph.h"
#include "wire/random.h"

namespace heddle::way_loads_test {
namespace {

constexpr PortSet kAll = 0b1111;
constexpr Nanos kNow = kSecond;

class WayLoadsTest : public testing::Test {
 protected:
  WayLoadsTest() {
    distances_.compile(all_fabric_ports(topology_));
    for (PortIndex port = 0; port < 4; ++port) {
      board_.set_rate(port, 8'000'000'000, 1500);  // a byte takes a ns
      board_.publish_standing(port, LinkStanding::up);
    }
  }
  void sent(PortIndex port, uint32_t percent) { board_.publish_load(port, 0, kLatelyNs / 100 * percent, kNow); }
  PortIndex least(PortSet ports, PortIndex had = kNoPort) {
    return loads_.least(ports, kThere, random_.next(), had, kNow, 0);
  }
  // Node 1 with four links to others that each have two to node 6.
  static Topology make() {
    Topology topology;
    for (uint16_t node = 0; node < 6; ++node) test::add_node(topology, static_cast<uint16_t>(node + 1), 0);
    for (uint16_t node = 1; node < 5; ++node)
      for (int i = 0; i < 2; ++i) test::add_link(topology, node, 5);
    for (uint16_t node = 1; node < 5; ++node) test::add_link(topology, 0, node);
    for (TopologyNode& node : topology.nodes)
      for (TopologyPort& port : node.ports) port.rate_bps = 8'000'000'000;
    return topology;
  }
  // A neighbour tells that its ports to node 6 have so much to do.
  void hear(PortIndex port, uint32_t waiting_ns, uint32_t percent, uint8_t flows, PortSet ports = 0b011) {
    for (PortIndex there = 0; there < 2; ++there)
      board_.hear(port, there, 0, {waiting_ns, static_cast<uint16_t>(0xffff * percent / 100), flows, 0xffff});
    board_.heard(port, 0, ports, kNow);
  }

  static constexpr Heading kThere{6, 6};
  Topology topology_ = make();
  const Destinations index_{topology_};
  Distances distances_{topology_};
  const NextHops next_hops_{topology_, 0, index_, distances_};
  LoadBoard board_{4, 2};
  WayLoads loads_{board_, next_hops_};
  Random random_{3};
};

TEST_F(WayLoadsTest, WhatWaitsAtTheOutputAndAtAllInputsCounts) {
  board_.publish_load(0, 3000, 0, kNow);
  board_.add_waiting(0, 1, 0, 2000, 1);
  board_.add_waiting(1, 1, 0, 500, 2);
  board_.add_waiting(1, 2, 0, 2600, 1);
  board_.publish_load(3, 2700, 0, kNow);
  EXPECT_EQ(least(kAll), 1);
  EXPECT_EQ(board_.load(1, kNow).waiting_ns, 2500u);
  EXPECT_EQ(board_.load(1, kNow).flows, 3u);
  EXPECT_EQ(board_.waiting_bytes(1), 2500u);
  board_.add_waiting(1, 1, 0, 200, 0);
  EXPECT_EQ(least(kAll), 2);
  board_.add_waiting(0, 1, 0, 0u - 2000, 0u - 1);
  EXPECT_EQ(least(kAll), 1);
  EXPECT_EQ(board_.load(1, kNow).flows, 2u);
}

TEST_F(WayLoadsTest, ASlowLinkTakesLongerForTheSame) {
  board_.set_rate(0, 2'000'000'000, 1500);
  for (PortIndex port = 0; port < 2; ++port) board_.publish_load(port, 1000, 0, kNow);
  EXPECT_EQ(least(0b11), 1);
  board_.publish_load(1, 4001, 0, kNow);
  EXPECT_EQ(least(0b11), 0);
}

TEST_F(WayLoadsTest, WhatWasSentLatelyCountsLessAndLess) {
  sent(0, 80);
  sent(1, 40);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(least(0b11), 1) << "the other one is more than half busy";
  EXPECT_EQ(board_.load(0, kNow).sent_ns, kLatelyNs / 100 * 80);
  EXPECT_EQ(board_.load(0, kNow + kLatelyNs / 2).sent_ns, kLatelyNs / 100 * 40);
  EXPECT_EQ(board_.load(0, kNow + kLatelyNs).sent_ns, 0u);
  EXPECT_EQ(board_.load(0, kNow - 500).sent_ns, kLatelyNs / 100 * 80) << "of a worker whose turn began before";
  board_.set_rate(2, 8'000'000, 1500);  // a byte takes a us
  EXPECT_EQ(board_.lately_ns(2), 12 * kMillisecond) << "of eight frames";
  board_.publish_load(2, 0, 6000, kNow);
  EXPECT_EQ(board_.load(2, kNow + 6 * kMillisecond).sent_ns, 3 * kMillisecond);
  EXPECT_EQ(faded(1000, 0, kLatelyNs), 1000u);
  EXPECT_EQ(faded(1000, kLatelyNs - 1, kLatelyNs), 0u);
}

TEST_F(WayLoadsTest, AFlowStaysUnlessMoreWaitsThereThanTheOtherHasToDo) {
  sent(0, 90);
  EXPECT_EQ(least(0b11, 0), 0) << "that may be its own";
  board_.publish_load(0, 5000, 0, kNow);
  EXPECT_EQ(least(0b11, 0), 1);
  sent(1, 50);
  EXPECT_EQ(least(0b11, 0), 0);
}

TEST_F(WayLoadsTest, OfEqualOnesEachIsTakenAsOften) {
  for (int i = 0; i < 100; ++i)
    for (PortIndex had = 0; had < 4; ++had) ASSERT_EQ(least(kAll, had), had) << "the flow has one";
  EXPECT_EQ(least(0b0010, 0), 1) << "that one leads there no more";
  uint32_t of_four[4] = {}, of_three[4] = {};
  for (int i = 0; i < 4000; ++i) ++of_four[least(kAll)];
  for (const uint32_t count : of_four) EXPECT_NEAR(count, 1000, 150);
  board_.publish_load(3, 1, 0, kNow);
  for (int i = 0; i < 100; ++i) ASSERT_NE(least(kAll, 3), 3);
  for (int i = 0; i < 3000; ++i) ++of_three[least(kAll)];
  for (PortIndex port = 0; port < 3; ++port) EXPECT_NEAR(of_three[port], 1000, 150);
}

TEST_F(WayLoadsTest, WhatAWorkerHasGivenAPortInThisTurnCounts) {
  loads_.took(0, 100, kNow);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(least(0b11), 1);
  loads_.took(1, 50, kNow);
  loads_.took(1, 60, kNow);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(least(0b11), 0);
  loads_.took(1, 1, kNow + 1);
  for (int i = 0; i < 20; ++i)
    ASSERT_EQ(loads_.least(0b11, kThere, random_.next(), kNoPort, kNow + 1, 0), 0) << "another turn";
}

TEST_F(WayLoadsTest, APortIsBetterThatGivesTheFlowAQuarterMore) {
  sent(0, 100);
  board_.add_waiting(0, 0, 0, 5000, 2);  // each has a half
  sent(1, 100);
  board_.add_waiting(0, 1, 0, 5000, 1);
  sent(2, 40);
  sent(3, 30);
  EXPECT_EQ(loads_.better(0b1110, kThere, 0, true, kNow, 0), 3) << "seven tenths are idle";
  EXPECT_EQ(loads_.better(0b0110, kThere, 0, true, kNow, 0), kNoPort)
      << "six tenths are not enough, nor is a half of port 1";
  board_.add_waiting(0, 0, 0, 5000, 1);  // a third
  EXPECT_EQ(loads_.better(0b0010, kThere, 0, true, kNow, 0), 1);
  board_.publish_standing(1, LinkStanding::down);
  EXPECT_EQ(loads_.better(0b0010, kThere, 0, true, kNow, 0), kNoPort);
  EXPECT_EQ(loads_.better(0, kThere, 0, true, kNow, 0), kNoPort);
}

TEST_F(WayLoadsTest, OfAllPortsTheBestIsFound) {
  board_.add_waiting(0, 3, 0, 5000, 3);  // each has a third
  for (PortIndex best = 0; best < 3; ++best) {
    for (PortIndex port = 0; port < 4; ++port) board_.publish_load(port, 0, kLatelyNs, kNow);
    sent(best, 10);
    EXPECT_EQ(loads_.better(0b0111, kThere, 3, true, kNow, 0), best);
  }
}

// R3: what gives way is in nobody's way.
class ClassWaysTest : public WayLoadsTest {
 protected:
  static constexpr uint8_t kBulk = 0, kUrgent = 1;
  ClassWaysTest() {
    for (PortIndex port = 0; port < 4; ++port) {
      board_.set_rate(port, 8'000'000'000, 1500);
      board_.publish_standing(port, LinkStanding::up);
      for (const uint8_t of_class : {kBulk, kUrgent}) board_.publish_part(port, of_class, 0.5);
    }
  }
  PortIndex least(PortSet ports, uint8_t of_class) {
    return loads_.least(ports, kThere, random_.next(), kNoPort, kNow, of_class);
  }

  LoadBoard board_{4, 2, 2};
  WayLoads loads_{board_, next_hops_};
};

TEST_F(ClassWaysTest, APortThatIsFullOfAnotherClassIsTheLeastLoaded) {
  board_.add_waiting(0, 0, kBulk, 100'000, 9);
  board_.add_waiting(0, 1, kUrgent, 5'000, 1);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(least(0b11, kUrgent), 0);
    ASSERT_EQ(least(0b11, kBulk), 1);
  }
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow, kUrgent), 0u);
  EXPECT_EQ(loads_.cost_ns(0, kThere, false, kNow, kUrgent), 0u);
  EXPECT_EQ(loads_.cost_ns(1, kThere, false, kNow, kUrgent), 5'000u);
}

TEST_F(ClassWaysTest, AndABetterOneForAFlowThatSharesAnother) {
  const auto busy = [this](PortIndex port, uint8_t of_class) {
    board_.publish_load(port, 0, kLatelyNs, kNow);
    board_.publish_class(port, of_class, 0, kLatelyNs);
    board_.add_waiting(0, port, of_class, 50'000, 4);
  };
  busy(0, kUrgent);
  busy(1, kBulk);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, kUrgent), 1) << "a half of it, beside a quarter";
  EXPECT_EQ(loads_.better(0b01, kThere, 1, true, kNow, kBulk), 0);
  busy(1, kUrgent);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, kUrgent), kNoPort) << "an eighth";
}

TEST_F(ClassWaysTest, WhereItSendsLittleBesideAFullClassAnotherSuchPortIsNoBetter) {
  for (PortIndex port = 0; port < 2; ++port) {
    board_.publish_load(port, 0, kLatelyNs, kNow);
    board_.publish_class(port, kBulk, 0, kLatelyNs);
    board_.add_waiting(0, port, kBulk, 50'000, 8);
  }
  board_.publish_class(0, kBulk, 0, kLatelyNs / 100 * 99);
  board_.publish_class(0, kUrgent, 0, kLatelyNs / 100);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, kUrgent), kNoPort);
}

// The flow is held up further on: here it is enough that it gets as much.
TEST_F(WayLoadsTest, AroundABottleneckElsewhereAnEqualPartIsEnough) {
  sent(0, 50);
  sent(1, 50);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), kNoPort);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, false, kNow, 0), 1);
  sent(1, 100);
  board_.add_waiting(0, 1, 0, 5000, 2);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, false, kNow, 0), kNoPort);
}

// Of flows whose frames have all crossed none is counted.
TEST_F(WayLoadsTest, APortWithALongQueueIsNotBetterForBeingWaitedForByNobody) {
  sent(0, 100);
  board_.add_waiting(0, 0, 0, 5000, 4);
  board_.publish_load(1, 0, kLatelyNs, kNow);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), 1) << "a half";
  board_.publish_load(1, 2 * kLatelyNs, kLatelyNs, kNow);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), kNoPort);
  board_.add_waiting(0, 1, 0, 100, 1);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), 1) << "one flow is known";
}

TEST_F(WayLoadsTest, AFasterLinkIsBetterForALoneFlow) {
  board_.set_rate(0, 2'000'000'000, 1500);
  board_.publish_load(0, 0, static_cast<uint32_t>(board_.lately_ns(0) / 4), kNow);
  board_.add_waiting(0, 0, 0, 5000, 1);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), 1);
  board_.set_rate(1, 2'000'000'000, 1500);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), kNoPort);
}

// R8: of two that are idle here, one leads to a neighbour whose links are not.
TEST_F(WayLoadsTest, WhatWaitsAtTheNextHopCounts) {
  hear(0, kLatelyNs, 0, 1);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(least(0b11), 1);
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow, 0), kLatelyNs);
  EXPECT_EQ(loads_.waiting_ns(0, {2, 2}, kNow, 0), 0u) << "it ends at the neighbour";
  EXPECT_EQ(loads_.waiting_ns(0, {2, 6}, kNow, 0), kLatelyNs) << "it goes on from there";
  board_.publish_load(1, kLatelyNs + 1, 0, kNow);
  EXPECT_EQ(least(0b11), 0);
  board_.publish_load(1, 1, 0, kNow);
  hear(0, kLatelyNs - 1, 0, 1);
  EXPECT_EQ(least(0b11), 0) << "so little is no news";
  hear(0, 0, 100, 0);
  EXPECT_EQ(least(0b11), 1) << "wholly busy there";
  hear(1, 0, 100, 0);
  EXPECT_EQ(least(0b11), 0) << "both are";
  EXPECT_EQ(least(0b11, 1), 1) << "that may be the flow's own";
}

TEST_F(WayLoadsTest, OneIdlePortAtTheNextHopIsEnough) {
  hear(0, 5000, 100, 3, 0b001);
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow, 0), 0u);
  hear(0, 5000, 100, 3);
  board_.hear(0, 1, 0, {3000, 0, 0, 0xffff});
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow, 0), 3000u) << "the less loaded";
}

TEST_F(WayLoadsTest, WhatANeighbourSaidIsForgotten) {
  hear(0, 5000, 0, 1);
  EXPECT_EQ(board_.loaded_behind(0, 0, kNow + 16 * kLatelyNs), PortSet{0b011});
  EXPECT_EQ(board_.loaded_behind(0, 0, kNow + 16 * kLatelyNs + 1), 0u);
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow + 16 * kLatelyNs + 1, 0), 0u);
  board_.heard(0, 0, 0b100, kNow);
  EXPECT_EQ(loads_.waiting_ns(0, kThere, kNow, 0), 0u) << "and what it says no more";
}

TEST_F(WayLoadsTest, APortIsNoBetterThanTheNextHopBehindIt) {
  sent(0, 100);
  board_.add_waiting(0, 0, 0, 5000, 4);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), 1);
  hear(1, 100, 100, 3);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), kNoPort) << "a quarter, with three others";
  hear(1, 100, 100, 2);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), 1) << "a third";
  for (TopologyPort& port : topology_.nodes[2].ports) port.rate_bps = 1'000'000'000;
  hear(1, 100, 50, 1);
  EXPECT_EQ(loads_.better(0b10, kThere, 0, true, kNow, 0), kNoPort) << "a half of an eighth of the rate";
}

}  // namespace
}  // namespace heddle::way_loads_test
