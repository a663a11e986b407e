// SPDX-License-Identifier: Apache-2.0
// Fabric frames with any field values: what was written is read, and damage is found.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/packet_builder.h"
#include "wire/fabric_frame.h"

namespace heddle::wire_fabric_property_test {
namespace {

using test::Bytes;
using test::ExactBuffer;
using test::TestPacket;

template <typename T>
T any() {
  return *rc::gen::arbitrary<T>();
}
template <typename T>
T between(T first, T last) {
  return *rc::gen::inRange<T>(first, static_cast<T>(last + 1));
}

constexpr uint64_t kPortMac = port_mac({1, 2});

// A packet as the switch holds it, and its stamp, within the protocol's rules.
void any_packet(Packet& packet, Stamp& stamp) {
  packet.destination = {between<uint16_t>(1, 0xfffe), PortIndex::of(any<uint8_t>())};
  packet.source = {between<uint16_t>(1, 0xfffe), PortIndex::of(any<uint8_t>())};
  packet.via = between<uint16_t>(0, 0xfffe);
  packet.vni = between<uint16_t>(0, 4094);
  packet.ftag = between<uint8_t>(0, kFtagMax);
  packet.hop_limit = any<uint8_t>();
  packet.priority = static_cast<uint8_t>(between<unsigned>(0, 255));
  stamp = {.session_tag = any<uint32_t>(),
           .vc = between<uint8_t>(0, kVirtualChannelsMax - 1),
           .flags = between<uint8_t>(0, 7),
           .sequence = any<uint32_t>(),
           .flow = FlowId::of(any<uint16_t>()),
           .data_flow = any<uint32_t>(),
           .life_units = any<uint16_t>(),
           .start = data_frame_start(kPortMac)};
}

RC_GTEST_PROP(FabricFrameProperty, DataHeaderReadsBackWhatWasStamped, ()) {
  const Bytes original = *rc::gen::resize(
      1500, rc::gen::suchThat<Bytes>([](const Bytes& bytes) { return bytes.size() >= HEDDLE_ETHERNET_BYTES; }));
  TestPacket sent(original);
  Stamp stamp;
  any_packet(sent.packet, stamp);
  prepend_fabric_header(sent.packet);
  stamp_data_frame(sent.packet, stamp);

  Bytes frame = sent.bytes();
  frame.resize(frame.size() + between<size_t>(0, 20), 0xcc);  // link padding
  TestPacket received(frame);
  LinkFrame link;
  RC_ASSERT(check_frame(received.packet.data, received.packet.length, link) == DropReason::none);
  RC_ASSERT(link.kind == HEDDLE_DATA);
  RC_ASSERT(link.session_tag == stamp.session_tag);
  RC_ASSERT(link.sequence == stamp.sequence);
  read_data_header(received.packet);
  const Packet& packet = received.packet;
  RC_ASSERT(packet.input.flow == stamp.flow);
  RC_ASSERT(packet.position == stamp.data_flow);
  RC_ASSERT(packet.dies_ns == stamp.life_units * 64000u);
  RC_ASSERT(life_units(packet.dies_ns) == stamp.life_units);
  RC_ASSERT(packet.destination == sent.packet.destination);
  RC_ASSERT(packet.source == sent.packet.source);
  RC_ASSERT(packet.via == sent.packet.via);
  RC_ASSERT(packet.vni == sent.packet.vni);
  RC_ASSERT(packet.ftag == sent.packet.ftag);
  RC_ASSERT(packet.vc == stamp.vc);
  RC_ASSERT(packet.hop_limit == sent.packet.hop_limit);
  RC_ASSERT(packet.priority == sent.packet.priority);
  strip_fabric_header(received.packet);
  RC_ASSERT(received.bytes() == original);
}

RC_GTEST_PROP(FabricFrameProperty, AckRecordsReadBackInOrder, ()) {
  const uint32_t count = between<uint32_t>(1, HEDDLE_ACK_RECORDS_MAX);
  std::vector<AckRecord> sent;
  TestPacket test;
  start_records(test.packet, HEDDLE_ACK);
  for (uint32_t i = 0; i < count; ++i) {
    sent.push_back({.flow = FlowId::of(between<uint16_t>(1, 0xfffe)),
                    .flags = between<uint8_t>(0, 0x3f),
                    .severity = between<uint8_t>(0, kSeverityMax),
                    .ack_flow = any<uint32_t>(),
                    .lost_total = any<uint32_t>(),
                    .credit_limit = any<uint32_t>(),
                    .asked_by = any<uint16_t>()});
    RC_ASSERT(append_record(test.packet, sent.back()));
  }
  finish_records(test.packet, 1, 2, kPortMac);
  LinkFrame link;
  ExactBuffer exact(test.bytes());
  RC_ASSERT(check_frame(exact.data(), exact.size(), link) == DropReason::none);
  RC_ASSERT(ack_records(link).size() == count);
  uint32_t index = 0;
  for (const AckRecord ack : ack_records(link)) {
    const AckRecord& expected = sent[index++];
    RC_ASSERT(ack.flow == expected.flow);
    RC_ASSERT(ack.flags == expected.flags);
    RC_ASSERT(ack.severity == expected.severity);
    RC_ASSERT(ack.ack_flow == expected.ack_flow);
    RC_ASSERT(ack.lost_total == expected.lost_total);
    RC_ASSERT(ack.credit_limit == expected.credit_limit);
    RC_ASSERT(ack.asked_by == expected.asked_by);
  }
}

RC_GTEST_PROP(FabricFrameProperty, UpToThreeDamagedHeaderBitsAreFound, ()) {
  TestPacket test(Bytes(100, 0x55));
  Stamp stamp;
  any_packet(test.packet, stamp);
  prepend_fabric_header(test.packet);
  stamp_data_frame(test.packet, stamp);
  Bytes frame = test.bytes();
  const auto bits = *rc::gen::unique<std::vector<uint32_t>>(
      between<size_t>(1, 3), rc::gen::inRange<uint32_t>(HEDDLE_ETHERNET_BYTES * 8, HEDDLE_DATA_OVERHEAD_BYTES * 8));
  for (const uint32_t bit : bits) frame[bit / 8] = static_cast<uint8_t>(frame[bit / 8] ^ 1 << bit % 8);
  LinkFrame link;
  ExactBuffer exact(frame);
  RC_ASSERT(check_frame(exact.data(), exact.size(), link) != DropReason::none);
}

RC_GTEST_PROP(FabricFrameProperty, RandomBytesBehindTheTypeStayWithinBounds, (Bytes tail)) {
  Bytes frame(12, 0);
  frame.insert(frame.end(), {0x88, 0xb5, HEDDLE_VERSION, between<uint8_t>(0, 8)});
  frame.insert(frame.end(), tail.begin(), tail.end());
  LinkFrame link;
  ExactBuffer exact(frame);
  RC_ASSERT(check_frame(exact.data(), exact.size(), link) != DropReason::none);
}

RC_GTEST_PROP(SessionValueProperty, TagIsSymmetricAndNotZero, (uint64_t one, uint64_t other)) {
  RC_ASSERT(session_tag(one, other) == session_tag(other, one));
  RC_ASSERT(session_tag(one, other) != 0u);
}

}  // namespace
}  // namespace heddle::wire_fabric_property_test
