// SPDX-License-Identifier: Apache-2.0
#include "node/buffer_shares.h"

#include "component_fixture.h"

namespace heddle::test::buffer_shares_test {
namespace {

class BufferSharesTest : public ComponentTest {
 protected:
  static constexpr uint32_t kGranted = 100;
  BufferSharesTest() {
    LinkCredits& credits = fabric_.credits[kFirstLosslessChannel];
    credits.begin_session(kBufferBytes, 2 * kGranted);
    EXPECT_TRUE(credits.apply(0, kGranted, false));
  }
  // A frame of so many buffers waits in the fabric port's lane of the class.
  void queue(uint16_t buffers, LaneIndex lane) {
    Packet* waiting = packet(500);
    waiting->cost = buffers;
    waiting->lane = lane;
    fabric_.output.scheduler.push(waiting);
  }
  uint32_t published() const { return board_.free_buffers(kFabric, kFirstLosslessChannel); }

  BufferShares shares_{site_, ports_, board_};
  const LaneIndex lane_ = site_.lanes.of(kLossless, kFirstLosslessChannel);
  Voq& voq_ = edge_.input.arbiter[site_.voq_index(kFabric, lane_)];
  const uint64_t buffer_bytes_ = std::min(site_.frame_bytes, kBufferBytes);
};

TEST_F(BufferSharesTest, WhatIsGrantedIsFreeLessWhatWaitsHere) {
  EXPECT_EQ(shares_.free_bytes_of(voq_), kGranted * buffer_bytes_);
  fabric_.credits[kFirstLosslessChannel].sent(30, false, 0);
  EXPECT_EQ(shares_.free_bytes_of(voq_), 70 * buffer_bytes_);
  queue(20, lane_);
  EXPECT_EQ(shares_.free_bytes_of(voq_), 50 * buffer_bytes_);
  queue(9, 0);
  EXPECT_EQ(shares_.free_bytes_of(voq_), 50 * buffer_bytes_) << "lossy frames take none of it";
  queue(60, lane_);
  EXPECT_EQ(shares_.free_bytes_of(voq_), 0u);
}

TEST_F(BufferSharesTest, WhatTakesNoCreditOfALosslessChannelIsNotHeld) {
  const Voq& lossy = edge_.input.arbiter[site_.voq_index(kFabric, 0)];
  EXPECT_FALSE(lossy.shares_credit);
  EXPECT_EQ(shares_.free_bytes_of(lossy), kNoShare);
}

TEST_F(BufferSharesTest, OfTheOtherWorkersPortsTheBoardSays) {
  Voq& other = edge_.input.arbiter[site_.voq_index(5, lane_)];
  EXPECT_EQ(shares_.free_bytes_of(other), 0u);
  board_.publish_free(5, kFirstLosslessChannel, 12);
  EXPECT_EQ(shares_.free_bytes_of(other), 12 * buffer_bytes_);
}

TEST_F(BufferSharesTest, TheBoardIsToldWhatHasChanged) {
  shares_.publish(fabric_);
  EXPECT_EQ(published(), kGranted);
  queue(20, lane_);
  shares_.publish(fabric_);
  EXPECT_EQ(published(), kGranted - 20);
  board_.publish_free(kFabric, kFirstLosslessChannel, 1);
  shares_.publish(fabric_);
  EXPECT_EQ(published(), 1u) << "nothing has changed: other workers' lines are left alone";
}

}  // namespace
}  // namespace heddle::test::buffer_shares_test
