// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <gtest/gtest.h>

#include "test_fabric.h"
#include "wire/fabric_frame.h"

namespace heddle::test::node_test {
namespace {

constexpr Nanos kSettled = 300 * kMillisecond;

//  h1 - n1 e0 | f1 ---- f1 | n2 e0 - h2
Topology two_switches() {
  Topology topology;
  topology.name = "two";
  add_node(topology, 1, 1);
  add_node(topology, 2, 1);
  add_link(topology, 0, 1);
  return topology;
}

struct Pair : testing::TestWithParam<uint32_t> {
  TestFabric fabric{two_switches(), GetParam()};
  MemoryDevice& h1 = fabric.device(0, 0);
  MemoryDevice& h2 = fabric.device(1, 0);

  void introduce() {
    fabric.run(50 * kMillisecond);
    h1.incoming.push_back(broadcast(1, 0));
    h2.incoming.push_back(broadcast(2, 0));
    fabric.run(5 * kMillisecond);
    h1.delivered.clear();
    h2.delivered.clear();
  }
};

TEST_P(Pair, LinkComesUpFromHellos) {
  fabric.run(50 * kMillisecond);
  EXPECT_TRUE(fabric.nodes[0]->port(1).session.up());
  EXPECT_TRUE(fabric.nodes[1]->port(1).session.up());
  EXPECT_EQ(fabric.nodes[0]->port(1).session.tag(), fabric.nodes[1]->port(1).session.tag());
}

TEST_P(Pair, BroadcastReachesTheOtherHostUnchanged) {
  fabric.run(50 * kMillisecond);
  h1.incoming.push_back(broadcast(1, 7));
  fabric.run(5 * kMillisecond);
  ASSERT_EQ(h2.delivered.size(), 1u);
  EXPECT_EQ(h2.delivered[0], broadcast(1, 7));
  EXPECT_TRUE(h1.delivered.empty());
}

TEST_P(Pair, KnownUnicastGoesThroughAFlowChannelInOrderAndIsAcknowledged) {
  introduce();
  for (uint32_t i = 0; i < 1000; ++i) {
    h1.incoming.push_back(frame(2, 1, i));
    if (i % 20 == 0) fabric.run(100 * kMicrosecond);
  }
  fabric.run(kSettled);
  ASSERT_EQ(h2.delivered.size(), 1000u);
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(number_of(h2.delivered[i]), i);
  const PortCounters& in = fabric.nodes[0]->port(0).counters;
  const PortCounters& out = fabric.nodes[1]->port(0).counters;
  EXPECT_EQ(out.delivered_bytes, 100'000u);
  EXPECT_EQ(in.acknowledged_bytes, out.delivered_bytes);
  EXPECT_EQ(fabric.all_drops(), 0u);
}

TEST_P(Pair, AtRestNothingIsLeft) {
  introduce();
  for (uint32_t i = 0; i < 50; ++i) {
    h1.incoming.push_back(frame(2, 1, i));
    h2.incoming.push_back(frame(1, 2, i));
  }
  fabric.run(kSettled);
  EXPECT_EQ(h1.delivered.size(), 50u);
  EXPECT_EQ(fabric.output_flows_used(), 0u);
  EXPECT_EQ(fabric.pool.out(), 0);
  for (uint16_t node = 0; node < 2; ++node) {
    const Port& port = fabric.nodes[node]->port(1);
    EXPECT_TRUE(port.credits[0].all_home());
    EXPECT_EQ(port.credits[0].held(), 0u);
    for (const Voq& voq : port.input.arbiter) EXPECT_EQ(voq.room, crossing_room(fabric.topology.settings, voq.at_once));
  }
}

TEST_P(Pair, ACutCableLosesFramesAndLeaksNothing) {
  introduce();
  for (uint32_t i = 0; i < 30; ++i) h1.incoming.push_back(frame(2, 1, i));
  fabric.run(100 * kMicrosecond);
  fabric.device(0, 1).carries = false;
  for (uint32_t i = 30; i < 60; ++i) h1.incoming.push_back(frame(2, 1, i));
  fabric.run(50 * kMillisecond);
  fabric.device(0, 1).carries = true;
  fabric.run(kSettled);
  EXPECT_EQ(fabric.output_flows_used(), 0u);
  EXPECT_EQ(fabric.pool.out(), 0);
  EXPECT_GT(fabric.events(ProtocolEvent::probe_sent), 0u);
  EXPECT_GT(fabric.events(ProtocolEvent::hole), 0u);
  const PortCounters& here = fabric.nodes[1]->port(1).counters;
  EXPECT_EQ(here.lost_on_wire_bytes, 30 * 100u);
  EXPECT_GE(here.lost_on_wire_frames, 30u) << "frames of the switch itself too";
  EXPECT_EQ(fabric.nodes[0]->port(1).counters.lost_on_wire_frames, 0u) << "the other direction is whole";
}

// A port whose device says that its cable is out ends the session at once and is silent until it is in again.
TEST_P(Pair, TheDevicesCarrierEndsAndBeginsTheSession) {
  introduce();
  Worker& worker = fabric.nodes[0]->worker(fabric.nodes[0]->worker_of_port(1));
  fabric.device(0, 1).carries = fabric.device(1, 1).carries = false;
  worker.set_carrier(1, false);
  fabric.run(20 * kMicrosecond);
  const Port& port = fabric.nodes[0]->port(1);
  EXPECT_FALSE(port.session.up());
  const uint64_t sent = port.counters.originated_frames;
  fabric.run(kSettled);
  EXPECT_EQ(port.counters.originated_frames, sent);
  EXPECT_EQ(port.session.down_reason(), LinkDownReason::no_carrier);
  fabric.device(0, 1).carries = fabric.device(1, 1).carries = true;
  worker.set_carrier(1, true);
  fabric.run(kSettled);
  EXPECT_TRUE(port.session.up());
}

// A thread that sleeps is called a little late each time; its worker is no later than that, and judges silence.
TEST_P(Pair, AWorkerThatSleepsUntilItsNextHelloFindsOutThatANeighbourIsDead) {
  introduce();
  fabric.device(1, 1).carries = false;
  Node& node = *fabric.nodes[0];
  for (const Nanos end = fabric.now + 250 * kMillisecond; fabric.now < end;) {
    Nanos wake = kNever;
    for (WorkerIndex worker = 0; worker < node.workers(); ++worker)
      wake = std::min(wake, node.worker(worker).poll(fabric.now).next_wake);
    fabric.now = std::max(wake, fabric.now) + 60 * kMicrosecond;
  }
  EXPECT_FALSE(node.port(1).session.up());
  EXPECT_EQ(fabric.events(ProtocolEvent::silence_forgiven), 0u);
}

std::vector<NodeEvent> events_of(Node& node) {
  std::vector<NodeEvent> events;
  NodeEvent event;
  for (WorkerIndex worker = 0; worker < node.workers(); ++worker)
    while (node.worker(worker).events().take(event)) events.push_back(event);
  return events;
}

// A neighbour that is late, and then this one: neither is away for a hello interval.
TEST(Stalls, AWorkerForgivesSilenceOfAMomentInWhichItWasAwayItself) {
  Topology topology = two_switches();
  topology.settings.hello_interval_ns = 10 * kMillisecond;
  topology.settings.hellos_missed = 2;
  TestFabric fabric(topology);
  fabric.run(50 * kMillisecond);
  const PortCounters& here = fabric.nodes[0]->port(1).counters;
  for (int times = 0; times < 40; ++times) {
    ASSERT_TRUE(fabric.nodes[0]->port(1).session.up());
    fabric.run(30 * kMillisecond);
    for (const uint64_t heard = here.consumed_frames; here.consumed_frames == heard;) fabric.run(10 * kMicrosecond);
    fabric.run(9900 * kMicrosecond);
    for (const Nanos end = fabric.now + 8 * kMillisecond; fabric.now < end; fabric.now += 10 * kMicrosecond)
      fabric.nodes[0]->worker(0).poll(fabric.now);
    for (const Nanos end = fabric.now + 8 * kMillisecond; fabric.now < end; fabric.now += 10 * kMicrosecond)
      fabric.nodes[1]->worker(0).poll(fabric.now);
  }
  fabric.run(30 * kMillisecond);
  EXPECT_EQ(fabric.nodes[0]->port(1).session.flaps() + fabric.nodes[1]->port(1).session.flaps(), 0u);
  EXPECT_GT(fabric.events(ProtocolEvent::silence_forgiven), 0u);
  for (const NodeEvent& event : events_of(*fabric.nodes[0])) EXPECT_NE(event.kind, NodeEventKind::worker_late);
}

TEST_P(Pair, WhatHappensToALinkIsToldWithItsReason) {
  introduce();
  std::vector<NodeEvent> events = events_of(*fabric.nodes[0]);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, NodeEventKind::link);
  EXPECT_EQ(events[0].reason, LinkDownReason::none);
  EXPECT_EQ(events[0].port, 1);
  fabric.start(1, GetParam());
  fabric.run(kSettled);
  events = events_of(*fabric.nodes[0]);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, NodeEventKind::neighbour_restarted);
  fabric.device(1, 1).carries = false;
  fabric.run(kSettled);
  events = events_of(*fabric.nodes[0]);
  ASSERT_EQ(events.size(), 1u) << "and not one each time that nothing is heard";
  EXPECT_EQ(events[0].reason, LinkDownReason::no_hello);
  fabric.device(1, 1).carries = true;
  fabric.run(kSettled);
  fabric.now += kSecond;  // nobody called the workers
  fabric.run(kMillisecond);
  events = events_of(*fabric.nodes[0]);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].reason, LinkDownReason::none);
  EXPECT_EQ(events[1].kind, NodeEventKind::worker_late);
  EXPECT_GT(events[1].late_us, 900'000u);
}

