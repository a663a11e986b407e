// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::prober_test {
namespace {

class ProberTest : public ComponentTest {
 protected:
  // Bytes of flow `id` are under way.
  OutputFlow& under_way(FlowId id, uint8_t ftag = kLossy) {
    OutputFlow& entry = fabric_.output.flows[id];
    entry.data_flow = 700;
    entry.ftag = ftag;
    return entry;
  }
  void arm(FlowId id) {
    OutputFlow& entry = fabric_.output.flows[id];
    entry.probe_mark = entry.ack_flow;
    entry.due_ns = base_;
    prober_.set(kFabric, id, 0);
  }
  uint64_t probes() const { return count_of(fabric_, ProtocolEvent::probe_sent); }
  void run_timers(Nanos now) {
    timers_.advance(
        now, [](Port&, FlowId) { ADD_FAILURE() << "no input has a timer"; },
        [&](Port& port, FlowId id) { prober_.on_timer(port, id, now); });
  }

  const Nanos base_ = site_.settings.probe_base_ns;
};

TEST_F(ProberTest, AProbeIsSentWhenNothingWasHeardAndLessOftenThen) {
  OutputFlow& entry = under_way(5);
  arm(5);
  EXPECT_TRUE(entry.flags & kOutputTimed);
  run_timers(base_ - kMillisecond);
  EXPECT_EQ(probes(), 0u) << "too early";
  Nanos now = base_;
  for (const uint32_t backoff : {1, 2, 3, 3}) {
    run_timers(now + kMillisecond);
    EXPECT_EQ(entry.backoff, backoff);
    EXPECT_EQ(entry.due_ns, now + kMillisecond + (base_ << backoff));
    now = entry.due_ns;
  }
  EXPECT_EQ(probes(), 4u);
  entry.ack_flow = 100;
  run_timers(now + kMillisecond);
  EXPECT_EQ(entry.backoff, 0u) << "something was heard";
  EXPECT_EQ(probes(), 4u);
  EXPECT_EQ(entry.due_ns, now + kMillisecond + base_);
  run_timers(entry.due_ns + kMillisecond);
  EXPECT_EQ(probes(), 5u) << "and nothing since";
}

TEST_F(ProberTest, ATimerThatComesTooEarlyIsSetAgain) {
  OutputFlow& entry = under_way(5);
  arm(5);
  entry.due_ns = 3 * base_;  // it has been put off
  run_timers(base_ + kMillisecond);
  EXPECT_EQ(probes(), 0u);
  EXPECT_TRUE(entry.flags & kOutputTimed);
  run_timers(3 * base_ + kMillisecond);
  EXPECT_EQ(probes(), 1u);
}

// A path that has ended is settled before its time, and the ID is another flow's: that is asked for in its own time.
TEST_F(ProberTest, NoTimerIsFartherAwayThanOneOfAFreshFlow) {
  OutputFlow& entry = under_way(5);
  entry.due_ns = 40 * base_;
  prober_.set(kFabric, 5, 0);
  entry.due_ns = 2 * base_;
  run_timers(base_ + kMillisecond);
  EXPECT_EQ(probes(), 0u);
  run_timers(2 * base_ + 2 * kMillisecond);
  EXPECT_EQ(probes(), 1u);
}

TEST_F(ProberTest, WithNothingUnderWayTheTimerEnds) {
  OutputFlow& entry = under_way(5);
  arm(5);
  entry.ack_flow = entry.data_flow;
  run_timers(base_ + kMillisecond);
  EXPECT_EQ(probes(), 0u);
  EXPECT_FALSE(entry.flags & kOutputTimed);
  EXPECT_EQ(timers_.next_due(), kNever);
}

TEST_F(ProberTest, WhatAnEndedSessionHasLeftIsLost) {
  OutputFlow& entry = under_way(5);
  entry.ack_flow = 100;
  entry.flags |= kOutputEnded;
  arm(5);
  run_timers(base_ + kMillisecond);
  EXPECT_EQ(entry.pending_ack, 600u);
  EXPECT_EQ(entry.pending_lost, 600u);
  EXPECT_EQ(entry.extent(), 0u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::settled_by_end), 1u);
  EXPECT_EQ(probes(), 0u) << "nothing more will be heard";
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, 5)});
  EXPECT_EQ(timers_.next_due(), kNever);
}

