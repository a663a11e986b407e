// SPDX-License-Identifier: Apache-2.0
#include "node/ended_paths.h"

#include "flow_fixture.h"

namespace heddle::test::ended_paths_test {
namespace {

// A flow with 300 bytes under way on the link to the other node, which has called the link up in record 5.
class EndedPathsTest : public FlowTest {
 protected:
  static constexpr uint16_t kNeighbour = 1;  // index of that node, whose port is 4 as ours
  static constexpr PortSet kItsPort = PortSet{1} << kFabric;

  EndedPathsTest() {
    bring_up();
    OutputFlow& entry = reserve(fabric_, id_);
    entry.data_flow = entry.ack_flow + 300;
    ended_paths_.heard(fabric_, 5);
  }
  OutputFlow& entry_of(FlowId id) { return fabric_.output.flows[id]; }
  const OutputFlow& entry() const { return fabric_.output.flows[id_]; }
  void hears(uint32_t sequence, PortSet up, PortSet settled) {
    link_state_.apply(kNeighbour, {sequence, up, settled});
    ended_paths_.look();
  }
  bool settled() const { return entry().extent() == 0; }
  FlowId id_;
};

TEST_F(EndedPathsTest, AFlowWaitsForOneLife) {
  ended_paths_.session_ended(fabric_, turn_.now());
  EXPECT_TRUE(entry().flags & kOutputEnded);
  EXPECT_EQ(entry().due_ns, turn_.now() + dead_after_ns(topology_.classes[0].life_ns));
  EXPECT_TRUE(entry().flags & kOutputTimed);
  EXPECT_FALSE(settled());
}

TEST_F(EndedPathsTest, NoLongerOnceTheNeighbourSaysThatNothingIsLeft) {
  ended_paths_.session_ended(fabric_, turn_.now());
  hears(6, 0, 0);
  EXPECT_FALSE(settled()) << "there is something";
  hears(7, 0, kItsPort);
  EXPECT_TRUE(settled());
  EXPECT_EQ(entry().pending_lost, 300u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::settled_by_notice), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::settled_by_end), 0u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kFabric, id_)});
}

// Here both ends of its links are ours.
TEST_F(EndedPathsTest, OrOnceAllItsNeighboursSayThatItIsKeptOut) {
  dead_neighbours_.session_ended(fabric_);
  ended_paths_.session_ended(fabric_, turn_.now());
  link_state_.apply(kNeighbour, {6, 0b110000});
  const uint32_t ends = board_.session_ends();
  link_state_.originate({.ports_kept_out = 0b110000, .ends_seen = 1, .session_ends = ends});
  ended_paths_.look();
  EXPECT_FALSE(settled()) << "of other ends";
  link_state_.originate({.ports_kept_out = 0b110000, .ends_seen = link_state_.ends_seen(), .session_ends = ends});
  ended_paths_.look();
  EXPECT_TRUE(settled());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::settled_by_notice), 1u);
}

TEST_F(EndedPathsTest, ItMayHaveSaidSoBefore) {
  hears(6, 0, kItsPort);
  EXPECT_FALSE(settled()) << "the session goes on here";
  ended_paths_.session_ended(fabric_, turn_.now());
  EXPECT_TRUE(settled());
}

TEST_F(EndedPathsTest, WhatItSaysOfAnotherPortIsNothing) {
  ended_paths_.session_ended(fabric_, turn_.now());
  hears(6, 0, ~kItsPort);
  EXPECT_FALSE(settled());
}

TEST_F(EndedPathsTest, WhatAnotherNodeSaysIsNothing) {
  ended_paths_.session_ended(fabric_, turn_.now());
  link_state_.originate({.ports_settled = kItsPort});
  link_state_.originate({.ports_settled = kItsPort, .session_ends = 9});
  ended_paths_.look();
  EXPECT_FALSE(settled());
}

