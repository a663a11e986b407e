// SPDX-License-Identifier: Apache-2.0
#include "topology/virtual_channels.h"

#include <gtest/gtest.h>

#include "topology/lanes.h"
#include "topology/longer_ways.h"

namespace heddle::virtual_channels_test {
namespace {

// Nodes with so many edge ports each, and links between them.
Topology graph(const std::vector<int>& edge_ports, const std::vector<std::pair<uint16_t, uint16_t>>& links) {
  Topology topology;
  topology.classes.emplace_back();
  for (size_t i = 0; i < edge_ports.size(); ++i) {
    topology.nodes.push_back({std::string("n").append(std::to_string(i)), static_cast<uint16_t>(i + 1), {}});
    for (int port = 0; port < edge_ports[i]; ++port) {
      TopologyPort edge;
      edge.name = std::string("e").append(std::to_string(port));
      topology.nodes[i].ports.push_back(edge);
    }
  }
  for (const auto& [a, b] : links) {
    LinkEnd ends[2] = {{a, 0}, {b, 0}};
    for (unsigned side = 0; side < 2; ++side) {
      auto& ports = topology.nodes[ends[side].node_index].ports;
      ends[side].port = PortIndex::of(ports.size());
      TopologyPort port;
      port.name = std::string("f").append(std::to_string(ports.size()));
      port.fabric = true;
      ports.push_back(port);
    }
    for (unsigned side = 0; side < 2; ++side)
      topology.nodes[ends[side].node_index].ports[ends[side].port].peer = {ends[1 - side].node_index,
                                                                           ends[1 - side].port};
    topology.links.push_back({{ends[0], ends[1]}});
  }
  return topology;
}

Topology ring(uint16_t nodes) {
  std::vector<std::pair<uint16_t, uint16_t>> links;
  for (uint16_t node = 0; node < nodes; ++node) links.emplace_back(node, static_cast<uint16_t>((node + 1) % nodes));
  return graph(std::vector<int>(nodes, 1), links);
}

Topology leaves_and_spines() { return graph({1, 1, 1, 0, 0}, {{0, 3}, {1, 3}, {2, 3}, {0, 4}, {1, 4}, {2, 4}}); }

uint8_t unchanged(uint8_t channel, bool, bool) { return channel; }

TEST(VirtualChannels, LeavesAndSpinesNeedOneUntilALinkIsDown) {
  Topology topology = leaves_and_spines();
  EXPECT_EQ(up_ports(topology)[0], PortSet{0b110});  // both to spines
  EXPECT_EQ(up_ports(topology)[3], PortSet{0});
  EXPECT_EQ(lossless_channels_needed(topology).shortest, 1u);
  EXPECT_EQ(lossless_channels_needed(topology).with_detours, 1u) << "there are none";
  // Without spine n4 for n0 and n3 for n1 the way between them leads down and up again.
  topology = graph({1, 1, 1, 0, 0}, {{0, 3}, {2, 3}, {1, 4}, {2, 4}});
  EXPECT_EQ(lossless_channels_needed(topology).shortest, 2u);
}

TEST(VirtualChannels, RingsNeedTwo) {
  for (const uint16_t nodes : {3, 4, 8, 16}) {
    const Topology topology = ring(nodes);
    const uint32_t needed = lossless_channels_needed(topology).shortest;
    EXPECT_EQ(needed, 2u) << nodes;
    EXPECT_EQ(find_buffer_ring(topology, needed), "") << nodes;
  }
}

TEST(VirtualChannels, WithoutTheRuleARingIsFound) {
  EXPECT_EQ(find_buffer_ring(ring(3), 1, unchanged), "n0:f1 channel 1, n1:f2 channel 1, n2:f2 channel 1");
  EXPECT_EQ(find_buffer_ring(ring(3), 1), "");
  EXPECT_EQ(find_buffer_ring(leaves_and_spines(), 2), "");
  // Leaves and spines have rings too, for whoever turns as it likes.
  EXPECT_NE(find_buffer_ring(leaves_and_spines(), 1, unchanged), "");
}

TEST(VirtualChannels, ALineOfNodesWhoseOrderGoesUpAndDownNeedsOneForEachTurn) {
  // 0 - 5 - 1 - 6 - 2 - 7 - 3: down and up again at 1 and at 2.
  const Topology topology = graph(std::vector<int>(8, 1), {{0, 5}, {5, 1}, {1, 6}, {6, 2}, {2, 7}, {7, 3}, {3, 4}});
  EXPECT_EQ(lossless_channels_needed(topology).shortest, 4u);
  EXPECT_EQ(find_buffer_ring(topology, 4), "");
}

// R4: in a ring of five the other way round has three links, or four.
TEST(VirtualChannels, LongerWaysMayNeedMore) {
  Topology topology = ring(5);
  topology.classes[0].lossless = true;
  topology.longer_way_cost_most = longer_way_cost_most(topology);
  const ChannelsNeeded needed = lossless_channels_needed(topology);
  EXPECT_EQ(needed.shortest, 2u);
  EXPECT_EQ(needed.with_detours, 4u);
  settle_lossless_channels(topology, needed);
  EXPECT_EQ(topology.lossless_channels, 4u);
  EXPECT_TRUE(topology.lossless_detours);
  topology.classes[0].path = PathPolicy::shortest;
  settle_lossless_channels(topology, needed);
  EXPECT_EQ(topology.lossless_channels, 2u) << "nobody takes them";
  EXPECT_FALSE(topology.lossless_detours);
  topology.classes[0].path = PathPolicy::adaptive;
  settle_lossless_channels(topology, {2, kLosslessChannelsMax + 1u});
  EXPECT_EQ(topology.lossless_channels, 2u) << "so many there are not";
  EXPECT_FALSE(topology.lossless_detours);
}

TEST(VirtualChannels, DrainTimeIsWhatAllBuffersTakeAtTheSlowestPort) {
  Topology topology = leaves_and_spines();
  topology.lossless_channels = 1;
  topology.settings.lossless_credits = 100;
  topology.nodes[1].ports[0].rate_bps = 100'000'000;
  // 12 fabric ports, 100 buffers of 1538 bytes each.
  EXPECT_EQ(lossless_drain_ns(topology), 12ull * 100 * 1538 * 8 * 10);
}

TEST(Lanes, AreOnePerClassAndOnePerLosslessChannel) {
  Topology topology = leaves_and_spines();
  topology.classes.push_back({.name = "storage", .ftag = 5, .lossless = true});
  topology.lossless_channels = 2;
  const Lanes lanes(topology);
  EXPECT_EQ(lanes.count(), 4u);
  EXPECT_EQ(Lanes::needed(topology), 4u);
  EXPECT_EQ(lanes.channels(), 3);
  EXPECT_TRUE(lanes.valid(0, 0, false));
  EXPECT_FALSE(lanes.valid(0, 1, false));
  EXPECT_FALSE(lanes.valid(5, 0, false));  // floods only
  EXPECT_TRUE(lanes.valid(5, 1, true));
  EXPECT_TRUE(lanes.valid(5, 2, true)) << "in the retry channel";
  EXPECT_FALSE(lanes.valid(5, 2, false));
  EXPECT_FALSE(lanes.valid(5, 3, true));
  EXPECT_FALSE(lanes.valid(7, 0, false));
  EXPECT_TRUE(lanes.has(5));
  EXPECT_FALSE(lanes.has(7));
  EXPECT_EQ(lanes.channel(lanes.of(5, 2)), 2);
  EXPECT_EQ(lanes.ftag(lanes.of(5, 2)), 5);
  EXPECT_NE(lanes.of(5, 0), lanes.of(0, 0));
}

// K11: one ID for each input and each channel in which its flows may go on.
TEST(VirtualChannels, AnOutputHasAnIdForEachChannelOfEachInput) {
  Topology topology = graph({2, 1}, {{0, 1}});
  const TopologyNode& node = topology.nodes[0];
  EXPECT_EQ(flow_channels(topology, node.ports[0]), 0b1);
  EXPECT_EQ(flow_ids_needed(topology, node), 2u);
  EXPECT_EQ(flow_ids_needed(topology, topology.nodes[1]), 1u);
  topology.classes[0].lossless = true;
  topology.lossless_channels = 3;
  EXPECT_EQ(flow_channels(topology, node.ports[0]), 0b10) << "a host's flows begin in the first one";
  EXPECT_EQ(flow_channels(topology, node.ports[2]), 0b1110);
  EXPECT_EQ(flow_ids_needed(topology, node), 4u) << "those of the link and of one host, at the other host";
  topology.classes.emplace_back();
  EXPECT_EQ(flow_channels(topology, node.ports[0]), 0b11);
  EXPECT_EQ(flow_channels(topology, node.ports[2]), 0b1111);
  EXPECT_EQ(flow_ids_needed(topology, node), 6u);
  topology.classes[0].flow_channels = false;
  EXPECT_EQ(flow_channels(topology, node.ports[2]), 0b1);
  topology.classes[1].flow_channels = false;
  EXPECT_EQ(flow_channels(topology, node.ports[2]), 0);
  EXPECT_EQ(flow_ids_needed(topology, node), 1u) << "there is no table of none";
}

}  // namespace
}  // namespace heddle::virtual_channels_test
