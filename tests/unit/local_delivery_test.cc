// SPDX-License-Identifier: Apache-2.0
// Frames for an edge port, some delivered at once and some not: from hosts of the same worker, of another one, and over
// the fabric.
#include <gtest/gtest.h>

#include "test_fabric.h"
#include "wire/ethernet.h"
#include "wire/pause.h"
#include "wire/random.h"

namespace heddle::test::local_delivery_test {
namespace {

constexpr uint8_t kReceiver = 9;
constexpr PortIndex kSenders[] = {0, 2}, kReceiverPort = 1;

enum class From { same_worker, other_worker, fabric };

std::string name_of(const testing::TestParamInfo<From>& info) {
  constexpr const char* kNames[] = {"SameWorker", "OtherWorker", "Fabric"};
  return kNames[static_cast<int>(info.param)];
}

// Two hosts that send, at ports 0 and 2 of the first switch, and station kReceiver at port 1 of it or of the second
// one. Everybody is known, no pair is held any more.
struct LocalDelivery : testing::TestWithParam<From> {
  explicit LocalDelivery(const TopologyPort& receiver = {}, const Topology& rest = {})
      : fabric(switches(receiver, rest), GetParam() == From::other_worker ? 2 : 1) {
    fabric.run(50 * kMillisecond);
    Frame hello = broadcast(kReceiver, 0);
    const uint8_t tag[] = {0x81, 0x00, 0, 1};
    if (receiver.vlans.native == 0) hello.insert(hello.begin() + 12, tag, tag + 4);
    host.incoming.push_back(hello);
    fabric.run(kMillisecond);
    for (uint8_t frames = 0; frames < 4; ++frames) {  // the first ones are learned, and entries compared once more
      to_receiver(frames % 2, 0);
      fabric.run(kMillisecond);
    }
    at_once_before = at_once();
    host.delivered.clear();
    created_before = flows_created();
    delivered_before = output().counters.delivered_bytes;
    acknowledged_before = acknowledged();
    drops_before = fabric.all_drops();
    reserved_before = event(output(), ProtocolEvent::id_reserved);
  }

  static uint16_t receiver_node() { return GetParam() == From::fabric ? 1 : 0; }
  static Topology switches(const TopologyPort& receiver, Topology topology) {
    add_node(topology, 1, 3);
    if (GetParam() == From::fabric) {
      add_node(topology, 2, 2);
      add_link(topology, 0, 1);
    }
    TopologyPort& port = topology.nodes[receiver_node()].ports[kReceiverPort];
    port.rate_bps = receiver.rate_bps;
    port.vlans = receiver.vlans;
    return topology;
  }
  void to_receiver(uint8_t sender, uint32_t number, size_t length = 100) {
    fabric.device(0, kSenders[sender]).incoming.push_back(frame(kReceiver, sender + 1, number, length));
  }
  // The receiver's device, at a time.
  void takes(uint32_t frames) { fabric.takes(receiver_node(), kReceiverPort, frames); }
  void turns(int count) { fabric.run(count * 10 * kMicrosecond); }
  const Port& output() const { return fabric.nodes[receiver_node()]->port(kReceiverPort); }
  uint64_t acknowledged() const {
    uint64_t bytes = 0;
    for (const PortIndex port : kSenders) bytes += fabric.nodes[0]->port(port).counters.acknowledged_bytes;
    return bytes;
  }
  uint64_t at_once() const { return event(output(), ProtocolEvent::delivered_at_once) - at_once_before; }
  // In the receiver's switch.
  uint64_t flows_created() const {
    uint64_t flows = 0;
    const Node& node = *fabric.nodes[receiver_node()];
    for (PortIndex port = 0; port < node.ports(); ++port) flows += event(node.port(port), ProtocolEvent::flow_created);
    return flows - created_before;
  }
  static uint64_t event(const Port& port, ProtocolEvent event) {
    return port.counters.events[static_cast<unsigned>(event)];
  }
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
  void expect_nothing_left(uint64_t drops = 0) {
    fabric.run(300 * kMillisecond);
    EXPECT_EQ(fabric.output_flows_used(), 0u);
    EXPECT_EQ(fabric.pool.out(), 0);
    EXPECT_EQ(fabric.all_drops() - drops_before, drops);
    EXPECT_EQ(acknowledged() - acknowledged_before, output().counters.delivered_bytes - delivered_before);
    for (const auto& node : fabric.nodes)
      for (PortIndex port = 0; port < node->ports(); ++port) EXPECT_EQ(node->port(port).credits[0].held(), 0u);
  }

