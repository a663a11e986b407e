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
  ASSERT_TRUE(links.originate(0b01, 0));
  const uint32_t sequence = links.record(0).sequence;
  const uint64_t digest = links.digest();
  EXPECT_FALSE(links.originate(0b01, 0));
  EXPECT_TRUE(links.originate(0b01, 0b10));
  EXPECT_EQ(links.record(0).sequence, sequence + 1);
  EXPECT_EQ(links.record(0).ports_settled, PortSet{0b10});
  EXPECT_NE(links.digest(), digest);
  LinkState one(topology, 1, true), other(topology, 1, true);
  one.apply(0, {3, 0b01, 0b10});
  other.apply(0, {3, 0b01, 0b00});
  EXPECT_NE(one.digest(), other.digest());
}

TEST(LinkState, ANodeOverridesWhatItSaidBeforeItsRestart) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate(0b11, 0);
  EXPECT_TRUE(links.apply(0, {1000, 0b00, 0}));
  EXPECT_EQ(links.record(0).sequence, 1001u);
  EXPECT_EQ(links.record(0).ports_up, PortSet{0b11});
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
  self.originate(0b01, 0);
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
    EXPECT_FALSE(links.originate(0, 0)) << "that has been said";
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
  ASSERT_TRUE(links.originate(0b10, 0b01));
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
  ASSERT_TRUE(links.originate(0b01, 0));
  EXPECT_EQ(links.record(0).sequence, 1u);
  ASSERT_TRUE(links.originate(0b11, 0));
  EXPECT_EQ(links.record(0).sequence, 2u);
}

TEST(LinkState, WhatItHasSaidItselfIsNoNews) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  links.originate(0b01, 0);
  links.originate(0b11, 0b100);
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

// Computed apart, by the formula of docs/protocol.md: nodes that disagree about it send all their records for ever.
TEST(LinkState, TheDigestIsThatOfTheProtocol) {
  const Topology topology = test::ring();
  LinkState links(topology, 0, true);
  EXPECT_EQ(links.digest(), 0x68a5dbff3dbde69d);
  ASSERT_TRUE(links.apply(3, {0x12345678, 0b01, 0b10}));
  EXPECT_EQ(links.digest(), 0x62ce6ebaab839995);
  ASSERT_TRUE(links.apply(3, {0x12345679, 0b01, 0b10}));
  EXPECT_NE(links.digest(), 0x62ce6ebaab839995) << "a new sequence is news by itself";
}

}  // namespace
}  // namespace heddle::link_state_test
