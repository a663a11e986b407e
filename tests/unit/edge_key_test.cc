// SPDX-License-Identifier: Apache-2.0
// Plain IPv4 frames get their key by a way of their own (F4): it must be the key that the parser would have made.
#include <gtest/gtest.h>

#include <cstring>

#include "ingress/edge_input.h"
#include "packet_builder.h"

namespace heddle::test::edge_key_test {
namespace {

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
}  // namespace heddle::test::edge_key_test