// A device that takes nothing is given one hello to send, not one each interval.
TEST_P(Pair, HellosDoNotPileUpBeforeADeviceThatTakesNothing) {
  fabric.takes(0, 1, 0);
  fabric.run(2 * kSecond, 100 * kMicrosecond);
  EXPECT_LE(fabric.nodes[0]->port(1).output.control_packets, 2u);
  EXPECT_EQ(fabric.drops(DropReason::no_buffer), 0u);
  fabric.device(0, 1).accepts = kBurst;
  fabric.run(kSettled);
  EXPECT_TRUE(fabric.nodes[0]->port(1).session.up());
}

TEST_P(Pair, ARestartedNeighbourGetsANewSession) {
  introduce();
  for (uint32_t i = 0; i < 30; ++i) h1.incoming.push_back(frame(2, 1, i));
  fabric.run(20 * kMicrosecond);
  fabric.start(1, GetParam());
  fabric.run(kSettled);
  EXPECT_TRUE(fabric.nodes[0]->port(1).session.up());
  EXPECT_EQ(fabric.events(ProtocolEvent::session_replaced), 1u);
  EXPECT_EQ(fabric.output_flows_used(), 0u);
  EXPECT_EQ(fabric.pool.out(), 0);
  h1.incoming.push_back(frame(2, 1, 99));
  fabric.run(kSettled);
  ASSERT_FALSE(h2.delivered.empty());
  EXPECT_EQ(number_of(h2.delivered.back()), 99u);
}

