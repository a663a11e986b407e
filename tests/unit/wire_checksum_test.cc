// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/packet_builder.h"
#include "wire/checksum.h"

namespace heddle::wire_checksum_test {
namespace {

using test::Bytes;
using test::ExactBuffer;
using test::ipv6_host;
using test::kHostA;
using test::kHostB;
using test::PacketBuilder;

PacketBuilder ipv4() { return PacketBuilder().ethernet(kHostB, kHostA).ipv4(0x0a000001, 0x0a000002); }
PacketBuilder ipv6() { return PacketBuilder().ethernet(kHostB, kHostA).ipv6(ipv6_host(1), ipv6_host(2)); }
PacketBuilder tagged() { return PacketBuilder().ethernet(kHostB, kHostA).vlan(9); }

EdgeHeaders parsed(const Bytes& frame) {
  EdgeHeaders headers;
  EXPECT_EQ(parse_edge_frame(frame.data(), static_cast<uint32_t>(frame.size()), headers), DropReason::none);
  return headers;
}
bool left(const Bytes& frame) {
  return checksum_left_to_hardware(frame.data(), static_cast<uint32_t>(frame.size()), parsed(frame));
}
bool complete(Bytes& frame) {
  const EdgeHeaders headers = parsed(frame);
  ExactBuffer exact(frame);
  const bool done = complete_checksum(exact.data(), exact.size(), headers);
  frame.assign(exact.data(), exact.data() + exact.size());
  return done;
}

TEST(Checksum, SumMatchesTheExampleOfRfc1071) {
  const uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(ones_complement_sum(bytes, 8), 0xddf2);
  EXPECT_EQ(ones_complement_sum(bytes, 7), 0xdcfb) << "an odd last byte is the high half of a word";
  EXPECT_EQ(ones_complement_sum(bytes, 0), 0);
}

TEST(Checksum, LeftToHardwareIsFoundAndCompleted) {
  const PacketBuilder frames[] = {
      ipv4().tcp(1000, 80).payload(100),
      ipv4().tcp(1000, 80, 3).payload(101),
      ipv4().udp(1000, 53).payload(33),
      ipv6().tcp(1000, 80).payload(1400),
      ipv6().udp(1000, 53).payload(1),
      ipv6().extension(60, 2).udp(1000, 53).payload(7),
      tagged().ipv4(0x0a000001, 0xffffffff, 5).udp(68, 67).payload(300),
      tagged().ipv6(ipv6_host(3), ipv6_host(4)).tcp(5, 6),
      ipv4().tcp(1000, 80).pad_to(60),
  };
  for (const PacketBuilder& builder : frames) {
    const Bytes whole = builder.build();
    Bytes partial = PacketBuilder(builder).checksum_partial().build();
    EXPECT_FALSE(left(whole));
    EXPECT_TRUE(left(partial));
    ASSERT_TRUE(complete(partial));
    EXPECT_EQ(partial, whole);
    ASSERT_TRUE(complete(partial)) << "again changes nothing";
    EXPECT_EQ(partial, whole);
  }
}

TEST(Checksum, UdpZeroIsSentAsAllOnes) {
  // The payload word is chosen so that the checksum computes to 0.
  Bytes frame = ipv4().udp(1, 2).payload(Bytes{0, 0}).build();
  const size_t field = ipv4().l4_offset() + 6;
  const uint16_t needed = load_be16(frame.data() + field);
  frame = ipv4().udp(1, 2).payload(Bytes{static_cast<uint8_t>(needed >> 8), static_cast<uint8_t>(needed)}).build();
  frame[field] = frame[field + 1] = 0;
  ASSERT_TRUE(complete(frame));
  EXPECT_EQ(load_be16(frame.data() + field), 0xffff);
}

TEST(Checksum, AbsentUdpChecksumIsNotLeftToHardware) {
  Bytes frame = ipv4().udp(1, 2).payload(4).build();
  frame[ipv4().l4_offset() + 6] = frame[ipv4().l4_offset() + 7] = 0;
  EXPECT_FALSE(left(frame));
}

TEST(Checksum, ImpossibleFramesAreLeftAsTheyAre) {
  Bytes longer = ipv4().tcp(1, 2).payload(60).checksum_partial().build();
  longer.push_back(0);  // not padding: the frame was long enough without it
  const Bytes frames[] = {
      ipv4().fragment(0, true).udp(1, 2).payload(8).checksum_partial().build(),
      ipv4().fragment(5, false).protocol(kProtocolUdp).payload(20).build(),
      ipv4().protocol(132).payload(20).build(),
      ipv6().extension(43, 3, 1).tcp(1, 2).checksum_partial().build(),
      PacketBuilder().ethernet(kHostB, kHostA).ether_type(kEtherTypeArp).payload(28).build(),
      longer,
  };
  for (const Bytes& frame : frames) {
    Bytes copy = frame;
    EXPECT_FALSE(left(frame));
    EXPECT_FALSE(complete(copy));
    EXPECT_EQ(copy, frame);
  }
}

TEST(Checksum, FrameShorterThanItsHeadersSayIsImpossible) {
  Bytes frame = ipv4().tcp(1, 2).payload(60).checksum_partial().build();
  const EdgeHeaders headers = parsed(frame);
  ExactBuffer exact(frame.data(), frame.size() - 1);
  EXPECT_FALSE(checksum_left_to_hardware(exact.data(), exact.size(), headers));
  EXPECT_FALSE(complete_checksum(exact.data(), exact.size(), headers));
}

}  // namespace
}  // namespace heddle::wire_checksum_test
