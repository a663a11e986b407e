// SPDX-License-Identifier: Apache-2.0
// What EdgeInput makes of hosts' frames, by itself: keys, stations, where an entry leads, and why a frame goes nowhere.
#include "ingress/edge_input.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "memory_ports.h"
#include "packet_builder.h"

namespace heddle::test::edge_input_test {
namespace {

constexpr uint64_t kA = 0x020000000001, kB = 0x020000000002, kC = 0x020000000003;
constexpr uint16_t kHere = 5, kThere = 6;  // addresses of the nodes
constexpr uint8_t kPlain = 0, kNoFlows = 3, kWide = 4, kBare = 5, kByPort = 6;

// Node 5 with ports 0 to 3, of which this worker has 0 and 2, another one 1 and 3; and node 6.
Topology two_nodes() {
  Topology topology;
  topology.name = "two";
  add_node(topology, kHere, 4);
  add_node(topology, kThere, 2);
  TrafficClass plain;
  plain.ftag = kPlain, plain.match = kMatchIp;
  TrafficClass no_flows;
  no_flows.name = "no-flows", no_flows.ftag = kNoFlows, no_flows.flow_channels = false;
  no_flows.pcp_set = 0, no_flows.dscp_set = uint64_t{1} << 10;
  no_flows.life_ns = 3 * kMillisecond;
  TrafficClass wide;
  wide.name = "wide", wide.ftag = kWide, wide.pcp_set = 0, wide.dscp_set = uint64_t{1} << 20;
  TrafficClass bare;
  bare.name = "bare", bare.ftag = kBare, bare.match = 0, bare.pcp_set = 0, bare.dscp_set = uint64_t{1} << 30;
  TrafficClass by_port;
  by_port.name = "by-port", by_port.ftag = kByPort, by_port.match = kMatchPorts;
  by_port.pcp_set = 0, by_port.dscp_set = uint64_t{1} << 40;
  topology.classes = {plain, no_flows, wide, bare, by_port};
  topology.nodes[0].ports[3].vlans.native = 0;
  topology.nodes[0].ports[3].vlans.trunk = true;
  topology.nodes[0].ports[3].vlans.tagged.set(7);
  topology.nodes[1].ports[0].stations_max = 2;
  topology.stations.push_back({.mac = 0x02000000ff01, .vlan = 1, .address = {kThere, 1}});
  return topology;
}

struct FlowsThere {
  std::set<uint32_t> queues;
  bool idle(uint32_t) const { return true; }
  bool queued(uint32_t match) const { return queues.contains(match); }
};

class EdgeDecisions : public testing::Test {
 protected:
  EdgeDecisions() {
    input_.set_near(kHere, 0b0101, 0b1010);
    for (PortIndex port = 0; port < 4; ++port)
      ports_.push_back({.settings = &topology_.nodes[0].ports[port],
                        .address = {kHere, port},
                        .port = port,
                        .complete_checksums = false,
                        .plain_bytes = port == 3 ? 0 : 1514u,
                        .flood = TokenBucket(double{kSecond} / 1000, kMillisecond),
                        .policer = {},
                        .classifier = Classifier(topology_.classes, topology_.nodes[0].ports[port])});
  }
  struct Read {
    Bytes bytes;
    Packet packet{};
    EdgeKey key{};
    DropReason reason = DropReason::none;
  };
  // A frame comes in at a port.
  Read read(const Bytes& bytes, PortIndex port = 0, uint8_t flags = 0) {
    Read frame{.bytes = Bytes(64)};
    std::memset(&frame.key.match, 0xff, sizeof frame.key.match);  // what was there before
    frame.bytes.insert(frame.bytes.end(), bytes.begin(), bytes.end());
    frame.packet.data = frame.bytes.data() + 64;
    frame.packet.length = static_cast<uint16_t>(bytes.size());
    frame.packet.flags = flags;
    frame.reason = input_.read(frame.packet, ports_[port], frame.key);
    return frame;
  }
  static Bytes udp(uint64_t to, uint64_t from, uint8_t dscp = 0, uint16_t port = 9, uint32_t address = 0x0a000001) {
    PacketBuilder builder;
    builder.ethernet(to, from).ipv4(address, 0x0a000002);
    if (dscp != 0) builder.dscp(dscp);
    return builder.udp(1000, port).payload(8).build();
  }
  EdgeDecision decide(Read& frame, PortIndex port = 0, Nanos now = kSecond) {
    EXPECT_EQ(frame.reason, DropReason::none);
    return input_.decide(frame.packet, ports_[port], frame.key, input_.matches().find(frame.key.match, frame.key.hash),
                         now, flows_);
  }
  EdgeDecision decide(const Bytes& bytes, PortIndex port = 0, Nanos now = kSecond) {
    Read frame = read(bytes, port);
    return decide(frame, port, now);
  }
  // The station is heard at a port of this node.
  void hear(uint64_t mac, PortIndex port, Nanos now = kSecond) {
    input_.stations().learn(mac, 1, {kHere, port}, 100, now);
  }
  MatchEntry& entry(const EdgeDecision& decision) { return input_.matches()[decision.match]; }
  bool same_key(const Read& one, const Read& other) {
    return std::memcmp(&one.key.match, &other.key.match, sizeof(MatchKey)) == 0;
  }

