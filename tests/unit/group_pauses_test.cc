// SPDX-License-Identifier: Apache-2.0
#include "node/group_pauses.h"

#include "group_fixture.h"
#include "node/regrouping.h"

namespace heddle::test::group_pauses_test {
namespace {

class GroupPausesTest : public GroupTest {};

TEST_F(GroupPausesTest, ManyShortQueuesAreAGroupThatIsFull) {
  fill(most_ - 1);
  EXPECT_TRUE(told().empty());
  fill(3);
  const auto all = told();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].flow.fields, HEDDLE_FGFC_ANY_DESTINATION);
  EXPECT_EQ(all[0].flow.vlan, kTagged);
  EXPECT_EQ(all[0].flow.destination, 0u);
  EXPECT_EQ(all[0].credit, 0u);
  EXPECT_TRUE(told().empty()) << "once";
}

TEST_F(GroupPausesTest, OthersLeaveItLess) {
  const uint32_t mark = topology_.settings.input_drop_mark_packets;
  count_waiting(*port_, 0, mark / 8 + 1, kGroup);
  EXPECT_FALSE(groups_.is_full(*port_, kGroup, false));
  count_waiting(*port_, 0, mark / 8, 2);
  EXPECT_TRUE(groups_.is_full(*port_, kGroup, false)) << "of two each has a quarter of half the mark";
  EXPECT_FALSE(groups_.is_full(*port_, kGroup, true));
  EXPECT_FALSE(groups_.is_full(*port_, 3, false)) << "one that has nothing";
  EXPECT_FALSE(groups_.is_full(ports_.own(kEdge), kGroup, false)) << "a port of one group";
}

// A lone group has a third of what there is room for: half of the mark, at which a host of lossless ones is paused, and
// from which on one of several lossy classes is dropped.
TEST_F(GroupPausesTest, AGroupIsFullWellBeforeItsHostIsPausedOrItsClassDropped) {
  const uint32_t mark = topology_.settings.input_drop_mark_packets;
  for (const bool lossless : {true, false}) {
    uint32_t packets = 0;
    const Packet none{};
    while (packets < mark && !groups_.is_full(*port_, kGroup, lossless)) {
      port_->input.queues.joined(none, kGroup, lossless);
      ++packets;
    }
    EXPECT_EQ(packets, mark / 2 / 3 + 1) << lossless;
    EXPECT_EQ(groups_.queue_bytes(*port_, kGroup), 0u) << "these have no bytes";
    while (packets-- > 0) port_->input.queues.left(none, kGroup, lossless);
  }
}

// Whatever classes and groups have, who might be paused for it has been when its class is dropped (A8).
TEST_F(GroupPausesTest, BeforeItsClassIsDroppedAGroupIsFull) {
  const uint32_t mark = topology_.settings.input_drop_mark_packets;
  InputQueues& queues = port_->input.queues;
  const Packet own{};  // of class kLossy
  for (const uint32_t others : {0u, mark / 8, mark / 3}) {
    count_waiting(*port_, 0, others, 2);
    uint32_t packets = 0;
    while (queues.packets_of_class(kLossy) + queues.packets() < mark) {
      queues.joined(own, kGroup, false);
      ++packets;
    }
    EXPECT_TRUE(groups_.is_full(*port_, kGroup, false)) << others;
    while (packets-- > 0) queues.left(own, kGroup, false);
  }
}

TEST_F(GroupPausesTest, OfFramesThatWaitForAnIdTheSame) {
  uint32_t frames = 0;
  const auto full_at = [&](bool lossless) {
    for (; !groups_.is_full(*port_, kGroup, lossless) && frames < site_.waiting_max; ++frames)
      port_->input.waiting.push(kGroup, packet(100));
    return frames;
  };
  EXPECT_EQ(full_at(false), site_.waiting_max / 4 / 3 + 1);
  EXPECT_EQ(full_at(true), site_.waiting_max / 2 / 3 + 1);
  EXPECT_EQ(groups_.queue_bytes(*port_, kGroup), frames * site_.frame_bytes) << "they may be the largest";
  while (!port_->input.waiting.empty()) turn_.discard(port_->input.waiting.pop(kGroup));
}

