// SPDX-License-Identifier: Apache-2.0
#include "node/flow_life.h"

#include "flow_fixture.h"

namespace heddle::test::flow_life_test {
namespace {

class FlowLifeTest : public FlowTest {
 protected:
  static constexpr uint16_t kBytes = 100;

  // A packet of the flow joins its queue; nobody has placed it.
  Packet* queue(Port& port, FlowId id) {
    InputFlow& flow = port.input.flows[id];
    Packet* next = packet(kBytes, flow.ftag);
    next->destination = flow.destination;
    next->input = port.input.ref.with(id);
    next->dies_ns = kSecond;
    flow.next_data_flow += kBytes;
    flow_queues_.push(port, id, flow, next, 0);
    return next;
  }
  // A flow of port 0 with a packet, placed.
  InputFlow& placed(FlowId& id, PortIndex to = kOutput) {
    InputFlow& flow = begin(id, to);
    queue(edge_, id);
    flow_life_.place(edge_, id);
    return flow;
  }
  // The first packet of its queue has crossed, or what came to it has passed.
  void hand_on(FlowId id) {
    InputFlow& flow = edge_.input.flows[id];
    if (flow.queue.empty()) return;
    Packet* first = flow_queues_.take(edge_, flow);
    flow.data_flow += first->payload;
    if (flow.queue.empty()) flow_life_.ran_empty(flow);
    turn_.discard(first);
  }
  void ack(FlowId id, uint32_t bytes, uint32_t lost = 0, bool path_ended = false) {
    flow_life_.on_ack(edge_, edge_.input.ref.epoch, id, bytes, lost, path_ended, turn_.now());
  }
  // The flow is held to a share that it has used up until `release`.
  void limit(FlowId id, Nanos release) {
    InputFlow& flow = edge_.input.flows[id];
    flow.flags |= kFlowLimited;
    FlowLimit& limit = edge_.input.limits[id];
    limit.begin(0);
    limit.set_share(1, kMillisecond, kMillisecond, 0);
    limit.spend(static_cast<uint32_t>(release), 0);
    ASSERT_GE(limit.release_ns(), release);
  }
  uint32_t free_ids() const { return edge_.input.flows.available(); }
};

TEST_F(FlowLifeTest, AFlowWithAnIdStandsInItsOutputsList) {
  FlowId id;
  const InputFlow& flow = placed(id);
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_NE(flow.branch.flow, kNoFlow);
  EXPECT_EQ(edge_.input.arbiter.ready(site_.voq_index(kOutput, 0), 0).head, id);
  ASSERT_EQ(edge_.input.arbiter.count(), 1u);
  EXPECT_EQ(edge_.input.arbiter.begin_turn(), site_.voq_index(kOutput, 0));
}

TEST_F(FlowLifeTest, WithoutAnIdItWaitsForOne) {
  FlowId id;
  const InputFlow& flow = placed(id, kOther);
  EXPECT_EQ(flow.state, FlowState::wanting);
  EXPECT_EQ(edge_.input.ids[kOther].wanting.of(0, 0).head, id);
  EXPECT_EQ(edge_.input.wanting_outputs, PortSet{1} << kOther);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::id_waited), 1u);
  EXPECT_EQ(messages().size(), 1u);
  flow_life_.on_grant(edge_, kOther, 0, 40);
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_EQ(flow.branch.flow, 40);
}

TEST_F(FlowLifeTest, AGrantAsksForThoseThatHaveComeSince) {
  FlowId first, second;
  placed(first, kOther);
  fill_messages();
  placed(second, kOther);
  while (!messages().empty()) {
  }
  flow_life_.on_grant(edge_, kOther, 0, 40);
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<WantIds>(told[0]).flows, 1u);
}

TEST_F(FlowLifeTest, WithoutAWayItsQueueIsDroppedAndItEnds) {
  FlowId id;
  const uint32_t before = free_ids();
  board_.publish_standing(kOutput, LinkStanding::down);
  const InputFlow& flow = placed(id);
  EXPECT_EQ(flow.state, FlowState::idle);
  EXPECT_FALSE(flow.in_use());
  EXPECT_EQ(free_ids(), before);
  EXPECT_EQ(flow.lost_total, kBytes);
  EXPECT_EQ(edge_.input.queues.packets(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_freed), 1u);
}

