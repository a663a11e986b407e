// SPDX-License-Identifier: Apache-2.0
// R9: a flow that is asked to take another way, from the wish in an ACK to its new port.
#include "node/flow_redirects.h"

#include "flow_fixture.h"
#include "plan_topology.h"

namespace heddle::test::flow_redirects_test {
namespace {

// The hosts of node 2 are reached by the fabric port, and by another one that is another worker's.
class FlowRedirectsTest : public FlowTest {
 protected:
  static constexpr PortIndex kOtherWay = 5;
  static constexpr uint32_t kMatch = 3;
  static constexpr FlowId kTransit = 9;  // of the fabric port, to a host behind the other link

  FlowRedirectsTest() {
    bring_up();
    turn_.begin(kNow);
    const PortSet both = PortSet{1} << kFabric | PortSet{1} << kOtherWay;
    paths_.compile({both, both});
    board_.publish_standing(kOtherWay, LinkStanding::down);
    send();
    board_.publish_standing(kOtherWay, LinkStanding::up);
    // Two flows share the fabric port, which is busy, and the other one is idle.
    publish_load(kFabric, 0, lately_, kNow);
    board_.add_waiting(0, kFabric, 0, 5000, 2);
  }
  void send() {
    MatchEntry& match = edge_input_.matches()[kMatch];
    match.destination = {2, 1};
    Packet* next = packet(100);
    next->destination = match.destination;
    next->dies_ns = kSecond;
    edge_flows_.attach(edge_, next, match, kMatch, 0, turn_.now());
  }
  FlowId id() { return edge_input_.matches()[kMatch].flow; }
  InputFlow& flow() { return edge_.input.flows[id()]; }
  void settle() {
    while (!fabric_.output.scheduler.empty()) turn_.discard(fabric_.output.scheduler.take_any());
    fabric_.output.flows[flow().branch.flow].queued = 0;
    flow_life_.on_ack(edge_, edge_.input.ref.epoch, id(), flow().flow_extent(), 0, false, turn_.now());
  }
  void redirect(uint16_t asked_by = 1) {
    flow_redirects_.on_redirect(edge_, edge_.input.ref.epoch, id(), asked_by, turn_.now());
  }
  uint64_t obeyed() { return count_of(edge_, ProtocolEvent::redirect_obeyed); }

  static constexpr Nanos kNow = 1 * kSecond;
  const uint32_t lately_ = static_cast<uint32_t>(kLatelyNs * 1000 / board_.time_ns(kFabric, 1000));
};

TEST_F(FlowRedirectsTest, ItSendsNothingMoreUntilAllIsSettledThenTakesTheOtherWay) {
  redirect();
  EXPECT_EQ(obeyed(), 1u);
  send();
  EXPECT_EQ(flow().state, FlowState::held);
  EXPECT_EQ(flow().branch.output(), kFabric);
  EXPECT_EQ(flow().flow_extent(), 100u);
  settle();
  EXPECT_EQ(flow().branch.output(), kOtherWay);
  EXPECT_EQ(flow().state, FlowState::wanting) << "it has asked for an ID there";
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_moved), 1u);
}

TEST_F(FlowRedirectsTest, ItKeepsOffThePortForALease) {
  redirect();
  send();
  const PathLease& lease = edge_.input.leases[id()];
  EXPECT_EQ(lease.left(kNow), PortSet{1} << kFabric);
  EXPECT_EQ(lease.left(kNow + PathLease::kLeaseNs - 1), PortSet{1} << kFabric);
  EXPECT_EQ(lease.left(kNow + PathLease::kLeaseNs), 0u);
  publish_load(kOtherWay, 1'000'000, 0, kNow);
  settle();
  EXPECT_EQ(flow().branch.output(), kOtherWay) << "whatever waits there";
}

TEST_F(FlowRedirectsTest, WithoutABetterWayItStays) {
  publish_load(kOtherWay, 0, lately_, kNow);
  redirect();
  EXPECT_EQ(obeyed(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 1u);
  publish_load(kOtherWay, 0, 0, kNow);
  board_.publish_standing(kOtherWay, LinkStanding::down);
  redirect();
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 2u);
}

TEST_F(FlowRedirectsTest, WhereBothLeadToTheBottleneckItStays) {
  redirect(2);
  EXPECT_EQ(obeyed(), 0u) << "all ways to node 2 lead to node 2";
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 1u);
}

TEST_F(FlowRedirectsTest, OldNewsAreNotObeyed) {
  flow_redirects_.on_redirect(edge_, Epoch::of(edge_.input.ref.epoch + 1), id(), 1, kNow);
  EXPECT_EQ(obeyed(), 0u) << "another session's";
  const FlowId was = id();
  settle();
  ASSERT_NE(edge_.input.flows[was].branch.flow, kNoFlow) << "it rests";
  flow_redirects_.on_redirect(edge_, edge_.input.ref.epoch, was, 1, kNow);
  EXPECT_EQ(obeyed(), 0u) << "it has nothing under way";
}

