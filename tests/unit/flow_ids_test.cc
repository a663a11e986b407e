// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::flow_ids_test {
namespace {

class FlowIdsTest : public ComponentTest {
 protected:
  // The output flow IDs that go to the other worker.
  std::vector<FlowId> given_back() {
    outbox_.hand_over_all();
    GivenBack pins[16];
    std::vector<FlowId> ids;
    for (uint32_t i = 0, count = crossing_.given_back.take(pins, 16); i < count; ++i) ids.push_back(pins[i].id);
    return ids;
  }
  // Flow `id` has an ID that the other worker has lent.
  InputFlow& on_lent_id(FlowId& id, FlowId lent, uint8_t ftag = kLossy) {
    InputFlow& flow = begin(id, kOther, ftag);
    want(id, kOther);
    flow_ids_.tell_wants(edge_, kOther);
    EXPECT_EQ(flow_ids_.granted(edge_, kOther, channel_of(ftag), lent), id);
    return flow;
  }
  const Voq& lossy_queue(PortIndex output) const { return edge_.input.arbiter[site_.voq_index(output, 0)]; }
  const Voq& lossless_queue(PortIndex output) const {
    return edge_.input.arbiter[site_.voq_index(output, site_.lanes.of(kLossless, kFirstLosslessChannel))];
  }
};

TEST_F(FlowIdsTest, AnOutputOfThisWorkerGivesAnIdAtOnceUnlessOthersWait) {
  FlowId id;
  InputFlow& flow = begin(id);
  flow.data_flow = 300;
  Packet* first = packet(100);
  first->input = edge_.input.ref.with(id);
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kOutput, *first));
  EXPECT_EQ(flow.branch.output(), kOutput);
  EXPECT_EQ(flow.branch.voq, site_.voq_index(kOutput, 0));
  EXPECT_EQ(flow.branch.turn_start, 300u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::id_reserved), 1u);
  const FlowId own = flow.branch.flow;
  EXPECT_EQ(output_.output.flows[own].input, first->input);
  EXPECT_EQ(flow_ids_.give_back(edge_, flow, false), kNoFlow);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_given_back), 1u);
  EXPECT_EQ(output_.output.flows[own].state, OutputFlowState::free);
  FlowIds::on_want(output_, 1, 0, 1);
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, kOutput, *first));
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, kFabric, *first)) << "its link has no session";
  EXPECT_EQ(flow.branch.output(), kFabric);
}

// K11: only where IDs are short. Whether another worker has some its answer tells, which takes a moment.
TEST_F(FlowIdsTest, AFlowYieldsToThoseThatHaveWaitedLongerThanAnAnswerTakes) {
  FlowId id, other;
  turn_.begin(kSecond);
  InputFlow& flow = on_lent_id(id, FlowId::of(5));
  EXPECT_FALSE(flow_ids_.has_to_yield(edge_, flow)) << "nobody waits";
  turn_.begin(2 * kSecond);
  begin(other, kOther);
  want(other, kOther);
  EXPECT_FALSE(flow_ids_.has_to_yield(edge_, flow));
  turn_.begin(2 * kSecond + 100 * kMicrosecond);
  begin(other, kOther);
  want(other, kOther);
  EXPECT_FALSE(flow_ids_.has_to_yield(edge_, flow));
  turn_.begin(2 * kSecond + 200 * kMicrosecond);
  EXPECT_TRUE(flow_ids_.has_to_yield(edge_, flow)) << "since the first of them came";
  InputFlow& own = begin(id);
  ASSERT_TRUE(flow_ids_.reserve(edge_, own, kOutput, *packet(100)));
  begin(other);
  want(other, kOutput);
  EXPECT_TRUE(flow_ids_.has_to_yield(edge_, own)) << "an output here would have given it one at once";
}

TEST_F(FlowIdsTest, ThereIsNoIdWhenAllAreUsed) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* first = packet(100);
  for (FlowId used = 1; used != kNoFlow;) used = output_.output.flows.reserve(edge_.input.ref.with(7), 0, 0);
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, kOutput, *first));
  EXPECT_EQ(flow.branch.flow, kNoFlow);
  EXPECT_EQ(count_of(output_, ProtocolEvent::id_reserved), 0u);
}

