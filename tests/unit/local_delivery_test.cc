// SPDX-License-Identifier: Apache-2.0
// Frames between edge ports of one worker, some delivered at once and some not.
#include <gtest/gtest.h>

#include "test_fabric.h"
#include "wire/ethernet.h"
#include "wire/pause.h"
#include "wire/random.h"

namespace heddle::test {
namespace {

constexpr uint8_t kReceiver = 9;

// Two hosts that send, at ports 0 and 1, and station kReceiver at port 2. Everybody is known, no pair is held any more.
struct LocalDelivery : testing::Test {
  explicit LocalDelivery(const TopologyPort& receiver = {}, const std::vector<TrafficClass>& classes = {})
      : fabric(one_switch(receiver, classes)) {
    Frame hello = broadcast(kReceiver, 0);
    const uint8_t tag[] = {0x81, 0x00, 0, 1};
    if (receiver.vlans.native == 0) hello.insert(hello.begin() + 12, tag, tag + 4);
    fabric.device(0, 2).incoming.push_back(hello);
    fabric.run(kMillisecond);
    for (uint8_t frames = 0; frames < 4; ++frames) {  // the first ones are learned, and entries compared once more
      to_receiver(frames % 2, 0);
      fabric.run(kMillisecond);
    }
    at_once_before = at_once();
    host.delivered.clear();
    created_before = fabric.events(ProtocolEvent::flow_created);
    delivered_before = output().counters.delivered_bytes;
    acknowledged_before = acknowledged();
  }

  static Topology one_switch(const TopologyPort& receiver, const std::vector<TrafficClass>& classes) {
    Topology topology;
    topology.classes = classes;
    add_node(topology, 1, 3);
    topology.nodes[0].ports[2].rate_bps = receiver.rate_bps;
    topology.nodes[0].ports[2].vlans = receiver.vlans;
    return topology;
  }
  void to_receiver(uint8_t sender, uint32_t number) {
    fabric.device(0, sender).incoming.push_back(frame(kReceiver, sender + 1, number));
  }
  const Port& output() const { return fabric.nodes[0]->port(2); }
  uint64_t acknowledged() const {
    return fabric.nodes[0]->port(0).counters.acknowledged_bytes + fabric.nodes[0]->port(1).counters.acknowledged_bytes;
  }
  uint64_t at_once() const { return fabric.events(ProtocolEvent::delivered_at_once) - at_once_before; }
  uint64_t flows_created() const { return fabric.events(ProtocolEvent::flow_created) - created_before; }
  // What has come from each sender, as numbered.
  std::array<std::vector<uint32_t>, 2> received(size_t tag_bytes = 0) const {
    std::array<std::vector<uint32_t>, 2> numbers;
    for (const Frame& bytes : host.delivered) {
      Frame untagged(bytes);
      untagged.erase(untagged.begin() + 12, untagged.begin() + 12 + static_cast<ptrdiff_t>(tag_bytes));
      numbers.at(bytes[11] - 1u).push_back(number_of(untagged));
    }
    return numbers;
  }
  void expect_nothing_left() {
    fabric.run(100 * kMillisecond);
    EXPECT_EQ(fabric.output_flows_used(), 0u);
    EXPECT_EQ(fabric.pool.out(), 0);
    EXPECT_EQ(fabric.all_drops(), 0u);
    EXPECT_EQ(acknowledged() - acknowledged_before, output().counters.delivered_bytes - delivered_before);
  }

