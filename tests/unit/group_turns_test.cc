// SPDX-License-Identifier: Apache-2.0
#include "ingress/group_turns.h"

#include <gtest/gtest.h>

namespace heddle::group_turns_test {
namespace {

TEST(GroupTurns, WaitingGroupsHaveTurns) {
  GroupTurns turns;
  for (const uint8_t group : {uint8_t{3}, uint8_t{63}, uint8_t{64}, uint8_t{127}, uint8_t{3}}) turns.enter(group);
  for (const unsigned group : {3u, 63u, 64u, 127u, 3u}) EXPECT_EQ(turns.next(), group);
  turns.leave(63);
  turns.leave(127);
  for (const unsigned group : {64u, 3u, 64u}) EXPECT_EQ(turns.next(), group);
  turns.keep(64);
  EXPECT_EQ(turns.next(), 64);
  turns.leave(64);
  EXPECT_EQ(turns.next(), 3);
  EXPECT_EQ(turns.next(), 3);
}

}  // namespace
}  // namespace heddle::group_turns_test