TEST_F(FlowIdsTest, ALosslessFlowWaitsInTheQueueOfItsChannel) {
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kOutput, *packet(100, kLossless)));
  EXPECT_EQ(flow.branch.voq, site_.voq_index(kOutput, site_.lanes.of(kLossless, kFirstLosslessChannel)));
}

TEST_F(FlowIdsTest, AnOutputIsToldOnceOfEachThatWaits) {
  FlowId id;
  for (int i = 0; i < 2; ++i) {
    begin(id);
    want(id, kOutput);
  }
  flow_ids_.tell_wants(edge_, kOutput);
  flow_ids_.tell_wants(edge_, kOutput);
  EXPECT_EQ(output_.output.wanted.of(kEdge, 0), 2u);
  EXPECT_EQ(output_.output.wanted.inputs(), PortSet{1} << kEdge);
  begin(id);
  want(id, kOutput);
  flow_ids_.tell_wants(edge_, kOutput);
  EXPECT_EQ(output_.output.wanted.of(kEdge, 0), 3u);
  EXPECT_EQ(edge_.input.ids[kOutput].asked[0], 3u);
}

// K11: by the virtual channel in which they go on.
TEST_F(FlowIdsTest, AnOutputIsToldOfEachChannelThatFlowsWaitIn) {
  FlowId id;
  begin(id);
  want(id, kOutput);
  for (int i = 0; i < 2; ++i) {
    begin(id, kOutput, kLossless);
    want(id, kOutput);
  }
  flow_ids_.tell_wants(edge_, kOutput);
  EXPECT_EQ(output_.output.wanted.of(kEdge, kLossyChannel), 1u);
  EXPECT_EQ(output_.output.wanted.of(kEdge, kFirstLosslessChannel), 2u);
  EXPECT_EQ(edge_.input.ids[kOutput].asked[kFirstLosslessChannel], 2u);
}

TEST_F(FlowIdsTest, WhatAFullRingDoesNotTakeIsAskedForLater) {
  FlowId id;
  begin(id, kOther);
  want(id, kOther);
  fill_messages();
  flow_ids_.tell_wants(edge_, kOther);
  EXPECT_EQ(edge_.input.ids[kOther].asked[0], 0u);
  ASSERT_EQ(edge_.input.arbiter.count(), 1u) << "its queue is looked at again";
  EXPECT_EQ(edge_.input.arbiter.begin_turn(), site_.voq_index(kOther, 0));
}

TEST_F(FlowIdsTest, AnIdOfThisWorkerNamesItsFlowWhenItIsGranted) {
  FlowId id;
  InputFlow& flow = begin(id, kOutput, kLossless);
  flow.data_flow = 300;
  want(id, kOutput);
  flow_ids_.tell_wants(edge_, kOutput);
  const FlowId granted = output_.output.flows.reserve(InputFlowRef::of(0, kEdge, kNoFlow), 0, 1);
  EXPECT_EQ(flow_ids_.granted(edge_, kOutput, 1, granted), id);
  EXPECT_EQ(edge_.input.ids[kOutput].asked[1], 0u);
  EXPECT_EQ(flow.branch.flow, granted);
  EXPECT_EQ(flow.branch.turn_start, 300u);
  EXPECT_EQ(output_.output.flows[granted].input, edge_.input.ref.with(id));
  EXPECT_EQ(output_.output.flows[granted].ftag, kLossless);
  EXPECT_FALSE(flow.flags & kFlowLeaving);
  EXPECT_EQ(edge_.input.ids[kOutput].lent.held(), 0u) << "it is not lent";
}

TEST_F(FlowIdsTest, AnIdThatNobodyWaitsForAnyMoreGoesBack) {
  poke(edge_.input.ids[kOutput].asked[0], 1);
  const FlowId granted = output_.output.flows.reserve(InputFlowRef::of(0, kEdge, kNoFlow), 0, 0);
  EXPECT_EQ(flow_ids_.granted(edge_, kOutput, 0, granted), kNoFlow);
  EXPECT_EQ(output_.output.flows[granted].state, OutputFlowState::free);
}

