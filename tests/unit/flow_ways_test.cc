// SPDX-License-Identifier: Apache-2.0
// R4, R6: which way a flow takes from here.
#include "node/flow_ways.h"

#include "flow_fixture.h"
#include "plan_topology.h"

namespace heddle::test::flow_ways_test {
namespace {

// This is the first of five nodes in a ring. Its port 1 leads to node 2, and port 2 the other way round.
class FlowWaysTest : public FlowTest {
 protected:
  static constexpr PortIndex kOneWay = 1, kOtherWay = 2;
  static constexpr FlowId kFlow = 5;
  static constexpr FabricAddress kTo{3, 0};  // two links by node 2

  FlowWaysTest() {
    bring_up();
    turn_.begin(kSecond);
    paths.compile(std::vector<PortSet>(ring_.nodes.size(), ~PortSet{0}));
    for (const PortIndex port : {kOneWay, kOtherWay}) {
      board_.publish_standing(port, LinkStanding::up);
      publish_load(port, 0, 0, kSecond);
    }
    flow_.begin(kTo, kLossy, kNoMatch);
    packet_.destination = kTo;
    packet_.ftag = kLossy;
    packet_.hop_limit = kHopLimit;
    wait_at(kOneWay);
    for (int turn = 0; turn < 4; ++turn) choose();  // what is far is searched for by and by
    edge_.counters.events = {};
    edge_.input.flows.steer(kFlow, 0);
    publish_load(kOneWay, 0, 0, kSecond);
  }
  void wait_at(PortIndex port) { publish_load(port, 1'000'000, 0, kSecond); }
  PortIndex choose() {
    DropReason reason = DropReason::none;
    turn_.begin(turn_.now() + 1);
    const PortIndex port = ways.choose_for(edge_, kFlow, packet_, reason);
    ways.took(edge_, kFlow, port, packet_);
    return port;
  }

  const Topology ring_ = ring_of(5);
  PathChoice paths{ring_, 0, site_.lanes, board_};
  FlowWays ways{site_, turn_, paths, random_};
  InputFlow& flow_ = edge_.input.flows[kFlow];
  Packet packet_{};
};

TEST_F(FlowWaysTest, AFlowOnALongerWayKnowsWhomItGoesBy) {
  EXPECT_EQ(choose(), kOneWay);
  EXPECT_EQ(edge_.input.flows.via(kFlow), 0);
  wait_at(kOneWay);
  EXPECT_EQ(choose(), kOtherWay);
  const uint16_t via = edge_.input.flows.via(kFlow);
  EXPECT_TRUE(via == 4 || via == 5) << via;
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_detoured), 1u);
  wait_at(kOtherWay);
  EXPECT_EQ(choose(), kOneWay);
  EXPECT_EQ(edge_.input.flows.via(kFlow), 0) << "on the shortest again";
}

TEST_F(FlowWaysTest, WhatHasNoFlowTakesTheShortest) {
  wait_at(kOneWay);
  DropReason reason = DropReason::none;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(ways.choose_port(edge_, packet_, reason), kOneWay);
}

TEST_F(FlowWaysTest, AfterARestItStaysOnItsWayWhileThatIsNoWorse) {
  flow_.branch.set_output(kOneWay);
  EXPECT_TRUE(ways.stays(edge_, kFlow, packet_));
  wait_at(kOneWay);
  EXPECT_FALSE(ways.stays(edge_, kFlow, packet_));
  flow_.branch.set_output(choose());
  EXPECT_TRUE(ways.stays(edge_, kFlow, packet_)) << "on the longer one";
  publish_load(kOneWay, 0, 0, kSecond);
  EXPECT_FALSE(ways.stays(edge_, kFlow, packet_)) << "the shortest is free";
}

TEST_F(FlowWaysTest, AFlowThatMayTakeALongerWayHasAChoice) {
  flow_.branch.set_output(kOneWay);
  EXPECT_TRUE(ways.has_choice(edge_, kFlow));
  flow_.destination = {2, 0};
  EXPECT_FALSE(ways.has_choice(edge_, kFlow)) << "just beside";
  flow_.destination = kTo;
  flow_.ftag = kUncontrolled;
  EXPECT_FALSE(ways.has_choice(edge_, kFlow)) << "a class that takes none";
}

// R12: on a longer way the port is to lead to the node that it goes by.
TEST_F(FlowWaysTest, APortIsStaleThatLeadsToNothingOnTheWay) {
  EXPECT_FALSE(ways.is_stale(edge_, kFlow, kOneWay));
  EXPECT_TRUE(ways.is_stale(edge_, kFlow, kOtherWay));
  edge_.input.flows.steer(kFlow, 4);
  EXPECT_TRUE(ways.is_stale(edge_, kFlow, kOneWay));
  EXPECT_FALSE(ways.is_stale(edge_, kFlow, kOtherWay));
  edge_.input.flows.steer(kFlow, 99);
  EXPECT_FALSE(ways.is_stale(edge_, kFlow, kOneWay)) << "that node cannot be reached";
  flow_.destination = {1, 0};
  EXPECT_FALSE(ways.is_stale(edge_, kFlow, kOtherWay)) << "it is for a host here";
}