TEST_F(FlowLifeTest, AFlowEndsWhenAllIsSettled) {
  FlowId id;
  const uint32_t before = free_ids();
  InputFlow& flow = placed(id);
  queue(edge_, id);
  hand_on(id);
  hand_on(id);
  const FlowId output_id = flow.branch.flow;
  ack(id, kBytes);
  EXPECT_TRUE(flow.in_use()) << "half of it is under way";
  ack(id, kBytes, 40);
  EXPECT_FALSE(flow.in_use());
  EXPECT_EQ(flow.lost_total, 40u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 2u * kBytes - 40);
  EXPECT_EQ(free_ids(), before);
  EXPECT_EQ(output_.output.flows[output_id].state, OutputFlowState::free);
  ack(id, 0);
  EXPECT_EQ(free_ids(), before) << "once";
}

TEST_F(FlowLifeTest, AFlowWithAQueueGoesOnWhenAllIsSettled) {
  FlowId id;
  const InputFlow& flow = placed(id);
  queue(edge_, id);
  hand_on(id);
  ack(id, kBytes);
  EXPECT_TRUE(flow.in_use());
  EXPECT_EQ(flow.state, FlowState::ready);
}

TEST_F(FlowLifeTest, WhatIsOfAnEndedSessionIsAbsorbed) {
  FlowId id;
  InputFlow& flow = placed(id);
  hand_on(id);
  const auto old = Epoch::of(edge_.input.ref.epoch + 1);
  flow_life_.on_ack(edge_, old, id, kBytes, 0, false, 0);
  EXPECT_EQ(flow.flow_extent(), kBytes);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::ack_absorbed), 1u);
  flow_life_.on_congestion(edge_, old, id, 5, 0);
  EXPECT_FALSE(flow.flags & kFlowLimited);
  flow_life_.on_credit(edge_, old, id, true, 5, 0);
  EXPECT_FALSE(flow.flags & kFlowMetered);
}

TEST_F(FlowLifeTest, AFlowWhosePathEndedMovesWhenItsOldOneIsSettled) {
  FlowId id;
  InputFlow& flow = placed(id);
  const FlowId old = flow.branch.flow;
  hand_on(id);
  ack(id, 0, 0, true);
  EXPECT_TRUE(flow.flags & kFlowLeaving);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::path_ended), 1u);
  queue(edge_, id);
  flow_life_.place(edge_, id);
  EXPECT_EQ(flow.state, FlowState::held);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_held), 1u);
  output_.output.flows[old].queued = 1;  // so that its ID is not the same one again
  ack(id, kBytes);
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_FALSE(flow.flags & kFlowLeaving);
  EXPECT_NE(flow.branch.flow, old);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_moved), 1u);
}

TEST_F(FlowLifeTest, APathThatEndedTakesTheLentIdsWithIt) {
  FlowId id;
  InputFlow& flow = placed(id, kOther);
  flow_life_.on_grant(edge_, kOther, 0, 40);
  edge_.input.ids[kOther].lent.came();
  edge_.input.ids[kOther].lent.put(0, 41);
  poke(edge_.input.lent_outputs, PortSet{1} << kOther);
  ack(id, 0, 0, true);
  EXPECT_EQ(edge_.input.ids[kOther].lent.count(), 0u);
  flow.branch.flow = kNoFlow;
  flow.flags = static_cast<uint16_t>(flow.flags & ~kFlowLeaving);
  ack(id, 0, 0, true);
  EXPECT_FALSE(flow.flags & kFlowLeaving) << "of an ID that it had once";
}

