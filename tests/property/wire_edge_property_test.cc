// SPDX-License-Identifier: Apache-2.0
// Edge frames of any shape: what the builder says is what the parser reads, and no bytes make it read out of
// bounds.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/packet_builder.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace heddle::wire_edge_property_test {
namespace {

using test::Bytes;
using test::ExactBuffer;
using test::ipv6_host;
using test::kHostA;
using test::kHostB;
using test::PacketBuilder;
using test::TestPacket;

struct Shape {
  bool tagged = *rc::gen::arbitrary<bool>();
  bool ipv6 = *rc::gen::arbitrary<bool>();
  bool tcp = *rc::gen::arbitrary<bool>();
  uint16_t tci = *rc::gen::arbitrary<uint16_t>();
  uint16_t source_port = *rc::gen::arbitrary<uint16_t>();
  uint16_t destination_port = *rc::gen::arbitrary<uint16_t>();
  uint32_t flow_label = *rc::gen::inRange<uint32_t>(0, 1 << 20);
  uint8_t dscp = *rc::gen::inRange<uint8_t>(0, 64);
  uint32_t option_words = *rc::gen::inRange<uint32_t>(0, 11);
  uint32_t extensions = *rc::gen::inRange<uint32_t>(0, 9);
  Bytes payload = *rc::gen::arbitrary<Bytes>();

  PacketBuilder builder() const {
    PacketBuilder result;
    result.ethernet(kHostB, kHostA);
    if (tagged) result.vlan(tci);
    if (ipv6) {
      result.ipv6(ipv6_host(1), ipv6_host(2), flow_label);
      for (uint32_t i = 0; i < extensions; ++i) result.extension(i % 2 == 0 ? 60 : 51, 1 + i % 3);
    } else {
      result.ipv4(0x0a000001, 0x0a000002, option_words);
    }
    result.dscp(dscp);
    if (tcp) result.tcp(source_port, destination_port, option_words);
    if (!tcp) result.udp(source_port, destination_port);
    return result.payload(payload);
  }
};

DropReason parse(const Bytes& frame, EdgeHeaders& headers) {
  ExactBuffer exact(frame);
  return parse_edge_frame(exact.data(), exact.size(), headers);
}

RC_GTEST_PROP(EdgeFrameProperty, ReadsBackWhatWasBuilt, ()) {
  const Shape shape;
  const PacketBuilder builder = shape.builder();
  EdgeHeaders headers;
  RC_ASSERT(parse(builder.build(), headers) == DropReason::none);
  RC_ASSERT(headers.tagged == shape.tagged);
  RC_ASSERT(headers.tci == (shape.tagged ? shape.tci : 0));
  RC_ASSERT(headers.l3 == (shape.ipv6 ? 6 : 4));
  RC_ASSERT(headers.dscp == shape.dscp);
  RC_ASSERT(headers.flow_label == (shape.ipv6 ? shape.flow_label : 0));
  RC_ASSERT(headers.protocol == (shape.tcp ? kProtocolTcp : kProtocolUdp));
  RC_ASSERT(headers.ports_valid);
  RC_ASSERT(headers.source_port == shape.source_port);
  RC_ASSERT(headers.destination_port == shape.destination_port);
  RC_ASSERT(headers.l4_offset == builder.l4_offset());
}

RC_GTEST_PROP(EdgeFrameProperty, CompletedChecksumIsTheRightOne, ()) {
  const Shape shape;
  const Bytes whole = shape.builder().build();
  const Bytes partial = shape.builder().checksum_partial().build();
  EdgeHeaders headers;
  RC_ASSERT(parse(partial, headers) == DropReason::none);
  ExactBuffer exact(partial);
  RC_ASSERT(checksum_left_to_hardware(exact.data(), exact.size(), headers));
  RC_ASSERT(complete_checksum(exact.data(), exact.size(), headers));
  RC_ASSERT(Bytes(exact.data(), exact.data() + exact.size()) == whole);
}

RC_GTEST_PROP(EdgeFrameProperty, TruncatedFramesAreRefused, ()) {
  const Bytes frame = Shape().builder().build();
  const size_t length = *rc::gen::inRange<size_t>(0, frame.size());
  EdgeHeaders headers;
  RC_ASSERT(parse(Bytes(frame.begin(), frame.begin() + static_cast<long>(length)), headers) != DropReason::none);
}

RC_GTEST_PROP(EdgeFrameProperty, DamagedFramesStayWithinTheirBytes, ()) {
  Bytes frame = Shape().builder().build();
  const uint32_t changes = *rc::gen::inRange<uint32_t>(1, 6);
  for (uint32_t i = 0; i < changes; ++i) {
    frame[*rc::gen::inRange<size_t>(0, frame.size())] = *rc::gen::arbitrary<uint8_t>();
  }
  EdgeHeaders headers;
  if (parse(frame, headers) != DropReason::none) return;
  RC_ASSERT(headers.l3 == 0 || headers.l4_offset + headers.l4_bytes <= frame.size());
  ExactBuffer exact(frame);
  complete_checksum(exact.data(), exact.size(), headers);
}

RC_GTEST_PROP(VlanTagProperty, InsertThenRemoveIsTheIdentity, (uint16_t tci)) {
  const Bytes frame = Shape().builder().build();
  TestPacket test(frame);
  insert_tag(test.packet, tci);
  RC_ASSERT(test.packet.length == frame.size() + kVlanTagBytes);
  RC_ASSERT(load_be16(test.packet.data + 14) == tci);
  remove_tag(test.packet);
  RC_ASSERT(test.bytes() == frame);
}

}  // namespace
}  // namespace heddle::wire_edge_property_test