  TestFabric fabric;
  MemoryDevice& host = fabric.device(0, 2);
  uint64_t created_before, delivered_before, acknowledged_before, at_once_before = 0;
};

std::vector<uint32_t> count_up(uint32_t numbers) {
  std::vector<uint32_t> all(numbers);
  for (uint32_t i = 0; i < numbers; ++i) all[i] = i;
  return all;
}

TEST_F(LocalDelivery, OfAnIdleOutputNeedsNoFlowIds) {
  for (uint32_t i = 0; i < kBurst; ++i) to_receiver(0, i);
  fabric.nodes[0]->worker(0).poll(fabric.now);
  EXPECT_EQ(received()[0], count_up(kBurst));
  EXPECT_EQ(flows_created(), 0u);
  EXPECT_EQ(output().counters.delivered_bytes - delivered_before, kBurst * 100u);
  EXPECT_EQ(acknowledged() - acknowledged_before, kBurst * 100u);
  EXPECT_EQ(at_once(), kBurst);
  expect_nothing_left();
}

TEST_F(LocalDelivery, WhatTheDeviceRefusesIsDeliveredInOrder) {
  host.accepts = 5;
  for (uint32_t i = 0; i < 20; ++i) to_receiver(0, i);
  fabric.nodes[0]->worker(0).poll(fabric.now);
  EXPECT_EQ(at_once(), 5u);
  EXPECT_EQ(flows_created(), 1u);
  EXPECT_EQ(acknowledged() - acknowledged_before, 500u);
  fabric.run(kMillisecond);
  EXPECT_EQ(received()[0], count_up(20));
  expect_nothing_left();
}

// Whatever the device takes of each burst: every flow arrives whole and in order.
TEST_F(LocalDelivery, OfRandomBurstsKeepsEveryFlowInOrder) {
  Random random(7);
  std::array<uint32_t, 2> sent{};
  for (uint32_t round = 0; round < 2000; ++round) {
    host.accepts = random.next() % 3 == 0 ? 0 : static_cast<uint32_t>(random.next() % (kBurst + 1));
    for (uint8_t sender = 0; sender < 2; ++sender)
      for (uint64_t frames = random.next() % 12; frames > 0; --frames) to_receiver(sender, sent[sender]++);
    fabric.run(10 * kMicrosecond);
  }
  host.accepts = kBurst;
  fabric.run(10 * kMillisecond);
  for (uint8_t sender = 0; sender < 2; ++sender) EXPECT_EQ(received()[sender], count_up(sent[sender]));
  EXPECT_GT(at_once(), 500u);
  EXPECT_GT(flows_created(), 100u);
  expect_nothing_left();
}

// Nobody overtakes those who wait for the same output.
TEST_F(LocalDelivery, StandsBackWhileOthersWait) {
  host.accepts = 0;
  for (uint32_t i = 0; i < 10; ++i) to_receiver(0, i);
  fabric.run(50 * kMicrosecond);
  host.accepts = kBurst;
  to_receiver(1, 0);
  fabric.nodes[0]->worker(0).poll(fabric.now);
  ASSERT_EQ(host.delivered.size(), 11u);
  EXPECT_EQ(host.delivered.back()[11], 2);
  EXPECT_EQ(at_once(), 0u);
  expect_nothing_left();
}

struct TaggedDelivery : LocalDelivery {
  TaggedDelivery() : LocalDelivery(tagged()) {}
  static TopologyPort tagged() {
    TopologyPort port;
    port.vlans.native = 0;
    port.vlans.tagged.set(1);
    return port;
  }
};

TEST_F(TaggedDelivery, TagsEveryFrameOnce) {
  host.accepts = 5;
  for (uint32_t i = 0; i < 20; ++i) to_receiver(0, i);
  fabric.run(kMillisecond);
  EXPECT_GT(at_once(), 0u);
  for (const Frame& bytes : host.delivered) {
    ASSERT_EQ(bytes.size(), 104u);
    EXPECT_EQ(load_be16(&bytes[12]), 0x8100);
    EXPECT_EQ(load_be16(&bytes[14]) & 0xfff, 1);
    EXPECT_EQ(load_be16(&bytes[16]), 0x1234);
  }
  EXPECT_EQ(received(4)[0], count_up(20));
  expect_nothing_left();
}

struct PausedDelivery : LocalDelivery {
  PausedDelivery()
      : LocalDelivery({}, {{.name = "default", .pcp_set = 0xf7},
                           {.name = "storage", .ftag = 1, .lossless = true, .pcp_set = 8}}) {}
};

// Hosts are listened to where there is a lossless class, and PAUSE concerns all of them (F10).
TEST_F(PausedDelivery, WaitsUntilTheHostWantsFrames) {
  alignas(64) uint8_t bytes[64] = {};
  Packet packet{};
  packet.data = bytes;
  PauseFrame pause;
  pause.quanta[0] = 0xffff;  // 3.4 ms at 10 Gb/s
  write_pause(packet, pause, 0x020000000009);
  host.incoming.emplace_back(bytes, bytes + packet.length);
  fabric.run(10 * kMicrosecond);
  const size_t before = host.delivered.size();
  for (uint32_t i = 0; i < 10; ++i) to_receiver(0, i);
  fabric.run(kMillisecond);
  EXPECT_EQ(host.delivered.size(), before);
  EXPECT_EQ(at_once(), 0u);
  fabric.run(10 * kMillisecond);
  EXPECT_EQ(received()[0], count_up(10));
  expect_nothing_left();
}

struct PacedDelivery : LocalDelivery {
  PacedDelivery() : LocalDelivery(paced()) {}
  static TopologyPort paced() {
    TopologyPort port;
    port.rate_bps = 100'000'000;
    return port;
  }
};

// A port with a rate of its own is to have its queue here (decision 6).
TEST_F(PacedDelivery, GoesThroughTheQueue) {
  for (uint32_t i = 0; i < 50; ++i) to_receiver(0, i);
  fabric.run(kMillisecond);
  EXPECT_EQ(received()[0], count_up(50));
  EXPECT_EQ(at_once(), 0u);
  EXPECT_GT(flows_created(), 0u);
  expect_nothing_left();
}

}  // namespace
}  // namespace heddle::test
