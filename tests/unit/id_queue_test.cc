// SPDX-License-Identifier: Apache-2.0
#include "flow/id_queue.h"

#include <gtest/gtest.h>

namespace heddle::id_queue_test {
namespace {

TEST(IdQueue, GivesWhatHasRestedLongestAndEachIdOnce) {
  IdQueue<FlowId> queue(4);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.take(), kNoFlow);
  for (const unsigned id : {3u, 1u, 3u, 4u, 1u}) queue.enter(FlowId::of(id));
  for (const unsigned id : {3u, 1u}) EXPECT_EQ(queue.take(), id);
  EXPECT_FALSE(queue.has(3));
  EXPECT_TRUE(queue.has(4));
  queue.enter(3);
  for (const unsigned id : {4u, 3u}) EXPECT_EQ(queue.take(), id);
  EXPECT_TRUE(queue.empty());
  queue.enter(2);
  EXPECT_EQ(queue.take(), 2u);
  EXPECT_EQ(queue.take(), kNoFlow);
}

TEST(IdQueue, TellsTheFirstWithoutTakingIt) {
  IdQueue<FlowId> queue(4);
  EXPECT_EQ(queue.first(), kNoFlow);
  queue.enter(2);
  queue.enter(4);
  EXPECT_EQ(queue.first(), 2u);
  EXPECT_EQ(queue.first(), 2u);
  EXPECT_EQ(queue.take(), 2u);
  EXPECT_EQ(queue.first(), 4u);
  EXPECT_EQ(queue.take(), 4u);
  EXPECT_EQ(queue.first(), kNoFlow);
}

TEST(IdQueue, TheOnlyIdEntersAndLeavesAgainAndAgain) {
  IdQueue<FlowId> queue(1);
  for (int times = 0; times < 3; ++times) {
    EXPECT_FALSE(queue.has(1));
    queue.enter(1);
    queue.enter(1);
    EXPECT_TRUE(queue.has(1));
    EXPECT_FALSE(queue.empty());
    EXPECT_EQ(queue.take(), 1u);
    EXPECT_TRUE(queue.empty());
  }
}

TEST(IdQueue, TheLastOneWaitsOnceAsWell) {
  IdQueue<FlowId> queue(3);
  for (const unsigned id : {1u, 3u, 3u, 2u}) queue.enter(FlowId::of(id));
  for (const unsigned id : {1u, 3u, 2u, 0u}) EXPECT_EQ(queue.take(), id);
}

}  // namespace
}  // namespace heddle::id_queue_test