INSTANTIATE_TEST_SUITE_P(Workers, Pair, testing::Values(1u, 2u));

// What a device has no room for waits, acknowledged by nobody, and gives the worker nothing to do until it has.
TEST(Node, FramesThatAHostDoesNotTakeWaitQuietly) {
  Topology topology;
  add_node(topology, 1, 2);
  TestFabric fabric(topology);
  fabric.device(0, 1).incoming.push_back(broadcast(2, 0));
  fabric.run(kMillisecond);
  fabric.takes(0, 1, 0);
  for (uint8_t flow = 0; flow < 4; ++flow) fabric.device(0, 0).incoming.push_back(frame(2, 10 + flow, flow));
  fabric.run(100 * kMicrosecond);
  const PollResult idle = fabric.nodes[0]->worker(0).poll(fabric.now);
  EXPECT_FALSE(idle.busy);
  EXPECT_GT(idle.next_wake, fabric.now);
  EXPECT_EQ(fabric.nodes[0]->port(1).counters.delivered_frames, 0u);
  EXPECT_EQ(fabric.nodes[0]->port(0).counters.acknowledged_bytes, 0u);
  fabric.device(0, 1).accepts = kBurst;
  fabric.run(kMillisecond);
  EXPECT_EQ(fabric.nodes[0]->port(1).counters.delivered_frames, 4u);
  EXPECT_EQ(fabric.nodes[0]->port(0).counters.acknowledged_bytes, 400u);
  EXPECT_EQ(fabric.output_flows_used(), 0u);
}

// A flooded frame that no sound neighbour sends: of a class that is not there, or in a virtual channel that floods have
// not. The session is reset, and nothing of it is left (K3).
class StrangeFlood : public testing::TestWithParam<std::pair<uint8_t, uint8_t>> {};

