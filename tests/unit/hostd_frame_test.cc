// SPDX-License-Identifier: Apache-2.0
// The host has to see the same flow in a frame as the switch that names it in a pause.
#include <gtest/gtest.h>

#include <cstring>

#include "hostd/frame_flow.h"
#include "packet_builder.h"
#include "wire/ethernet.h"
#include "wire/fgfc.h"

namespace heddle::test::hostd_frame_test {
namespace {

constexpr uint64_t kHost = 0x020000000001, kOther = 0x020000000002;

PacketBuilder from_host() { return std::move(PacketBuilder().ethernet(kOther, kHost)); }

hostd_flow read(const Bytes& frame, uint16_t tag = 0) {
  hostd_flow flow{};
  EXPECT_TRUE(hostd_read_flow(frame.data(), frame.data() + frame.size(), tag, &flow));
  return flow;
}

// A pause about the flow, as it comes over the wire.
hostd_flow named(const FgfcFlow& flow) {
  FgfcPause pause;
  pause.flow = flow;
  TestPacket test;
  write_fgfc_pause(test.packet, pause, kHost, 0x026800010000);
  const Bytes bytes = test.bytes();
  hostd_flow read{};
  EXPECT_NE(hostd_read_pause(bytes.data(), bytes.data() + bytes.size(), &read), nullptr);
  return read;
}

bool same(hostd_flow frame, const hostd_flow& pause) {
  hostd_keep_fields(&frame, pause.fields);
  return std::memcmp(&frame, &pause, sizeof frame) == 0;
}

TEST(HostdFrame, AFrameIsOfTheFlowThatThePauseNames) {
  const Bytes frame = from_host().ipv4(0x0a000001, 0x0a000002).udp(4000, 53).payload(20).build();
  FgfcFlow flow{.fields = HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS, .l3 = 4, .protocol = 17};
  flow.source_port = 4000;
  flow.destination_port = 53;
  flow.destination = kOther;
  const hostd_flow seen = read(frame);
  std::memcpy(flow.source_address.data(), seen.source_address, 16);
  std::memcpy(flow.destination_address.data(), seen.destination_address, 16);
  EXPECT_TRUE(same(seen, named(flow)));
  flow.destination_port = 54;
  EXPECT_FALSE(same(seen, named(flow)));
  flow.fields = HEDDLE_FGFC_ADDRESSES;
  EXPECT_TRUE(same(seen, named(flow))) << "ports do not count then";
  flow.vlan = 7;
  EXPECT_FALSE(same(seen, named(flow)));
  EXPECT_TRUE(same(read(frame, 7), named(flow))) << "the tag may stand beside the frame";
}

// A1: all that the host sends of an application.
TEST(HostdFrame, AFrameIsOfTheApplicationThatThePauseNames) {
  const hostd_flow seen = read(from_host().ipv4(0x0a000001, 0x0a000002).udp(4000, 53).payload(20).build());
  FgfcFlow all{.fields = HEDDLE_FGFC_ANY_DESTINATION};
  EXPECT_TRUE(same(seen, named(all)));
  EXPECT_FALSE(same(read(PacketBuilder().ethernet(0xffffffffffff, kHost).payload(40).build()), named(all)));
  all.vlan = 7;
  EXPECT_FALSE(same(seen, named(all)));
  FgfcFlow from_address{.fields = HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_SOURCE_ADDRESS, .l3 = 4};
  EXPECT_FALSE(same(seen, named(from_address)));
  std::memcpy(from_address.source_address.data(), seen.source_address, 16);
  EXPECT_TRUE(same(seen, named(from_address)));
  from_address.fields = HEDDLE_FGFC_SOURCE_ADDRESS;
  EXPECT_FALSE(same(seen, named(from_address))) << "to another station";
}

TEST(HostdFrame, ATagInTheFrameIsRead) {
  const Bytes frame = from_host().vlan(7).ipv4(1, 2).udp(3, 4).payload(20).build();
  EXPECT_EQ(read(frame).vlan, HOSTD_BE16(7));
  EXPECT_EQ(read(frame).l3, 4);
}

TEST(HostdFrame, WhatIsNotAPauseIsNone) {
  FgfcPause pause;
  TestPacket test;
  write_fgfc_pause(test.packet, pause, kHost, kOther);
  const Bytes whole = test.bytes();
  hostd_flow flow{};
  const auto reads = [&flow](const Bytes& bytes) {
    ExactBuffer exact(bytes.data(), bytes.size());
    return hostd_is_fgfc(exact.data(), exact.data() + exact.size()) &&
           hostd_read_pause(exact.data(), exact.data() + exact.size(), &flow) != nullptr;
  };
  EXPECT_TRUE(reads(whole));
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(reads(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)))) << length;
  for (size_t at = 12; at < 22; ++at) {
    Bytes other = whole;
    other[at] ^= 0x40;
    EXPECT_FALSE(reads(other)) << at;
  }
}

// What the switch does not refuse it reads as the switch does, byte for byte.
TEST(HostdFrame, SeesWhatTheSwitchSees) {
  const Bytes frames[] = {
      from_host().ether_type(0x0806).payload(46).build(),
      from_host().ipv4(0x0a000001, 0x0a000002).udp(4000, 53).payload(20).build(),
      from_host().vlan(9).ipv4(0x0a000001, 0x0a000002).udp(4000, 53).payload(20).build(),
      from_host().ipv6(ipv6_host(1), ipv6_host(2), 0xabcde).udp(4000, 53).payload(20).build(),
  };
  for (const Bytes& frame : frames) {
    EdgeHeaders headers;
    ASSERT_EQ(parse_edge_frame(frame.data(), static_cast<uint32_t>(frame.size()), headers), DropReason::none);
    const hostd_flow flow = read(frame);
    EXPECT_EQ(flow.l3, headers.l3);
    EXPECT_EQ(flow.l3 != 0 ? flow.protocol : 0, headers.l3 != 0 ? headers.protocol : 0);
    EXPECT_EQ(flow.dscp, headers.dscp);
    EXPECT_EQ(HOSTD_BE32(flow.flow_label), headers.flow_label);
    EXPECT_EQ(HOSTD_BE16(flow.source_port), headers.source_port);
    EXPECT_EQ(HOSTD_BE16(flow.destination_port), headers.destination_port);
    EXPECT_EQ(std::memcmp(flow.source_address, headers.address_source, 16), 0);
    EXPECT_EQ(std::memcmp(flow.destination_address, headers.address_destination, 16), 0);
  }
}

}  // namespace
}  // namespace heddle::test::hostd_frame_test
