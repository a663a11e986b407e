// SPDX-License-Identifier: Apache-2.0
#include "node/port_setup.h"

#include <gtest/gtest.h>

#include "memory_ports.h"
#include "topology/topology_hash.h"

namespace heddle::test::port_setup_test {
namespace {

// Of two workers one has the edge ports 0 and 2 and the fabric port 4, the other one 1 and 3. Both links lead up.
class PortSetupTest : public testing::Test {
 protected:
  static constexpr PortIndex kEdge = 0, kEdgeOfOther = 1, kEdgeBeside = 2, kLink = 3, kOtherLink = 4, kPorts = 5;
  static constexpr uint8_t kLossy = 0, kLossless = 1;  // FTAGs

  PortSetupTest() {
    topology_.classes.resize(2);
    topology_.classes[kLossless].ftag = kLossless;
    topology_.classes[kLossless].lossless = true;
    topology_.lossless_channels = 2;
    add_node(topology_, 1, 3);
    for (uint16_t spine = 1; spine <= 2; ++spine) {
      add_node(topology_, static_cast<uint16_t>(10 + spine), 0);
      add_link(topology_, 0, spine);
    }
  }
  TopologyPort& settings(PortIndex port) { return topology_.nodes[0].ports[port]; }
  std::unique_ptr<Port> made(PortIndex port) {
    options_.topology = &topology_;
    options_.workers = 2;
    options_.devices.assign(kPorts, &device_);
    options_.complete_checksums.resize(kPorts);
    return make_port(options_, port);
  }
  // The queue for an output, of a class and the channel in which it leaves.
  const Voq& voq(const Port& port, PortIndex output, uint8_t ftag, uint8_t channel = kLossyChannel) const {
    const Lanes lanes(topology_);
    return port.input.arbiter[VoqIndex::of(lanes.of(ftag, channel) * kPorts + output)];
  }