TEST_F(FlowLifeTest, OnTheFabricWhatIsSettledIsToldUpstream) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  flow.next_data_flow = flow.data_flow = 200;
  flow_life_.on_ack(fabric_, fabric_.input.ref.epoch, 9, 0, 0, false, 0);
  EXPECT_TRUE(fabric_.input.ack_due.empty());
  const uint32_t before = fabric_.input.flows.available();
  flow_life_.on_ack(fabric_, fabric_.input.ref.epoch, 9, 200, 0, false, 0);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_FALSE(flow.in_use());
  EXPECT_EQ(fabric_.input.flows.available(), before) << "the other end gives its IDs out";
  EXPECT_TRUE(flow.flags & kFlowAckDue);
}

TEST_F(FlowLifeTest, CongestionHoldsAFlowAndItsEndLetsItGo) {
  FlowId id;
  InputFlow& flow = placed(id);
  edge_.input.arbiter.begin_turn();
  edge_.input.arbiter.set_aside(site_.voq_index(kOutput, 0));
  flow_life_.on_congestion(edge_, edge_.input.ref.epoch, id, 9, 0);
  EXPECT_TRUE(flow.flags & kFlowLimited);
  limit(id, 5 * kMillisecond);
  flow.data_flow += 50;  // under way
  flow_life_.block(edge_, id, flow, kMillisecond);
  EXPECT_EQ(flow.state, FlowState::blocked);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_blocked), 1u);
  EXPECT_NE(flow.branch.flow, kNoFlow) << "it keeps its ID while something is under way";
  flow_life_.on_congestion(edge_, edge_.input.ref.epoch, id, 0, 0);
  EXPECT_FALSE(flow.flags & kFlowLimited);
  EXPECT_EQ(flow.state, FlowState::ready);
}

TEST_F(FlowLifeTest, ABlockedFlowIsLookedAtWhenItsTimeHasCome) {
  FlowId id;
  InputFlow& flow = placed(id);
  edge_.input.arbiter.begin_turn();
  edge_.input.arbiter.set_aside(site_.voq_index(kOutput, 0));
  limit(id, 5 * kMillisecond);
  flow_life_.block(edge_, id, flow, kMillisecond);
  EXPECT_EQ(flow.branch.flow, kNoFlow) << "others may need it meanwhile";
  EXPECT_TRUE(flow.flags & kFlowTimed);
  const Nanos release = edge_.input.limits[id].release_ns();
  flow_life_.run_releases(release - kMillisecond);
  EXPECT_EQ(flow.state, FlowState::blocked);
  flow_life_.run_releases(release + kMillisecond);
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_FALSE(flow.flags & kFlowTimed);
}

TEST_F(FlowLifeTest, OneThatWaitsForAnAcknowledgementHasNoTimer) {
  FlowId id;
  InputFlow& flow = placed(id);
  flow_life_.block(edge_, id, flow, kMillisecond);
  EXPECT_FALSE(flow.flags & kFlowTimed);
  EXPECT_EQ(releases_.next_due(), kNever);
  ack(id, 0);
  EXPECT_EQ(flow.state, FlowState::ready);
}

TEST_F(FlowLifeTest, CreditOfTheNextHopHoldsAFlow) {
  FlowId id;
  InputFlow& flow = placed(id);
  hand_on(id);
  queue(edge_, id);
  edge_.input.arbiter.begin_turn();
  edge_.input.arbiter.set_aside(site_.voq_index(kOutput, 0));
  flow_life_.on_credit(edge_, edge_.input.ref.epoch, id, true, kBytes, 0);
  EXPECT_TRUE(flow.flags & kFlowMetered);
  EXPECT_FALSE(flow_limits_.may_forward(edge_, id, flow, 1, 0));
  flow_life_.block(edge_, id, flow, 0);
  flow_life_.on_credit(edge_, edge_.input.ref.epoch, id, true, 2 * kBytes - 1, 0);
  EXPECT_EQ(flow.state, FlowState::blocked);
  flow_life_.on_credit(edge_, edge_.input.ref.epoch, id, true, 2 * kBytes, 0);
  EXPECT_EQ(flow.state, FlowState::ready);
  flow_life_.on_credit(edge_, edge_.input.ref.epoch, id, false, 0, 0);
  EXPECT_FALSE(flow.flags & kFlowMetered);
}