// R12: the routes have changed while it waited.
TEST_F(FlowIdsTest, AFlowWhosePathIsStaleLeavesIt) {
  FlowId id;
  InputFlow& flow = begin(id);
  flow.destination = {2, 0};
  want(id, kOther);
  flow_ids_.tell_wants(edge_, kOther);
  flow_ids_.granted(edge_, kOther, 0, 40);
  EXPECT_TRUE(flow.flags & kFlowLeaving) << "port 1 does not lead there";
}

TEST_F(FlowIdsTest, ALentIdGoesToWhoHasWaitedLongestElseItIsKept) {
  FlowId first_id, second_id;
  InputFlow& first = begin(first_id, kOther);
  InputFlow& second = begin(second_id, kOther);
  want(first_id, kOther);
  want(second_id, kOther);
  flow_ids_.tell_wants(edge_, kOther);
  flow_ids_.tell_wants(edge_, kOther);  // they have been told of
  EXPECT_EQ(edge_.input.ids[kOther].asked[0], 2u);
  const std::vector<Message> asked = messages();
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(std::get<WantIds>(asked[0]).flows, 2u);
  EXPECT_EQ(flow_ids_.granted(edge_, kOther, 0, 40), first_id);
  EXPECT_EQ(first.branch.flow, 40);
  EXPECT_EQ(flow_ids_.give_back(edge_, first, false), second_id) << "who waits has it before it goes home";
  EXPECT_EQ(second.branch.flow, 40);
  EXPECT_EQ(flow_ids_.give_back(edge_, second, false), kNoFlow);
  EXPECT_EQ(edge_.input.ids[kOther].lent.count(), 1u);
  EXPECT_EQ(edge_.input.lent_outputs, PortSet{1} << kOther);
  EXPECT_EQ(flow_ids_.granted(edge_, kOther, 0, 41), kNoFlow) << "nobody waits any more";
  EXPECT_EQ(edge_.input.ids[kOther].lent.held(), 2u);
  first.data_flow = 300;
  ASSERT_TRUE(flow_ids_.reserve(edge_, first, kOther, *packet(100)));
  EXPECT_EQ(first.branch.flow, 41) << "the one that was used last";
  EXPECT_EQ(first.branch.turn_start, 300u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_lent), 1u);
  EXPECT_TRUE(given_back().empty());
}

// K11: it is of the channel that it was granted for.
TEST_F(FlowIdsTest, ALentIdServesItsChannelOnly) {
  FlowId first_id, id;
  InputFlow& first = on_lent_id(first_id, 40, kLossless);
  EXPECT_EQ(flow_ids_.give_back(edge_, first, false), kNoFlow);
  EXPECT_TRUE(flow_ids_.would_reserve(edge_, lossless_queue(kOther)));
  EXPECT_FALSE(flow_ids_.would_reserve(edge_, lossy_queue(kOther)));
  InputFlow& lossy = begin(id, kOther);
  EXPECT_FALSE(flow_ids_.reserve(edge_, lossy, kOther, *packet(100)));
  InputFlow& lossless = begin(id, kOther, kLossless);
  EXPECT_TRUE(flow_ids_.reserve(edge_, lossless, kOther, *packet(100, kLossless)));
}

TEST_F(FlowIdsTest, ALentIdGoesHomeWhereOnlyFlowsOfAnotherChannelWait) {
  FlowId first_id, second_id;
  InputFlow& first = on_lent_id(first_id, 40, kLossless);
  begin(second_id, kOther);
  want(second_id, kOther);
  EXPECT_EQ(flow_ids_.give_back(edge_, first, false), kNoFlow);
  EXPECT_EQ(given_back(), std::vector<FlowId>{40});
  EXPECT_EQ(flow_ids_.granted(edge_, kOther, kFirstLosslessChannel, 41), kNoFlow);
  EXPECT_EQ(given_back(), std::vector<FlowId>{41});
  EXPECT_EQ(edge_.input.ids[kOther].lent.held(), 0u);
}

TEST_F(FlowIdsTest, NoChannelTakesTheIdsOfAnother) {
  FlowId id;
  for (FlowId used = 1; used != kNoFlow;) used = output_.output.flows.reserve(edge_.input.ref.with(7), 0, 0);
  EXPECT_FALSE(flow_ids_.would_reserve(edge_, lossy_queue(kOutput)));
  EXPECT_TRUE(flow_ids_.would_reserve(edge_, lossless_queue(kOutput)));
  InputFlow& lossy = begin(id);
  EXPECT_FALSE(flow_ids_.reserve(edge_, lossy, kOutput, *packet(100)));
  InputFlow& lossless = begin(id, kOutput, kLossless);
  ASSERT_TRUE(flow_ids_.reserve(edge_, lossless, kOutput, *packet(100, kLossless)));
  EXPECT_EQ(output_.output.flows[lossless.branch.flow].channel, kFirstLosslessChannel);
}

