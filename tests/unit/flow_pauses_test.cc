// SPDX-License-Identifier: Apache-2.0
#include "node/flow_pauses.h"

#include "group_fixture.h"
#include "packet_builder.h"

namespace heddle::test::flow_pauses_test {
namespace {

// Flow 1 of port 0 goes from station 1 to station 2, and its host obeys.
class FlowPausesTest : public ComponentTest {
 protected:
  static constexpr uint16_t kFrame = 1000;
  static constexpr uint64_t kHost = 0x020000000001;

  FlowPausesTest() {
    flow_ = &begin(id_);
    match_index_ = match_of(kHost);
    flow_->match = match_index_;
    edge_input_.matches()[flow_->match].flow = id_;
    announce(true);
  }
  // An entry of the match table, for a flow between these stations.
  uint32_t match_of(uint64_t host, uint16_t source_port = 4000) {
    struct Nobody {
      bool idle(uint32_t) const { return false; }
    };
    MatchKey key{};
    store_mac(key.macs, 0x020000000002);
    store_mac(key.macs + 6, host);
    key.vni = edge_.settings.vlans.native;
    key.l3 = 4;
    key.protocol = 17;
    key.source_port = big_endian(source_port);
    key.destination_port = big_endian(uint16_t{53});
    key.source_address[3] = 9;
    MatchTable& matches = edge_input_.matches();
    const uint32_t index = matches.add(key, matches.hash(key), Nobody{});
    matches[index].flags = kMatchUsed;
    return index;
  }
  bool announce(bool obeys) {
    Packet* frame = packet(64);
    write_fgfc_announcement(*frame, obeys, kHost);
    return flow_pauses_.hear(edge_, frame, now_);
  }
  MatchEntry& match() { return edge_input_.matches()[match_index_]; }
  void arrive() {
    match().bytes += kFrame;
    flow_->next_data_flow += kFrame;
    flow_pauses_.came(edge_, id_, *flow_, kFrame, now_);
  }
  // Frames of the flow come, as they do where it has a queue.
  void come(uint32_t frames) {
    for (; frames > 0; --frames) {
      Packet* fresh = packet(kFrame);
      fresh->input = edge_.input.ref.with(id_);
      arrive();
      flow_queues_.push(edge_, id_, *flow_, fresh, now_);
    }
  }
  void leave(uint32_t frames) {
    turn_.begin(now_);
    for (; frames > 0; --frames) {
      turn_.discard(flow_queues_.take(edge_, *flow_));
      flow_->data_flow += kFrame;
    }
  }
  uint32_t queued() const { return flow_->queued_packets; }
  // What the host is told in one turn.
  std::vector<FgfcPause> told() {
    flow_pauses_.run(edge_, now_);
    std::vector<FgfcPause> all;
    while (!edge_.output.control.empty()) {
      Packet* frame = edge_.output.control.pop();
      --edge_.output.control_packets;
      EXPECT_EQ(load_mac(frame->data), kHost);
      EXPECT_EQ(load_mac(frame->data + 6), edge_.mac);
      EXPECT_TRUE(read_fgfc_pause(frame->data, frame->length, all.emplace_back()));
      control_pool_.release(&frame, 1);
    }
    return all;
  }
  // The one thing that it is told.
  FgfcPause told_once() {
    const auto all = told();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? FgfcPause{} : all.front();
  }
  bool paused() const { return flow_->flags & kFlowPaused; }

