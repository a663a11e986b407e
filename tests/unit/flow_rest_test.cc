// SPDX-License-Identifier: Apache-2.0
// F9, K11: a flow of which nothing is left keeps its IDs until somebody needs them.
#include "flow_fixture.h"

namespace heddle::test::flow_rest_test {
namespace {

class FlowRestTest : public FlowTest {
 protected:
  static constexpr uint32_t kMatch = 3;

  FlowRestTest() { bring_up(); }
  // A frame of port 0 to a host of the other switch.
  void send(uint32_t match_index = kMatch) {
    MatchEntry& match = edge_input_.matches()[match_index];
    match.destination = {2, PortIndex::of(match_index % 2)};
    Packet* next = packet(100);
    next->destination = match.destination;
    next->dies_ns = kSecond;
    edge_flows_.attach(edge_, next, match, match_index, 0, turn_.now());
  }
  InputFlow& flow_of(uint32_t match_index = kMatch) {
    return edge_.input.flows[edge_input_.matches()[match_index].flow];
  }
  OutputFlow& entry_of(const InputFlow& flow) { return fabric_.output.flows[flow.branch.flow]; }
  // What it has under way is delivered.
  void settle(uint32_t match_index = kMatch) {
    InputFlow& flow = flow_of(match_index);
    while (!fabric_.output.scheduler.empty()) turn_.discard(fabric_.output.scheduler.take_any());
    entry_of(flow).queued = 0;
    flow_life_.on_ack(edge_, edge_.input.ref.epoch, edge_input_.matches()[match_index].flow, flow.flow_extent(), 0,
                      false, turn_.now());
  }
  void rest(uint32_t match_index = kMatch) {
    send(match_index);
    settle(match_index);
    ASSERT_TRUE(flow_of(match_index).at_rest());
  }
  // All the fabric port's IDs that are free go to another input, or to this one.
  void take_free_ids(PortIndex input = kEdge) {
    while (fabric_.output.flows.reserve(InputFlowRef::of(1, input, 200), kLossy, 0) != kNoFlow) {
    }
  }
};

TEST_F(FlowRestTest, ItGoesOnWithTheIdsItHas) {
  rest();
  const InputFlow& flow = flow_of();
  const FlowId there = flow.branch.flow, here = edge_input_.matches()[kMatch].flow;
  send();
  EXPECT_EQ(edge_input_.matches()[kMatch].flow, here);
  EXPECT_EQ(flow.branch.flow, there);
  EXPECT_FALSE(flow.at_rest());
  settle();
  EXPECT_TRUE(flow.at_rest());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::id_reserved), 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_created), 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_rested), 2u);
}

class FlowWithTwoWays : public FlowRestTest {
 protected:
  FlowWithTwoWays() {
    const PortSet both = PortSet{1} << kFabric | PortSet{1} << kOtherWay;
    paths_.compile({both, both});
    EXPECT_EQ(paths_.routes().primary(2), both);
    board_.publish_standing(kOtherWay, LinkStanding::down);
    rest();
    EXPECT_EQ(flow_of().branch.output(), kFabric);
    board_.publish_standing(kOtherWay, LinkStanding::up);
  }
  static constexpr PortIndex kOtherWay = 5;  // of another worker
};

TEST_F(FlowWithTwoWays, StaysWhereItWasIfNoOtherIsLessLoaded) {
  const FlowId there = flow_of().branch.flow;
  for (int times = 0; times < 20; ++times) {
    send();
    ASSERT_EQ(flow_of().branch.output(), kFabric) << "no tie is broken";
    ASSERT_EQ(flow_of().branch.flow, there);
    settle();
    ASSERT_TRUE(flow_of().at_rest());
  }
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::id_reserved), 1u);
}

TEST_F(FlowWithTwoWays, TakesTheOtherOneWhenThatIsLessLoaded) {
  const FlowId there = flow_of().branch.flow;
  publish_load(kFabric, 1000, 0, 0);
  send();
  EXPECT_EQ(flow_of().branch.output(), kOtherWay);
  EXPECT_EQ(flow_of().state, FlowState::wanting) << "it has asked for an ID there";
  EXPECT_EQ(fabric_.output.flows[there].state, OutputFlowState::free);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_moved), 1u);
}

TEST_F(FlowWithTwoWays, StaysWhileSomethingOfItIsUnderWay) {
  send();
  publish_load(kFabric, 1000, 0, 0);
  send();
  EXPECT_EQ(flow_of().branch.output(), kFabric);
  EXPECT_EQ(flow_of().flow_extent(), 200u);
}

TEST_F(FlowWithTwoWays, GivesItsIdToWhoNeedsOne) {
  const FlowId there = flow_of().branch.flow;
  take_free_ids();
  board_.publish_standing(kOtherWay, LinkStanding::down);
  send(kMatch + 1);
  EXPECT_EQ(flow_of(kMatch + 1).branch.flow, there);
}

// R4: the node that it goes by is part of the way that it keeps.
TEST_F(FlowRestTest, OnALongerWayItRests) {
  send();
  edge_.input.flows.steer(edge_input_.matches()[kMatch].flow, 2);
  settle();
  EXPECT_TRUE(flow_of().at_rest());
  EXPECT_EQ(edge_.input.flows.via(edge_input_.matches()[kMatch].flow), 2);
}

