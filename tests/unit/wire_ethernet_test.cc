// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/packet_builder.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace heddle::wire_ethernet_test {
namespace {

using test::Bytes;
using test::ExactBuffer;
using test::ipv6_host;
using test::kHostA;
using test::kHostB;
using test::PacketBuilder;
using test::TestPacket;

constexpr uint32_t kAddressA = 0x0a000001;
constexpr uint32_t kAddressB = 0x0a000002;

DropReason parse(const Bytes& frame, EdgeHeaders& headers) {
  ExactBuffer exact(frame);
  return parse_edge_frame(exact.data(), exact.size(), headers);
}
DropReason parse(const Bytes& frame) {
  EdgeHeaders headers;
  return parse(frame, headers);
}

PacketBuilder from_a_to_b() { return PacketBuilder().ethernet(kHostB, kHostA); }
PacketBuilder ipv4() { return from_a_to_b().ipv4(kAddressA, kAddressB); }
PacketBuilder ipv6() { return from_a_to_b().ipv6(ipv6_host(1), ipv6_host(2), 0xabcde); }

Bytes changed(Bytes frame, size_t at, uint8_t value) {
  frame.at(at) = value;
  return frame;
}

TEST(EdgeFrame, ReadsTcpOverIpv4) {
  EdgeHeaders headers;
  ASSERT_EQ(parse(ipv4().dscp(46).tcp(1000, 80).payload(10).build(), headers), DropReason::none);
  EXPECT_EQ(headers.source_mac, kHostA);
  EXPECT_EQ(headers.destination_mac, kHostB);
  EXPECT_EQ(headers.ethertype, kEtherTypeIpv4);
  EXPECT_FALSE(headers.tagged);
  EXPECT_FALSE(headers.group());
  EXPECT_FALSE(headers.reserved);
  EXPECT_EQ(headers.l3, 4);
  EXPECT_EQ(headers.dscp, 46);
  EXPECT_EQ(headers.protocol, kProtocolTcp);
  EXPECT_TRUE(headers.ports_valid);
  EXPECT_EQ(headers.source_port, 1000);
  EXPECT_EQ(headers.destination_port, 80);
  EXPECT_EQ(load_be32(headers.address_source), kAddressA);
  EXPECT_EQ(load_be32(headers.address_destination), kAddressB);
  EXPECT_EQ(headers.l3_offset, 14);
  EXPECT_EQ(headers.l4_offset, 34);
  EXPECT_EQ(headers.l4_bytes, 30);
}

TEST(EdgeFrame, ReadsUdpOverIpv6BehindATag) {
  EdgeHeaders headers;
  const Bytes frame = from_a_to_b().vlan(0xa007).ipv6(ipv6_host(1), ipv6_host(2), 0xabcde).dscp(0x2e).udp(5, 6).build();
  ASSERT_EQ(parse(frame, headers), DropReason::none);
  EXPECT_TRUE(headers.tagged);
  EXPECT_EQ(headers.tci, 0xa007);
  EXPECT_EQ(headers.ethertype, kEtherTypeIpv6);
  EXPECT_EQ(headers.l3, 6);
  EXPECT_EQ(headers.dscp, 0x2e);
  EXPECT_EQ(headers.flow_label, 0xabcdeu);
  EXPECT_EQ(headers.protocol, kProtocolUdp);
  EXPECT_EQ(headers.source_port, 5);
  EXPECT_EQ(headers.destination_port, 6);
  EXPECT_EQ(headers.address_source[15], 1);
  EXPECT_EQ(headers.address_destination[15], 2);
  EXPECT_EQ(headers.l4_offset, 18 + 40);
}

TEST(EdgeFrame, CarriesWhatIsNotIp) {
  EdgeHeaders headers;
  ASSERT_EQ(parse(from_a_to_b().ether_type(kEtherTypeArp).payload(28).build(), headers), DropReason::none);
  EXPECT_EQ(headers.l3, 0);
  ASSERT_EQ(parse(from_a_to_b().ether_type(38).payload(38).build(), headers), DropReason::none) << "802.3 length";
  EXPECT_EQ(headers.l3, 0);
  EXPECT_EQ(headers.ethertype, 38);
  EXPECT_EQ(parse(from_a_to_b().ether_type(0x88cc).build(), headers), DropReason::none) << "nothing behind the type";
}

TEST(EdgeFrame, RefusesRunts) {
  const Bytes frame = from_a_to_b().vlan(7).ether_type(kEtherTypeArp).build();
  for (size_t length = 0; length < frame.size(); ++length) {
    EXPECT_EQ(parse(Bytes(frame.begin(), frame.begin() + static_cast<long>(length))), DropReason::runt) << length;
  }
  EXPECT_EQ(parse(frame), DropReason::none);
}

TEST(EdgeFrame, RefusesStackedTagsAndForeignTagTypes) {
  EXPECT_EQ(parse(from_a_to_b().vlan(1).vlan(2).ether_type(0x0806).build()), DropReason::stacked_tags);
  for (const uint16_t type : {uint16_t{0x88a8}, uint16_t{0x9100}}) {
    EXPECT_EQ(parse(from_a_to_b().vlan(1, type).ether_type(0x0806).build()), DropReason::stacked_tags);
    EXPECT_EQ(parse(from_a_to_b().vlan(1).vlan(2, type).ether_type(0x0806).build()), DropReason::stacked_tags);
  }
}

TEST(EdgeFrame, RefusesGroupAndZeroSources) {
  EXPECT_EQ(parse(PacketBuilder().ethernet(kHostB, 0x010000000001).build()), DropReason::source_multicast);
  EXPECT_EQ(parse(PacketBuilder().ethernet(kHostB, 0xffffffffffff).build()), DropReason::source_multicast);
  EXPECT_EQ(parse(PacketBuilder().ethernet(kHostB, 0).build()), DropReason::source_multicast);
}

TEST(EdgeFrame, RefusesFabricAndMacControlFramesAlsoBehindATag) {
  EXPECT_EQ(parse(from_a_to_b().ether_type(0x88b5).build()), DropReason::fabric_type_at_edge);
  EXPECT_EQ(parse(from_a_to_b().vlan(3).ether_type(0x88b5).build()), DropReason::fabric_type_at_edge);
  EXPECT_EQ(parse(from_a_to_b().ether_type(0x8808).build()), DropReason::mac_control_at_edge);
  EXPECT_EQ(parse(from_a_to_b().vlan(3).ether_type(0x8808).build()), DropReason::mac_control_at_edge);
}

TEST(EdgeFrame, MarksReservedAndGroupDestinations) {
  const struct {
    uint64_t destination;
    bool reserved, group;
  } cases[] = {{0x0180c2000000, true, true},  {0x0180c200000e, true, true},  {0x0180c200000f, true, true},
               {0x0180c2000010, false, true}, {0x0180c1ffffff, false, true}, {0xffffffffffff, false, true},
               {kHostB, false, false}};
  for (const auto& expected : cases) {
    EdgeHeaders headers;
    ASSERT_EQ(parse(PacketBuilder().ethernet(expected.destination, kHostA).ether_type(0x88cc).build(), headers),
              DropReason::none);
    EXPECT_EQ(headers.reserved, expected.reserved) << std::hex << expected.destination;
    EXPECT_EQ(headers.group(), expected.group) << std::hex << expected.destination;
  }
}

TEST(EdgeFrame, LinkPaddingIsNoContradiction) {
  EdgeHeaders headers;
  ASSERT_EQ(parse(ipv4().tcp(1, 2).pad_to(60).build(), headers), DropReason::none);
  EXPECT_EQ(headers.l4_bytes, 20);
  ASSERT_EQ(parse(ipv6().udp(1, 2).pad_to(80).build(), headers), DropReason::none);
  EXPECT_EQ(headers.l4_bytes, 8);
}

TEST(EdgeFrame, RefusesContradictingIpv4) {
  const Bytes frame = ipv4().udp(1, 2).payload(8).build();  // IP header at 14, total length 36
  EXPECT_EQ(parse(changed(frame, 14, 0x55)), DropReason::malformed_ip) << "version";
  EXPECT_EQ(parse(changed(frame, 14, 0x44)), DropReason::malformed_ip) << "header shorter than 20";
  EXPECT_EQ(parse(changed(frame, 14, 0x4f)), DropReason::malformed_ip) << "header longer than the packet";
  EXPECT_EQ(parse(changed(frame, 17, 19)), DropReason::malformed_ip) << "total length shorter than the header";
  EXPECT_EQ(parse(changed(frame, 17, 37)), DropReason::malformed_ip) << "total length longer than the frame";
  EXPECT_EQ(parse(changed(frame, 16, 0xff)), DropReason::malformed_ip) << "total length far longer than the frame";
}

TEST(EdgeFrame, ReadsPortsBehindIpv4Options) {
  EdgeHeaders headers;
  ASSERT_EQ(parse(from_a_to_b().ipv4(kAddressA, kAddressB, 10).udp(7, 8).build(), headers), DropReason::none);
  EXPECT_EQ(headers.l4_offset, 14 + 60);
  EXPECT_EQ(headers.source_port, 7);
}

TEST(EdgeFrame, RefusesContradictingL4) {
  const size_t l4 = ipv4().l4_offset();
  const Bytes tcp = ipv4().tcp(1, 2, 3).build();
  EXPECT_EQ(parse(changed(tcp, l4 + 12, 4 << 4)), DropReason::malformed_l4) << "TCP header shorter than 20";
  EXPECT_EQ(parse(changed(tcp, l4 + 12, 9 << 4)), DropReason::malformed_l4) << "TCP header longer than the packet";
  const Bytes udp = ipv4().udp(1, 2).payload(4).build();
  EXPECT_EQ(parse(changed(udp, l4 + 5, 7)), DropReason::malformed_l4) << "UDP length shorter than its header";
  EXPECT_EQ(parse(changed(udp, l4 + 5, 13)), DropReason::malformed_l4) << "UDP length longer than the packet";
  EXPECT_EQ(parse(changed(udp, l4 + 5, 11)), DropReason::none) << "UDP options may follow";
  EXPECT_EQ(parse(ipv4().protocol(kProtocolTcp).payload(19).build()), DropReason::malformed_l4);
  EXPECT_EQ(parse(ipv4().protocol(kProtocolUdp).payload(7).build()), DropReason::malformed_l4);
  EXPECT_EQ(parse(ipv6().protocol(kProtocolTcp).payload(19).build()), DropReason::malformed_l4);
}

TEST(EdgeFrame, AllFragmentsOfADatagramLookAlike) {
  EdgeHeaders first;
  EdgeHeaders later;
  ASSERT_EQ(parse(ipv4().fragment(0, true).udp(1, 2).payload(24).build(), first), DropReason::none);
  ASSERT_EQ(parse(ipv4().fragment(4, false).protocol(kProtocolUdp).payload(3).build(), later), DropReason::none);
  for (const EdgeHeaders& headers : {first, later}) {
    EXPECT_TRUE(headers.fragment);
    EXPECT_FALSE(headers.ports_valid);
    EXPECT_EQ(headers.source_port, 0);
    EXPECT_EQ(headers.protocol, kProtocolUdp);
  }
  ASSERT_EQ(parse(ipv6().fragment(0, true).extension(60).udp(1, 2).build(), first), DropReason::none);
  ASSERT_EQ(parse(ipv6().fragment(9, false).protocol(60).payload(3).build(), later), DropReason::none);
  EXPECT_TRUE(first.fragment && later.fragment);
  EXPECT_FALSE(first.ports_valid || later.ports_valid);
  EXPECT_EQ(first.protocol, later.protocol);
}

TEST(EdgeFrame, FirstFragmentMustHoldTheL4Header) {
  EXPECT_EQ(parse(ipv4().fragment(0, true).protocol(kProtocolTcp).payload(16).build()), DropReason::malformed_l4);
  EXPECT_EQ(parse(ipv6().fragment(0, true).protocol(kProtocolTcp).payload(16).build()), DropReason::malformed_l4);
  Bytes udp = ipv4().fragment(0, true).udp(1, 2).payload(8).build();
  udp[ipv4().l4_offset() + 4] = 0x20;  // the datagram is longer than its first fragment
  EXPECT_EQ(parse(udp), DropReason::none);
}

TEST(EdgeFrame, AtomicFragmentIsAWholePacket) {
  EdgeHeaders headers;
  ASSERT_EQ(parse(ipv6().fragment(0, false).tcp(3, 4).build(), headers), DropReason::none);
  EXPECT_FALSE(headers.fragment);
  EXPECT_TRUE(headers.ports_valid);
}

TEST(EdgeFrame, WalksIpv6ExtensionHeaders) {
  EdgeHeaders headers;
  const Bytes frame = ipv6().extension(0).extension(43, 3).extension(51, 2).extension(60, 2).tcp(3, 4).build();
  ASSERT_EQ(parse(frame, headers), DropReason::none);
  EXPECT_EQ(headers.protocol, kProtocolTcp);
  EXPECT_TRUE(headers.ports_valid);
  EXPECT_FALSE(headers.source_routed);
  EXPECT_EQ(headers.l4_offset, 14 + 40 + 64);
  ASSERT_EQ(parse(ipv6().extension(43, 3, 1).tcp(3, 4).build(), headers), DropReason::none);
  EXPECT_TRUE(headers.source_routed);
}

TEST(EdgeFrame, WalksAtMostEightExtensionHeaders) {
  PacketBuilder eight = ipv6();
  for (int i = 0; i < 8; ++i) eight.extension(60);
  EdgeHeaders headers;
  ASSERT_EQ(parse(PacketBuilder(eight).udp(3, 4).build(), headers), DropReason::none);
  EXPECT_TRUE(headers.ports_valid);
  ASSERT_EQ(parse(eight.extension(60).udp(3, 4).build(), headers), DropReason::none);
  EXPECT_FALSE(headers.ports_valid);
  EXPECT_EQ(headers.protocol, 60);
}

TEST(EdgeFrame, RefusesContradictingIpv6) {
  const Bytes frame = ipv6().extension(60).udp(1, 2).build();  // payload length 16 at 18
  EXPECT_EQ(parse(changed(frame, 14, 0x40)), DropReason::malformed_ip) << "version";
  EXPECT_EQ(parse(changed(frame, 19, 17)), DropReason::malformed_ip) << "payload longer than the frame";
  EXPECT_EQ(parse(changed(frame, 19, 7)), DropReason::malformed_ip) << "payload ends in an extension header";
  EXPECT_EQ(parse(changed(frame, 14 + 41, 2)), DropReason::malformed_ip) << "extension header longer than the payload";
}

TEST(EdgeFrame, NoTruncationReadsPastTheEnd) {
  const Bytes frames[] = {
      ipv4().tcp(1, 2, 3).payload(5).build(),
      from_a_to_b().vlan(5).ipv4(kAddressA, kAddressB, 4).udp(1, 2).payload(5).build(),
      ipv6().extension(0).extension(43, 2).extension(51, 2).fragment(0, true).udp(1, 2).payload(9).build(),
      ipv6().extension(60, 4).tcp(1, 2, 10).build(),
  };
  for (const Bytes& frame : frames) {
    EXPECT_EQ(parse(frame), DropReason::none);
    for (size_t length = 0; length < frame.size(); ++length) {
      EXPECT_NE(parse(Bytes(frame.begin(), frame.begin() + static_cast<long>(length))), DropReason::none) << length;
    }
  }
}

TEST(VlanTag, InsertedAndRemovedLeavesTheFrameAsItWas) {
  const Bytes frame = ipv4().udp(1, 2).payload(6).build();
  TestPacket test(frame);
  insert_tag(test.packet, 0x6009);
  EXPECT_EQ(test.bytes(), from_a_to_b().vlan(0x6009).ipv4(kAddressA, kAddressB).udp(1, 2).payload(6).build());
  remove_tag(test.packet);
  EXPECT_EQ(test.bytes(), frame);
}

// C10, RFC 3168 and RFC 1624.
TEST(CongestionExperienced, IsMarkedWhereTheSenderUnderstandsIt) {
  const auto header_sum = [](const Bytes& frame) { return ones_complement_sum(frame.data() + 14, 20); };
  for (uint32_t i = 0; i < 0x10000; i += 7) {
    Bytes frame(64);
    store_be16(&frame[12], kEtherTypeIpv4);
    frame[14] = 0x45;
    frame[15] = static_cast<uint8_t>(i);
    store_be16(&frame[18], static_cast<uint16_t>(i));  // anything
    store_be16(&frame[24], static_cast<uint16_t>(~header_sum(frame)));
    const Bytes before = frame;
    const uint8_t bits = frame[15] & 3;
    EXPECT_EQ(mark_congestion_experienced(frame.data(), 64), bits == 1 || bits == 2);
    EXPECT_EQ(header_sum(frame), 0xffff) << i;
    if (bits == 0 || bits == 3)
      EXPECT_EQ(frame, before);
    else
      EXPECT_EQ(frame[15], before[15] | 3);
  }
}

TEST(CongestionExperienced, OfIpv6AndNothingElse) {
  Bytes frame(64);
  store_be16(&frame[12], kEtherTypeIpv6);
  frame[14] = 0x6f;
  frame[15] = 0x2f;  // ECT(0), and the start of the flow label
  EXPECT_TRUE(mark_congestion_experienced(frame.data(), 64));
  EXPECT_EQ(frame[14], 0x6f);
  EXPECT_EQ(frame[15], 0x3f);
  EXPECT_FALSE(mark_congestion_experienced(frame.data(), 64)) << "marked already";
  frame[15] = 0x0f;
  EXPECT_FALSE(mark_congestion_experienced(frame.data(), 64)) << "its sender does not understand";
  frame[15] = 0x2f;
  EXPECT_FALSE(mark_congestion_experienced(frame.data(), 53)) << "cut off";
  store_be16(&frame[12], kEtherTypeArp);
  EXPECT_FALSE(mark_congestion_experienced(frame.data(), 64));
  store_be16(&frame[12], kEtherTypeIpv4);
  EXPECT_FALSE(mark_congestion_experienced(frame.data(), 33)) << "cut off";
}

}  // namespace
}  // namespace heddle::wire_ethernet_test
