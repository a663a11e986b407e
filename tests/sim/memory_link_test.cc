// SPDX-License-Identifier: Apache-2.0
#include "io/memory_link.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/engine/packet_pool.h"

namespace heddle::sim::memory_link_test {
namespace {

struct Link : testing::Test {
  SimPool pool{2048, true};
  std::unique_ptr<MemoryLink> link;
  Nanos now = kSecond;

  void make(const MemoryLinkOptions& options) { link = std::make_unique<MemoryLink>(pool, options, options, 1); }
  bool send(uint8_t number, uint16_t length = 100) {
    Packet* packet = nullptr;
    pool.allocate(&packet, 1);
    packet->length = length;
    packet->input.port = 7;  // metadata that must not reach the other end
    packet->data[0] = number;
    if (room() != 0) {
      link->end(0).transmit(&packet, 1, now);
      return true;
    }
    pool.release(&packet, 1);
    return false;
  }
  uint32_t room() { return link->end(0).transmit(nullptr, 0, now); }
  std::vector<uint8_t> receive() {
    Packet* packets[kBurst];
    std::vector<uint8_t> numbers;
    while (const uint32_t count = link->end(1).receive(packets, kBurst, now)) {
      for (uint32_t i = 0; i < count; ++i) {
        numbers.push_back(packets[i]->data[0]);
        EXPECT_EQ(packets[i]->input.port, 0);
      }
      pool.release(packets, count);
    }
    return numbers;
  }
};

TEST_F(Link, FramesArriveAfterTheDelayInOrderAndBare) {
  make({.delay_ns = 500});
  for (uint8_t i = 0; i < 5; ++i) EXPECT_TRUE(send(i));
  EXPECT_EQ(link->end(1).next_arrival(), now + 500);
  now += 499;
  EXPECT_TRUE(receive().empty());
  now += 1;
  EXPECT_EQ(receive(), (std::vector<uint8_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(link->end(1).next_arrival(), kNever);
  EXPECT_EQ(pool.outstanding(), 0);
}

TEST_F(Link, AtItsRateAFrameTakesItsTimeAndTheTransmitRingFills) {
  make({.rate_bps = 1'000'000'000, .delay_ns = 0, .transmit_frames = 2});
  EXPECT_TRUE(send(0, 101));  // with 24 bytes more on the wire: 1 us
  EXPECT_TRUE(send(1, 101));
  EXPECT_FALSE(send(2, 101));
  EXPECT_EQ(link->end(1).next_arrival(), now + 1000);
  now += 1000;
  EXPECT_TRUE(send(3, 101));
  now += 2000;
  EXPECT_EQ(receive(), (std::vector<uint8_t>{0, 1, 3}));
}

TEST_F(Link, TellsForHowManyFramesItHasRoom) {
  make({.rate_bps = 1'000'000'000, .transmit_frames = 40});
  EXPECT_EQ(room(), kBurst) << "a burst at most";
  for (uint8_t i = 0; i < 30; ++i) EXPECT_TRUE(send(i, 101));  // a microsecond each
  EXPECT_EQ(room(), 10u);
  now += 3000;
  EXPECT_EQ(room(), 13u);
  make({.capacity_frames = 10});
  EXPECT_EQ(room(), 5u) << "a frame may be doubled";
  for (uint8_t i = 0; i < 9; ++i) EXPECT_TRUE(send(i));
  EXPECT_EQ(room(), 0u);
}

TEST_F(Link, TellsWhenTheTransmitRingHasRoom) {
  make({.rate_bps = 1'000'000'000, .transmit_frames = 3});
  EXPECT_LE(link->transmit_room_at(0, 3), now);
  for (uint8_t i = 0; i < 3; ++i) EXPECT_TRUE(send(i, 101));  // a microsecond each
  for (uint32_t frames = 1; frames <= 3; ++frames) EXPECT_EQ(link->transmit_room_at(0, frames), now + frames * 1000);
  now += 1500;
  EXPECT_TRUE(send(3, 101));
  EXPECT_EQ(link->transmit_room_at(0, 1), now + 500);
  EXPECT_EQ(link->transmit_room_at(0, 3), now + 2500);
  EXPECT_EQ(link->transmit_room_at(1, 3), 0u) << "the other direction's is empty";
}

TEST_F(Link, WhatComesWhileTheReceiveRingIsFullIsLost) {
  make({.delay_ns = 10, .receive_frames = 3});
  for (uint8_t i = 0; i < 6; ++i) EXPECT_TRUE(send(i));
  now += 20;
  EXPECT_EQ(receive(), (std::vector<uint8_t>{0, 1, 2}));
  EXPECT_EQ(link->events(0, LinkFrameEvent::ring_full), 3u);
  EXPECT_EQ(pool.outstanding(), 0);
}

TEST_F(Link, DownItLosesWhatIsUnderWayAndWhatIsSent) {
  make({.delay_ns = 10});
  EXPECT_TRUE(send(0));
  link->set_up(false);
  EXPECT_TRUE(send(1));
  link->set_up(true);
  EXPECT_TRUE(send(2));
  now += 10;
  EXPECT_EQ(receive(), (std::vector<uint8_t>{2}));
  EXPECT_EQ(link->events(0, LinkFrameEvent::lost), 2u);
  EXPECT_EQ(pool.outstanding(), 0);
}

TEST_F(Link, FaultsComeAboutAsOftenAsAsked) {
  make({.delay_ns = 10,
        .loss_ppm = 100'000,
        .duplicate_ppm = 50'000,
        .reorder_ppm = 50'000,
        .corrupt_ppm = 50'000,
        .reorder_max_ns = 1000});
  uint64_t received = 0;
  bool overtaken = false;
  for (uint32_t i = 0; i < 20'000; ++i) {
    EXPECT_TRUE(send(static_cast<uint8_t>(i)));
    now += 100;
    uint8_t before = 0;
    for (const uint8_t number : receive()) {
      overtaken = overtaken || number < before;
      before = number;
      ++received;
    }
  }
  now += 10'000;
  received += receive().size();
  const uint64_t lost = link->events(0, LinkFrameEvent::lost), doubled = link->events(0, LinkFrameEvent::duplicated);
  EXPECT_NEAR(static_cast<double>(lost), 2000, 200);
  EXPECT_NEAR(static_cast<double>(doubled), 900, 120);
  EXPECT_NEAR(static_cast<double>(link->events(0, LinkFrameEvent::corrupted)), 900, 120);
  EXPECT_EQ(received, 20'000 - lost + doubled);
  EXPECT_TRUE(overtaken);
  EXPECT_EQ(pool.outstanding(), 0);
}

TEST_F(Link, FramesUnderWayGoBackToThePoolWithIt) {
  make({.delay_ns = 10});
  for (uint8_t i = 0; i < 9; ++i) send(i);
  link.reset();
  EXPECT_EQ(pool.outstanding(), 0);
}

TEST(SimPool, FindsAPacketReleasedTwiceAndOneWrittenToAfterItsRelease) {
  SimPool pool(2048, true);
  Packet* packet = nullptr;
  pool.allocate(&packet, 1);
  uint8_t* bytes = packet->data;
  pool.release(&packet, 1);
  EXPECT_THROW(pool.release(&packet, 1), PoolError);
  bytes[0] = 1;
  EXPECT_THROW(pool.allocate(&packet, 1), PoolError);
}

}  // namespace
}  // namespace heddle::sim::memory_link_test