  FlowId id_;
  InputFlow* flow_;
  uint32_t match_index_;
  Nanos now_ = kSecond;
  const Nanos calm_ns_ = topology_.settings.fgfc_timer_ns / 4;
  const PauseMarks marks_{topology_.classes[0].flow_queue_bytes};
  const uint32_t target_ = marks_.target / kFrame, step_ = (marks_.step + kFrame - 1) / kFrame;
};

TEST_F(FlowPausesTest, AHostIsToldWhoseFlowHasALongQueue) {
  come(target_);
  EXPECT_TRUE(told().empty());
  EXPECT_EQ(flow_pauses_.next_wake(edge_), kNever);
  come(1);
  EXPECT_EQ(flow_pauses_.next_wake(edge_), 0u);
  const FgfcPause pause = told_once();
  EXPECT_EQ(pause.credit, 0u);
  EXPECT_EQ(pause.timer_ns, site_.settings.fgfc_timer_ns);
  EXPECT_TRUE(pause.by == (FabricAddress{site_.address, kEdge}));
  EXPECT_EQ(pause.flow.fields, HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS);
  EXPECT_EQ(pause.flow.vlan, 0u) << "untagged, as the host sends it";
  EXPECT_EQ(pause.flow.destination, 0x020000000002u);
  EXPECT_EQ(pause.flow.protocol, 17u);
  EXPECT_EQ(pause.flow.source_port, 4000u);
  EXPECT_EQ(pause.flow.destination_port, 53u);
  EXPECT_EQ(pause.flow.source_address[3], 9u);
  EXPECT_TRUE(told().empty()) << "once";
}

// Else it would get no credit for what is delivered without a flow.
TEST_F(FlowPausesTest, AllFramesOfItTakeTheOrdinaryWay) {
  match().flags = kMatchUsed | kMatchNear;
  come(target_ + 1);
  EXPECT_EQ(match().flags, kMatchUsed | kMatchPaused);
}

TEST_F(FlowPausesTest, NoneWhoHasNotSaidThatItObeys) {
  announce(false);
  come(target_ + 1);
  EXPECT_FALSE(paused());
  announce(true);
  come(1);
  EXPECT_TRUE(paused());
  flow_->flags = kFlowInUse;
  flow_->match = match_of(0x020000000007);
  come(1);
  EXPECT_FALSE(paused()) << "another station of the port";
}

TEST_F(FlowPausesTest, ItMaySendWhatKeepsTheQueueAtItsTarget) {
  come(target_ + 1);
  told();
  leave(1);
  EXPECT_TRUE(told().empty()) << "not for a frame's worth";
  leave(step_);
  const FgfcPause more = told_once();
  EXPECT_EQ(more.credit, marks_.target - queued() * kFrame);
  EXPECT_EQ(more.number, 1u);
  come(static_cast<uint32_t>(more.credit / kFrame));
  leave(step_);
  const FgfcPause again = told_once();
  EXPECT_EQ(again.credit, more.credit / kFrame * kFrame + marks_.target - queued() * kFrame) << "in all";
}

// What was on the wire when the host heard of the pause is in none of its counts.
TEST_F(FlowPausesTest, WhatComesBeyondCreditMakesItNoGreater) {
  come(target_ + 1);
  told();
  come(10);
  leave(10);
  EXPECT_TRUE(told().empty());
  leave(1 + step_);
  EXPECT_EQ(told_once().credit, marks_.target - queued() * kFrame);
}

TEST_F(FlowPausesTest, ItIsOverWhenTheQueueHasBeenShortForAWhile) {
  come(target_ + 1);
  told();
  const uint32_t low = marks_.low / kFrame;
  leave(queued() - low - 1);
  told();
  leave(1);  // calm begins
  now_ += calm_ns_ - 1;
  told();
  EXPECT_TRUE(paused());
  now_ += 1;
  std::vector<FgfcPause> over = told();
  ASSERT_EQ(over.size(), 1u);
  EXPECT_FALSE(paused());
  EXPECT_TRUE(match().flags & kMatchPaused) << "as long as it is told";
  for (int times = 0; times < 2; ++times) {
    EXPECT_EQ(over.front().timer_ns, 0u);
    EXPECT_EQ(over.front().number, 1u);
    EXPECT_TRUE(told().empty());
    now_ += PausedFlows::kEndAgainNs;
    over = told();
    ASSERT_EQ(over.size(), 1u);
  }
  now_ += kSecond;
  EXPECT_TRUE(told().empty()) << "three times";
  EXPECT_FALSE(match().flags & kMatchPaused);
  EXPECT_EQ(flow_pauses_.next_wake(edge_), kNever);
}

TEST_F(FlowPausesTest, NotWhenItHasGrownAgain) {
  come(target_ + 1);
  told();
  leave(queued() - 1);
  come(marks_.low / kFrame + 1);
  now_ += calm_ns_;
  told();
  EXPECT_TRUE(paused());
}

// Credit goes on where frames pass by the queue, and where their flow has gone and another one has come.
TEST_F(FlowPausesTest, APauseOutlivesTheFlow) {
  come(target_ + 1);
  told();
  leave(queued());
  const uint64_t before = told_once().credit;
  EXPECT_EQ(before, marks_.target);
  flow_->flags = 0;  // it has come to its end
  FlowId next;
  InputFlow& flow = begin(next);
  flow.match = match_index_;
  match().flow = next;
  flow_pauses_.resume(edge_, next, flow);
  EXPECT_TRUE(flow.flags & kFlowPaused);
  for (uint32_t frames = 0; frames < step_; ++frames) {
    match().bytes += kFrame;
    flow.next_data_flow += kFrame;
    flow_pauses_.came(edge_, next, flow, kFrame, now_);
    flow_pauses_.left(edge_, next, flow, 0);
    flow.data_flow += kFrame;
  }
  EXPECT_EQ(told_once().credit, before + step_ * kFrame);
}

TEST_F(FlowPausesTest, SoManyArePausedAtATime) {
  for (uint32_t more = 0; more < PausedFlows::kMost; ++more) EXPECT_NE(edge_.input.paused.take(), kNoPause);
  come(target_ + 1);
  EXPECT_FALSE(paused());
  edge_.input.paused.put(7);
  come(1);
  EXPECT_TRUE(paused());
}

// What waits for a flow ID has come and is in no queue.
TEST_F(FlowPausesTest, NoCreditWhileFramesWaitForAFlowId) {
  come(target_ + 1);
  told();
  match().waiting = 1;
  leave(queued());
  EXPECT_TRUE(told().empty());
  match().waiting = 0;
  now_ += site_.settings.fgfc_timer_ns / 4 - 1;
  EXPECT_TRUE(told().empty()) << "nothing has happened";
}

TEST_F(FlowPausesTest, WhatWasToldIsToldAgain) {
  come(target_ + 1);
  told();
  const Nanos again = site_.settings.fgfc_timer_ns / 4;
  EXPECT_EQ(flow_pauses_.next_wake(edge_), now_ + again);
  for (int times = 0; times < 3; ++times) {
    now_ += again - 1;
    EXPECT_TRUE(told().empty());
    now_ += 1;
    EXPECT_EQ(told_once().credit, 0u);
  }
}

TEST_F(FlowPausesTest, WithoutAPacketItIsToldALittleLater) {
  come(target_ + 1);
  control_pool_.empty = true;
  EXPECT_TRUE(told().empty());
  const Nanos later = flow_pauses_.next_wake(edge_);
  EXPECT_GT(later, now_);
  EXPECT_LT(later, now_ + kMillisecond);
  control_pool_.empty = false;
  now_ = later;
  EXPECT_EQ(told().size(), 1u);
}

// The one before has ended, and its host has been told so once of three times.
TEST_F(FlowPausesTest, ThenAnotherOneHasAnotherNumberAndIsNotEndedByTheOneBefore) {
  come(target_ + 1);
  told();
  leave(queued());
  now_ += calm_ns_;
  EXPECT_EQ(told_once().timer_ns, 0u);
  come(target_ + 1);
  const FgfcPause second = told_once();
  EXPECT_EQ(second.number, 2u);
  EXPECT_EQ(second.credit, 0u);
  EXPECT_NE(second.timer_ns, 0u);
  now_ += PausedFlows::kEndAgainNs;
  EXPECT_TRUE(told().empty());
  EXPECT_TRUE(paused());
}

// A queue that is short now and then, as that of a flow that is sent at its rate, is not short for a while.
TEST_F(FlowPausesTest, CalmIsWithoutABreak) {
  come(target_ + 1);
  told();
  leave(queued() - 1);
  now_ += calm_ns_ - 2;
  come(marks_.low / kFrame + 1);
  leave(1);
  now_ += 1;
  leave(queued() - 1);
  now_ += 1;
  told();
  EXPECT_TRUE(paused());
  now_ += calm_ns_;
  told();
  EXPECT_FALSE(paused());
}

TEST_F(FlowPausesTest, ANumberIsNeverNone) {
  edge_.input.paused.number = ~0u;
  come(target_ + 1);
  EXPECT_EQ(told_once().number, 1u);
}

// Its queue says nothing of what the host sends now.
TEST_F(FlowPausesTest, AFlowWhoseStationHasMovedGivesNoCredit) {
  come(target_ + 1);
  told();
  flow_->match = kNoMatch;
  leave(queued());
  EXPECT_TRUE(told().empty());
}

TEST_F(FlowPausesTest, AHostThatGoesOnIsNotBelievedTheThirdTime) {
  const uint64_t under_way = 10'000'000'000 / 8 / 50 + 128 * 1024;  // 20 ms at an unknown rate, and its queues
  come(target_ + 1);
  told();
  const auto pass_by = [this](uint64_t frames) {
    for (; frames > 0; --frames) {
      arrive();
      flow_->data_flow += kFrame;
    }
  };
  for (uint64_t strike = 1; strike <= 3; ++strike) {
    EXPECT_EQ(count_of(edge_, ProtocolEvent::fgfc_disobeyed), 0u);
    pass_by(under_way / kFrame);
    EXPECT_EQ(count_of(edge_, ProtocolEvent::fgfc_overrun), strike - 1);
    pass_by(1);
    EXPECT_EQ(count_of(edge_, ProtocolEvent::fgfc_overrun), strike);
  }
  EXPECT_EQ(count_of(edge_, ProtocolEvent::fgfc_disobeyed), 1u);
  NodeEvent event;
  ASSERT_TRUE(events_.take(event));
  EXPECT_EQ(event.kind, NodeEventKind::host_disobeys);
  EXPECT_EQ(event.port, kEdge);
  EXPECT_EQ(event.station, kHost);
  now_ += site_.settings.fgfc_timer_ns / 4;
  EXPECT_TRUE(told().empty()) << "as if it had never said so";
  EXPECT_FALSE(paused());
  now_ += ObeyingHosts::kForgivenNs;
  announce(true);
  come(1);
  EXPECT_TRUE(paused()) << "until it is forgiven";
}

TEST_F(FlowPausesTest, SoManyAreToldInATurn) {
  for (uint16_t more = 0; more < 6; ++more) {
    FlowId id;
    InputFlow& flow = begin(id);
    flow.match = match_of(kHost, static_cast<uint16_t>(5000 + more));
    edge_input_.matches()[flow.match].flow = id;
    edge_input_.matches()[flow.match].bytes += marks_.target + 1;
    flow.next_data_flow += marks_.target + 1;
    flow_pauses_.came(edge_, id, flow, kFrame, now_);
  }
  std::vector<uint16_t> ports;
  for (const size_t expected : {4, 2, 0}) {
    const auto told_now = told();
    EXPECT_EQ(told_now.size(), expected);
    for (const FgfcPause& pause : told_now) ports.push_back(pause.flow.source_port);
  }
  EXPECT_EQ(ports, (std::vector<uint16_t>{5000, 5001, 5002, 5003, 5004, 5005})) << "in turn";
}

TEST_F(FlowPausesTest, OnlyAnnouncementsAreHeard) {
  EXPECT_EQ(count_of(edge_, ProtocolEvent::host_announced), 1u);
  EXPECT_EQ(edge_.counters.consumed_frames, 1u);
  turn_.flush();
  EXPECT_EQ(pool_.out(), 0) << "it ends here";
  Packet* frame = packet(kFgfcPauseBytes);
  write_fgfc_pause(*frame, {}, kHost, kHost);
  EXPECT_FALSE(flow_pauses_.hear(edge_, frame, now_));
  EXPECT_FALSE(gone(frame));
}

// --- of groups ---

class PausesOfGroupsTest : public GroupTest {
 protected:
  uint64_t paused() const { return count_of(*port_, ProtocolEvent::fgfc_group_paused); }
};

TEST_F(PausesOfGroupsTest, AGroupThatIsFullIsPausedOnce) {
  fill(most_ + 2);
  EXPECT_EQ(paused(), 1u);
  fill(8);
  EXPECT_EQ(paused(), 1u);
  EXPECT_EQ(told().size(), 1u);
}

TEST_F(PausesOfGroupsTest, OfAHostThatDoesNotObeyItIsNot) {
  fill(most_ + 2, kHost + 1);
  EXPECT_EQ(paused(), 0u);
  EXPECT_TRUE(told().empty());
}

TEST_F(PausesOfGroupsTest, FramesThatWaitForAFlowIdFillItToo) {
  const uint32_t match = match_of(7000);
  pauses_.waits(*port_, match);
  EXPECT_EQ(paused(), 0u) << "it is not full";
  count_waiting(*port_, 0, most_ + 1, kGroup);
  pauses_.waits(*port_, match);
  EXPECT_EQ(paused(), 1u);
}

TEST_F(PausesOfGroupsTest, ItsFlowsStayFlagged) {
  fill(most_ + 2);
  const FlowId id = begin(match_of(7000));
  groups_.sort(*port_, port_->input.flows[id].match);
  for (int frames = 0; frames < 3; ++frames) {
    come(id);
    EXPECT_TRUE(is_flagged(id));
  }
  EXPECT_EQ(port_->input.paused.groups.front().received, 3u * kFrame);
}

// Else the host counts what it sends and the switch does not: it would get less and less credit.
TEST_F(PausesOfGroupsTest, AFlowThatWasThereIsOfItWithTheFirstFrameThatWaits) {
  const FlowId id = begin(match_of(7000));
  const FlowId other = begin(match_of(7001, kHost, 1));
  fill(most_ + 2);
  EXPECT_FALSE(is_flagged(id));
  for (const FlowId flow : {id, other}) come(flow);
  EXPECT_TRUE(is_flagged(id));
  EXPECT_FALSE(is_flagged(other));
  EXPECT_EQ(port_->input.paused.groups.front().received, uint32_t{kFrame});
}

// The match knows of the group from before.
TEST_F(PausesOfGroupsTest, NorIsAFlowForgottenWhoseGroupIsPausedAgain) {
  const FlowId id = begin(match_of(7000));
  const std::vector<FlowId> flows = fill(most_ + 2);
  come(id);
  ASSERT_TRUE(is_flagged(id));
  for (const FlowId flow : flows) leave(flow);
  port_->input.paused.pauses[port_->input.paused.groups.front().pause].end();
  come(id);
  ASSERT_FALSE(is_flagged(id)) << "its pause is over";
  fill(most_ + 2);
  ASSERT_EQ(paused(), 2u);
  const uint32_t before = port_->input.paused.groups.front().received;
  come(id);
  EXPECT_TRUE(is_flagged(id));
  EXPECT_EQ(port_->input.paused.groups.front().received, before + kFrame);
}

// As often as entries may be made stale.
TEST_F(PausesOfGroupsTest, ThoseThatDoNotWaitAreLookedAtALittleLaterThanOfTheFirstGroup) {
  fill(most_ + 2);
  told();
  const uint32_t version = edge_.stations().version();
  announce(kHost + 1);
  fill(1, kHost + 1);
  told();
  EXPECT_EQ(paused(), 2u);
  EXPECT_EQ(edge_.stations().version(), version);
  for (int turn = 0; turn < 3; ++turn) {
    now_ += kMillisecond;
    told();
  }
  EXPECT_EQ(edge_.stations().version(), version + 1) << "once";
}

}  // namespace
}  // namespace heddle::test::flow_pauses_test