TEST_F(FlowWaysTest, AtItsFirstSwitchAFlowIsNotBoundToTheNodeThatItGoesBy) {
  edge_.input.flows.steer(kFlow, 4);
  EXPECT_EQ(ways.frame_of(edge_, kFlow).via, 0);
  fabric_.input.flows.steer(kFlow, 4);
  EXPECT_EQ(ways.frame_of(fabric_, kFlow).via, 4);
}

// Two links lead to the other node, and there is no longer way.
class TwoLinksTest : public FlowTest {
 protected:
  static constexpr PortIndex kOne = kFabric, kTwo = 5;
  static constexpr FlowId kFlow = 5;

  TwoLinksTest() {
    bring_up();
    turn_.begin(kSecond);
    for (const PortIndex port : {kOne, kTwo}) board_.publish_standing(port, LinkStanding::up);
    paths_.compile(std::vector<PortSet>(topology_.nodes.size(), ~PortSet{0}));
    load(0, 0);
    flow_.begin(kThere, kLossy, kNoMatch);
    packet_.destination = kThere;
    packet_.ftag = kLossy;
    packet_.hop_limit = kHopLimit;
    packet_.payload = 1500;
  }
  void load(uint64_t one, uint64_t two) {
    publish_load(kOne, one, 0, kSecond);
    publish_load(kTwo, two, 0, kSecond);
  }
  PortIndex choose() {
    DropReason reason = DropReason::none;
    return flow_ways_.choose_for(edge_, kFlow, packet_, reason);
  }
  // What was asked of an earlier flow with this ID stays in the lease until the next one is asked.
  void asked_to_leave(PortIndex port) { edge_.input.leases[kFlow].leave(PortSet{1} << port, 9, turn_.now()); }

  static constexpr FabricAddress kThere{2, 0};
  InputFlow& flow_ = edge_.input.flows[kFlow];
  Packet packet_{};
};

TEST_F(TwoLinksTest, AFlowKeepsOffThePortThatItWasAskedToLeave) {
  load(0, 1'000'000);
  asked_to_leave(kOne);
  EXPECT_EQ(choose(), kOne) << "that was asked of another flow";
  flow_.flags |= kFlowMoved;
  EXPECT_EQ(choose(), kTwo);
}

TEST_F(TwoLinksTest, AfterARestItDoesNotGoOnWhereItWasAskedToLeave) {
  flow_.branch.set_output(kOne);
  asked_to_leave(kOne);
  EXPECT_TRUE(flow_ways_.stays(edge_, kFlow, packet_)) << "that was asked of another flow";
  flow_.flags |= kFlowMoved;
  EXPECT_FALSE(flow_ways_.stays(edge_, kFlow, packet_));
}

TEST_F(TwoLinksTest, AfterARestItStaysWhereNothingWaits) {
  flow_.branch.set_output(kOne);
  EXPECT_TRUE(flow_ways_.stays(edge_, kFlow, packet_));
  load(1'000'000, 0);
  EXPECT_FALSE(flow_ways_.stays(edge_, kFlow, packet_));
}

// R3, R8: neighbours tell by class.
TEST_F(TwoLinksTest, AfterARestItLooksAtWhatIsToldOfItsClass) {
  flow_.branch.set_output(kOne);
  board_.heard(kOne, site_.lanes.class_of(kLossless), PortSet{1} << 1, turn_.now());
  EXPECT_TRUE(flow_ways_.surely_stays(flow_)) << "of another class";
  flow_.begin(kThere, kLossless, kNoMatch);
  flow_.branch.set_output(kOne);
  EXPECT_FALSE(flow_ways_.surely_stays(flow_));
}

// The board tells of it in the next turn only.
TEST_F(TwoLinksTest, WhatOneFlowTakesTheNextOfTheTurnSees) {
  flow_ways_.took(edge_, kFlow, kOne, packet_);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(choose(), kTwo);
}

// X2: a channel for each, but for lossy ones.
TEST_F(TwoLinksTest, WherePacketsWaitDependsOnTheirClass) {
  EXPECT_EQ(flow_ways_.queue(edge_, kOne, kLossy, kLossyChannel), site_.lossy_voq(kLossy, kOne));
  EXPECT_EQ(flow_ways_.queue(edge_, kOne, kLossless, kLossyChannel),
            site_.voq_index(kOne, site_.lanes.of(kLossless, kFirstLosslessChannel)));
}

}  // namespace
}  // namespace heddle::test::flow_ways_test
