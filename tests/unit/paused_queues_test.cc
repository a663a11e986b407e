// SPDX-License-Identifier: Apache-2.0
#include "node/paused_queues.h"

#include "component_fixture.h"
#include "wire/fgfc.h"

namespace heddle::test::paused_queues_test {
namespace {

// A port with a pause of a match, and one of a group that the match is not of.
class PausedQueuesTest : public ComponentTest {
 protected:
  static constexpr uint64_t kHost = 0x020000000001, kOtherHost = 0x020000000002;
  static constexpr uint32_t kBytes = 5000;  // that have come of the match

  PausedQueuesTest() {
    struct Nobody {
      bool idle(uint32_t) const { return false; }
    };
    MatchKey key{};
    store_mac(key.macs, 0x020000000100);
    store_mac(key.macs + 6, kHost);
    key.vni = kTagged;
    key.l3 = 4;
    MatchTable& matches = input_.matches();
    index_ = matches.add(key, matches.hash(key), Nobody{});
    match().flags = kMatchUsed;
    match().ftag = kLossy;
    match().bytes = kBytes;
    of_match_ = begin();
    of_group_ = begin();
    paused_.groups.push_back({.host = kOtherHost,
                              .flow = {.fields = HEDDLE_FGFC_ANY_DESTINATION, .vlan = 9},
                              .group = kGroup,
                              .pause = of_group_,
                              .target = 800,
                              .received = 300});
  }
  MatchEntry& match() { return input_.matches()[index_]; }
  PauseId begin() {
    const PauseId id = paused_.take();
    paused_.pauses[id].begin(1, index_, 0, 0);
    return id;
  }
  // The match has a flow, with so many bytes in its queue.
  InputFlow& flow(uint32_t bytes) {
    match().flow = port_.input.flows.take();
    InputFlow& flow = port_.input.flows[match().flow];
    flow.begin({1, kOutput}, kLossy, index_);
    flow.next_data_flow = bytes;
    return flow;
  }
  uint32_t target() const { return site_.classes.of(kLossy).flow_queue_bytes / 2; }

  static constexpr uint8_t kGroup = 0;  // that a port has which knows of no applications
  Port& port_ = edge_;
  EdgeInput input_{topology_, ApplicationPolicy{}, 2000, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource()};
  GroupPauses groups_{site_, input_};
  PausedQueues queues_{site_, input_, groups_};
  PausedFlows& paused_ = port_.input.paused;
  uint32_t index_ = 0;
  PauseId of_match_ = kNoPause, of_group_ = kNoPause;
};

TEST_F(PausedQueuesTest, AFlowIsTheOneThatItsMatchHasNow) {
  EXPECT_EQ(queues_.flow_of(port_, paused_.pauses[of_match_]), nullptr);
  EXPECT_EQ(queues_.bytes(port_, of_match_), 0u) << "it is not there, so nothing of it waits";
  InputFlow& now = flow(700);
  EXPECT_EQ(queues_.flow_of(port_, paused_.pauses[of_match_]), &now);
  EXPECT_EQ(queues_.bytes(port_, of_match_), 700u);
  now.match = kNoMatch;
  EXPECT_EQ(queues_.flow_of(port_, paused_.pauses[of_match_]), nullptr) << "its station has moved";
}

TEST_F(PausedQueuesTest, WhatHasComeIsTheMatchsOrTheGroups) {
  EXPECT_EQ(queues_.received(port_, of_match_), kBytes);
  EXPECT_EQ(queues_.received(port_, of_group_), 300u);
}

TEST_F(PausedQueuesTest, WhatWaitsOfAGroupIsAllOfIt) {
  flow(700);
  EXPECT_EQ(queues_.bytes(port_, of_group_), 0u);
  Packet frame{};
  frame.payload = 100;
  port_.input.queues.joined(frame, kGroup, false);
  EXPECT_EQ(queues_.bytes(port_, of_group_), 100u);
  EXPECT_EQ(queues_.bytes(port_, of_match_), 700u);
}

TEST_F(PausedQueuesTest, TheHostIsTheOneThatSends) {
  EXPECT_EQ(queues_.host(port_, of_match_), kHost);
  EXPECT_EQ(queues_.host(port_, of_group_), kOtherHost);
}

TEST_F(PausedQueuesTest, TheHostHearsWhatTheFramesHaveInCommon) {
  const FgfcFlow flow = queues_.described(port_, of_match_);
  EXPECT_EQ(flow.fields, fgfc_fields(site_.classes.of(kLossy).match));
  EXPECT_EQ(flow.vlan, kTagged);
  EXPECT_EQ(flow.destination, 0x020000000100u);
  const FgfcFlow group = queues_.described(port_, of_group_);
  EXPECT_EQ(group.fields, HEDDLE_FGFC_ANY_DESTINATION);
  EXPECT_EQ(group.vlan, 9);
}

TEST_F(PausedQueuesTest, MarksAreThoseOfTheClassOrOfTheGroup) {
  EXPECT_EQ(queues_.marks(port_, of_match_).target, target());
  EXPECT_EQ(queues_.marks(port_, of_group_).target, 800u);
}

// The pauses begin at position 0: what is gone and the target beyond it are all news.
TEST_F(PausedQueuesTest, CreditIsWhatTheQueueHasRoomFor) {
  EXPECT_EQ(queues_.unknown_credit(port_, of_match_, 700), kBytes - 700 + target());
  EXPECT_EQ(queues_.unknown_credit(port_, of_group_, 100), 300 - 100 + 800u);
}

TEST_F(PausedQueuesTest, WhileFramesWaitForAFlowIdThereIsNone) {
  match().waiting = 1;
  EXPECT_EQ(queues_.unknown_credit(port_, of_match_, 0), 0u);
  EXPECT_NE(queues_.unknown_credit(port_, of_group_, 0), 0u) << "a group's count in its queue";
}

TEST_F(PausedQueuesTest, SeveralPausesOfAGroupShareItsCredit) {
  const PauseId second = begin();
  PausedGroup other = paused_.groups.front();
  other.pause = second;
  other.host = kHost;
  paused_.groups.push_back(other);
  ASSERT_EQ(groups_.sharers(port_, paused_.groups.front()), 2u);
  EXPECT_EQ(queues_.unknown_credit(port_, of_group_, 100), (300 - 100 + 800u) / 2);
}

}  // namespace
}  // namespace heddle::test::paused_queues_test
