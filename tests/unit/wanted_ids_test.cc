// SPDX-License-Identifier: Apache-2.0
#include "egress/wanted_ids.h"

#include <gtest/gtest.h>

namespace heddle::wanted_ids_test {
namespace {

TEST(WantedIds, SaysWhoWaitsAndForHowMany) {
  WantedIds wanted(4);
  EXPECT_EQ(wanted.inputs(), 0u);
  wanted.add(3, 1, 2);
  wanted.add(3, 1, 1);
  wanted.add(3, 7, 1);
  EXPECT_EQ(wanted.inputs(), PortSet{1} << 3);
  EXPECT_EQ(wanted.channels(3), 0b10000010);
  EXPECT_EQ(wanted.of(3, 1), 3u);
  EXPECT_EQ(wanted.of(3, 7), 1u);
  EXPECT_EQ(wanted.of(3, 2), 0u);
  EXPECT_EQ(wanted.of(0, 1), 0u);
}

TEST(WantedIds, WhoHasAllWaitsNoMore) {
  WantedIds wanted(4);
  wanted.add(2, 0, 2);
  wanted.add(2, 5, 3);
  wanted.answered(2, 0, 1);
  EXPECT_EQ(wanted.of(2, 0), 1u);
  EXPECT_EQ(wanted.channels(2), 0b100001);
  wanted.answered(2, 0, 1);
  EXPECT_EQ(wanted.channels(2), 0b100000);
  EXPECT_EQ(wanted.inputs(), PortSet{1} << 2);
  wanted.answered(2, 5, 3);
  EXPECT_EQ(wanted.channels(2), 0);
  EXPECT_EQ(wanted.inputs(), 0u);
}

TEST(WantedIds, InputsHaveTurns) {
  WantedIds wanted(kPortsMax);
  for (const int input : {1, 3, 5, int{kPortsMax} - 1}) wanted.add(PortIndex::of(input), 0, 1);
  for (const unsigned input : {1u, 3u, 5u, kPortsMax - 1u, 1u}) EXPECT_EQ(wanted.next_input(), input);
  wanted.answered(3, 0, 1);
  EXPECT_EQ(wanted.next_input(), 5);
}

TEST(WantedIds, ChannelsOfAnInputHaveTurns) {
  WantedIds wanted(3);
  for (const uint8_t channel : {uint8_t{0}, uint8_t{3}, uint8_t{7}}) wanted.add(1, channel, 1);
  wanted.add(2, 3, 1);
  wanted.add(2, 4, 1);
  for (const unsigned channel : {0u, 3u, 7u, 0u}) EXPECT_EQ(wanted.next_channel(1), channel);
  EXPECT_EQ(wanted.next_channel(2), 3) << "each its own";
  wanted.answered(1, 3, 1);
  EXPECT_EQ(wanted.next_channel(1), 7);
}

}  // namespace
}  // namespace heddle::wanted_ids_test
