// SPDX-License-Identifier: Apache-2.0
#include "node/link_states.h"

#include "flow_fixture.h"

namespace heddle::test::link_states_test {
namespace {

class LinkStatesTest : public FlowTest {
 protected:
  std::vector<LinkStateNews> news() {
    std::vector<LinkStateNews> all;
    for (const Message& message : messages())
      if (const auto* one = std::get_if<LinkStateNews>(&message)) all.push_back(*one);
    return all;
  }
};

TEST_F(LinkStatesTest, NothingIsSaidWhileNothingHasChanged) {
  link_states_.tell_workers();
  link_states_.originate();
  link_states_.take_effect();
  news();
  EXPECT_FALSE(link_states_.news());
  link_states_.originate();
  link_states_.tell_workers();
  EXPECT_FALSE(link_states_.take_effect());
  EXPECT_TRUE(news().empty());
}

TEST_F(LinkStatesTest, TheFirstWorkerSpeaksForTheNode) {
  board_.publish_standing(kFabric, LinkStanding::up);
  ASSERT_TRUE(link_states_.news());
  link_states_.originate();
  EXPECT_FALSE(link_states_.news());
  EXPECT_EQ(link_state_.record(0).ports_up, PortSet{1} << kFabric) << "edge ports are no links";
  EXPECT_TRUE(link_states_.take_effect());
  EXPECT_FALSE(link_states_.take_effect());
  const std::vector<LinkStateNews> told = news();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].node, 0);
  EXPECT_EQ(told[0].record.sequence, link_state_.record(0).sequence);
  EXPECT_EQ(told[0].record.ports_up, PortSet{1} << kFabric);
  EXPECT_EQ(paths_.routes().primary(2), PortSet{1} << kFabric);
}

TEST_F(LinkStatesTest, RoutesAreThoseOfTheLinksThatAreUp) {
  link_state_.apply(1, {7, ~PortSet{0}, 0});
  link_states_.changed(1);
  link_states_.take_effect();
  link_state_.apply(1, {8, ~PortSet{0}, 1});
  link_states_.changed(1);
  EXPECT_FALSE(link_states_.take_effect()) << "what is settled is of no account";
  link_state_.apply(1, {9, 0, 1});
  link_states_.changed(1);
  EXPECT_TRUE(link_states_.take_effect());
}

TEST_F(LinkStatesTest, ItSaysOfWhichLinksNothingIsLeft) {
  board_.publish_standing(kFabric, LinkStanding::settled);
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_up, PortSet{0});
  EXPECT_EQ(link_state_.record(0).ports_settled, PortSet{1} << kFabric);
  link_states_.take_effect();
  EXPECT_EQ(news().at(0).record.ports_settled, PortSet{1} << kFabric);
}

TEST_F(LinkStatesTest, ItSaysWhomItKeepsOutAndHowManySessionsHaveEnded) {
  const PortSet port = PortSet{1} << kFabric;
  board_.count_session_end();
  board_.publish_standing(kFabric, LinkStanding::settled);
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).session_ends, 1u);
  EXPECT_EQ(link_state_.record(0).ports_kept_out, PortSet{0});
  EXPECT_EQ(link_state_.record(0).ends_seen, 0u);
  const uint64_t seen = link_state_.ends_seen();
  board_.publish_kept_out(kFabric, seen);
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_kept_out, port);
  EXPECT_EQ(link_state_.record(0).ends_seen, seen);
  board_.publish_standing(kFabric, LinkStanding::down);
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_kept_out, PortSet{0}) << "something is left of it";
  board_.publish_standing(kFabric, LinkStanding::settled);
  board_.publish_kept_out(kFabric, seen + 1);
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_kept_out, PortSet{0}) << "since other ends";
}

// Another worker that keeps a node out may have seen an end before the first one has, which speaks for both.
TEST_F(LinkStatesTest, WhatAnotherWorkerHasSeenFirstIsSaidOnceItIsSeenHere) {
  const LinkState::Record ended{.sequence = 7, .session_ends = 3};
  LinkState others(topology_, 0, false);
  board_.publish_standing(kFabric, LinkStanding::settled);
  link_states_.originate();
  link_states_.take_effect();
  link_states_.originate();
  others.apply(0, link_state_.record(0));
  others.apply(1, ended);
  board_.publish_kept_out(kFabric, others.ends_seen());
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_kept_out, PortSet{0}) << "not seen yet";
  EXPECT_FALSE(link_states_.news());
  ASSERT_TRUE(link_state_.apply(1, ended));
  link_states_.changed(1);
  link_states_.take_effect();
  EXPECT_TRUE(link_states_.news());
  link_states_.originate();
  EXPECT_EQ(link_state_.record(0).ports_kept_out, PortSet{1} << kFabric);
  EXPECT_EQ(link_state_.record(0).ends_seen, others.ends_seen());
  EXPECT_FALSE(link_states_.news());
}