TEST_P(StrangeFlood, ResetsTheSessionAndLeavesNothing) {
  Topology topology = two_switches();
  topology.classes = {{.name = "default", .lossless = true}};
  topology.lossless_channels = 1;
  TestFabric fabric(topology);
  fabric.run(50 * kMillisecond);
  const Port& port = fabric.nodes[1]->port(1);
  ASSERT_TRUE(port.session.up());
  const DataHeader strange{
      .destination = {HEDDLE_FLOOD_NODE, 0xffff}, .ftag = GetParam().first, .vc = GetParam().second};
  fabric.device(1, 1).incoming.push_back(forged(port, broadcast(1, 0), strange));
  fabric.run(100 * kMicrosecond);
  EXPECT_EQ(port.counters.events[static_cast<unsigned>(ProtocolEvent::session_reset)], 1u);
  EXPECT_EQ(port.counters.drops[static_cast<unsigned>(DropReason::protocol_error)], 1u);
  for (const LinkCredits& credits : port.credits) EXPECT_EQ(credits.held(), 0u);
  for (const Frame& frame : fabric.device(1, 0).delivered) EXPECT_EQ(load_be16(&frame[12]), 0x8808);  // PFC alone (F10)
}

INSTANTIATE_TEST_SUITE_P(ClassAndChannel, StrangeFlood,
                         testing::Values(std::pair<uint8_t, uint8_t>{9, 0}, std::pair<uint8_t, uint8_t>{0, 1}));

// They wait at a fabric port for a host that takes none, and end with the session (K9).
TEST(LosslessFramesWithoutAFlow, EndWithTheSessionThatTheyCameIn) {
  Topology topology = two_switches();
  topology.classes = {{.name = "default", .lossless = true}};
  topology.lossless_channels = 1;
  TestFabric fabric(topology);
  fabric.run(50 * kMillisecond);
  fabric.takes(1, 0, 0);
  fabric.device(1, 1).carries = false;  // the other end has sent nothing and would object to a report of it
  const Port& port = fabric.nodes[1]->port(1);
  for (uint8_t i = 0; i < 200; ++i) {
    const DataHeader header{.destination = {2, 0}, .ftag = 0, .vc = kFirstLosslessChannel, .after = i, .in_turn = true};
    fabric.device(1, 1).incoming.push_back(forged(port, frame(2, 1, i), header));
  }
  fabric.run(100 * kMicrosecond);
  const uint32_t waiting = port.input.queues.lossless_packets();
  ASSERT_GT(waiting, 0u);
  const DataHeader strange{.destination = {HEDDLE_FLOOD_NODE, 0xffff}, .ftag = 9};
  fabric.device(1, 1).incoming.push_back(forged(port, broadcast(1, 0), strange));
  fabric.run(10 * kMicrosecond);
  ASSERT_FALSE(port.session.up());
  EXPECT_EQ(port.counters.drops[static_cast<unsigned>(DropReason::link_down)], waiting);
  for (const Fifo& fifo : port.input.fifos) EXPECT_TRUE(fifo.queue.empty());
  EXPECT_EQ(port.input.queues.packets(), 0u);
}

// C4: what waits at a congested host's port is not part of the way there.
TEST(RoundTrip, LeavesOutTheQueueOfACongestedPort) {
  constexpr uint32_t kHosts = 4;
  Topology topology;
  add_node(topology, 1, kHosts);
  add_node(topology, 2, 1);
  add_link(topology, 0, 1);
  topology.nodes[1].ports[0].rate_bps = 100'000'000;  // 121 us for a frame
  TestFabric fabric(topology);
  fabric.run(50 * kMillisecond);
  fabric.device(1, 0).incoming.push_back(broadcast(9, 0));
  fabric.run(kMillisecond);
  const EndpointCongestion& congestion = fabric.nodes[1]->port(0).output.congestion.of(0);
  for (uint32_t step = 0; step < 4000; ++step) {
    for (PortIndex host = 0; host < kHosts; ++host)
      if (fabric.device(0, host).incoming.empty())
        fabric.device(0, host).incoming.push_back(frame(9, static_cast<uint8_t>(1 + host), step, 1514));
    fabric.run(50 * kMicrosecond);
  }
  EXPECT_TRUE(congestion.congested());
  EXPECT_GT(fabric.events(ProtocolEvent::flow_limited), 0u);
  EXPECT_LE(congestion.round_trip_ns(), 60 * kMicrosecond);
}