// R10: a source of congestion at a host is no better off elsewhere.
TEST_F(FlowRedirectsTest, ASourceStaysWhereItIs) {
  poke(flow().congestion, 3);
  redirect();
  EXPECT_EQ(obeyed(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 0u);
}

// A neighbour may ask whom it likes: the class says who moves.
TEST_F(FlowRedirectsTest, AFlowOfAClassThatDoesNotAdaptStays) {
  flow().ftag = kUncontrolled;
  redirect();
  EXPECT_EQ(obeyed(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 0u);
}

// Of a lossy class what comes meanwhile would be dropped.
TEST_F(FlowRedirectsTest, ItStaysWhereItsQueueCannotHoldWhatComes) {
  const uint32_t mark = topology_.classes[0].flow_queue_bytes;
  flow().next_data_flow += mark;
  flow().data_flow += mark;
  redirect();
  EXPECT_EQ(obeyed(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 1u);
  flow().data_flow -= mark;
  redirect();
  EXPECT_EQ(obeyed(), 1u) << "what comes is dropped as it is";
}

// R4: the only shortest path leads to the bottleneck.
TEST_F(FlowRedirectsTest, AtItsFirstSwitchItMayTakeALongerWay) {
  const Topology topology = ring_of(5);
  PathChoice paths(topology, 0, site_.lanes, board_);
  paths.compile(std::vector<PortSet>(topology.nodes.size(), ~PortSet{0}));
  FlowWays ways(site_, turn_, paths, random_);
  FlowRedirects redirects(site_, paths, ways, flow_queues_, random_);
  flow().destination = {3, 0};
  flow().branch.set_output(1);  // to node 2; port 2 leads the other way round
  edge_.input.arbiter[flow().branch.voq].came_in = kLossyChannel;
  board_.publish_standing(1, LinkStanding::up);
  board_.publish_standing(2, LinkStanding::down);
  publish_load(1, 0, lately_, kNow);
  board_.add_waiting(0, 1, 0, 5000, 2);
  const auto redirect = [&](uint16_t asked_by) {
    for (Nanos turn = 0; turn < 6; ++turn)  // what is far is searched for by and by
      redirects.on_redirect(edge_, edge_.input.ref.epoch, id(), asked_by, kNow + turn);
  };
  redirect(2);
  EXPECT_EQ(obeyed(), 0u) << "its link is down";
  board_.publish_standing(2, LinkStanding::up);
  redirect(4);
  EXPECT_EQ(obeyed(), 0u) << "there it would come by the node that asks";
  redirect(2);
  EXPECT_EQ(obeyed(), 1u);
  EXPECT_EQ(edge_.input.leases[id()].left(kNow), 0b0010u);
}

TEST_F(FlowRedirectsTest, ALeaseHoldsAllPortsAsLongAsTheLastSays) {
  PathLease lease;
  lease.leave(0b011, 9, kNow);
  lease.leave(0b100, 9, kNow + 1);
  EXPECT_EQ(lease.left(kNow + 2), 0b111u);
  EXPECT_EQ(lease.left(kNow + PathLease::kLeaseNs), 0b111u) << "the last says how long";
  lease.leave(0b1000, 9, kNow + 3 * PathLease::kLeaseNs);
  EXPECT_EQ(lease.left(kNow + 3 * PathLease::kLeaseNs), 0b1000u);
}

TEST_F(FlowRedirectsTest, ASecondWishAddsNothing) {
  redirect();
  redirect();
  EXPECT_EQ(obeyed(), 1u);
}

// Two links lead to the node that asks, and one around it.
TEST_F(FlowRedirectsTest, ItKeepsOffAllPortsThatLeadToTheBottleneck) {
  Topology topology;
  topology.classes.resize(1);
  for (const uint16_t address : {1, 2, 3, 4}) add_node(topology, address, address == 1 || address == 4 ? 1 : 0);
  for (const uint16_t there : {1, 1, 2}) add_link(topology, 0, there);  // ports 1, 2 and 3 of the first node
  for (const uint16_t there : {1, 2}) add_link(topology, there, 3);
  PathChoice paths(topology, 0, site_.lanes, board_);
  paths.compile(std::vector<PortSet>(topology.nodes.size(), ~PortSet{0}));
  FlowWays ways(site_, turn_, paths, random_);
  FlowRedirects redirects(site_, paths, ways, flow_queues_, random_);
  flow().destination = {4, 0};
  flow().branch.set_output(1);
  board_.publish_standing(3, LinkStanding::up);
  redirects.on_redirect(edge_, edge_.input.ref.epoch, id(), 2, kNow);
  EXPECT_EQ(obeyed(), 1u);
  EXPECT_EQ(edge_.input.leases[id()].left(kNow), 0b0110u);
}

// With one way on, the switch before is asked.
TEST_F(FlowRedirectsTest, InsideTheFabricTheWishIsPassedOn) {
  InputFlow& transit = fabric_.input.flows[kTransit];
  transit.begin({2, 1}, kLossy, kNoMatch);
  transit.branch.set_output(kOtherWay);
  transit.branch.flow = FlowId::of(1);
  transit.data_flow += 500;
  flow_redirects_.on_redirect(fabric_, fabric_.input.ref.epoch, kTransit, 2, kNow);
  EXPECT_TRUE(transit.flags & kFlowRedirect);
  EXPECT_EQ(transit.asked_by, 2);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::redirect_passed_on), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::redirect_obeyed), 0u);
}

}  // namespace
}  // namespace heddle::test::flow_redirects_test