// For who looks on (telemetry).
TEST_F(FlowIdsTest, WhetherAFlowWouldGetAnIdCanBeAsked) {
  EXPECT_TRUE(flow_ids_.would_reserve(edge_, lossy_queue(kOutput)));
  EXPECT_FALSE(flow_ids_.would_reserve(edge_, lossy_queue(kFabric))) << "its link has no session";
  EXPECT_FALSE(flow_ids_.would_reserve(edge_, lossy_queue(kOther))) << "none is lent";
  std::vector<FlowId> flows(2);
  for (size_t i = 0; i < flows.size(); ++i) on_lent_id(flows[i], FlowId::of(40 + i));
  for (const FlowId id : flows) {
    flow_ids_.give_back(edge_, edge_.input.flows[id], false);
    EXPECT_TRUE(flow_ids_.would_reserve(edge_, lossy_queue(kOther)));
  }
  FlowIds::on_want(output_, 1, 0, 1);
  EXPECT_FALSE(flow_ids_.would_reserve(edge_, lossy_queue(kOutput))) << "others come first";
}

// F9
TEST_F(FlowIdsTest, AFlowRestsUnlessThereIsAnythingSpecialAboutIt) {
  FlowId id;
  InputFlow& flow = begin(id);
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kOutput, *packet(100)));
  OutputFlow& entry = output_.output.flows[flow.branch.flow];
  const auto rests = [&](uint32_t flags) {
    flow.flags = static_cast<uint16_t>(kFlowInUse | flags);
    return flow_ids_.rest(edge_, id, flow);
  };
  EXPECT_FALSE(rests(0));
  EXPECT_TRUE(rests(kFlowMayRest));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_rested), 1u);
  for (const uint32_t harmless : {kFlowAckDue, kFlowChooses, kFlowMoved, kFlowDetour})
    EXPECT_TRUE(rests(kFlowMayRest | harmless)) << harmless;
  EXPECT_TRUE(rests(kFlowMayRest | kFlowAckDue | kFlowChooses | kFlowMoved | kFlowDetour));
  for (const uint32_t special : {kFlowPending, kFlowLeaving, kFlowLimited, kFlowMetered})
    EXPECT_FALSE(rests(kFlowMayRest | special)) << special;
  poke(entry.congestion, 5);
  EXPECT_FALSE(rests(kFlowMayRest)) << "it is to hear of congestion";
  poke(entry.congestion, 0);
  poke(entry.told, 5);
  EXPECT_FALSE(rests(kFlowMayRest)) << "or that there is none any more";
  poke(entry.told, 0);
  FlowIds::on_want(output_, 1, 0, 1);
  EXPECT_FALSE(rests(kFlowMayRest)) << "another one wants an ID";
}

TEST_F(FlowIdsTest, WithoutAnIdToLendAFlowWaits) {
  FlowId id;
  InputFlow& flow = begin(id, kOther);
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, kOther, *packet(100)));
  EXPECT_EQ(flow.branch.output(), kOther);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_lent), 0u);
}

TEST_F(FlowIdsTest, ALentIdGoesHomeFromAFlowThatLeaves) {
  FlowId id;
  InputFlow& flow = on_lent_id(id, 40);
  flow.flags |= kFlowLeaving;
  EXPECT_EQ(flow_ids_.give_back(edge_, flow, false), kNoFlow);
  EXPECT_EQ(flow.branch.flow, kNoFlow);
  EXPECT_EQ(given_back(), std::vector<FlowId>{40});
  EXPECT_EQ(edge_.input.ids[kOther].lent.held(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_given_back), 1u);
}