// More flows than IDs, none of which ever comes to rest: all get through all the same (F10, K11).
struct TooFewIds : testing::TestWithParam<uint32_t> {};

// X4: a shaper of which nothing has changed goes on where it was.
TEST(Node, AChangeAtOnePortIsNoneAtTheOthers) {
  Topology topology;
  add_node(topology, 1, 3);
  for (TopologyPort& port : topology.nodes[0].ports) port.rate_bps = 1'000'000'000;
  TestFabric fabric(topology);
  Node& node = *fabric.nodes[0];
  PortShapers shapers(3);
  shapers[0].configured = shapers[1].configured = true;
  node.set_shapers(0, shapers);
  fabric.device(0, 0).incoming.push_back(broadcast(1, 0));
  fabric.device(0, 1).incoming.push_back(frame(1, 2, 0));
  fabric.run(kMillisecond);
  const auto sent = [&node] { return node.port(0).output.scheduler.shaper().sent_bytes(0, Shaper::kRest); };
  const uint64_t before = sent();
  ASSERT_GT(before, 0u);
  shapers[1].maximum_bps = 500'000'000;
  node.set_shapers(0, shapers);
  EXPECT_EQ(sent(), before);
  EXPECT_EQ(node.port(1).output.scheduler.shaper().policy().maximum_bps, 500'000'000u);
  shapers[0].maximum_bps = 500'000'000;
  node.set_shapers(0, shapers);
  EXPECT_EQ(sent(), 0u) << "another one begins anew";
  node.set_shapers(0, {});
  EXPECT_FALSE(node.port(0).output.scheduler.shaper().shapes());
}

// R3: who chooses among ports knows what part of each a class has.
TEST(Node, WhatAClassHasOfAPortIsOnTheLoadBoard) {
  Topology topology;
  topology.classes = {{.name = "bulk", .ftag = 0}, {.name = "urgent", .ftag = 1}};
  add_node(topology, 1, 2);
  for (TopologyPort& port : topology.nodes[0].ports) port.rate_bps = 1'000'000'000;
  TestFabric fabric(topology);
  Node& node = *fabric.nodes[0];
  const auto part = [&node](PortIndex port, uint8_t of_class) {
    return node.worker(WorkerIndex::of(0)).board().load(port, of_class, 0).part;
  };
  EXPECT_EQ(part(0, 0), 0.5);
  EXPECT_EQ(part(1, 1), 0.5);
  PortShapers shapers(2);
  shapers[1].configured = true;
  shapers[1].leaves[1].bandwidth.minimum_bps = 500'000'000;
  node.set_shapers(0, shapers);
  EXPECT_EQ(part(1, 1), 0.75);
  EXPECT_EQ(part(1, 0), 0.25);
  EXPECT_EQ(part(0, 1), 0.5);
}

TEST_P(TooFewIds, AreHeldInTurns) {
  constexpr uint8_t kFlows = 8;
  const uint32_t inputs = GetParam();
  Topology topology;
  topology.settings.flow_ids = 4;
  add_node(topology, 1, inputs);
  add_node(topology, 2, 1);
  add_link(topology, 0, 1);
  TestFabric fabric(topology);
  fabric.run(100 * kMillisecond);
  fabric.device(1, 0).incoming.push_back(broadcast(2, 0));
  fabric.run(kMillisecond);
  for (uint32_t round = 0; round < 3000; ++round) {
    for (uint8_t flow = 0; flow < kFlows; ++flow)
      fabric.device(0, PortIndex::of(flow % inputs)).incoming.push_back(frame(2, 10 + flow, round));
    fabric.run(10 * kMicrosecond);
  }
  std::array<uint32_t, kFlows> delivered{};
  for (const Frame& bytes : fabric.device(1, 0).delivered)
    if (bytes[11] >= 10 && bytes[11] < 10 + kFlows) ++delivered[bytes[11] - 10];
  for (const uint32_t frames : delivered) EXPECT_GT(frames, 3000u / kFlows / 2);
  EXPECT_GT(fabric.events(ProtocolEvent::id_yielded) + fabric.events(ProtocolEvent::edge_id_waited), 10u);
}

// One host: its port has too few. Two: each port has enough, their common output too few.
INSTANTIATE_TEST_SUITE_P(Hosts, TooFewIds, testing::Values(1u, 2u));

}  // namespace
}  // namespace heddle::test::node_test
