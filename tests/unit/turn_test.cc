// SPDX-License-Identifier: Apache-2.0
#include "node/turn.h"

#include "component_fixture.h"

namespace heddle::test::turn_test {
namespace {

class TurnTest : public ComponentTest {
 protected:
  // A frame that holds so many buffers of a channel of the link.
  Packet* from_link(uint8_t ftag = kLossy, uint8_t channel = kLossyChannel, uint16_t cost = 1) {
    Packet* fresh = numbered(0, fabric_);
    fresh->ftag = ftag;
    fresh->vc = channel;
    fresh->cost = cost;
    fresh->destination = {1, kOutput};
    fabric_.credits[channel].received(cost, false);
    return fresh;
  }
  uint64_t lost() const { return count_of(fabric_, ProtocolEvent::lossless_lost); }
};

TEST_F(TurnTest, ATurnBeginsWithNothing) {
  turn_.received(3);
  turn_.received(4);
  turn_.stay_busy();
  EXPECT_EQ(turn_.packets(), 7u);
  EXPECT_TRUE(turn_.busy());
  const uint64_t number = turn_.number();
  turn_.begin(kSecond);
  EXPECT_EQ(turn_.now(), kSecond);
  EXPECT_EQ(turn_.number(), number + 1);
  EXPECT_EQ(turn_.packets(), 0u);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(TurnTest, WhatEndsGoesBackToThePoolTogether) {
  Packet* first = packet(100);
  turn_.discard(first);
  EXPECT_TRUE(pool_.has_out(first)) << "not at once";
  turn_.flush();
  EXPECT_FALSE(pool_.has_out(first));
  turn_.flush();
}

TEST_F(TurnTest, AnyNumberMayEndInATurn) {
  constexpr uint32_t kMany = 1000;
  std::vector<Packet*> all;
  for (uint32_t i = 0; i < kMany; ++i) all.push_back(packet(100));
  for (Packet* one : all) turn_.discard(one);
  turn_.flush();
  for (const Packet* one : all) EXPECT_FALSE(pool_.has_out(one));
}

TEST_F(TurnTest, AFrameThatEndsAtItsInputIsCountedAndReturnsItsCredit) {
  Packet* dropped = from_link(kLossless, kFirstLosslessChannel, 3);
  Packet* held = from_link(kLossless, kFirstLosslessChannel, 2);
  turn_.drop_at_input(fabric_, dropped, DropReason::no_route);
  EXPECT_TRUE(gone(dropped));
  EXPECT_EQ(drops_of(fabric_, DropReason::no_route), 1u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].held(), 2u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
  turn_.discard(held);
}

TEST_F(TurnTest, AHostsFrameHoldsNoCredit) {
  Packet* of_host = numbered(0, edge_);
  of_host->ftag = kLossless;
  turn_.drop_at_input(edge_, of_host, DropReason::same_port);
  EXPECT_TRUE(gone(of_host));
  EXPECT_EQ(edge_.credits[kLossyChannel].held(), 0u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::lossless_lost), 0u) << "it was never let in";
}

TEST_F(TurnTest, NorDoesAFrameThatHasNotBeenRead) {
  Packet* unread = from_link(kLossless, kFirstLosslessChannel, 0);
  turn_.drop_at_input(fabric_, unread, DropReason::bad_check);
  EXPECT_TRUE(gone(unread));
  EXPECT_EQ(lost(), 0u);
}

TEST_F(TurnTest, OnlyLosslessFramesAreMissed) {
  turn_.drop_at_input(fabric_, from_link(), DropReason::no_route);
  EXPECT_EQ(lost(), 0u);
  turn_.drop_at_input(fabric_, from_link(kLossless, kFirstLosslessChannel), DropReason::no_route);
  EXPECT_EQ(lost(), 1u);
  Packet* flood = from_link(kLossless);
  flood->destination.node = HEDDLE_FLOOD_NODE;
  turn_.drop_at_input(fabric_, flood, DropReason::no_route);
  EXPECT_EQ(lost(), 1u) << "floods are lossy, whatever their class";
}

TEST_F(TurnTest, NobodyMissesWhatComesTwiceOrLate) {
  for (const DropReason reason :
       {DropReason::duplicate, DropReason::old_sequence, DropReason::stale_session, DropReason::link_not_up}) {
    turn_.drop_at_input(fabric_, from_link(kLossless, kFirstLosslessChannel), reason);
    EXPECT_EQ(lost(), 0u);
  }
}

}  // namespace
}  // namespace heddle::test::turn_test