TEST_F(FlowRestTest, WhoNeedsAnIdTakesOneOfAFlowAtRest) {
  rest();
  const FlowId there = flow_of().branch.flow;
  const uint32_t available = edge_.input.flows.available();
  take_free_ids();
  const uint32_t used = fabric_.output.flows.used();
  send(kMatch + 1);
  EXPECT_EQ(flow_of(kMatch + 1).branch.flow, there);
  EXPECT_FALSE(flow_of().in_use());
  EXPECT_EQ(edge_.input.flows.available(), available) << "one is taken, one has come back";
  EXPECT_EQ(fabric_.output.flows.used(), used);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::rest_ended), 1u);
}

TEST_F(FlowRestTest, AFlowThatGoesOnKeepsItsId) {
  rest();
  send();
  take_free_ids();
  const FlowId there = flow_of().branch.flow;
  send(kMatch + 1);
  EXPECT_EQ(flow_of(kMatch + 1).state, FlowState::wanting);
  EXPECT_EQ(flow_of().branch.flow, there);
  EXPECT_EQ(entry_of(flow_of()).queued, 1u);
}

TEST_F(FlowRestTest, AnInputWithoutAShareOfItsOwnGetsOneToo) {
  rest();
  take_free_ids();
  take_free_ids(1);
  while (!messages().empty()) {  // of the link that came up
  }
  const FlowId there = flow_of().branch.flow;
  FlowIds::on_want(fabric_, 1, 0, 1);
  id_grants_.run();
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<GrantId>(told[0]).id, there);
  EXPECT_FALSE(flow_of().in_use());
}

TEST_F(FlowRestTest, WhileOthersWaitForAnIdItGivesItsOwnBack) {
  send();
  const FlowId there = flow_of().branch.flow;
  FlowIds::on_want(fabric_, 1, 0, 1);
  settle();
  EXPECT_FALSE(flow_of().in_use());
  EXPECT_EQ(fabric_.output.flows[there].state, OutputFlowState::free);
}

TEST_F(FlowRestTest, TheEdgePortTakesItsFlowIdsFromThoseAtRest) {
  rest();
  rest(kMatch + 1);
  const FlowId oldest = edge_input_.matches()[kMatch].flow;
  send();  // it goes on: the other one is taken
  const FlowId other = edge_input_.matches()[kMatch + 1].flow;
  while (edge_.input.flows.take() != kNoFlow) {
  }
  send(kMatch + 2);
  EXPECT_EQ(edge_input_.matches()[kMatch + 2].flow, other);
  EXPECT_EQ(edge_input_.matches()[kMatch].flow, oldest);
  EXPECT_EQ(EdgeFlows::find(edge_, edge_input_.matches()[kMatch + 1], kMatch + 1), nullptr);
  send(kMatch + 1);
  EXPECT_EQ(edge_.input.waiting.count(), 1u) << "no other one rests";
  settle();
  EXPECT_FALSE(flow_of().in_use()) << "whoever waits has it now";
}

TEST_F(FlowRestTest, ItEndsWhenItsStationMoves) {
  rest();
  MatchEntry& match = edge_input_.matches()[kMatch];
  InputFlow& flow = flow_of();
  edge_flows_.detach(edge_, kMatch, kNoPort, turn_.now());
  EXPECT_FALSE(flow.in_use());
  EXPECT_EQ(match.flow, kNoFlow);
  EXPECT_EQ(match.flooded_ns, 0u) << "nothing of it is under way: the next one need not wait";
}

TEST_F(FlowRestTest, ItEndsWhenRoutesChangeOrItsLinkDoes) {
  rest();
  flow_life_.leave_stale_paths();
  EXPECT_FALSE(flow_of().in_use());
  rest();
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  ack_relay_.run(turn_.now());
  EXPECT_FALSE(flow_of().in_use());
  EXPECT_EQ(fabric_.output.flows.used(), 0u);
}

TEST_F(FlowRestTest, ItDoesNotRestWhereItsSessionHasEnded) {
  send();
  const FlowId there = flow_of().branch.flow;
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  ack_relay_.run(turn_.now());
  EXPECT_FALSE(flow_of().in_use());
  EXPECT_FALSE(fabric_.output.flows.resting().has(there));
}

// Inside the fabric the hop before gives the ID to another flow, when nothing of this one is left.
TEST_F(FlowRestTest, ItsIdMayNameAnotherFlow) {
  constexpr FlowId kId = 9;
  InputFlow& flow = fabric_.input.flows[kId];
  const auto bound = [&] {
    flow.begin({2, 0}, kLossy, kNoMatch);
    flow.flags |= kFlowMayRest;
    flow.branch.set_output(kFabric);
    flow.branch.flow = fabric_.output.flows.reserve(fabric_.input.ref.with(kId), kLossy, 0);
  };
  const auto receive = [&] {
    Packet* next = nullptr;
    pool_.allocate(&next, 1);
    const Frame bytes =
        forged(fabric_, frame(2, 1, 0), {.destination = {1, kOutput}, .flow = kId, .position = flow.next_data_flow});
    std::copy(bytes.begin(), bytes.end(), next->data);
    next->length = static_cast<uint16_t>(bytes.size());
    next->input.port = kFabric;
    next->dies_ns = turn_.now();
    fabric_receive_.receive(fabric_, &next, 1, turn_.now());
  };
  bound();
  receive();
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(fabric_.output.flows.used(), 0u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::session_reset), 0u);
  bound();
  flow.data_flow += 100, flow.next_data_flow += 100;  // something of it is under way
  receive();
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::session_reset), 1u);
}

}  // namespace
}  // namespace heddle::test::flow_rest_test
