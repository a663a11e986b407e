// SPDX-License-Identifier: Apache-2.0
#include "routing/link_state.h"

#include <gtest/gtest.h>

#include "memory_ports.h"

namespace heddle::link_state_test {
namespace {

constexpr uint32_t kLast = 0xffffffff;  // sequence; the next one is 1

TEST(LinkState, OnlyNewerRecordsAreNews) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  EXPECT_TRUE(links.apply(2, {7, 0b01, 0}));
  EXPECT_FALSE(links.apply(2, {7, 0b01, 0}));
  EXPECT_FALSE(links.apply(2, {6, 0b11, 0}));
  EXPECT_TRUE(links.apply(2, {8, 0b11, 0}));
}

TEST(LinkState, EqualRecordsMakeEqualDigests) {
  const Topology topology = test::ring();
  LinkState a(topology, 0, true), b(topology, 0, true);
  a.apply(1, {3, 0b01, 0});
  a.apply(2, {4, 0b10, 0});
  b.apply(2, {4, 0b10, 0});
  EXPECT_NE(a.digest(), b.digest());
  b.apply(1, {2, 0b11, 0});
  b.apply(1, {3, 0b01, 0});
  EXPECT_EQ(a.digest(), b.digest());
}

TEST(LinkState, WhatIsSettledIsSaidAnew) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.originate({.ports_up = 0b01}));
  const uint32_t sequence = links.record(0).sequence;
  const uint64_t digest = links.digest();
  EXPECT_FALSE(links.originate({.ports_up = 0b01}));
  EXPECT_TRUE(links.originate({.ports_up = 0b01, .ports_settled = 0b10}));
  EXPECT_EQ(links.record(0).sequence, sequence + 1);
  EXPECT_EQ(links.record(0).ports_settled, PortSet{0b10});
  EXPECT_NE(links.digest(), digest);
  LinkState one(topology, 1, true), other(topology, 1, true);
  one.apply(0, {3, 0b01, 0b10});
  other.apply(0, {3, 0b01, 0b00});
  EXPECT_NE(one.digest(), other.digest());
}

// Whatever a record says is in the digest, and a record that says anything else is another one.
TEST(LinkState, EachWordOfARecordCounts) {
  const Topology topology = test::ring();
  const LinkState::Record plain{3, 0b01, 0b10, 0b10, 44, 5};
  std::vector<LinkState::Record> others(5, plain);
  others[0].ports_up = 0b11;
  others[1].ports_settled = 0b11;
  others[2].ports_kept_out = 0b11;
  others[3].ends_seen = 45;
  others[4].session_ends = 6;
  for (const LinkState::Record& other : others) {
    LinkState here(topology, 1, true), there(topology, 1, true);
    here.apply(0, plain);
    there.apply(0, other);
    EXPECT_NE(here.digest(), there.digest());
    EXPECT_TRUE(here.apply(0, other)) << "the larger one";
    EXPECT_FALSE(there.apply(0, plain));
    EXPECT_EQ(here.digest(), there.digest());
    LinkState self(topology, 0, true);
    self.originate(plain);
    EXPECT_TRUE(self.originate(other));
    EXPECT_FALSE(self.originate(other));
  }
}

TEST(LinkState, WhoHasSeenTheSameEndsHasTheSameNumber) {
  const Topology topology = test::ring();
  LinkState here(topology, 0, true), there(topology, 1, true);
  EXPECT_NE(here.ends_seen(), there.ends_seen()) << "each knows of itself alone";
  const auto exchange = [&] {
    here.apply(1, there.record(1));
    there.apply(0, here.record(0));
  };
  exchange();
  EXPECT_EQ(here.ends_seen(), there.ends_seen());
  const uint64_t before = here.ends_seen();
  here.originate({.ports_up = 0b11});
  exchange();
  EXPECT_EQ(here.ends_seen(), before) << "a session that begins is no end";
  here.originate({.ports_up = 0b01, .session_ends = 1});
  EXPECT_NE(here.ends_seen(), there.ends_seen());
  exchange();
  EXPECT_EQ(here.ends_seen(), there.ends_seen());
  const uint64_t of_here = here.ends_seen();
  here.originate({});
  there.originate({.session_ends = 1});
  exchange();
  EXPECT_NE(here.ends_seen(), of_here) << "the same number of another node's";
}