TEST_F(GroupPausesTest, AllThatTheHostSendsOfItCountsAndNothingElse) {
  fill(most_ + 2);
  told();
  const uint32_t other_vlan = match_of(7000, kHost, 1), other_host = match_of(7001, kHost + 1), same = match_of(7002);
  for (const uint32_t match : {other_vlan, other_host, same}) groups_.sort(*port_, match);
  EXPECT_EQ(flags(other_vlan), kMatchUsed | kMatchNear);
  EXPECT_EQ(flags(other_host), kMatchUsed | kMatchNear);
  EXPECT_EQ(flags(same), kMatchUsed | kMatchOfGroup);
  EXPECT_FALSE(is_flagged(begin(other_vlan)));
  const FlowId id = begin(same);
  EXPECT_TRUE(is_flagged(id)) << "a flow of it that begins";
  const PausedGroup& group = port_->input.paused.groups.front();
  const uint32_t before = group.received;
  come(id);
  EXPECT_EQ(group.received, before + kFrame);
}

TEST_F(GroupPausesTest, AFlowThatWasThereIsFlaggedWithItsNextFrame) {
  const uint32_t match = match_of(7000);
  const FlowId id = begin(match);
  const uint32_t version = edge_.stations().version();
  fill(most_ + 2);
  EXPECT_NE(edge_.stations().version(), version) << "so that its next frame is looked at";
  EXPECT_FALSE(is_flagged(id));
  groups_.sort(*port_, match);
  EXPECT_TRUE(is_flagged(id));
}

TEST_F(GroupPausesTest, CreditComesAsTheGroupsQueueDrains) {
  const std::vector<FlowId> flows = fill(most_ + 2);
  EXPECT_EQ(credit(), 0u);
  const uint32_t step = most_ / 16 + 2;
  for (uint32_t i = 0; i < step; ++i) leave(flows[i]);
  EXPECT_TRUE(told().empty()) << "queues of groups are looked at from time to time";
  now_ += kMillisecond;
  const uint32_t first = credit();
  EXPECT_GE(first, (step - 2) * kFrame);
  EXPECT_LE(first, step * kFrame);
  const uint32_t match = match_of(next_port_++);
  groups_.sort(*port_, match);
  const FlowId id = begin(match);
  for (uint32_t i = 0; i < 2; ++i) come(id);  // of its credit
  for (uint32_t i = step; i < 2 * step; ++i) leave(flows[i]);
  now_ += kMillisecond;
  EXPECT_EQ(credit(), first + step * kFrame) << "what has come is no less credit";
}

TEST_F(GroupPausesTest, ItEndsWhenTheQueueHasBeenShortForAWhile) {
  const std::vector<FlowId> flows = fill(most_ + 2);
  told();
  for (const FlowId id : flows) groups_.sort(*port_, port_->input.flows[id].match);
  for (const FlowId id : flows) leave(id);
  now_ += kMillisecond;
  told();
  const Nanos timer = site_.settings.fgfc_timer_ns;
  now_ += timer / 2;
  told();
  now_ += timer / 2;
  const auto all = told();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().timer_ns, 0u) << "over";
  const FlowId id = flows.front();
  come(id);
  EXPECT_FALSE(is_flagged(id)) << "with its next frame";
  groups_.sort(*port_, port_->input.flows[id].match);
  EXPECT_EQ(flags(port_->input.flows[id].match), kMatchUsed);
  for (int ends = 0; ends < 3; ++ends) {
    now_ += kSecond / 100;
    told();
  }
  EXPECT_TRUE(port_->input.paused.groups.empty());
}