TEST_F(FlowLifeTest, WithoutAnIdCreditIsOldNews) {
  FlowId id;
  InputFlow& flow = begin(id);
  flow_life_.on_credit(edge_, edge_.input.ref.epoch, id, true, kBytes, 0);
  EXPECT_FALSE(flow.flags & kFlowMetered);
}

TEST_F(FlowLifeTest, WhoWaitedAtAnOutputThatIsDownIsPlacedAnew) {
  FlowId first, second;
  placed(first, kOther);
  placed(second, kOther);
  board_.publish_standing(kOther, LinkStanding::down);
  flow_life_.on_refuse(edge_, kOther, 0, 2);
  for (const FlowId id : {first, second}) EXPECT_FALSE(edge_.input.flows[id].in_use()) << "it has no way";
  EXPECT_EQ(edge_.input.ids[kOther].asked[0], 0u);
}

TEST_F(FlowLifeTest, AFlowThatIsHeldForATimeMovesAfterIt) {
  FlowId id;
  InputFlow& flow = begin(id);
  flow_life_.hold_for(edge_, id, 5 * kMillisecond);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pair_held), 1u);
  EXPECT_TRUE(flow.flags & kFlowPending);
  flow_life_.finish_if_empty(edge_, id, flow);
  EXPECT_TRUE(flow.in_use()) << "its timer comes back to it";
  queue(edge_, id);
  flow_life_.place(edge_, id);
  EXPECT_EQ(flow.state, FlowState::held);
  EXPECT_NE(timers_.next_due(), kNever);
  flow_life_.on_timer(edge_, id, 5 * kMillisecond);
  EXPECT_EQ(flow.state, FlowState::ready);
  EXPECT_FALSE(flow.flags & kFlowPending);
}

TEST_F(FlowLifeTest, AFlowThatIsHeldWithNothingToSendEndsWithItsTimer) {
  FlowId id;
  InputFlow& flow = begin(id);
  flow_life_.hold_for(edge_, id, 5 * kMillisecond);
  flow_life_.on_timer(edge_, id, 5 * kMillisecond);
  EXPECT_FALSE(flow.in_use());
}

TEST_F(FlowLifeTest, ItsEndWithItsSessionMakesAnOrphan) {
  FlowId id;
  InputFlow& flow = placed(id);
  hand_on(id);
  const FlowId output_id = flow.branch.flow;
  output_.output.flows[output_id].queued = 1;
  flow.flags |= kFlowTimed | kFlowLimited;
  flow_life_.end(edge_, flow);
  EXPECT_EQ(flow.flags, kFlowTimed);
  EXPECT_EQ(flow.state, FlowState::idle);
  EXPECT_EQ(flow.queued_packets, 0u);
  EXPECT_EQ(output_.output.flows[output_id].state, OutputFlowState::orphan);
  EXPECT_EQ(edge_.input.orphans, 1u);
  FlowId other;
  flow_life_.end(edge_, begin(other));
  EXPECT_EQ(edge_.input.orphans, 1u) << "one without an ID leaves none";
}

TEST_F(FlowLifeTest, WhatIsDroppedIsSettledAsLost) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  flow.next_data_flow += kBytes;
  fabric_.credits[kLossyChannel].received(1, false);
  flow_life_.drop_from_flow(fabric_, 9, packet(kBytes), DropReason::life_ended);
  EXPECT_EQ(flow.lost_total, kBytes);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(flow.flow_extent(), 0u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
}

TEST_F(FlowLifeTest, AStalePathIsLeftAtExtentZero) {
  FlowId busy, idle, here;
  for (const FlowId* id : {&busy, &idle}) {
    InputFlow& flow = begin(*const_cast<FlowId*>(id), kOther);
    flow.destination = {2, 0};
    want(*id, kOther);
    poke(edge_.input.ids[kOther].asked[0], 1);
    flow_ids_.granted(edge_, kOther, 0, FlowId::of(40 + *id));
    flow.flags = static_cast<uint16_t>(flow.flags & ~kFlowLeaving);
  }
  edge_.input.flows[busy].data_flow += 10;
  edge_.input.flows[busy].next_data_flow += 10;
  const InputFlow& local = placed(here);
  flow_life_.leave_stale_paths();
  EXPECT_TRUE(edge_.input.flows[busy].flags & kFlowLeaving);
  EXPECT_FALSE(edge_.input.flows[idle].in_use());
  EXPECT_FALSE(local.flags & kFlowLeaving) << "hosts of this node have one way";
  EXPECT_EQ(count_of(edge_, ProtocolEvent::routes_compiled), 1u);
}

