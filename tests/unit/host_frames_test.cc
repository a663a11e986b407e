// SPDX-License-Identifier: Apache-2.0
#include "egress/host_frames.h"

#include <gtest/gtest.h>

#include "packet_builder.h"

namespace heddle::test::host_frames_test {
namespace {

constexpr uint16_t kNative = 5, kTagged = 7;
constexpr uint8_t kPlain = 0, kVoice = 3;  // FTAGs

TopologyPort access_port(uint16_t native) {
  TopologyPort port;
  port.mtu_bytes = 1500;
  port.vlans.native = native;
  port.vlans.tagged.set(kTagged);
  return port;
}

std::vector<TrafficClass> classes(uint8_t dscp, uint8_t pcp) {
  return {{.ftag = kPlain}, {.ftag = kVoice, .rewrite_dscp = dscp, .rewrite_pcp = pcp}};
}

// A frame of a class in a VLAN, with room for a tag before it.
struct Sent {
  Sent(const Bytes& bytes, uint8_t ftag, uint16_t vlan) : room(64 + bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), room.begin() + 64);
    packet.data = room.data() + 64;
    packet.length = packet.payload = static_cast<uint16_t>(bytes.size());
    packet.ftag = ftag;
    packet.vni = vlan;
    packet.priority = 0xa3;  // PCP 1, DEI, and what else stands there
  }
  Bytes finished(const HostFrames& frames) {
    frames.finish(packet);
    return {packet.data, packet.data + packet.length};
  }
  Bytes room;
  Packet packet{};
};

Bytes ip_frame(uint8_t dscp) {
  return PacketBuilder().ethernet(kHostB, kHostA).ipv4(1, 2).dscp(dscp).udp(1, 2).payload(30).build();
}
Bytes ipv6_frame(uint8_t dscp) {
  return PacketBuilder()
      .ethernet(kHostB, kHostA)
      .ipv6(ipv6_host(1), ipv6_host(2), 0xfffff)
      .dscp(dscp)
      .udp(1, 2)
      .payload(30)
      .build();
}

TEST(HostFrames, OfTheNativeVlanHaveNoTag) {
  const TopologyPort port = access_port(kNative);
  const HostFrames frames(port, classes(kAsSent, kAsSent));
  EXPECT_EQ(Sent(ip_frame(9), kVoice, kNative).finished(frames), ip_frame(9));
  const Bytes tagged = Sent(ip_frame(9), kVoice, kTagged).finished(frames);
  ASSERT_EQ(tagged.size(), ip_frame(9).size() + kVlanTagBytes);
  EXPECT_EQ(load_be32(&tagged[12]), 0x81003000u | kTagged) << "PCP 1 and DEI as sent";
}

TEST(HostFrames, OfOtherVlansAndLongerOnesAreRefused) {
  const TopologyPort port = access_port(kNative), trunk = access_port(0);
  const HostFrames frames(port, classes(kAsSent, kAsSent)), of_trunk(trunk, classes(kAsSent, kAsSent));
  Sent sent(ip_frame(0), kPlain, 9);
  EXPECT_EQ(frames.refuses(sent.packet), DropReason::vlan_egress);
  sent.packet.vni = kNative;
  EXPECT_TRUE(frames.takes(sent.packet));
  EXPECT_EQ(of_trunk.refuses(sent.packet), DropReason::vlan_egress);
  sent.packet.payload = 1514;
  EXPECT_TRUE(frames.takes(sent.packet));
  ++sent.packet.payload;
  EXPECT_EQ(frames.refuses(sent.packet), DropReason::output_too_long);
}

TEST(HostFrames, HaveTheDscpOfTheirClass) {
  const TopologyPort port = access_port(kNative);
  for (const uint8_t dscp : {0, 1, 46, 63}) {
    const HostFrames frames(port, classes(dscp, kAsSent));
    for (uint8_t was = 0; was < 64; ++was) {
      EXPECT_EQ(Sent(ip_frame(was), kVoice, kNative).finished(frames), ip_frame(dscp)) << "with its checksum";
      EXPECT_EQ(Sent(ipv6_frame(was), kVoice, kNative).finished(frames), ipv6_frame(dscp)) << "with its flow label";
      EXPECT_EQ(Sent(ip_frame(was), kPlain, kNative).finished(frames), ip_frame(was)) << "only of that class";
    }
  }
}

TEST(HostFrames, KeepWhatIsNotTheDscp) {
  const TopologyPort port = access_port(kNative);
  const HostFrames frames(port, classes(46, kAsSent));
  Bytes congested = ip_frame(9);
  congested[15] |= 3;
  EXPECT_EQ(Sent(congested, kVoice, kNative).finished(frames)[15], 46 << 2 | 3) << "congestion experienced";
  const Bytes other = PacketBuilder().ethernet(kHostB, kHostA).ether_type(kEtherTypeArp).payload(46).build();
  EXPECT_EQ(Sent(other, kVoice, kNative).finished(frames), other) << "no IP";
  const Bytes v4 = ip_frame(9), v6 = ipv6_frame(9);
  for (const Bytes& cut : {Bytes(v4.begin(), v4.begin() + 33), Bytes(v6.begin(), v6.begin() + 53)})
    EXPECT_EQ(Sent(cut, kVoice, kNative).finished(frames), cut) << "less than a header";
}

TEST(HostFrames, HaveThePriorityOfTheirClassInTheirTag) {
  const TopologyPort port = access_port(kNative);
  const HostFrames frames(port, classes(46, 5));
  Sent sent(ip_frame(9), kVoice, kTagged);
  const Bytes tagged = sent.finished(frames);
  EXPECT_EQ(load_be32(&tagged[12]), 0x8100b000u | kTagged) << "PCP 5, DEI as sent";
  EXPECT_EQ(tagged[19], 46 << 2);
  EXPECT_EQ(sent.packet.priority >> 4, 0xa) << "what else stands there";
  EXPECT_EQ(Sent(ip_frame(9), kVoice, kNative).finished(frames), ip_frame(46)) << "no tag in the native VLAN";
}

}  // namespace
}  // namespace heddle::test::host_frames_test
