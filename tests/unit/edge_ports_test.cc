// SPDX-License-Identifier: Apache-2.0
// What edge ports let in and let out (E1-E3, K14), seen from the hosts of one switch.
#include <gtest/gtest.h>

#include "test_fabric.h"
#include "wire/ethernet.h"

namespace heddle::test::edge_ports_test {
namespace {

//  e0 access 10    e1 access 10    e2 access 20    e3 trunk 10, 20, native 1
Topology one_switch() {
  Topology topology;
  topology.name = "one";
  add_node(topology, 1, 4);
  auto& ports = topology.nodes[0].ports;
  ports[0].vlans.native = ports[1].vlans.native = 10;
  ports[2].vlans.native = 20;
  ports[3].vlans.trunk = true;
  ports[3].vlans.tagged.set(10);
  ports[3].vlans.tagged.set(20);
  return topology;
}

Frame tagged(Frame untagged, uint16_t tci) {
  const uint8_t tag[4] = {0x81, 0, static_cast<uint8_t>(tci >> 8), static_cast<uint8_t>(tci)};
  untagged.insert(untagged.begin() + 12, tag, tag + 4);
  return untagged;
}

struct OneSwitch : testing::Test {
  TestFabric fabric{one_switch()};
  MemoryDevice& host(PortIndex port) { return fabric.device(0, port); }
  void send(PortIndex port, const Frame& bytes) {
    host(port).incoming.push_back(bytes);
    fabric.run(kMillisecond);
  }
};

TEST_F(OneSwitch, BroadcastStaysInItsVlanAndNeverReturns) {
  send(0, broadcast(1, 5));
  EXPECT_TRUE(host(0).delivered.empty());
  ASSERT_EQ(host(1).delivered.size(), 1u);
  EXPECT_TRUE(host(2).delivered.empty());
  ASSERT_EQ(host(3).delivered.size(), 1u);
  EXPECT_EQ(host(3).delivered[0], tagged(broadcast(1, 5), 10));
}

TEST_F(OneSwitch, ATagKeepsItsPriorityToATrunkAndGoesAtAnAccessPort) {
  send(0, broadcast(1, 0));
  send(3, tagged(frame(1, 9, 7), 5 << 13 | 10));
  ASSERT_EQ(host(0).delivered.size(), 1u);
  EXPECT_EQ(host(0).delivered[0], frame(1, 9, 7));
}

TEST_F(OneSwitch, APriorityTagMeansTheNativeVlan) {
  send(0, tagged(broadcast(1, 3), 7 << 13));
  ASSERT_EQ(host(1).delivered.size(), 1u);
  EXPECT_EQ(host(1).delivered[0], broadcast(1, 3));
}

TEST_F(OneSwitch, RefusesOtherVlans) {
  send(0, tagged(broadcast(1, 0), 20));
  send(3, tagged(broadcast(9, 0), 30));
  EXPECT_EQ(fabric.drops(DropReason::vlan_not_allowed), 2u);
  EXPECT_EQ(fabric.all_drops(), 2u);
}

TEST_F(OneSwitch, AFrameToAStationOnItsOwnPortIsNotSentBack) {
  send(0, broadcast(1, 0));
  send(0, broadcast(2, 0));
  send(0, frame(1, 2, 0));
  EXPECT_EQ(fabric.drops(DropReason::same_port), 1u);
}

TEST_F(OneSwitch, HostsSpeakNoFabricAndNoMacControl) {
  Frame fabric_frame = frame(1, 2, 0);
  fabric_frame[12] = 0x88;
  fabric_frame[13] = 0xb5;
  send(0, fabric_frame);
  send(0, tagged(fabric_frame, 10));
  fabric_frame[13] = 0x08;
  send(0, fabric_frame);
  EXPECT_EQ(fabric.drops(DropReason::fabric_type_at_edge), 2u);
  EXPECT_EQ(fabric.drops(DropReason::mac_control_at_edge), 1u);
  for (PortIndex port = 0; port < 4; ++port) EXPECT_TRUE(host(port).delivered.empty());
}

TEST_F(OneSwitch, ReservedAddressesStopHereUnlessAllowed) {
  Frame lldp = frame(0, 1, 0);
  const uint8_t reserved[6] = {0x01, 0x80, 0xc2, 0, 0, 0x0e};
  std::memcpy(lldp.data(), reserved, 6);
  send(0, lldp);
  EXPECT_EQ(fabric.drops(DropReason::reserved_address), 1u);
  fabric.topology.nodes[0].ports[0].forward_reserved = true;
  send(0, lldp);
  EXPECT_EQ(host(1).delivered.size(), 1u);
}

TEST_F(OneSwitch, LongerFramesThanThePortAllowsAreDropped) {
  send(0, broadcast(1, 0));
  Frame longest = frame(9, 1, 0, 1514), too_long = frame(9, 1, 0, 1515);
  send(0, longest);
  EXPECT_EQ(fabric.all_drops(), 0u);
  send(0, too_long);
  EXPECT_EQ(fabric.drops(DropReason::too_long), 1u);
}

TEST_F(OneSwitch, FloodingIsLimitedPerPort) {
  for (uint32_t i = 0; i < 2000; ++i) host(0).incoming.push_back(broadcast(1, i));
  fabric.run(10 * kMillisecond);
  EXPECT_GT(fabric.drops(DropReason::flood_rate), 1000u);
  EXPECT_GE(host(1).delivered.size(), 64u);  // the burst that fits the output
}

TEST_F(OneSwitch, AFloodedPairWaitsOneLifeBeforeItsFirstFlow) {
  send(0, frame(2, 1, 0));  // unknown: flooded
  EXPECT_EQ(host(1).delivered.size(), 1u);
  send(1, broadcast(2, 0));  // now it is known
  send(0, frame(2, 1, 1));
  EXPECT_EQ(host(1).delivered.size(), 1u);
  fabric.run(60 * kMillisecond);
  ASSERT_EQ(host(1).delivered.size(), 2u);
  EXPECT_EQ(number_of(host(1).delivered[1]), 1u);
  EXPECT_EQ(fabric.events(ProtocolEvent::pair_held), 1u);
}

// A copy of a long frame holds several buffers of the budget, and gives back as many.
TEST_F(OneSwitch, LongFramesAreFloodedAgainAndAgain) {
  Topology topology = one_switch();
  for (TopologyPort& port : topology.nodes[0].ports) port.mtu_bytes = 9000;
  TestFabric jumbo(topology);
  Frame longest = broadcast(1, 0);
  longest.resize(9000);
  for (int i = 0; i < 300; ++i) {
    jumbo.device(0, 0).incoming.push_back(longest);
    jumbo.run(2 * kMillisecond);
  }
  EXPECT_EQ(jumbo.drops(DropReason::flood_copies), 0u);
  EXPECT_EQ(jumbo.device(0, 1).delivered.size(), 300u);
  EXPECT_EQ(jumbo.nodes[0]->worker(0).copies_out(), 0u);
}

// What the limit of a port stops leaves no trace in the tables that all ports share.
TEST_F(OneSwitch, FloodsBeyondTheLimitTakeNoMatchEntries) {
  for (uint32_t i = 0; i < 3000; ++i) {
    Frame unknown = frame(0, 1, i);
    unknown[1] = static_cast<uint8_t>(i >> 8);
    unknown[2] = static_cast<uint8_t>(i);
    host(0).incoming.push_back(unknown);
  }
  fabric.run(kMillisecond);
  EXPECT_GT(fabric.drops(DropReason::flood_rate), 1000u);
  EXPECT_LT(fabric.nodes[0]->worker(0).edge_input().matches().used(), 1200u);
}

// Away and back: frames of the first stay may still be on their way, so the pair waits a life.
TEST_F(OneSwitch, AStationThatMovesAwayAndBackKeepsItsFramesInOrder) {
  send(1, broadcast(2, 0));
  fabric.takes(0, 1, 0);  // the host takes nothing: the flow stays
  send(0, frame(2, 1, 1));
  send(3, tagged(broadcast(2, 0), 10));  // now behind e3
  send(0, frame(2, 1, 2));
  send(1, broadcast(2, 0));  // and back
  send(0, frame(2, 1, 3));   // its pair's frame for e3 still waits
  EXPECT_EQ(fabric.events(ProtocolEvent::station_moved), 2u);
  EXPECT_EQ(fabric.events(ProtocolEvent::pair_held), 1u);
  EXPECT_EQ(fabric.drops(DropReason::station_moved), 1u);
  host(1).accepts = kBurst;
  fabric.run(100 * kMillisecond);
  send(0, frame(2, 1, 4));
  std::vector<uint32_t> numbers;
  for (const Frame& bytes : host(1).delivered)
    if (bytes[11] == 1) numbers.push_back(number_of(bytes));
  EXPECT_EQ(numbers, (std::vector<uint32_t>{1, 4}));
}

TEST_F(OneSwitch, FramesBeyondTheFlowIdsWaitAndThenAreDroppedWithTheirReason) {
  Topology topology = one_switch();
  topology.settings.flow_ids = 4;
  TestFabric small(topology);
  small.device(0, 1).incoming.push_back(broadcast(2, 0));
  small.run(kMillisecond);
  small.takes(0, 1, 0);  // the host takes nothing: extents stay
  for (uint32_t i = 0; i < 600; ++i) {
    Frame udp = frame(2, static_cast<uint8_t>(100 + i % 100), i);
    udp[7] = static_cast<uint8_t>(i / 100);
    small.device(0, 0).incoming.push_back(udp);
    if (i % 64 == 0) small.run(kMillisecond);
  }
  small.run(5 * kMillisecond);
  EXPECT_GT(small.events(ProtocolEvent::edge_id_waited), 200u);
  EXPECT_GT(small.drops(DropReason::no_flow_id), 0u);
  small.device(0, 1).accepts = kBurst;
  small.run(500 * kMillisecond);
  EXPECT_EQ(small.output_flows_used(), 0u);
  EXPECT_EQ(small.pool.out(), 0);
}

}  // namespace
}  // namespace heddle::test::edge_ports_test
