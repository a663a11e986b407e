// SPDX-License-Identifier: Apache-2.0
#include "ingress/waiting_frames.h"

#include <gtest/gtest.h>

namespace heddle::waiting_frames_test {
namespace {

TEST(WaitingFrames, AGroupHasAsMuchRoomAsItLeavesFree) {
  WaitingFrames waiting(kGroups);
  Packet frames[8];
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(waiting.has_room(1, 9)) << i;
    waiting.push(1, &frames[i]);
  }
  EXPECT_FALSE(waiting.has_room(1, 9)) << "it has five, and four are free";
  EXPECT_TRUE(waiting.has_room(2, 9));
  EXPECT_FALSE(waiting.has_room(2, 5)) << "there is none at all";
  EXPECT_EQ(waiting.first(1), &frames[0]);
  EXPECT_EQ(waiting.pop(1), &frames[0]);
  EXPECT_TRUE(waiting.has_room(1, 9));
  waiting.push(2, &frames[5]);
  EXPECT_EQ(waiting.pop_any(), &frames[1]);
  EXPECT_EQ(waiting.pop_any(), &frames[5]);
  EXPECT_EQ(waiting.count(), 3u);
}

TEST(WaitingFrames, WhereThereIsOneGroupItHasAllTheRoom) {
  WaitingFrames waiting(1);
  Packet frames[3];
  for (Packet& frame : frames) {
    EXPECT_TRUE(waiting.has_room(0, 3));
    waiting.push(0, &frame);
  }
  EXPECT_FALSE(waiting.has_room(0, 3));
}

}  // namespace
}  // namespace heddle::waiting_frames_test
