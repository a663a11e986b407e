// SPDX-License-Identifier: Apache-2.0
#include "io/backlog.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "memory_ports.h"
#include "wire/random.h"

namespace heddle::test::backlog_test {
namespace {

// A queue behind it that takes `accepts` frames at a time.
class BacklogTest : public testing::Test {
 protected:
  ~BacklogTest() override { backlog_.give_up(); }
  // Frames with the next numbers; the room that there is then.
  uint32_t transmit(uint32_t frames) {
    Packet* burst[kBurst];
    pool_.allocate(burst, frames);
    for (uint32_t i = 0; i < frames; ++i) burst[i]->position = next_++;
    return backlog_.transmit(burst, frames, now_, [this](Packet** packets, uint32_t count) {
      const uint32_t taken = std::min(count, accepts_);
      for (uint32_t i = 0; i < taken; ++i) sent_.push_back(packets[i]->position);
      pool_.release(packets, taken);
      return taken;
    });
  }
  std::vector<uint32_t> count_up(uint32_t numbers) {
    std::vector<uint32_t> all(numbers);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  HeapPool pool_;
  Backlog backlog_{pool_};
  Nanos now_ = kSecond;
  uint32_t accepts_ = kBurst;
  uint32_t next_ = 0;
  std::vector<uint32_t> sent_;
};

TEST_F(BacklogTest, WithNothingLeftThereIsRoomForABurst) {
  EXPECT_EQ(transmit(0), kBurst);
  EXPECT_EQ(transmit(kBurst), kBurst);
  EXPECT_EQ(sent_, count_up(kBurst));
}

TEST_F(BacklogTest, WhatTheQueueDoesNotTakeIsSentFirstAndThereIsNoRoomMeanwhile) {
  accepts_ = 2;
  EXPECT_EQ(transmit(5), 0u);
  EXPECT_EQ(transmit(0), 0u);
  EXPECT_EQ(sent_, count_up(4));
  EXPECT_EQ(transmit(0), kBurst);
  EXPECT_EQ(transmit(1), kBurst);
  EXPECT_EQ(sent_, count_up(6));
  accepts_ = 0;
  EXPECT_EQ(transmit(1), 0u);
  EXPECT_EQ(transmit(0), 0u);
}

TEST_F(BacklogTest, OfWhateverIsTakenNothingIsLostOrOvertaken) {
  Random random(3);
  for (int round = 0; round < 2000; ++round) {
    const uint32_t room = transmit(0);
    transmit(room == 0 ? 0 : static_cast<uint32_t>(random.below(kBurst + 1)));
    accepts_ = static_cast<uint32_t>(random.below(kBurst / 2));
  }
  accepts_ = kBurst;
  EXPECT_EQ(transmit(0), kBurst);
  EXPECT_GT(sent_.size(), 1000u);
  EXPECT_EQ(sent_, count_up(next_));
  EXPECT_EQ(pool_.out(), 0);
}

TEST_F(BacklogTest, AQueueThatTakesNothingIsTriedWithAFrameAtATime) {
  accepts_ = 2;
  EXPECT_EQ(transmit(5), 0u);
  now_ += Backlog::kKeptNsMax - 1;
  EXPECT_EQ(transmit(0), 0u) << "two more are taken, and it counts from then";
  accepts_ = 0;
  now_ += Backlog::kKeptNsMax - 1;
  EXPECT_EQ(transmit(0), 0u);
  EXPECT_EQ(backlog_.given_up(), 0u);
  now_ += 1;
  EXPECT_EQ(transmit(0), 1u);
  EXPECT_EQ(backlog_.given_up(), 1u);
  EXPECT_EQ(pool_.out(), 0);
  EXPECT_EQ(transmit(1), 0u);
  now_ += Backlog::kKeptNsMax;
  accepts_ = kBurst;
  EXPECT_EQ(transmit(0), 1u) << "what is so old is not sent any more";
  EXPECT_EQ(backlog_.given_up(), 2u);
  EXPECT_EQ(transmit(1), kBurst);
  EXPECT_EQ(sent_.back(), next_ - 1);
}

TEST_F(BacklogTest, WhatIsLeftGoesBackToItsPool) {
  accepts_ = 1;
  transmit(4);
  EXPECT_EQ(pool_.out(), 3);
  backlog_.give_up();
  EXPECT_EQ(pool_.out(), 0);
  EXPECT_EQ(backlog_.given_up(), 3u);
  EXPECT_EQ(transmit(0), kBurst);
}

}  // namespace
}  // namespace heddle::test::backlog_test