TEST_F(GroupPausesTest, HostsOfAGroupShareWhatItHasRoomFor) {
  announce(kHost + 1);
  fill(most_ / 2);
  const std::vector<FlowId> flows = fill(most_ / 2 + 3);
  fill(1, kHost + 1);
  EXPECT_EQ(told().size(), 2u);
  const uint32_t step = most_ / 8 + 4;
  for (uint32_t i = 0; i < step; ++i) leave(flows[i]);
  now_ += kMillisecond;
  const auto all = told();
  ASSERT_EQ(all.size(), 2u);
  for (const FgfcPause& pause : all) {
    EXPECT_GE(pause.credit, (step - 6) / 2 * kFrame);
    EXPECT_LE(pause.credit, step / 2 * kFrame);
  }
}

// Others may keep the group's queue as long as it may be.
TEST_F(GroupPausesTest, AHostOfWhichNothingComesIsToldOfAFewFrames) {
  fill(most_ + 2);
  EXPECT_EQ(credit(), 0u);
  now_ += site_.settings.fgfc_timer_ns / 4;
  EXPECT_EQ(credit(), 4 * site_.frame_bytes);
  const uint32_t match = match_of(next_port_++);
  groups_.sort(*port_, match);
  come(begin(match));
  now_ += site_.settings.fgfc_timer_ns / 4;
  EXPECT_EQ(credit(), 4 * site_.frame_bytes) << "something has come";
}

TEST_F(GroupPausesTest, WhatWaitsForFlowIdsFillsItToo) {
  const uint32_t match = match_of(next_port_++);
  for (uint32_t i = 0; i < site_.waiting_max / 4 / 3 + 2; ++i) port_->input.waiting.push(kGroup, packet(kFrame));
  pauses_.waits(*port_, match);
  EXPECT_EQ(told().size(), 1u);
  EXPECT_EQ(flags(match), kMatchUsed | kMatchOfGroup);
  while (!port_->input.waiting.empty()) turn_.discard(port_->input.waiting.pop(kGroup));
}

TEST_F(GroupPausesTest, AFlowWithAPauseOfItsOwnIsNotOfItsGroups) {
  const FlowId id = begin(match_of(7000));
  const uint32_t target = PauseMarks(topology_.classes[0].flow_queue_bytes).target;
  for (uint32_t bytes = 0; bytes <= target; bytes += kFrame) come(id);
  EXPECT_EQ(told().size(), 1u);
  fill(most_ - target / kFrame + 2);
  EXPECT_EQ(told().size(), 1u);
  groups_.sort(*port_, port_->input.flows[id].match);
  const uint32_t before = port_->input.paused.groups.front().received;
  come(id);
  EXPECT_EQ(port_->input.paused.groups.front().received, before);
}

TEST_F(GroupPausesTest, AnEntryIsNotMadeStaleMoreOftenThanThat) {
  fill(most_ + 2);
  const uint32_t version = edge_.stations().version();
  announce(kHost + 1);
  fill(1, kHost + 1);
  EXPECT_EQ(told().size(), 2u);
  EXPECT_EQ(edge_.stations().version(), version);
}

TEST_F(GroupPausesTest, OtherGroupsEndIt) {
  fill(most_ + 2);
  told();
  std::vector<Port*> ports(6);
  ports[kEdge] = port_.get();
  Ports own(ports);
  Regrouping(site_, own, edge_, pauses_).run();
  EXPECT_EQ(port_->input.paused.pauses[port_->input.paused.groups.front().pause].ended(), true);
  const auto all = told();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].timer_ns, 0u);
}

TEST_F(GroupPausesTest, NobodyIsToldOfAGroupThatDependsOnTheClass) {
  policy_.rules[0].ftag = kLossy;
  fill(most_ + 5);
  EXPECT_TRUE(told().empty());
}

TEST_F(GroupPausesTest, AHostThatKnowsNothingOfItIsNotTold) {
  fill(most_ + 5, kHost + 1);
  EXPECT_TRUE(told().empty());
}

}  // namespace
}  // namespace heddle::test::group_pauses_test