  Topology topology_;
  HeapPool pool_;
  MemoryDevice device_{pool_};
  NodeOptions options_{};
};

TEST_F(PortSetupTest, APortHasItsDeviceAndAddress) {
  const auto port = made(kLink);
  EXPECT_EQ(port->index, kLink);
  EXPECT_EQ(port->device, &device_);
  EXPECT_EQ(port->receive_room, device_.receive_room());
  EXPECT_EQ(port->mac, port_mac({1, kLink}));
  EXPECT_TRUE(port->is_fabric());
}

TEST_F(PortSetupTest, ALinkTellsWhoItIsAndWhatItExpects) {
  const auto port = made(kOtherLink);
  port->session.tick(77, 0);
  for (const uint32_t bytes : {settings(kOtherLink).mtu_bytes + kEthernetHeaderBytes, 0u}) {
    const DueHello due = port->session.take_hello(0, 0);
    EXPECT_EQ(due.hello.topology_hash, topology_hash(topology_));
    EXPECT_EQ(due.hello.node, 1);
    EXPECT_EQ(due.hello.port, 4);
    EXPECT_EQ(due.hello.peer_node, 12);
    EXPECT_EQ(due.hello.peer_port, 0);
    EXPECT_EQ(due.hello.buffer_bytes, kBufferBytes);
    EXPECT_EQ(due.hello.credits, topology_.settings.link_credits);
    EXPECT_STREQ(due.hello.node_name, "n1");
    EXPECT_STREQ(due.hello.port_name, "f4");
    EXPECT_EQ(due.frame_bytes, bytes) << "long ones by turns";
  }
}

TEST_F(PortSetupTest, EachInputHasAQueueForEachLaneOfEachOutput) {
  const auto port = made(kEdge);
  const Lanes lanes(topology_);
  ASSERT_EQ(port->input.arbiter.size(), lanes.count() * kPorts);
  for (PortIndex output = 0; output < kPorts; ++output) {
    for (LaneIndex lane = 0; lane < lanes.count(); ++lane) {
      const Voq& queue = voq(*port, output, lanes.ftag(lane), lanes.channel(lane));
      EXPECT_EQ(queue.output, output);
      EXPECT_EQ(queue.lane, lane);
      EXPECT_EQ(queue.came_in, lanes.channel(lane));
    }
  }
}

// A5: what a frame takes of the port that it leaves by, with preamble and gap.
TEST_F(PortSetupTest, AQueueCountsWhatItsOutputAdds) {
  const auto port = made(kEdge);
  const uint32_t untagged = topology_.edge_mtu_bytes + kEthernetHeaderBytes;
  const PortBytes& link = voq(*port, kLink, kLossy).bytes;
  EXPECT_EQ(link.overhead, kWireExtraBytes + HEDDLE_DATA_OVERHEAD_BYTES);
  EXPECT_EQ(link.largest, untagged + link.overhead);
  const PortBytes& edge = voq(*port, kEdgeBeside, kLossy).bytes;
  EXPECT_EQ(edge.overhead, kWireExtraBytes);
  EXPECT_EQ(edge.largest, untagged + kVlanTagBytes + kWireExtraBytes);
  EXPECT_EQ(edge.turn_max, 1024 * edge.largest) << "of unknown rate";
  settings(kLink).overhead_bytes = 0;
  settings(kEdgeBeside).overhead_bytes = 60;
  const auto other = made(kEdge);
  EXPECT_EQ(voq(*other, kLink, kLossy).bytes.overhead, uint32_t{HEDDLE_DATA_OVERHEAD_BYTES});
  EXPECT_EQ(voq(*other, kEdgeBeside, kLossy).bytes.overhead, 60u);
}

TEST_F(PortSetupTest, EachChannelOfALinkHasItsCredits) {
  const auto port = made(kLink);
  ASSERT_EQ(port->channels, 3u);
  EXPECT_EQ(port->credits[0].buffers(), topology_.settings.link_credits);
  for (uint32_t channel = 1; channel < port->channels; ++channel)
    EXPECT_EQ(port->credits[channel].buffers(), topology_.settings.lossless_credits) << channel;
}

// R5: from down to up the channel changes.
TEST_F(PortSetupTest, OnAWayThatTurnsUpFramesHaveComeInTheChannelBefore) {
  const auto link = made(kLink);
  EXPECT_EQ(voq(*link, kOtherLink, kLossless, 2).came_in, 1);
  EXPECT_EQ(voq(*link, kOtherLink, kLossy).came_in, kLossyChannel);
  EXPECT_EQ(voq(*link, kEdge, kLossless, 2).came_in, 2) << "that one goes on down";
  EXPECT_EQ(voq(*made(kEdge), kLink, kLossless, 2).came_in, 2) << "that one begins";
}

TEST_F(PortSetupTest, LosslessFramesShareTheCreditOfTheirLink) {
  const auto port = made(kEdge);
  EXPECT_TRUE(voq(*port, kLink, kLossless, 1).shares_credit);
  EXPECT_FALSE(voq(*port, kLink, kLossy).shares_credit);
  EXPECT_FALSE(voq(*port, kLink, kLossless).shares_credit) << "floods are lossy";
  EXPECT_FALSE(voq(*port, kEdgeBeside, kLossless, 1).shares_credit);
}

TEST_F(PortSetupTest, BetweenHostsOfTwoWorkersFramesCrossAtOnceAndHaveRoomForThat) {
  const auto port = made(kEdge);
  const auto crosses = [&](const Voq& queue) {
    EXPECT_EQ(queue.room, crossing_room(topology_.settings, queue.at_once));
    EXPECT_EQ(queue.copy_room, copy_room(topology_.settings));
    return queue.at_once;
  };
  EXPECT_TRUE(crosses(voq(*port, kEdgeOfOther, kLossy)));
  EXPECT_TRUE(crosses(voq(*port, kEdgeOfOther, kLossless, 1)));
  EXPECT_FALSE(crosses(voq(*port, kEdgeOfOther, kLossless, 2))) << "hosts' frames are in the first channel";
  EXPECT_FALSE(crosses(voq(*port, kEdgeOfOther, kLossless))) << "floods don't";
  EXPECT_FALSE(crosses(voq(*port, kEdgeBeside, kLossy))) << "of the same worker";
  EXPECT_FALSE(crosses(voq(*port, kLink, kLossy))) << "a link";
  EXPECT_FALSE(crosses(voq(*made(kLink), kEdge, kLossy))) << "from a link";
  settings(kEdgeOfOther).rate_bps = 1'000'000'000;
  EXPECT_TRUE(crosses(voq(*made(kEdge), kEdgeOfOther, kLossy)));
  EXPECT_FALSE(crosses(voq(*made(kEdge), kEdgeOfOther, kLossless, 1))) << "where they would only grow old";
  settings(kEdgeOfOther).rate_bps = 0;
  topology_.classes[kLossless].flow_channels = false;
  EXPECT_FALSE(crosses(voq(*made(kEdge), kEdgeOfOther, kLossless, 1))) << "frames without a flow have no match";
}

TEST_F(PortSetupTest, ARateLetsOneFrameAndALittleMoreGoAhead) {
  EXPECT_FALSE(made(kEdge)->output.scheduler.has_rate());
  settings(kEdge).rate_bps = 1'000'000'000;
  settings(kEdge).mtu_bytes = 2000;
  const auto port = made(kEdge);
  OutputScheduler& scheduler = port->output.scheduler;
  ASSERT_TRUE(scheduler.has_rate());
  Packet packet{};
  packet.length = static_cast<uint16_t>(10'000 - kWireExtraBytes);
  scheduler.sent(packet, 0);
  EXPECT_EQ(scheduler.pace_ready_at(), 80'000 - 20 * kMicrosecond - (2000 + kEthernetHeaderBytes) * 8);
  ShaperPolicy policy;
  policy.configured = true;
  shape(*port, policy);
  scheduler.sent(packet, 0);
  EXPECT_EQ(scheduler.pace_ready_at(), 80'000 - (2000 + kEthernetHeaderBytes) * 8) << "one frame, where some go first";
  settings(kEdge).overhead_bytes = 124;
  const auto dear = made(kEdge);
  dear->output.scheduler.sent(packet, 0);
  EXPECT_EQ(dear->output.scheduler.pace_ready_at(), 80'800 - 20 * kMicrosecond - (2000 + kEthernetHeaderBytes) * 8);
}

// X4, C1: a class can be congested by less than the port sends, where it has a maximum.
TEST_F(PortSetupTest, ACongestedClassIsJudgedByWhatItMayHave) {
  settings(kEdge).rate_bps = 8'000'000'000;
  ShaperPolicy policy;
  policy.configured = true;
  policy.branches.push_back({"slow", {.minimum_bps = 0, .maximum_bps = 4'000'000'000, .priority = 0}});
  policy.leaves[1].branch = 0;
  options_.shapers.assign(kPorts, {});
  options_.shapers[kEdge] = policy;
  const auto port = made(kEdge);
  PortCongestion& congestion = port->output.congestion;
  for (uint8_t part = 0; part < 2; ++part) {
    congestion.of(part).look({.now = 0,
                              .queued_bytes = 10'000'000,
                              .queued_packets = 1,
                              .left_bytes = 0,
                              .port_left_bytes = 0,
                              .flows = 1,
                              .idle = false,
                              .priority = 0});
  }
  EXPECT_NEAR(congestion.of(0).position(), 1, 1e-9) << "of one flow";
  EXPECT_GT(congestion.of(1).position(), 1.9) << "of one flow in half of the port";
}

TEST_F(PortSetupTest, AnEdgePortKnowsWhatItLetsIn) {
  const auto port = made(kEdgeBeside);
  const EdgePortInput& edge = port->input.edge;
  EXPECT_EQ(edge.settings, &settings(kEdgeBeside));
  EXPECT_EQ(edge.address, (FabricAddress{1, kEdgeBeside}));
  EXPECT_EQ(edge.port, kEdgeBeside);
  EXPECT_FALSE(edge.complete_checksums);
  EXPECT_EQ(edge.plain_bytes, settings(kEdgeBeside).mtu_bytes + kEthernetHeaderBytes);
}

TEST_F(PortSetupTest, WithoutAVlanOrWithChecksumsToCompleteNoFrameIsPlain) {
  settings(kEdge).vlans.native = 0;
  EXPECT_EQ(made(kEdge)->input.edge.plain_bytes, 0u);
  options_.complete_checksums.resize(kPorts);
  options_.complete_checksums[kEdgeBeside] = true;
  const auto port = made(kEdgeBeside);
  EXPECT_TRUE(port->input.edge.complete_checksums);
  EXPECT_EQ(port->input.edge.plain_bytes, 0u);
}

TEST_F(PortSetupTest, FloodsHaveARateUnlessItIsZero) {
  settings(kEdge).flood_frames_per_second = 0;
  EXPECT_FALSE(made(kEdge)->input.edge.flood.limits());
  settings(kEdge).flood_frames_per_second = 100;
  const auto port = made(kEdge);
  TokenBucket& flood = port->input.edge.flood;
  ASSERT_TRUE(flood.limits());
  flood.take(0, 15);
  EXPECT_EQ(flood.ready_at(), 50 * kMillisecond);
}

TEST_F(PortSetupTest, AHostsTimesAreCountedInItsRate) {
  PauseFrame pause;
  pause.quanta[0] = 1000;
  settings(kEdge).rate_bps = 1'000'000'000;
  const auto port = made(kEdge);
  port->pause.hear(pause, 0);
  EXPECT_EQ(port->pause.next_change(0), Nanos{512'000}) << "1000 times 512 bits";
  pause.quanta[0] = 0xffff;
  settings(kEdge).rate_bps = 1'000'000;
  topology_.settings.pause_watchdog_ns = 7 * kMillisecond;
  const auto slow = made(kEdge);
  slow->pause.hear(pause, 0);
  EXPECT_EQ(slow->pause.next_change(0), 7 * kMillisecond) << "no longer than the watchdog lets it";
}

}  // namespace
}  // namespace heddle::test::port_setup_test