TEST_F(ProberTest, AProbeSaysWhatHasBeenSent) {
  under_way(5);
  under_way(6).data_flow = 900;
  prober_.probe(fabric_, 5);
  prober_.probe(fabric_, 6);
  EXPECT_TRUE(fabric_.output.control.empty()) << "the frame is open";
  prober_.send(fabric_);
  EXPECT_EQ(fabric_.output.probes, nullptr);
  const LinkFrame frame = next_records(fabric_);
  const auto records = probe_records(frame);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].flow, 5);
  EXPECT_EQ(records[0].data_flow, 700u);
  EXPECT_EQ(records[1].flow, 6);
  EXPECT_EQ(records[1].data_flow, 900u);
  prober_.send(fabric_);
  EXPECT_TRUE(fabric_.output.control.empty()) << "it has gone";
}

TEST_F(ProberTest, AFullFrameMakesRoomForTheNext) {
  for (FlowId id = 1; id <= HEDDLE_PROBE_RECORDS_MAX + 1; ++id) {
    under_way(id);
    prober_.probe(fabric_, id);
  }
  EXPECT_EQ(probes(), HEDDLE_PROBE_RECORDS_MAX + 1u);
  EXPECT_EQ(fabric_.output.control_packets, 1u);
  prober_.send(fabric_);
  EXPECT_EQ(probe_records(next_records(fabric_)).size(), uint32_t{HEDDLE_PROBE_RECORDS_MAX});
  EXPECT_EQ(probe_records(next_records(fabric_)).size(), 1u);
}

TEST_F(ProberTest, WithoutAPacketTheNextTimerAsks) {
  under_way(5);
  control_pool_.empty = true;
  arm(5);
  run_timers(base_ + kMillisecond);
  EXPECT_EQ(probes(), 0u);
  control_pool_.empty = false;
  run_timers(fabric_.output.flows[5].due_ns + kMillisecond);
  EXPECT_EQ(probes(), 1u);
}

TEST_F(ProberTest, AProbeOfAFlowInTheRetryChannelStaysBehindItsFrames) {
  fabric_.retry.begin_session(40, 40);
  fabric_.retry.next_sequence();
  Packet* kept = packet(100, kWithRetry);
  fabric_.retry.keep(kept, 0);
  under_way(5, kWithRetry);
  under_way(6, kLossless);
  prober_.probe(fabric_, 5);
  prober_.probe(fabric_, 6);
  EXPECT_EQ(fabric_.output.probes_after, 41u);
  prober_.send(fabric_);
  EXPECT_EQ(probe_records(next_records(fabric_))[0].flow, 6) << "not of that channel";
  EXPECT_TRUE(fabric_.output.control.empty());
  for (FlowId id = 7; id <= 7 + HEDDLE_PROBE_RECORDS_MAX; ++id) {
    under_way(id, kWithRetry);
    prober_.probe(fabric_, id);
  }
  EXPECT_EQ(probes(), 2u + HEDDLE_PROBE_RECORDS_MAX - 1) << "the frame is full and may not go yet";
  PacketQueue released;
  fabric_.retry.apply({.flags = 0, .round = 0, .sequence = 41}, released, 0);
  prober_.send(fabric_);
  EXPECT_EQ(probe_records(next_records(fabric_)).size(), uint32_t{HEDDLE_PROBE_RECORDS_MAX});
  EXPECT_EQ(fabric_.output.probes_in_turn, nullptr);
}

}  // namespace
}  // namespace heddle::test::prober_test