TEST_F(FlowLifeTest, FramesThatWaitInTransitForAnIdDieToo) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOther}, kLossy, kNoMatch);
  for (int i = 0; i < 2; ++i) queue(fabric_, 9);
  fabric_.credits[kLossyChannel].received(2, false);
  flow.queue.head->dies_ns = 5 * kMillisecond;
  flow_life_.place(fabric_, 9);
  ASSERT_EQ(flow.state, FlowState::wanting);
  EXPECT_NE(flow_life_.next_wake(fabric_), kNever);
  EXPECT_EQ(flow_life_.next_wake(edge_), kNever);
  flow_life_.age_waiting(5 * kMillisecond - 1);
  EXPECT_EQ(flow.queued_packets, 2u);
  flow_life_.age_waiting(5 * kMillisecond);
  EXPECT_EQ(flow.queued_packets, 2u) << "it has just looked";
  flow_life_.age_waiting(6 * kMillisecond);
  EXPECT_EQ(flow.queued_packets, 1u);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(fabric_.input.ids[kOther].wanting.of(0, 0).head, 9) << "the rest waits on";
  flow_life_.age_waiting(kSecond);
  EXPECT_FALSE(flow.in_use());
  EXPECT_TRUE(fabric_.input.ids[kOther].wanting.empty());
  EXPECT_EQ(fabric_.input.wanting_outputs, 0u);
}

TEST_F(FlowLifeTest, TheLifeOfAHostsFrameHasNotBegunWhileItWaits) {
  FlowId id;
  const InputFlow& flow = placed(id, kOther);
  flow_life_.age_waiting(10 * kSecond);
  EXPECT_EQ(flow.queued_packets, 1u);
  EXPECT_EQ(flow.state, FlowState::wanting);
}

TEST_F(FlowLifeTest, FramesOfABlockedFlowDieInTransitToo) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  for (int i = 0; i < 2; ++i) queue(fabric_, 9);
  fabric_.credits[kLossyChannel].received(2, false);
  flow.queue.head->dies_ns = 5 * kMillisecond;
  const auto look = [&](Nanos now) {
    flow_life_.block(fabric_, 9, flow, 0);
    flow_life_.on_ack(fabric_, fabric_.input.ref.epoch, 9, 0, 0, false, now);
  };
  look(5 * kMillisecond);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(flow.state, FlowState::ready) << "the other one goes on";
  fabric_.input.arbiter.set_aside(site_.voq_index(kOutput, 0));
  look(kSecond);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 2u);
  EXPECT_FALSE(flow.in_use());
}

TEST_F(FlowLifeTest, AShortestPathIsKept) {
  bring_up();
  FlowId id;
  InputFlow& flow = begin(id);
  flow.destination = {2, 0};
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, kFabric, *packet(kBytes)));
  flow.next_data_flow += kBytes, flow.data_flow += kBytes;
  flow_life_.leave_stale_paths();
  EXPECT_FALSE(flow.flags & kFlowLeaving);
  EXPECT_TRUE(flow.in_use());
}

static_assert(!std::is_assignable_v<decltype(InputFlow::state)&, FlowState>, "a flow's state is FlowLife's");
static_assert(!std::is_assignable_v<decltype(InputFlow::congestion)&, uint8_t>, "its congestion is FlowLimits'");
static_assert(!std::is_assignable_v<decltype(OutputFlow::congestion)&, uint8_t>, "at its output it is Settlement's");

}  // namespace
}  // namespace heddle::test::flow_life_test
