// SPDX-License-Identifier: Apache-2.0
#include "egress/output_room.h"

#include <gtest/gtest.h>

namespace heddle::output_room_test {
namespace {

constexpr uint32_t kInputs = 3, kLanes = 2;

Packet packet_of(PortIndex input, LaneIndex lane, uint16_t cost, uint8_t flags = 0) {
  Packet packet{};
  packet.input.port = input;
  packet.lane = lane;
  packet.cost = cost;
  packet.flags = flags;
  return packet;
}

TEST(OutputRoom, GivesBackToWhereThePacketCameFrom) {
  OutputRoom room(kInputs, kLanes);
  EXPECT_EQ(room.due(), 0u);
  const Packet packet = packet_of(2, 1, 3);
  room.returns_for(packet).add(packet);
  EXPECT_EQ(room.due(), PortSet{1} << 2);
  EXPECT_EQ(room.returns(2, 1).room, 3u);
  EXPECT_EQ(room.returns(2, 1).held, 3u);
  EXPECT_EQ(room.returns(2, 1).copies, 0u);
  EXPECT_FALSE(room.returns(2, 0).any());
  EXPECT_FALSE(room.returns(1, 1).any());
  room.nothing_due(1);
  EXPECT_EQ(room.due(), PortSet{1} << 2);
  room.nothing_due(2);
  EXPECT_EQ(room.due(), 0u);
}

TEST(OutputRoom, BuffersOfCopiesAreTheirOwnRoomAndNoLinkCredit) {
  OutputRoom room(kInputs, kLanes);
  const Packet copy = packet_of(0, 0, 2, kPacketCopy), packet = packet_of(0, 0, 5);
  room.returns_for(copy).add(copy);
  room.returns_for(packet).add(packet);
  EXPECT_EQ(room.returns(0, 0).room, 5u);
  EXPECT_EQ(room.returns(0, 0).held, 5u);
  EXPECT_EQ(room.returns(0, 0).copy_room, 2u);
  EXPECT_EQ(room.returns(0, 0).copies, 2u);
}

TEST(OutputRoom, WhatIsKeptStays) {
  OutputRoom room(kInputs, kLanes);
  const Packet packet = packet_of(1, 0, 10);
  room.returns_for(packet).add(packet);
  room.returns_for(packet).delivered += 1500;
  Returns given = room.returns(1, 0);
  given.room = 4;
  room.given(1, 0, given);
  EXPECT_EQ(room.returns(1, 0).room, 6u);
  EXPECT_EQ(room.returns(1, 0).held, 0u);
  EXPECT_EQ(room.returns(1, 0).delivered, 0u);
  room.given(1, 0, room.returns(1, 0));
  EXPECT_FALSE(room.returns(1, 0).any());
}

// What was kept for those who waited may go now.
TEST(OutputRoom, IsDueAgainWhenItIsLookedAtAgain) {
  OutputRoom room(kInputs, kLanes);
  const Packet packet = packet_of(1, 1, 10);
  room.returns_for(packet).add(packet);
  room.nothing_due(1);
  room.look_again(0);
  EXPECT_EQ(room.due(), 0u) << "another lane";
  room.look_again(1);
  EXPECT_EQ(room.due(), PortSet{1} << 1);
}

TEST(OutputRoom, CountsOrphansUntilTheyAreTold) {
  OutputRoom room(kInputs, kLanes);
  room.orphan_freed(2);
  room.orphan_freed(2);
  EXPECT_EQ(room.orphans(2), 2u);
  EXPECT_EQ(room.orphans(1), 0u);
  EXPECT_EQ(room.due(), PortSet{1} << 2);
  room.orphans_told(2);
  EXPECT_EQ(room.orphans(2), 0u);
}

TEST(OutputRoom, IsTwiceAsLargeWhereFramesCrossAtOnce) {
  FabricSettings settings;
  settings.output_room_buffers = 64;
  EXPECT_EQ(crossing_room(settings, false), 64u);
  EXPECT_EQ(crossing_room(settings, true), 128u);
  settings.output_room_buffers = 40000;
  EXPECT_EQ(crossing_room(settings, true), 65535u);
}

TEST(OutputRoom, OfCopiesIsAsMuchAgain) {
  FabricSettings settings;
  settings.output_room_buffers = 64;
  EXPECT_EQ(copy_room(settings), 64u);
}

}  // namespace
}  // namespace heddle::output_room_test