// What was said before the session is of an earlier one.
TEST_F(EndedPathsTest, AnOlderRecordIsNoNews) {
  link_state_.apply(kNeighbour, {5, 0, kItsPort});
  ended_paths_.session_ended(fabric_, turn_.now());
  ended_paths_.look();
  EXPECT_FALSE(settled());
}

TEST_F(EndedPathsTest, TheNewestHelloCounts) {
  for (const uint32_t sequence : {9u, 7u, 0u}) ended_paths_.heard(fabric_, sequence);
  ended_paths_.session_ended(fabric_, turn_.now());
  hears(9, 0, kItsPort);
  EXPECT_FALSE(settled());
  hears(10, 0, kItsPort);
  EXPECT_TRUE(settled());
}

// From before its restart, or overtaken by another one.
TEST_F(EndedPathsTest, WhatCallsTheLinkUpIsNoOlderThanWhatIsKnown) {
  link_state_.apply(kNeighbour, {900, 0, kItsPort});
  ended_paths_.session_began(fabric_);
  ended_paths_.heard(fabric_, 2);
  ended_paths_.session_ended(fabric_, turn_.now());
  EXPECT_FALSE(settled());
}

TEST_F(EndedPathsTest, TheOwnRecordCallsALinkUpThatWasDownBefore) {
  link_state_.originate({});
  ended_paths_.session_began(fabric_);
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), 0u);
  link_state_.originate({.ports_up = kItsPort << 1});
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), 0u) << "another one";
  link_state_.originate({.ports_up = kItsPort});
  const uint32_t sequence = link_state_.record(0).sequence;
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), sequence);
  ended_paths_.session_began(fabric_);
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), 0u) << "that was of the session before";
  link_state_.originate({.ports_up = kItsPort, .ports_settled = kItsPort << 1});
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), sequence + 1);
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  EXPECT_EQ(ended_paths_.own_calling_up(fabric_), 0u) << "it is not";
}

TEST_F(EndedPathsTest, WhoHasNotHeardThatTheLinkIsUpWaits) {
  ended_paths_.session_began(fabric_);
  ended_paths_.session_ended(fabric_, turn_.now());
  hears(6, 0, kItsPort);
  EXPECT_FALSE(settled());
}

TEST_F(EndedPathsTest, AnyRecordButNoneCallsTheLinkUp) {
  for (const uint32_t sequence : {1u, 0x70000000u, 0x90000000u}) {
    entry_of(id_).data_flow = entry().ack_flow + 300;
    ended_paths_.session_began(fabric_);
    ended_paths_.heard(fabric_, sequence);
    ended_paths_.session_ended(fabric_, turn_.now());
    EXPECT_FALSE(settled());
    hears(sequence + 1, 0, kItsPort);
    EXPECT_TRUE(settled()) << sequence;
  }
}

TEST_F(EndedPathsTest, WhatHasNothingUnderWayWaitsForNothing) {
  FlowId quiet_id, last_byte_id;
  const OutputFlow& quiet = reserve(fabric_, quiet_id);
  OutputFlow& last_byte = reserve(fabric_, last_byte_id);
  ++last_byte.data_flow;
  ended_paths_.session_ended(fabric_, turn_.now());
  EXPECT_TRUE(quiet.flags & kOutputEnded);
  EXPECT_FALSE(quiet.flags & kOutputTimed);
  EXPECT_TRUE(last_byte.flags & kOutputTimed);
}

TEST_F(EndedPathsTest, FlowsOfALaterSessionGoOn) {
  ended_paths_.session_ended(fabric_, turn_.now());
  ended_paths_.session_began(fabric_);
  ended_paths_.heard(fabric_, 8);
  FlowId later_id;
  OutputFlow& later = reserve(fabric_, later_id);
  later.data_flow = later.ack_flow + 100;
  hears(9, 0, kItsPort);
  EXPECT_TRUE(settled());
  EXPECT_EQ(later.extent(), 100u);
}

}  // namespace
}  // namespace heddle::test::ended_paths_test