TEST(LinkState, ANodeOverridesWhatItSaidBeforeItsRestart) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate({.ports_up = 0b11, .ports_kept_out = 0b100, .session_ends = 9});
  EXPECT_TRUE(links.apply(0, {1000, 0b00, 0}));
  EXPECT_EQ(links.record(0).sequence, 1001u);
  EXPECT_EQ(links.record(0).ports_up, PortSet{0b11});
  EXPECT_EQ(links.record(0).ports_kept_out, PortSet{0b100});
  EXPECT_EQ(links.record(0).session_ends, 9u);
}

// A node that restarts counts from 1 again and may come to a sequence of its former life before it hears of it.
TEST(LinkState, TwoRecordsWithOneSequenceComeToAnEnd) {
  const Topology topology = test::ring();
  LinkState one(topology, 1, true), other(topology, 2, true);
  one.apply(3, {5, 0b01, 0});
  other.apply(3, {5, 0b11, 0});
  EXPECT_TRUE(one.apply(3, {5, 0b11, 0}));  // the larger mask wins, whoever hears of it first
  EXPECT_FALSE(other.apply(3, {5, 0b01, 0}));
  EXPECT_EQ(one.record(3).ports_up, other.record(3).ports_up);
  EXPECT_TRUE(one.apply(3, {5, 0b11, 0b100})) << "then the larger mask of settled ones";
  EXPECT_FALSE(one.apply(3, {5, 0b11, 0b000}));

  LinkState self(topology, 3, true);
  self.originate({.ports_up = 0b01});
  const uint32_t sequence = self.record(3).sequence;
  EXPECT_TRUE(self.apply(3, {sequence, 0b11, 0}));  // not what it says now: said again, later
  EXPECT_EQ(self.record(3).sequence, sequence + 1);
  EXPECT_EQ(self.record(3).ports_up, PortSet{0b01});
  EXPECT_TRUE(self.apply(3, {sequence + 1, 0b00, 0}));  // also against a smaller mask
  EXPECT_EQ(self.record(3).ports_up, PortSet{0b01});
}

TEST(LinkState, NoLinkIsUpHereAndOfNodesNotHeardOfAllAre) {
  const Topology topology = test::ring();
  for (const bool speaks : {true, false}) {
    LinkState links(topology, 0, speaks);
    EXPECT_EQ(links.record(0).sequence, 1u);
    EXPECT_EQ(links.record(0).ports_up, PortSet{0});
    EXPECT_EQ(links.record(0).ports_settled, PortSet{0});
    EXPECT_EQ(links.record(2).sequence, 0u);
    EXPECT_EQ(links.record(2).ports_up, PortSet{0});
    EXPECT_EQ(links.record(2).ports_settled, PortSet{0});
    EXPECT_EQ(links.ports_up(), (std::vector<PortSet>{0, 0b11, 0b11, 0b11}));
    EXPECT_FALSE(links.originate({})) << "that has been said";
    EXPECT_EQ(links.record(0).sequence, 1u);
  }
}

TEST(LinkState, WhatANodeSaysIsKeptOfThatNode) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.apply(2, {7, 0b01, 0b10}));
  EXPECT_EQ(links.record(2).sequence, 7u);
  EXPECT_EQ(links.record(2).ports_up, PortSet{0b01});
  EXPECT_EQ(links.record(2).ports_settled, PortSet{0b10});
  EXPECT_EQ(links.record(1).sequence, 0u);
  ASSERT_TRUE(links.originate({.ports_up = 0b10, .ports_settled = 0b01}));
  EXPECT_EQ(links.record(0).sequence, 2u);
  EXPECT_EQ(links.ports_up(), (std::vector<PortSet>{0b10, 0b11, 0b01, 0b11}));
}

TEST(LinkState, ANewerRecordIsKeptThoughItSaysLess) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.apply(2, {7, 0b11, 0b11}));
  EXPECT_TRUE(links.apply(2, {8, 0, 0}));
  EXPECT_EQ(links.ports_up()[2], PortSet{0});
  EXPECT_TRUE(links.apply(2, {9, 0, 0})) << "or says the same";
  EXPECT_EQ(links.record(2).sequence, 9u);
}

