// SPDX-License-Identifier: Apache-2.0
#include "node/credit_watch.h"

#include "component_fixture.h"

namespace heddle::test::credit_watch_test {
namespace {

class CreditWatchTest : public ComponentTest {
 protected:
  // An output flow of the fabric port with 1000 of its bytes under way.
  OutputFlow& under_way(FlowId& id) {
    OutputFlow& entry = reserve(fabric_, id);
    entry.data_flow = 1000;
    return entry;
  }
  static AckRecord granting(FlowId id, uint32_t limit) {
    return {.flow = id,
            .flags = HEDDLE_ACK_METERED,
            .severity = 0,
            .ack_flow = 0,
            .lost_total = 0,
            .credit_limit = limit,
            .asked_by = 0};
  }
  uint64_t asked() const { return count_of(fabric_, ProtocolEvent::flow_credit_asked); }

  CreditWatch watch_{site_, ports_, turn_, settlement_, prober_};
};

TEST_F(CreditWatchTest, ALimitIsToldToTheInputFlow) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  EXPECT_TRUE(watch_.hear(fabric_, granting(id, 5000), entry));
  EXPECT_TRUE(entry.flags & kOutputMetered);
  EXPECT_TRUE(entry.flags & kOutputCredit);
  EXPECT_EQ(entry.credit_limit, 5000u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id)});
}

TEST_F(CreditWatchTest, NobodyIsToldOfAnIdThatServesNobody) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  entry.input = edge_.input.ref;
  EXPECT_TRUE(watch_.hear(fabric_, granting(id, 5000), entry));
  EXPECT_TRUE(entry.flags & kOutputMetered);
  EXPECT_FALSE(entry.flags & kOutputCredit);
  EXPECT_TRUE(settlement_.empty());
}

TEST_F(CreditWatchTest, ALimitBehindWhatIsSettledCannotBe) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  AckRecord record = granting(id, 499);
  record.ack_flow = 500;
  EXPECT_FALSE(watch_.hear(fabric_, record, entry));
  record.credit_limit = 500;
  EXPECT_TRUE(watch_.hear(fabric_, record, entry));
  EXPECT_EQ(entry.credit_limit, 500u);
}

TEST_F(CreditWatchTest, OfAnIdAtRestItIsOldNews) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  entry.ack_flow = entry.data_flow;
  EXPECT_TRUE(watch_.hear(fabric_, granting(id, 5000), entry));
  EXPECT_FALSE(entry.flags & kOutputMetered) << "nothing is under way";
  entry.ack_flow = 0;
  entry.state = OutputFlowState::orphan;
  EXPECT_TRUE(watch_.hear(fabric_, granting(id, 5000), entry));
  EXPECT_FALSE(entry.flags & kOutputMetered) << "nobody uses it";
  EXPECT_TRUE(settlement_.empty());
  EXPECT_EQ(watch_.next_wake(), kNever);
}

TEST_F(CreditWatchTest, TheNextHopTakesAllAgain) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  AckRecord record = granting(id, 5000);
  watch_.hear(fabric_, record, entry);
  told();
  entry.flags = static_cast<uint16_t>(entry.flags & ~(kOutputDirty | kOutputCredit));
  entry.ack_flow = entry.data_flow;
  record.flags = 0;
  EXPECT_TRUE(watch_.hear(fabric_, record, entry)) << "also when nothing is under way any more";
  EXPECT_FALSE(entry.flags & kOutputMetered);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::meter_lifted), 1u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id)});
}

TEST_F(CreditWatchTest, WhereNothingWasGrantedNothingEnds) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  AckRecord record = granting(id, 0);
  record.flags = 0;
  EXPECT_TRUE(watch_.hear(fabric_, record, entry));
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::meter_lifted), 0u);
}

TEST_F(CreditWatchTest, WhoHasNoCreditAndHearsNothingAsks) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  EXPECT_EQ(watch_.next_wake(), kNever);
  watch_.hear(fabric_, granting(id, 1000), entry);
  const Nanos first = watch_.next_wake();
  EXPECT_EQ(first, turn_.now() + kMillisecond);
  watch_.look(first - 1);
  EXPECT_EQ(watch_.next_wake(), first) << "not yet";
  watch_.look(first);
  EXPECT_EQ(asked(), 0u) << "it has just been told";
  EXPECT_EQ(watch_.next_wake(), first + kMillisecond);
  watch_.look(first + kMillisecond);
  EXPECT_EQ(asked(), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::probe_sent), 1u);
  EXPECT_FALSE(watch_.looking());
}

TEST_F(CreditWatchTest, WhoHearsOrHasCreditOrNothingUnderWayDoesNotAsk) {
  FlowId id;
  OutputFlow& entry = under_way(id);
  watch_.hear(fabric_, granting(id, 1000), entry);
  Nanos now = kSecond;
  watch_.look(now);
  poke(entry.credit_limit, 1001);
  watch_.look(now += kMillisecond);
  EXPECT_EQ(asked(), 0u) << "it was told something since";
  poke(entry.credit_limit, 1000 + site_.frame_bytes);
  watch_.look(now += kMillisecond);
  watch_.look(now += kMillisecond);
  EXPECT_EQ(asked(), 0u) << "there is room for a frame";
  poke(entry.credit_limit, 1000 + site_.frame_bytes - 1);
  watch_.look(now += kMillisecond);
  entry.ack_flow = entry.data_flow;
  watch_.look(now += kMillisecond);
  EXPECT_EQ(asked(), 0u) << "nothing is under way";
  entry.ack_flow = 0;
  watch_.look(now += kMillisecond);
  EXPECT_EQ(asked(), 1u);
}

TEST_F(CreditWatchTest, WhatIsNotGrantedAnyMoreIsForgotten) {
  FlowId ended_id, lifted_id, freed_id;
  OutputFlow *ended = &under_way(ended_id), *lifted = &under_way(lifted_id), *freed = &under_way(freed_id);
  for (const FlowId id : {ended_id, lifted_id, freed_id})
    watch_.hear(fabric_, granting(id, 1000), fabric_.output.flows[id]);
  ended->flags |= kOutputEnded;
  lifted->flags = static_cast<uint16_t>(lifted->flags & ~kOutputMetered);
  freed->state = OutputFlowState::free;
  watch_.look(kSecond);
  for (const OutputFlow* entry : {ended, lifted, freed}) EXPECT_FALSE(entry->listed);
  EXPECT_EQ(watch_.next_wake(), kNever);
  EXPECT_EQ(asked(), 0u);
  watch_.hear(fabric_, granting(lifted_id, 1000), *lifted);
  EXPECT_TRUE(lifted->listed);
}

TEST_F(CreditWatchTest, ManyAreLookedAtInSeveralTurnsEachOnce) {
  constexpr uint32_t kFlows = 130, kPerTurn = 128;
  for (uint32_t i = 0; i < kFlows; ++i) {
    FlowId id;
    OutputFlow& entry = under_way(id);
    watch_.hear(fabric_, granting(id, 1000), entry);
    watch_.hear(fabric_, granting(id, 1000), entry);  // it is listed already
  }
  watch_.look(kSecond);
  EXPECT_TRUE(watch_.looking());
  watch_.look(kSecond);
  EXPECT_FALSE(watch_.looking());
  const Nanos next = watch_.next_wake();
  watch_.look(next);
  EXPECT_EQ(asked(), kPerTurn);
  watch_.look(next);
  EXPECT_EQ(asked(), kFlows);
  EXPECT_EQ(watch_.next_wake(), next + kMillisecond);
}

}  // namespace
}  // namespace heddle::test::credit_watch_test