TEST_F(FlowIdsTest, AnOrphansIdGoesHomeAndIsCounted) {
  FlowId id;
  InputFlow& flow = on_lent_id(id, 40);
  EXPECT_EQ(flow_ids_.give_back(edge_, flow, true), kNoFlow);
  EXPECT_EQ(edge_.input.orphans, 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::orphan_made), 1u);
  outbox_.hand_over_all();
  GivenBack pin;
  ASSERT_EQ(crossing_.given_back.take(&pin, 1), 1u);
  EXPECT_TRUE(pin.counted);
  EXPECT_EQ(pin.output, kOther);
}

TEST_F(FlowIdsTest, NoMoreThanTheInputsShareIsKept) {
  std::vector<FlowId> flows(site_.lent_max + 1);
  for (size_t i = 0; i < flows.size(); ++i) on_lent_id(flows[i], FlowId::of(40 + i));
  for (const FlowId id : flows) flow_ids_.give_back(edge_, edge_.input.flows[id], false);
  EXPECT_EQ(given_back(), std::vector<FlowId>{40}) << "then there were no more than that";
  EXPECT_EQ(edge_.input.ids[kOther].lent.count(), site_.lent_max);
}

TEST_F(FlowIdsTest, WhatWasNotNeededGoesHome) {
  FlowId flows[3];
  for (FlowId i = 0; i < 3; ++i) on_lent_id(flows[i], FlowId::of(40 + i));
  for (const FlowId id : flows) flow_ids_.give_back(edge_, edge_.input.flows[id], false);
  flow_ids_.return_lent(edge_, kOther, false);
  EXPECT_TRUE(given_back().empty()) << "they have just come";
  InputFlow& flow = edge_.input.flows[flows[0]];
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kOther, *packet(100)));
  flow_ids_.give_back(edge_, flow, false);
  flow_ids_.return_lent(edge_, kOther, false);
  EXPECT_EQ(given_back(), (std::vector<FlowId>{42, 41})) << "one was needed";
  EXPECT_EQ(edge_.input.ids[kOther].lent.held(), 1u);
  EXPECT_EQ(edge_.input.lent_outputs, PortSet{1} << kOther);
  flow_ids_.return_lent(edge_, kOther, true);
  EXPECT_EQ(given_back(), std::vector<FlowId>{40});
  EXPECT_EQ(edge_.input.lent_outputs, 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_given_back), 3u);
}

TEST_F(FlowIdsTest, WhoWaitedAtAnOutputThatIsDownIsToldOfOnce) {
  FlowId id;
  begin(id, kOther);
  want(id, kOther);
  flow_ids_.tell_wants(edge_, kOther);
  const FlowList waiting = flow_ids_.refused(edge_, kOther, 0, 1);
  EXPECT_EQ(waiting.head, id);
  EXPECT_EQ(waiting.count, 1u);
  EXPECT_TRUE(edge_.input.ids[kOther].wanting.empty());
  EXPECT_EQ(edge_.input.ids[kOther].asked[0], 0u);
}

TEST_F(FlowIdsTest, AnIdThatIsLentServesWhoSendsFirst) {
  OutputFlow& entry = output_.output.flows[9];
  entry.input = InputFlowRef::of(0, kOther, kNoFlow);
  poke(entry.congestion, 5);
  FlowIds& ids = flow_ids_;
  ids.bind(entry, InputFlowRef::of(1, kOther, 12));
  EXPECT_EQ(entry.input, InputFlowRef::of(1, kOther, 12));
  EXPECT_EQ(entry.congestion, 0u);
  EXPECT_FALSE(entry.flags & kOutputEndDue);
  entry.flags |= kOutputEnded;
  ids.bind(entry, InputFlowRef::of(1, kOther, 13));
  EXPECT_TRUE(entry.flags & kOutputEndDue) << "it is to hear that the path has ended";
}

TEST_F(FlowIdsTest, AFlowThatHasHadItsTurnYieldsToThoseThatWait) {
  FlowId id, waiting;
  InputFlow& flow = begin(id);
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kOutput, *packet(100)));
  flow_ids_.yield(edge_, flow);
  EXPECT_FALSE(flow.flags & kFlowLeaving) << "nobody waits";
  begin(waiting);
  want(waiting, kOutput);
  flow_ids_.yield(edge_, flow);
  flow_ids_.yield(edge_, flow);
  EXPECT_TRUE(flow.flags & kFlowLeaving);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_yielded), 1u);
}

}  // namespace
}  // namespace heddle::test::flow_ids_test
