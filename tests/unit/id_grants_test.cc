// SPDX-License-Identifier: Apache-2.0
#include "node/id_grants.h"

#include "flow_fixture.h"

namespace heddle::test::id_grants_test {
namespace {

class IdGrantsTest : public FlowTest {
 protected:
  // So many IDs of port 2 are left.
  void leave_free(uint32_t count) {
    OutputFlowTable& flows = output_.output.flows;
    std::vector<FlowId> taken;
    for (FlowId id; (id = flows.reserve(InputFlowRef::of(1, kEdge, 7), 0, 0)) != kNoFlow;) taken.push_back(id);
    for (uint32_t i = 0; i < count; ++i) flows.free(taken[i]);
  }
  std::vector<std::pair<PortIndex, FlowId>> grants() {
    std::vector<std::pair<PortIndex, FlowId>> all;
    for (std::vector<Message> some = messages(); !some.empty(); some = messages())
      for (const Message& message : some)
        if (const auto* grant = std::get_if<GrantId>(&message)) all.emplace_back(grant->input, grant->id);
    return all;
  }
  uint32_t wanted(PortIndex input) const { return output_.output.wanted.of(input, 0); }
};

TEST_F(IdGrantsTest, NobodyIsGivenWhatNobodyWants) {
  id_grants_.run();
  EXPECT_EQ(output_.output.flows.used(), 0u);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(IdGrantsTest, InputsGetIdsByTurns) {
  FlowIds::on_want(output_, 1, 0, 2);
  FlowIds::on_want(output_, 3, 0, 2);
  id_grants_.run();
  std::vector<PortIndex> inputs;
  std::set<FlowId> ids;
  for (const auto& [input, id] : grants()) {
    inputs.push_back(input);
    ids.insert(id);
  }
  EXPECT_EQ(inputs, (std::vector<PortIndex>{1, 3, 1, 3}));
  EXPECT_EQ(ids.size(), 4u);
  EXPECT_EQ(output_.output.wanted.inputs(), 0u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::id_reserved), 4u);
  FlowIds::on_want(output_, 1, 0, 1);
  FlowIds::on_want(output_, 5, 0, 1);
  id_grants_.run();
  EXPECT_EQ(grants()[0].first, 5);
}

TEST_F(IdGrantsTest, AnInputOfThisWorkerHasItAtOnce) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* first = packet(100);
  first->destination = flow.destination;
  flow.next_data_flow += 100;
  flow_queues_.push(edge_, id, flow, first, 0);
  FlowIds::on_want(output_, 1, 0, 1);  // who came before
  flow_life_.place(edge_, id);
  ASSERT_EQ(flow.state, FlowState::wanting);
  id_grants_.run();
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_EQ(output_.output.flows[flow.branch.flow].input, edge_.input.ref.with(id));
  EXPECT_EQ(output_.output.wanted.inputs(), 0u);
}

TEST_F(IdGrantsTest, WhoWantsMoreThanThereAreWaits) {
  leave_free(0);
  FlowIds::on_want(output_, kEdge, 0, 1);
  id_grants_.run();
  EXPECT_EQ(wanted(kEdge), 1u);
  EXPECT_EQ(output_.output.wanted.inputs(), PortSet{1} << kEdge);
  EXPECT_FALSE(turn_.busy()) << "one that comes back wakes it";
}

TEST_F(IdGrantsTest, OneInputThatGetsNoneIsNotInTheWayOfOthers) {
  leave_free(0);  // port 0 has all that it may have; port 1 has those that are its own
  FlowIds::on_want(output_, kEdge, 0, 1);
  FlowIds::on_want(output_, kOther, 0, 2);
  id_grants_.run();
  EXPECT_EQ(grants().size(), 2u);
  EXPECT_EQ(wanted(kOther), 0u);
  EXPECT_EQ(wanted(kEdge), 1u);
}

// K11: what a channel may not have another one may.
TEST_F(IdGrantsTest, OneChannelThatGetsNoneIsNotInTheWayOfOthers) {
  leave_free(0);
  FlowIds::on_want(output_, kEdge, kLossyChannel, 1);
  FlowIds::on_want(output_, kEdge, kFirstLosslessChannel, 1);
  poke(edge_.input.ids[kOutput].asked[kFirstLosslessChannel], 1);
  id_grants_.run();
  EXPECT_EQ(wanted(kEdge), 1u);
  EXPECT_EQ(output_.output.wanted.of(kEdge, kFirstLosslessChannel), 0u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::id_reserved), 1u);
  EXPECT_EQ(edge_.input.ids[kOutput].asked[kFirstLosslessChannel], 0u);
}

TEST_F(IdGrantsTest, AGrantSaysItsChannel) {
  FlowIds::on_want(output_, kOther, kFirstLosslessChannel, 1);
  id_grants_.run();
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  const auto grant = std::get<GrantId>(told[0]);
  EXPECT_EQ(grant.channel, kFirstLosslessChannel);
  EXPECT_EQ(output_.output.flows[grant.id].channel, kFirstLosslessChannel);
}

TEST_F(IdGrantsTest, SoManyATurn) {
  FlowIds::on_want(output_, 1, 0, 65);
  id_grants_.run();
  EXPECT_EQ(wanted(1), 1u);
  EXPECT_TRUE(turn_.busy());
  grants();
  turn_.begin(2 * kMillisecond);
  id_grants_.run();
  EXPECT_EQ(wanted(1), 0u);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(IdGrantsTest, WhatAFullRingDoesNotTakeIsGivenNextTurn) {
  FlowIds::on_want(output_, 1, 0, 1);
  fill_messages();
  id_grants_.run();
  EXPECT_EQ(wanted(1), 1u);
  EXPECT_EQ(output_.output.flows.used(), 0u);
  EXPECT_TRUE(turn_.busy());
  EXPECT_EQ(count_of(output_, ProtocolEvent::id_reserved), 0u);
}

TEST_F(IdGrantsTest, WhereTheLinkIsDownAllAreRefused) {
  FlowIds::on_want(fabric_, 1, 0, 3);
  FlowIds::on_want(fabric_, kEdge, 0, 2);
  poke(edge_.input.ids[kFabric].asked[0], 2);
  id_grants_.run();
  EXPECT_EQ(fabric_.output.wanted.inputs(), 0u);
  EXPECT_EQ(fabric_.output.wanted.of(1, 0), 0u);
  EXPECT_EQ(edge_.input.ids[kFabric].asked[0], 0u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::id_refused), 2u);
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  const auto refusal = std::get<RefuseIds>(told[0]);
  EXPECT_EQ(refusal.input, 1);
  EXPECT_EQ(refusal.output, kFabric);
  EXPECT_EQ(refusal.flows, 3u);
}

TEST_F(IdGrantsTest, ARefusalThatAFullRingDoesNotTakeIsSaidNextTurn) {
  FlowIds::on_want(fabric_, 1, 0, 3);
  fill_messages();
  id_grants_.run();
  EXPECT_EQ(fabric_.output.wanted.of(1, 0), 3u);
  EXPECT_TRUE(turn_.busy());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::id_refused), 0u);
}

}  // namespace
}  // namespace heddle::test::id_grants_test