// Flows that wait for just that are settled as the news comes (ended_paths.h).
TEST_F(LinkStatesTest, WhoWaitsForTheNewsHearsThem) {
  bring_up();
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.data_flow = entry.ack_flow + 300;
  ended_paths_.heard(fabric_, 6);
  ended_paths_.session_ended(fabric_, turn_.now());
  link_state_.apply(1, {7, 0, ~PortSet{0}});
  link_states_.changed(1);
  link_states_.take_effect();
  EXPECT_EQ(entry.extent(), 0u);
}

TEST_F(LinkStatesTest, OtherWorkersSayNothing) {
  const Site second(options_, 1);
  LinkStates states(second, ports_, turn_, outbox_, board_, paths_, link_state_, control_, ended_paths_);
  board_.publish_standing(kFabric, LinkStanding::up);
  EXPECT_FALSE(states.news());
}

TEST_F(LinkStatesTest, NeighboursHearTheNews) {
  link_states_.changed(0);
  link_states_.take_effect();
  EXPECT_TRUE(fabric_.output.control.empty()) << "without a session nothing is sent";
  bring_up();
  ASSERT_TRUE(link_state_.apply(1, {7, 3, 4}));
  link_states_.changed(1);
  link_states_.take_effect();
  const LinkFrame frame = next_records(fabric_);
  const auto records = notice_records(frame);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(records[0].node, 2) << "its address";
  EXPECT_EQ(records[0].sequence, 7u);
  EXPECT_EQ(records[0].ports_up, 3u);
  EXPECT_EQ(records[0].ports_settled, 4u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::notice_news), 0u);
}

TEST_F(LinkStatesTest, WhatComesInOneTurnGoesOnTogether) {
  bring_up();
  news();
  link_states_.changed(1);
  link_states_.changed(0);
  link_states_.changed(1);
  EXPECT_TRUE(fabric_.output.control.empty()) << "at its end";
  link_states_.take_effect();
  const LinkFrame frame = next_records(fabric_);
  EXPECT_EQ(notice_records(frame).size(), 2u);
  EXPECT_TRUE(fabric_.output.control.empty());
  EXPECT_EQ(news().size(), 2u);
  link_states_.take_effect();
  EXPECT_TRUE(fabric_.output.control.empty()) << "once";
  EXPECT_TRUE(news().empty());
}

TEST_F(LinkStatesTest, WhomItCameFromKnowsIt) {
  bring_up();
  link_states_.changed(0);
  link_states_.changed(1, kFabric);
  link_states_.take_effect();
  const LinkFrame frame = next_records(fabric_);
  ASSERT_EQ(notice_records(frame).size(), 1u);
  EXPECT_EQ(notice_records(frame)[0].node, 1);
  link_states_.changed(1, kFabric);
  link_states_.take_effect();
  EXPECT_TRUE(fabric_.output.control.empty());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_news), 2u);
  link_states_.changed(1, kEdge);
  link_states_.take_effect();
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_news), 3u) << "from another one";
  link_states_.changed(0, kFabric);
  link_states_.take_effect();
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_news), 4u) << "what was said there of this node is answered";
}

TEST_F(LinkStatesTest, WhatAFullRingDoesNotTakeIsSaidNextTurn) {
  link_state_.apply(0, {3, 1, 0});
  link_state_.apply(1, {7, 3, 0});
  fill_messages();
  link_states_.changed(1);
  link_states_.changed(0);
  link_states_.take_effect();
  EXPECT_TRUE(turn_.busy());
  while (!messages().empty()) {
  }
  link_states_.tell_workers();
  const std::vector<LinkStateNews> told = news();
  ASSERT_EQ(told.size(), 2u) << "the older one, too";
  EXPECT_EQ(told[0].node, 0);
  EXPECT_EQ(told[1].node, 1);
}

TEST_F(LinkStatesTest, WhoseDigestDiffersGetsAllThatIsKnown) {
  bring_up();
  link_states_.send_notices(fabric_);
  LinkFrame frame = next_records(fabric_);
  EXPECT_EQ(notice_records(frame).size(), 1u) << "of node 2 nothing has been heard";
  EXPECT_EQ(notice_records(frame)[0].node, 1);
  link_state_.apply(1, {7, 3, 0});
  link_states_.send_notices(fabric_);
  frame = next_records(fabric_);
  EXPECT_EQ(notice_records(frame).size(), 2u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_sent), 2u);
  control_pool_.empty = true;
  link_states_.send_notices(fabric_);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_sent), 2u) << "the next hello asks again";
}

}  // namespace
}  // namespace heddle::test::link_states_test
