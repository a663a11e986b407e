// SPDX-License-Identifier: Apache-2.0
#include "flow/queue_mark.h"

#include <gtest/gtest.h>

namespace heddle::queue_mark_test {
namespace {

TEST(QueueMark, BeginsWithNothing) {
  const QueueMark mark;
  EXPECT_EQ(mark.bytes, 0u);
  EXPECT_EQ(mark.most_bytes, 0u);
  EXPECT_EQ(mark.dropped_frames, 0u);
}

TEST(QueueMark, SaysWhatWaitsAndTheMostThatDid) {
  QueueMark mark;
  mark.joined(1500);
  mark.joined(500);
  EXPECT_EQ(mark.bytes, 2000u);
  EXPECT_EQ(mark.most_bytes, 2000u);
  mark.left(1500);
  EXPECT_EQ(mark.bytes, 500u);
  EXPECT_EQ(mark.most_bytes, 2000u);
  mark.joined(1500);
  EXPECT_EQ(mark.most_bytes, 2000u) << "as much as before";
  mark.joined(1);
  EXPECT_EQ(mark.most_bytes, 2001u);
  mark.left(2001);
  EXPECT_EQ(mark.bytes, 0u);
}

TEST(QueueMark, RestartsAtWhatWaits) {
  QueueMark mark;
  mark.joined(2000);
  mark.left(1500);
  mark.dropped_frames = 7;
  mark.restart();
  EXPECT_EQ(mark.bytes, 500u);
  EXPECT_EQ(mark.most_bytes, 500u);
  EXPECT_EQ(mark.dropped_frames, 0u);
  mark.joined(100);
  EXPECT_EQ(mark.most_bytes, 600u);
}

}  // namespace
}  // namespace heddle::queue_mark_test