TEST(LinkState, OfOneSequenceTheMaskOfPortsUpCountsFirst) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.apply(2, {7, 0b01, 0b10}));
  EXPECT_TRUE(links.apply(2, {7, 0b10, 0b00}));
  EXPECT_FALSE(links.apply(2, {7, 0b01, 0b11}));
  EXPECT_EQ(links.record(2).ports_up, PortSet{0b10});
  EXPECT_EQ(links.record(2).ports_settled, PortSet{0});
}

TEST(LinkState, ARecordWithoutASequenceIsNone) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  const uint64_t digest = links.digest();
  EXPECT_FALSE(links.apply(2, {0, 0b01, 0b01}));
  EXPECT_EQ(links.ports_up()[2], PortSet{0b11});
  EXPECT_EQ(links.digest(), digest);
  EXPECT_TRUE(links.apply(2, {1, 0b01, 0b01})) << "the first one";
}

TEST(LinkState, SequencesGoRound) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  EXPECT_TRUE(links.apply(2, {kLast, 0b01, 0})) << "any is newer than none";
  EXPECT_TRUE(links.apply(2, {1, 0b11, 0}));
  EXPECT_FALSE(links.apply(2, {kLast, 0b01, 0}));
  EXPECT_FALSE(links.apply(2, {0x80000002, 0b01, 0})) << "further ahead than behind";
  EXPECT_TRUE(links.apply(2, {0x80000000, 0b01, 0}));
}

// Records from before a restart lead there.
TEST(LinkState, ItsOwnSequenceGoesRoundPastNone) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  ASSERT_TRUE(links.apply(0, {0x7fffffff, 0b11, 0}));
  EXPECT_EQ(links.record(0).sequence, 0x80000000);
  ASSERT_TRUE(links.apply(0, {kLast - 1, 0b11, 0}));
  EXPECT_EQ(links.record(0).sequence, kLast);
  ASSERT_TRUE(links.originate({.ports_up = 0b01}));
  EXPECT_EQ(links.record(0).sequence, 1u);
  ASSERT_TRUE(links.originate({.ports_up = 0b11}));
  EXPECT_EQ(links.record(0).sequence, 2u);
}

TEST(LinkState, WhatItHasSaidItselfIsNoNews) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate({.ports_up = 0b01});
  links.originate({.ports_up = 0b11, .ports_settled = 0b100});
  EXPECT_FALSE(links.apply(0, {2, 0b01, 0})) << "nor what it said before";
  EXPECT_FALSE(links.apply(0, {3, 0b11, 0b100}));
  EXPECT_EQ(links.record(0).sequence, 3u);
  EXPECT_TRUE(links.apply(0, {4, 0b11, 0b100})) << "that was not said in this life";
  EXPECT_EQ(links.record(0).sequence, 5u);
  EXPECT_EQ(links.record(0).ports_settled, PortSet{0b100});
}

TEST(LinkState, OtherWorkersTakeTheNodesOwnRecordFromTheOneThatSpeaks) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, false);
  EXPECT_TRUE(links.apply(0, {5, 0b11, 0b100}));
  EXPECT_EQ(links.record(0).sequence, 5u);
  EXPECT_EQ(links.record(0).ports_up, PortSet{0b11});
  EXPECT_EQ(links.record(0).ports_settled, PortSet{0b100});
  EXPECT_EQ(links.ports_up()[0], PortSet{0b11});
  EXPECT_FALSE(links.apply(0, {4, 0b01, 0}));
}

// Computed apart, by the formulas of docs/protocol.md: nodes that disagree about the digest send all their records for
// ever, and wait in vain for each other where they have seen ends.
TEST(LinkState, TheDigestsAreThoseOfTheProtocol) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  EXPECT_EQ(links.digest(), 0xd10539218ae37e67);
  EXPECT_EQ(links.ends_seen(), 0x70fadf4fd641fac8);
  LinkState::Record record{0x12345678, 0b001, 0b010, 0b100, 0x1122334455667788, 9};
  ASSERT_TRUE(links.apply(3, record));
  EXPECT_EQ(links.digest(), 0x0868c83f9343d93d);
  EXPECT_EQ(links.ends_seen(), 0xed311d47956fce33);
  ++record.sequence;
  ASSERT_TRUE(links.apply(3, record));
  EXPECT_NE(links.digest(), 0x0868c83f9343d93d) << "a new sequence is news by itself";
}

}  // namespace
}  // namespace heddle::link_state_test
