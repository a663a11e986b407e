// SPDX-License-Identifier: Apache-2.0
#include "egress/output_queues.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace heddle {
namespace {

constexpr uint32_t kQuantumBytes = kBurst * 1500;

// Two lossy classes and a lossless one with two channels of its own: lanes 0 to 2 in channel 0, 3 and 4 in 1 and 2.
class OutputQueuesTest : public testing::Test {
 protected:
  static Topology topology() {
    Topology topology;
    topology.classes.resize(3);
    for (uint8_t ftag = 0; ftag < 3; ++ftag) topology.classes[ftag].ftag = ftag;
    topology.classes[2].lossless = true;
    topology.lossless_channels = 2;
    return topology;
  }
  Packet* push(uint8_t lane, uint16_t bytes = 1500) {
    Packet& packet = packets_.emplace_back();
    packet.lane = lane;
    packet.payload = bytes;
    packet.cost = static_cast<uint16_t>((bytes + 2047) / 2048);
    queues_.push(&packet);
    return &packet;
  }
  // Lanes in the order that their packets leave, a letter each, until nothing is left or so many have.
  std::string leave(LaneSet lanes, size_t most = 10000) {
    std::string order;
    while ((queues_.lanes() & lanes) != 0 && order.size() < most) {
      OutputQueues::Turn turn = queues_.begin_turn(queues_.lanes() & lanes);
      do {
        order += static_cast<char>('a' + turn.lane());
        turn.take();
      } while (turn.goes_on() && order.size() < most);
      turn.end();
    }
    return order;
  }

  Lanes lanes_{topology()};
  OutputQueues queues_{lanes_};
  std::deque<Packet> packets_;
};

TEST_F(OutputQueuesTest, CountWhatTheyHold) {
  EXPECT_TRUE(queues_.empty());
  EXPECT_EQ(queues_.lane_count(), 5u);
  Packet* first = push(1, 100);
  push(1, 3000);
  push(3, 5000);
  EXPECT_EQ(queues_.lanes(), 0b01010u);
  EXPECT_EQ(queues_.packets(), 3u);
  EXPECT_EQ(queues_.bytes(), 8100u);
  EXPECT_EQ(queues_.buffers(1), 3u);
  EXPECT_EQ(queues_.buffers(2), 0u);
  EXPECT_EQ(queues_.buffers(kLossyChannel), 0u);
  EXPECT_EQ(queues_.of(1).head, first);
  EXPECT_EQ(queues_.take(1), first);
  EXPECT_EQ(queues_.lanes(), 0b01010u);
  EXPECT_EQ(queues_.bytes(), 8000u);
  queues_.take(1);
  queues_.take(3);
  EXPECT_TRUE(queues_.empty());
  EXPECT_EQ(queues_.packets(), 0u);
  EXPECT_EQ(queues_.bytes(), 0u);
  EXPECT_EQ(queues_.buffers(1), 0u);
}

TEST_F(OutputQueuesTest, ALaneKeepsItsOrder) {
  const Packet* expected[] = {push(4), push(4), push(4)};
  OutputQueues::Turn turn = queues_.begin_turn(queues_.lanes());
  EXPECT_EQ(turn.lane(), 4u);
  EXPECT_EQ(turn.channel(), 2);
  for (const Packet* packet : expected) {
    EXPECT_EQ(turn.head(), packet);
    EXPECT_EQ(turn.take(), packet);
  }
  EXPECT_FALSE(turn.goes_on());
  EXPECT_EQ(turn.bytes(), 4500u);
  turn.end();
  EXPECT_TRUE(queues_.empty());
}

// X5: equal bytes, whatever the size of the packets.
TEST_F(OutputQueuesTest, LanesShareByBytes) {
  const uint32_t turns = 8;
  for (uint32_t i = 0; i < turns * kQuantumBytes / 1500; ++i) push(0, 1500);
  for (uint32_t i = 0; i < turns * kQuantumBytes / 300; ++i) push(1, 300);
  const std::string order = leave(~LaneSet{0}, turns * (kBurst + 5 * kBurst) / 2);
  const auto of = [&order](char lane) { return static_cast<size_t>(std::count(order.begin(), order.end(), lane)); };
  EXPECT_EQ(of('a') * 5, of('b'));
  EXPECT_EQ(order.find("aba"), std::string::npos) << "turns last: " << order;
}

// A turn goes on in the next burst where it was broken off.
TEST_F(OutputQueuesTest, ATurnLastsOverBursts) {
  for (uint32_t i = 0; i < 2 * kBurst; ++i) {
    push(0);
    push(1);
  }
  std::string order;
  for (int burst = 0; burst < 16; ++burst) order += leave(~LaneSet{0}, kBurst / 4);
  const std::string first = std::string(kBurst, order[0]), second = std::string(kBurst, order[0] == 'a' ? 'b' : 'a');
  EXPECT_EQ(order, first + second + first + second);
}

// What one packet took beyond the share is missing in the next turn.
TEST_F(OutputQueuesTest, WhoTakesMoreHasLessNextTime) {
  for (uint32_t i = 0; i < 24; ++i) push(0, 9000);
  for (uint32_t i = 0; i < 400; ++i) push(1, 1500);
  const std::string order = leave(~LaneSet{0}, 2 * 6 + 3 * kBurst);
  size_t at = 0;
  uint64_t bytes[2] = {};
  for (; at < order.size(); ++at) bytes[order[at] == 'b'] += order[at] == 'a' ? 9000 : 1500;
  EXPECT_LE(std::max(bytes[0], bytes[1]) - std::min(bytes[0], bytes[1]), kQuantumBytes + 9000u) << order;
}

// One that may not send (no credit, paused) is passed over, and its packets stay.
TEST_F(OutputQueuesTest, OnlyThoseThatMaySendHaveTurns) {
  push(0);
  push(1);
  push(4);
  EXPECT_EQ(leave(0b10010), "be");
  EXPECT_EQ(queues_.lanes(), 0b00001u);
  EXPECT_EQ(leave(~LaneSet{0}), "a");
}

}  // namespace
}  // namespace heddle