  Topology topology_ = two_nodes();
  EdgeInput input_{topology_, kNoApplications, 64, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource()};
  std::vector<EdgePortInput> ports_;
  FlowsThere flows_;
};

TEST_F(EdgeDecisions, AnEntryLeadsToAPortHereBesideOrAway) {
  hear(kB, 2);
  EdgeDecision decision = decide(udp(kB, kA));
  EXPECT_EQ(decision.verdict, EdgeVerdict::flow);
  EXPECT_EQ(entry(decision).destination, (FabricAddress{kHere, 2}));
  EXPECT_EQ(entry(decision).flags, kMatchUsed | kMatchNear);
  EXPECT_TRUE(input_.is_near(entry(decision).destination.port));
  EXPECT_TRUE(input_.is_current(entry(decision)));
  EXPECT_EQ(decision.learned, Learned::added);
  hear(kC, 1);
  decision = decide(udp(kC, kA));
  EXPECT_EQ(entry(decision).flags, kMatchUsed | kMatchBeside);
  EXPECT_FALSE(input_.is_near(entry(decision).destination.port));
  decision = decide(udp(0x02000000ff01, kA));
  EXPECT_EQ(entry(decision).destination, (FabricAddress{kThere, 1}));
  EXPECT_EQ(entry(decision).flags, kMatchUsed) << "port 1 of another node";
  EXPECT_FALSE(input_.is_near(kPortsMax));
  EXPECT_EQ(decision.learned, Learned::known);
}

TEST_F(EdgeDecisions, AnEntryOfAPortThatThereIsNotIsNeitherHereNorBeside) {
  input_.stations().add_fixed(kC, 1, {kHere, PortIndex::of(kPortsMax)});
  EXPECT_EQ(entry(decide(udp(kC, kA))).flags, kMatchUsed);
}

// What is under way to where its station was may live longer than a flood.
TEST_F(EdgeDecisions, AFloodMakesNoWaitShorter) {
  const EdgeDecision decision = decide(udp(kB, kA));
  entry(decision).flooded_ns = 2 * kSecond;
  const EdgeDecision again = decide(udp(kB, kA), 0, kSecond + 1);
  EXPECT_EQ(again.verdict, EdgeVerdict::flood);
  EXPECT_EQ(entry(again).flooded_ns, 2 * kSecond);
  decide(udp(kB, kA), 0, 2 * kSecond + 1);
  EXPECT_EQ(entry(again).flooded_ns, 2 * kSecond + 1);
}

TEST_F(EdgeDecisions, WhatIsUnknownIsFloodedAndItsPairWaits) {
  Read frame = read(udp(kB, kA));
  const EdgeDecision decision = decide(frame);
  EXPECT_EQ(decision.verdict, EdgeVerdict::flood);
  EXPECT_EQ(frame.packet.destination, kFloodAddress);
  ASSERT_NE(decision.match, kNotFound);
  EXPECT_EQ(entry(decision).flooded_ns, kSecond);
  EXPECT_FALSE(input_.is_current(entry(decision)));
  // What it does on wires and in devices no hop counts.
  const Nanos life = topology_.classes[0].flood_life_ns() * 9 / 8;
  EXPECT_EQ(input_.held_until(entry(decision)), kSecond + life);
  hear(kB, 2);
  const EdgeDecision known = decide(udp(kB, kA), 0, kSecond + life - 1);
  EXPECT_EQ(known.verdict, EdgeVerdict::flow);
  EXPECT_TRUE(known.moved) << "from nowhere";
  EXPECT_EQ(known.match, decision.match);
  EXPECT_EQ(entry(known).flooded_ns, kSecond) << "it waits still";
  const EdgeDecision over = decide(udp(kB, kA), 0, kSecond + life);
  EXPECT_FALSE(over.moved);
  EXPECT_EQ(entry(over).flooded_ns, 0u);
  EXPECT_EQ(input_.held_until(entry(over)), 0u);
}

TEST_F(EdgeDecisions, FloodsHaveTheirShare) {
  uint32_t flooded = 0;
  EdgeDecision decision{};
  for (uint32_t i = 0; i < 20; ++i) {
    decision = decide(udp(0x020000001000 + i, kA));
    flooded += decision.verdict == EdgeVerdict::flood;
  }
  EXPECT_EQ(flooded, 2u) << "one of the burst, and the one that goes beyond it";
  EXPECT_EQ(decision.reason, DropReason::flood_rate);
  EXPECT_EQ(input_.matches().used(), 2u);
  hear(kB, 2);
  EXPECT_EQ(decide(udp(kB, kA)).verdict, EdgeVerdict::flow) << "what is known is no flood";
  EXPECT_EQ(decide(udp(0xffffffffffff, kA), 2).verdict, EdgeVerdict::flood) << "of another port";
}

TEST_F(EdgeDecisions, GroupsAndClassesWithoutFlowsHaveNoEntry) {
  Read all = read(udp(0xffffffffffff, kA));
  EdgeDecision decision = decide(all);
  EXPECT_EQ(decision.verdict, EdgeVerdict::flood);
  EXPECT_EQ(all.packet.destination, kFloodAddress);
  EXPECT_EQ(decision.match, kNotFound);
  hear(kB, 2);
  Read frame = read(udp(kB, kA, 10));
  EXPECT_EQ(frame.packet.ftag, kNoFlows);
  EXPECT_EQ(frame.packet.dies_ns, 3 * kMillisecond);
  decision = decide(frame);
  EXPECT_EQ(decision.verdict, EdgeVerdict::no_flow);
  EXPECT_EQ(frame.packet.destination, (FabricAddress{kHere, 2}));
  EXPECT_EQ(decision.match, kNotFound);
  EXPECT_EQ(decide(udp(kC, kA, 10)).verdict, EdgeVerdict::flood);
  EXPECT_EQ(input_.matches().used(), 0u);
  // A group is no station, whatever the table says.
  input_.stations().add_fixed(0x010000000001, 1, {kHere, 2});
  EXPECT_EQ(decide(udp(0x010000000001, kA), 0, 2 * kSecond).verdict, EdgeVerdict::flood);
}

TEST_F(EdgeDecisions, AFrameBehindAnotherInItsBurstFindsTheEntryThatThatOneMade) {
  hear(kB, 2);
  Read first = read(udp(kB, kA)), second = read(udp(kB, kA));
  const EdgeDecision made = decide(first);
  const EdgeDecision found = input_.decide(second.packet, ports_[0], second.key, kNotFound, kSecond, flows_);
  EXPECT_EQ(found.match, made.match);
  EXPECT_EQ(input_.matches().used(), 1u);
}

TEST_F(EdgeDecisions, WhatMovesLeavesItsPortAndWaitsForItsQueue) {
  hear(kB, 1);
  const EdgeDecision before = decide(udp(kB, kA));
  EXPECT_EQ(before.left_beside, kNoPort);
  hear(kB, 2, 2 * kSecond);
  flows_.queues = {before.match};
  EdgeDecision decision = decide(udp(kB, kA), 0, 2 * kSecond);
  EXPECT_EQ(decision.verdict, EdgeVerdict::drop);
  EXPECT_EQ(decision.reason, DropReason::station_moved);
  EXPECT_EQ(entry(decision).destination, (FabricAddress{kHere, 1})) << "what waits goes there";
  flows_.queues = {};
  decision = decide(udp(kB, kA), 0, 2 * kSecond);
  EXPECT_TRUE(decision.moved);
  EXPECT_EQ(decision.left_beside, 1u);
  EXPECT_EQ(entry(decision).flags, kMatchUsed | kMatchNear);
  hear(kB, 3, 3 * kSecond);
  decision = decide(udp(kB, kA), 0, 3 * kSecond);
  EXPECT_TRUE(decision.moved);
  EXPECT_EQ(decision.left_beside, kNoPort) << "it was here";
  flows_.queues = {decision.match};
  EXPECT_EQ(decide(udp(kB, kA), 0, 3 * kSecond).verdict, EdgeVerdict::flow) << "it has not moved";
}

TEST_F(EdgeDecisions, WhoCannotBeThereGoesNowhere) {
  hear(kB, 0);
  EdgeDecision decision = decide(udp(kB, kA));
  EXPECT_EQ(decision.verdict, EdgeVerdict::drop);
  EXPECT_EQ(decision.reason, DropReason::same_port);
  Read none = read(udp(kC, 0));
  EXPECT_EQ(none.reason, DropReason::none) << "a plain frame is not asked";
  EXPECT_EQ(decide(none).reason, DropReason::source_multicast);
  EXPECT_EQ(input_.stations().find(0, 1), nullptr);
  decision = decide(udp(kB, 0x02000000ff01));
  EXPECT_EQ(decision.reason, DropReason::station_held) << "it stands in the file, elsewhere";
}

TEST_F(EdgeDecisions, AFullTableStopsWhatIsKnownAndFloodsTheRest) {
  EdgeInput small(topology_, kNoApplications, 8, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource());
  small.stations().learn(kB, 1, {kHere, 2}, 100, kSecond);
  struct Busy {
    bool idle(uint32_t) const { return false; }
    bool queued(uint32_t) const { return false; }
  };
  EdgeDecision decision{};
  for (uint32_t i = 0; i < 64; ++i) {
    Read frame = read(udp(kB, kA, 20, static_cast<uint16_t>(i)));
    decision = small.decide(frame.packet, ports_[0], frame.key, kNotFound, kSecond, Busy{});
  }
  EXPECT_EQ(decision.verdict, EdgeVerdict::drop);
  EXPECT_EQ(decision.reason, DropReason::match_table_full);
  Read unknown = read(udp(kC, kA, 20, 99));
  decision = small.decide(unknown.packet, ports_[0], unknown.key, kNotFound, kSecond, Busy{});
  EXPECT_EQ(decision.verdict, EdgeVerdict::flood);
  EXPECT_EQ(decision.match, kNotFound);
}

TEST_F(EdgeDecisions, StationsOverTheFabricHaveTheirPortsShare) {
  EXPECT_EQ(input_.learn_remote(kA, 1, {kThere, 0}, kSecond), Learned::added);
  EXPECT_EQ(input_.learn_remote(kB, 1, {kThere, 0}, kSecond), Learned::added);
  EXPECT_EQ(input_.learn_remote(kC, 1, {kThere, 0}, kSecond), Learned::refused) << "two at that port";
  EXPECT_EQ(input_.learn_remote(kC, 1, {kThere, 1}, kSecond), Learned::added);
  EXPECT_EQ(input_.learn_remote(0x020000000009, 1, {kThere, 2}, kSecond), Learned::refused) << "there is no such port";
  EXPECT_EQ(input_.learn_remote(0x020000000009, 1, {7, 0}, kSecond), Learned::refused);
  EXPECT_EQ(input_.learn_remote(0x030000000009, 1, {kThere, 1}, kSecond), Learned::refused) << "a group";
  EXPECT_EQ(input_.learn_remote(0, 1, {kThere, 1}, kSecond), Learned::refused);
}

// A plain frame's key from fixed offsets is the one that its headers make.
TEST_F(EdgeDecisions, KeysAreTheSameOnBothWays) {
  for (const uint8_t dscp : {0, 10, 20, 30, 40}) {
    const Bytes bytes = udp(kB, kA, dscp);
    const Read plain = read(bytes);
    ports_[0].plain_bytes = 0;
    const Read parsed = read(bytes);
    ports_[0].plain_bytes = 1514;
    EXPECT_TRUE(same_key(plain, parsed)) << unsigned{dscp};
    EXPECT_EQ(plain.key.hash, parsed.key.hash);
    EXPECT_EQ(plain.packet.ftag, parsed.packet.ftag);
    EXPECT_EQ(plain.packet.source, (FabricAddress{kHere, 0}));
    EXPECT_EQ(plain.packet.payload, bytes.size());
  }
}

TEST_F(EdgeDecisions, AKeyHasWhatItsClassMatches) {
  const Read frame = read(udp(kB, kA));
  EXPECT_TRUE(same_key(frame, read(udp(kB, kA, 0, 10)))) << "ports do not count";
  EXPECT_FALSE(same_key(frame, read(udp(kB, kA, 0, 9, 0x0a000009)))) << "addresses do";
  EXPECT_FALSE(same_key(frame, read(udp(kC, kA))));
  EXPECT_FALSE(same_key(frame, read(udp(kB, kA), 2)));
  for (const uint32_t plain_bytes : {0u, 1514u}) {
    ports_[0].plain_bytes = ports_[2].plain_bytes = plain_bytes;
    EXPECT_FALSE(same_key(read(udp(kB, kA)), read(udp(kB, kA), 2))) << "the port counts";
    EXPECT_TRUE(same_key(read(udp(kB, kA, 30)), read(udp(kB, kA, 30, 10, 0x0a000009)))) << "stations alone";
    EXPECT_TRUE(same_key(read(udp(kB, kA, 40)), read(udp(kB, kA, 40, 9, 0x0a000009)))) << "ports alone";
    EXPECT_FALSE(same_key(read(udp(kB, kA, 40)), read(udp(kB, kA, 40, 10))));
    EXPECT_EQ(read(udp(kB, kA, 30)).key.match.l3, 0u);
    EXPECT_EQ(read(udp(kB, kA, 40)).key.match.l3, 4u);
  }
  const Read wide = read(udp(kB, kA, 20));
  EXPECT_EQ(wide.packet.ftag, kWide);
  EXPECT_FALSE(same_key(wide, read(udp(kB, kA, 20, 10))));
}

TEST_F(EdgeDecisions, OnlyMembersOfAVlanComeIn) {
  EXPECT_EQ(read(udp(kB, kA), 3).reason, DropReason::vlan_not_allowed) << "untagged, at a port without such";
  const auto tagged = [](uint16_t tci) {
    return PacketBuilder().ethernet(kB, kA).vlan(tci).ether_type(0x9000).build();
  };
  EXPECT_EQ(read(tagged(8), 3).reason, DropReason::vlan_not_allowed);
  const Read frame = read(tagged(5 << 13 | 7), 3);
  EXPECT_EQ(frame.reason, DropReason::none);
  EXPECT_EQ(frame.packet.vni, 7u);
  EXPECT_EQ(frame.packet.priority, 5 << 1);
  EXPECT_EQ(load_be16(frame.packet.data + 12), 0x9000) << "the tag is off";
}

TEST_F(EdgeDecisions, ATaggedFrameMayBeLongerByItsTag) {
  const auto frame = [this](uint32_t length, bool tagged) {
    PacketBuilder builder;
    builder.ethernet(kB, kA);
    if (tagged) builder.vlan(7);
    Bytes bytes = builder.ether_type(0x9000).build();
    bytes.resize(length);
    return read(bytes, PortIndex::of(tagged ? 3 : 0)).reason;
  };
  EXPECT_EQ(frame(1514, false), DropReason::none);
  EXPECT_EQ(frame(1515, false), DropReason::too_long);
  EXPECT_EQ(frame(1518, true), DropReason::none);
  EXPECT_EQ(frame(1519, true), DropReason::too_long);
}

TEST_F(EdgeDecisions, ReservedAddressesNeedLeave) {
  const Bytes lldp = PacketBuilder().ethernet(0x0180c200000e, kA).ether_type(0x88cc).build();
  EXPECT_EQ(read(lldp).reason, DropReason::reserved_address);
  topology_.nodes[0].ports[0].forward_reserved = true;
  EXPECT_EQ(read(lldp).reason, DropReason::none);
}

TEST_F(EdgeDecisions, AChecksumThatIsLeftToHardwareIsMade) {
  const auto builder = PacketBuilder().ethernet(kB, kA).ipv4(0x0a000001, 0x0a000002).udp(1000, 9).payload(8);
  const Bytes whole = builder.build(), partial = PacketBuilder(builder).checksum_partial().build();
  const Read made = read(partial, 0, kPacketChecksumPartial);
  ASSERT_EQ(made.reason, DropReason::none);
  EXPECT_TRUE(std::equal(whole.begin(), whole.end(), made.packet.data));
  EXPECT_TRUE(made.packet.flags & kPacketChecksumPartial);
  const Read left = read(partial);
  EXPECT_FALSE(left.packet.flags & kPacketChecksumPartial) << "nobody said so";
  EXPECT_TRUE(std::equal(partial.begin(), partial.end(), left.packet.data));
  const Bytes other = PacketBuilder().ethernet(kB, kA).ether_type(0x9000).build();
  EXPECT_EQ(read(other, 0, kPacketChecksumPartial).reason, DropReason::checksum_impossible);
}

// F4: plain IPv4 frames get their key by a way of their own. It must be the key that the parser would have made.
constexpr HashKey kSecret{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

struct EdgeKeys : testing::TestWithParam<uint8_t> {
  static Topology with_pattern(uint8_t match) {
    Topology topology;
    topology.classes.emplace_back();
    topology.classes[0].match = match;
    topology.classes[0].ftag = 5;
    return topology;
  }
  const Topology topology = with_pattern(GetParam());
  EdgeInput input{topology, kNoApplications, 16, 16, kSecret, *std::pmr::get_default_resource()};

  // Of the frame as it stands, by the short way, if it is plain, or with a look at its checksum, by the long one.
  EdgeKey key_of(const Bytes& frame, bool by_parser) {
    TopologyPort settings;
    settings.mtu_bytes = 1500;
    settings.vlans.native = 7;
    const EdgePortInput port{
        &settings, {1, 3}, 3, by_parser, by_parser ? 0u : 1514u, {}, {}, Classifier(topology.classes, settings)};
    TestPacket test(frame);
    EdgeKey key;
    std::memset(&key, 0xee, sizeof key);
    EXPECT_EQ(input.read(test.packet, port, key), DropReason::none);
    return key;
  }
};

TEST_P(EdgeKeys, OfPlainFramesAreTheParsers) {
  const auto start = [] { return PacketBuilder().ethernet(kHostB, kHostA).ipv4(0x0a000001, 0xc0a80102).dscp(46); };
  const Bytes frames[] = {start().udp(1000, 53).payload(20).build(), start().tcp(40000, 443).payload(1).build(),
                          start().udp(53, 1000).pad_to(60).build(), start().tcp(1, 2, 3).payload(100).build()};
  for (const Bytes& frame : frames) {
    ASSERT_TRUE(is_plain_ipv4(frame.data(), static_cast<uint32_t>(frame.size())));
    const EdgeKey plain = key_of(frame, false), parsed = key_of(frame, true);
    EXPECT_EQ(std::memcmp(&plain.match, &parsed.match, sizeof plain.match), 0);
    EXPECT_EQ(plain.hash, parsed.hash);
    EXPECT_EQ(plain.match.vni, 7);
    EXPECT_EQ(plain.match.ftag, 5);
  }
}

TEST_P(EdgeKeys, DifferOnlyByWhatThePatternNames) {
  const auto frame = [](uint32_t address, uint16_t port) {
    return PacketBuilder().ethernet(kHostB, kHostA).ipv4(address, 2).udp(port, 53).payload(20).build();
  };
  const auto with_traffic_byte = [&frame](uint8_t dscp, uint8_t ecn) {
    Bytes bytes = frame(1, 1);
    bytes[15] = static_cast<uint8_t>(dscp << 2 | ecn);
    return bytes;
  };
  const auto same = [this](const Bytes& a, const Bytes& b) {
    const EdgeKey first = key_of(a, false), second = key_of(b, false);
    return std::memcmp(&first.match, &second.match, sizeof first.match) == 0 && first.hash == second.hash;
  };
  EXPECT_TRUE(same(frame(1, 1), frame(1, 1)));
  EXPECT_EQ(same(frame(1, 1), frame(3, 1)), (GetParam() & kMatchIp) == 0);
  EXPECT_EQ(same(frame(1, 1), frame(1, 2)), (GetParam() & kMatchPorts) == 0);
  EXPECT_EQ(same(with_traffic_byte(46, 0), with_traffic_byte(47, 0)), (GetParam() & kMatchDscp) == 0);
  EXPECT_TRUE(same(with_traffic_byte(46, 0), with_traffic_byte(46, 3))) << "ECN tells no flows apart";
}

INSTANTIATE_TEST_SUITE_P(Patterns, EdgeKeys,
                         testing::Values(0, kMatchIp, kMatchPorts, kMatchIp | kMatchPorts, kMatchFlowLabel,
                                         kMatchIp | kMatchPorts | kMatchFlowLabel, kMatchDscp,
                                         kMatchIp | kMatchPorts | kMatchDscp));

}  // namespace
}  // namespace heddle::test::edge_input_test