  TestFabric fabric;
  MemoryDevice& host = fabric.device(receiver_node(), kReceiverPort);
  uint64_t created_before = 0, delivered_before, acknowledged_before, at_once_before = 0, drops_before, reserved_before;
};

std::vector<uint32_t> count_up(uint32_t numbers) {
  std::vector<uint32_t> all(numbers);
  for (uint32_t i = 0; i < numbers; ++i) all[i] = i;
  return all;
}

TEST_P(LocalDelivery, OfAnIdleOutputNeedsNoFlowIds) {
  for (uint32_t i = 0; i < kBurst; ++i) to_receiver(0, i);
  turns(3);
  EXPECT_EQ(received()[0], count_up(kBurst));
  EXPECT_EQ(flows_created(), 0u);
  EXPECT_EQ(at_once(), kBurst);
  EXPECT_EQ(event(output(), ProtocolEvent::id_reserved), reserved_before);
  EXPECT_EQ(output().counters.delivered_bytes - delivered_before, kBurst * 100u);
  turns(3);
  EXPECT_EQ(acknowledged() - acknowledged_before, kBurst * 100u);
  expect_nothing_left();
}

TEST_P(LocalDelivery, WhatTheDeviceHasNoRoomForIsDeliveredInOrder) {
  takes(5);
  for (uint32_t i = 0; i < 20; ++i) to_receiver(0, i);
  turns(50);
  EXPECT_EQ(at_once(), GetParam() == From::same_worker ? 0u : 5u) << "a host's burst goes as a whole";
  EXPECT_EQ(flows_created(), GetParam() == From::other_worker ? 0u : 1u);  // what has crossed stays without
  EXPECT_EQ(received()[0], count_up(20));
  expect_nothing_left();
}

TEST_P(LocalDelivery, OfTwoOutputsByTurnsKeepsTheirFrames) {
  constexpr uint8_t kOther = 8;  // at the second sender's port
  MemoryDevice& other = fabric.device(0, kSenders[1]);
  other.incoming.push_back(broadcast(kOther, 0));
  fabric.run(kMillisecond);
  fabric.device(0, kSenders[0]).incoming.push_back(frame(kOther, 1, 0));
  fabric.run(kMillisecond);
  host.delivered.clear();
  other.delivered.clear();
  for (uint32_t round = 0; round < 3; ++round) {
    for (uint32_t i = 0; i < kBurst / 2; ++i) {
      to_receiver(0, round * kBurst / 2 + i);
      fabric.device(0, kSenders[0]).incoming.push_back(frame(kOther, 1, round * kBurst / 2 + i));
    }
    fabric.run(kMillisecond);
  }
  EXPECT_EQ(received()[0], count_up(3 * kBurst / 2));
  EXPECT_GE(at_once(), kBurst);
  ASSERT_EQ(other.delivered.size(), 3 * kBurst / 2);
  for (uint32_t i = 0; i < 3 * kBurst / 2; ++i) EXPECT_EQ(number_of(other.delivered[i]), i);
}

// E1: its frames may still be under way to the old place, and it may come back there.
TEST_P(LocalDelivery, OfAStationThatHasMovedWaitsForALife) {
  takes(0);
  for (uint32_t i = 0; i < 10; ++i) to_receiver(0, i);
  turns(5);
  MemoryDevice& new_place = fabric.device(0, kSenders[1]);
  new_place.incoming.push_back(broadcast(kReceiver, 0));
  turns(5);
  new_place.delivered.clear();
  for (uint32_t i = 10; i < 20; ++i) to_receiver(0, i);
  turns(50);
  EXPECT_TRUE(new_place.delivered.empty());
  fabric.run(2 * kSecond, 100 * kMicrosecond);
  ASSERT_EQ(new_place.delivered.size(), 10u);
  for (uint32_t i = 0; i < 10; ++i) EXPECT_EQ(number_of(new_place.delivered[i]), 10 + i);
  EXPECT_TRUE(host.delivered.empty());
}

// What does not fit the port goes nowhere, and those before it stay before those behind it, also when the device does
// not take them at once.
TEST_P(LocalDelivery, OfAFrameThatIsTooLongEndsAtTheOutput) {
  takes(2);
  fabric.topology.nodes[0].ports[0].mtu_bytes += 500;  // more than the receiver's
  for (uint32_t i = 0; i < 9; ++i) to_receiver(0, i, i == 4 ? 1800 : 100);
  turns(50);
  EXPECT_EQ(received()[0], (std::vector<uint32_t>{0, 1, 2, 3, 5, 6, 7, 8}));
  EXPECT_EQ(fabric.drops(DropReason::output_too_long), 1u);
  expect_nothing_left(1);
}

// Whatever the device takes of each burst: every flow arrives whole and in order.
TEST_P(LocalDelivery, OfRandomBurstsKeepsEveryFlowInOrder) {
  Random random(7);
  std::array<uint32_t, 2> sent{};
  for (uint32_t round = 0; round < 2000; ++round) {
    takes(random.next() % 3 == 0 ? 0 : static_cast<uint32_t>(random.next() % (kBurst + 1)));
    for (uint8_t sender = 0; sender < 2; ++sender)
      for (uint64_t frames = random.next() % 12; frames > 0; --frames) to_receiver(sender, sent[sender]++);
    turns(1);
  }
  takes(kBurst);
  fabric.run(10 * kMillisecond);
  for (uint8_t sender = 0; sender < 2; ++sender) EXPECT_EQ(received()[sender], count_up(sent[sender]));
  EXPECT_GT(at_once(), 200u);
  EXPECT_GT(flows_created(), 100u);
  expect_nothing_left();
}

// Nobody overtakes those who wait for the same output.
TEST_P(LocalDelivery, StandsBackWhileOthersWait) {
  takes(0);
  for (uint32_t i = 0; i < 10; ++i) to_receiver(0, i);
  turns(5);
  host.accepts = kBurst;
  to_receiver(1, 0);
  turns(5);
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

TEST_P(TaggedDelivery, TagsEveryFrameOnce) {
  takes(5);
  for (uint32_t i = 0; i < 5; ++i) to_receiver(0, i);
  turns(1);
  for (uint32_t i = 5; i < 20; ++i) to_receiver(0, i);
  fabric.run(kMillisecond);
  EXPECT_GE(at_once(), 5u);
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
  PausedDelivery() : LocalDelivery({}, with_storage()) {}
  static Topology with_storage() {
    Topology topology;
    topology.classes = {{.name = "default", .pcp_set = 0xf7},
                        {.name = "storage", .ftag = 1, .lossless = true, .pcp_set = 8}};
    topology.lossless_channels = 1;
    return topology;
  }
  void host_asks(const PauseFrame& pause) {
    alignas(64) uint8_t bytes[64] = {};
    Packet packet{};
    packet.data = bytes;
    write_pause(packet, pause, 0x020000000009);
    host.incoming.emplace_back(bytes, bytes + packet.length);
    fabric.run(10 * kMicrosecond);
  }
};

TEST_P(PausedDelivery, PfcHoldsTheClassOfItsPriorityAlone) {
  constexpr size_t kPlain = 100, kStorage = 300;  // bytes
  for (const unsigned priority : {0u, 3u}) {
    PauseFrame pause{.by_priority = true};
    pause.enabled = static_cast<uint8_t>(1u << priority);
    pause.quanta[priority] = 0xffff;
    host_asks(pause);
    host.delivered.clear();
    for (uint32_t i = 0; i < 5; ++i) {
      to_receiver(0, i, kPlain);
      Frame storage = frame(kReceiver, 1, i, kStorage);
      const uint8_t tag[] = {0x81, 0x00, 3 << 5, 0};
      storage.insert(storage.begin() + 12, tag, tag + 4);
      fabric.device(0, kSenders[0]).incoming.push_back(storage);
    }
    const auto came = [this](bool storage) {
      return std::count_if(host.delivered.begin(), host.delivered.end(),
                           [storage](const Frame& bytes) { return (bytes.size() >= kStorage) == storage; });
    };
    fabric.run(kMillisecond);
    EXPECT_EQ(came(false), priority == 0 ? 0 : 5);
    EXPECT_EQ(came(true), priority == 0 ? 5 : 0);
    fabric.run(10 * kMillisecond);
    EXPECT_EQ(came(false) + came(true), 10);
  }
  expect_nothing_left();
}

// Hosts are listened to where there is a lossless class, and PAUSE concerns all of them (F10).
TEST_P(PausedDelivery, WaitsUntilTheHostWantsFrames) {
  PauseFrame pause;
  pause.quanta[0] = 0xffff;  // 3.4 ms at 10 Gb/s
  host_asks(pause);
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
TEST_P(PacedDelivery, GoesThroughTheQueue) {
  for (uint32_t i = 0; i < 50; ++i) to_receiver(0, i);
  fabric.run(kMillisecond);
  EXPECT_EQ(received()[0], count_up(50));
  EXPECT_EQ(at_once(), 0u);
  EXPECT_GT(flows_created(), 0u);
  expect_nothing_left();
}

// Room between the workers for ten buffers, and frames may take five.
struct CrossedDelivery : LocalDelivery {
  CrossedDelivery() : LocalDelivery({}, large_frames()) {}
  static Topology large_frames() {
    Topology topology;
    topology.edge_mtu_bytes = 9000;
    topology.settings.output_room_buffers = 5;
    return topology;
  }
  Worker& sending_worker() { return fabric.nodes[0]->worker(0); }
  Worker& receiving_worker() { return fabric.nodes[0]->worker(1); }
};

// The first six find room for a large frame and cross at once, four more find some with their flow.
TEST_P(CrossedDelivery, GoesBeforeWhatItsFlowSendsLater) {
  fabric.device(0, kSenders[0]).incoming.push_back(broadcast(7, 0));  // a new station: all matches are compared again
  turns(20);
  to_receiver(0, 0);  // takes a flow, and its ID stays here for a while
  turns(20);
  host.delivered.clear();
  const uint64_t lent_before = event(fabric.nodes[0]->port(0), ProtocolEvent::id_lent);
  takes(2);
  for (uint32_t i = 0; i < 10; ++i) to_receiver(0, i);
  sending_worker().poll(fabric.now);
  EXPECT_EQ(event(fabric.nodes[0]->port(0), ProtocolEvent::id_lent), lent_before + 1);
  receiving_worker().poll(fabric.now);
  EXPECT_EQ(at_once(), 2u);
  turns(50);
  EXPECT_EQ(received()[0], count_up(10));
  expect_nothing_left();
}

// A10: half of the room is for those who wait for it.
TEST_P(CrossedDelivery, StandsBackWhileFlowsWaitForRoom) {
  constexpr uint8_t kOther = 5;  // another station there
  MemoryDevice& sender = fabric.device(0, kSenders[0]);
  host.incoming.push_back(broadcast(kOther, 0));
  for (int frames = 0; frames < 3; ++frames) {
    fabric.run(kMillisecond);
    to_receiver(0, 0);
    sender.incoming.push_back(frame(kOther, 1, 0));
  }
  fabric.run(10 * kMillisecond);  // lent IDs have gone home
  host.delivered.clear();
  for (uint32_t i = 0; i < 20; ++i) to_receiver(0, i);
  sending_worker().poll(fabric.now);  // some cross, the others wait
  receiving_worker().poll(fabric.now);
  for (uint32_t i = 0; i < 10; ++i) sender.incoming.push_back(frame(kOther, 1, i));
  turns(100);
  ASSERT_EQ(host.delivered.size(), 30u);
  const auto to_other = [](const Frame& bytes) { return bytes[5] == kOther; };
  const auto first = std::find_if(host.delivered.begin(), host.delivered.end(), to_other);
  EXPECT_LE(std::count_if(first, first + 6, to_other), 4);
  expect_nothing_left();
}

// K8: the other worker was away.
TEST_P(CrossedDelivery, EndsWithItsLife) {
  for (uint32_t i = 0; i < 3; ++i) to_receiver(0, i);
  sending_worker().poll(fabric.now);
  fabric.now += kSecond;
  turns(10);
  EXPECT_TRUE(host.delivered.empty());
  EXPECT_EQ(fabric.drops(DropReason::life_ended), 3u);
}

const auto kEverywhere = testing::Values(From::same_worker, From::other_worker, From::fabric);
INSTANTIATE_TEST_SUITE_P(Senders, LocalDelivery, kEverywhere, name_of);
INSTANTIATE_TEST_SUITE_P(Senders, TaggedDelivery, kEverywhere, name_of);
INSTANTIATE_TEST_SUITE_P(Senders, PausedDelivery, kEverywhere, name_of);
INSTANTIATE_TEST_SUITE_P(Senders, CrossedDelivery, testing::Values(From::other_worker), name_of);
INSTANTIATE_TEST_SUITE_P(Senders, PacedDelivery, kEverywhere, name_of);

}  // namespace
}  // namespace heddle::test::local_delivery_test
