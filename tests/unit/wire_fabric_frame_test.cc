// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/unit/packet_builder.h"
#include "wire/fabric_frame.h"

namespace heddle::wire_fabric_frame_test {
namespace {

using test::Bytes;
using test::ExactBuffer;
using test::kHostA;
using test::kHostB;
using test::PacketBuilder;
using test::TestPacket;

constexpr uint64_t kPortMac = port_mac({1, 2});
constexpr uint32_t kTag = 0xa1b2c3d4;

DropReason check(const Bytes& frame) {
  ExactBuffer exact(frame);
  LinkFrame link;
  return check_frame(exact.data(), exact.size(), link);
}

Bytes original_frame() {
  return PacketBuilder().ethernet(kHostB, kHostA).ipv4(0x0a000001, 0x0a000002).udp(1, 2).payload(30).build();
}

void fill(Packet& packet) {
  packet.destination = {3, 4};
  packet.source = {1, 7};
  packet.via = 0x1234;
  packet.vni = 42;
  packet.ftag = 5;
  packet.hop_limit = 9;
  packet.priority = 0x0b;
}

const Stamp kStamp = {.session_tag = kTag,
                      .vc = 1,
                      .flags = HEDDLE_DATA_LOSSLESS,
                      .sequence = 77,
                      .flow = 600,
                      .data_flow = 0xfffffff0,
                      .life_units = 781,
                      .start = data_frame_start(kPortMac)};

Bytes data_frame(const std::function<void(Packet&, Stamp&)>& change = [](Packet&, Stamp&) {}) {
  TestPacket test(original_frame());
  fill(test.packet);
  prepend_fabric_header(test.packet);
  Stamp stamp = kStamp;
  change(test.packet, stamp);
  stamp_data_frame(test.packet, stamp);
  return test.bytes();
}

template <typename Record>
Bytes record_frame(uint8_t kind, const std::vector<Record>& records) {
  TestPacket test;
  start_records(test.packet, kind);
  for (const Record& record : records) EXPECT_TRUE(append_record(test.packet, record));
  finish_records(test.packet, kTag, 78, kPortMac);
  return test.bytes();
}

const AckRecord kAck = {.flow = 600,
                        .flags = HEDDLE_ACK_CONGESTION_PERSISTENT | HEDDLE_ACK_REDIRECT,
                        .severity = 7,
                        .ack_flow = 0x80000001,
                        .lost_total = 3,
                        .credit_limit = 0xdeadbeef,
                        .asked_by = 513};

Hello hello() {
  Hello result{};
  result.nonce = 0x1122334455667788;
  result.echo = 0x99aabbccddeeff00;
  result.topology_hash = 1;
  result.notice_digest = 2;
  result.notice_sequence = 17;
  result.node = 1;
  result.port = 2;
  result.peer_node = 3;
  result.peer_port = 4;
  result.buffer_bytes = 2048;
  result.credits = 1024;
  result.set_names("leaf-1", "to spine-1");
  return result;
}

Bytes hello_frame(const Hello& content) {
  TestPacket test;
  write_hello(test.packet, content, 0, kPortMac);
  return test.bytes();
}

std::vector<Bytes> one_of_each_kind() {
  return {
      data_frame(),
      record_frame<AckRecord>(HEDDLE_ACK, {kAck, kAck}),
      record_frame<ProbeRecord>(HEDDLE_PROBE, {{600, 5}}),
      record_frame<CreditRecord>(HEDDLE_CREDIT, {{1, HEDDLE_CREDIT_ASK, 7, 8}}),
      record_frame<NoticeRecord>(HEDDLE_NOTICE, {{3, 4, 5, 6}}),
      record_frame<LoadRecord>(HEDDLE_LOAD, {{3, 4, 5, 6, 7, 8}}),
      hello_frame(hello()),
  };
}

// Bytes that the check covers, from the first of the frame, and with it all that a frame must have.
size_t headers_end(const Bytes& frame) {
  ExactBuffer exact(frame);
  LinkFrame link;
  EXPECT_EQ(check_frame(exact.data(), exact.size(), link), DropReason::none);
  if (link.kind == HEDDLE_DATA) return HEDDLE_DATA_OVERHEAD_BYTES;
  if (link.kind == HEDDLE_HELLO) return HEDDLE_ETHERNET_BYTES + sizeof(heddle_hello);
  constexpr size_t kRecordBytes[] = {0, 0, 20, 8, 12, 48, 12};  // by kind
  return kRecordsStart + load_be16(link.body) * kRecordBytes[link.kind];
}

void fix_check(Bytes& frame, size_t end) {
  const uint32_t bytes = static_cast<uint32_t>(end) - HEDDLE_ETHERNET_BYTES;
  store_be32(frame.data() + 26, header_check(frame.data() + HEDDLE_ETHERNET_BYTES, bytes));
}

// A frame with one byte changed by somebody who computes the check rightly.
Bytes forged(Bytes frame, size_t at, uint8_t value) {
  const size_t end = headers_end(frame);
  frame.at(at) = value;
  fix_check(frame, end);
  return frame;
}

TEST(FabricFrame, CheckIsCrc32c) {
  // "123456789" has the CRC32C 0xe3069283; the bytes of the check field count as 0, so compare with a bitwise
  // one.
  const Bytes frame = hello_frame(hello());
  uint32_t crc = 0xffffffff;
  for (size_t i = HEDDLE_ETHERNET_BYTES; i < frame.size(); ++i) {
    crc ^= i >= 26 && i < 30 ? 0 : frame[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  EXPECT_EQ(load_be32(frame.data() + 26), ~crc);
}

TEST(FabricFrame, DataHeaderSurvivesTheLink) {
  TestPacket received(data_frame());
  LinkFrame link;
  ASSERT_EQ(check_frame(received.packet.data, received.packet.length, link), DropReason::none);
  EXPECT_EQ(link.kind, HEDDLE_DATA);
  EXPECT_EQ(link.channel, 0);
  EXPECT_EQ(link.flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_EQ(link.session_tag, kTag);
  EXPECT_EQ(link.sequence, 77u);

  read_data_header(received.packet);
  const Packet& packet = received.packet;
  EXPECT_EQ(packet.input.flow, 600);
  EXPECT_EQ(packet.position, 0xfffffff0);
  EXPECT_EQ(packet.ftag, 5);
  EXPECT_EQ(packet.vc, 1);
  EXPECT_EQ(packet.destination, (FabricAddress{3, 4}));
  EXPECT_EQ(packet.source, (FabricAddress{1, 7}));
  EXPECT_EQ(packet.via, 0x1234);
  EXPECT_EQ(packet.vni, 42);
  EXPECT_EQ(packet.dies_ns, 781u * 64000);
  EXPECT_EQ(packet.hop_limit, 8) << "one link further";
  EXPECT_EQ(packet.priority, 0x0b);
  EXPECT_EQ(packet.payload, original_frame().size());
  EXPECT_EQ(link.flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_TRUE(packet.flags & kPacketFabric);

  strip_fabric_header(received.packet);
  EXPECT_EQ(received.bytes(), original_frame());
}

TEST(FabricFrame, TransitRewritesTheHeaderAndCutsPadding) {
  Bytes frame = data_frame();
  frame.resize(frame.size() + 9, 0xcc);
  TestPacket transit(frame);
  LinkFrame link;
  ASSERT_EQ(check_frame(transit.packet.data, transit.packet.length, link), DropReason::none);
  read_data_header(transit.packet);
  Stamp next = kStamp;
  next.flow = 11;
  next.sequence = 1;
  stamp_data_frame(transit.packet, next);
  EXPECT_EQ(transit.packet.hop_limit, 7);
  EXPECT_EQ(transit.bytes(), data_frame([](Packet& packet, Stamp& stamp) {
              packet.hop_limit = 8;
              stamp.flow = 11, stamp.sequence = 1;
            }));
  strip_fabric_header(transit.packet);
  EXPECT_EQ(transit.bytes(), original_frame());
}

TEST(FabricFrame, LifeRoundsDownAndSaturates) {
  EXPECT_EQ(life_units(0), 0);
  EXPECT_EQ(life_units(63999), 0);
  EXPECT_EQ(life_units(64000), 1);
  EXPECT_EQ(life_units(50 * kMillisecond), 781);
  EXPECT_EQ(life_units(kNever), 0xffff);
}

TEST(FabricFrame, EveryKindPassesItsCheck) {
  for (const Bytes& frame : one_of_each_kind()) {
    EXPECT_EQ(check(frame), DropReason::none) << int{frame[15]};
    EXPECT_GE(frame.size(), kLeastFrameBytes);
    EXPECT_EQ(load_mac(frame.data()), kFabricGroupMac);
    EXPECT_EQ(load_mac(frame.data() + 6), kPortMac);
  }
}

TEST(FabricFrame, AckRecordsSurviveTheLink) {
  AckRecord second = kAck;
  second.flow = 1;
  TestPacket test(record_frame<AckRecord>(HEDDLE_ACK, {kAck, second}));
  LinkFrame link;
  ASSERT_EQ(check_frame(test.packet.data, test.packet.length, link), DropReason::none);
  EXPECT_EQ(link.session_tag, kTag);
  EXPECT_EQ(link.sequence, 78u);
  ASSERT_EQ(ack_records(link).size(), 2u);
  uint32_t seen = 0;
  for (const AckRecord ack : ack_records(link)) {
    EXPECT_EQ(ack.flow, seen++ == 0 ? 600 : 1);
    EXPECT_EQ(ack.flags, kAck.flags);
    EXPECT_EQ(ack.severity, 7);
    EXPECT_EQ(ack.ack_flow, 0x80000001);
    EXPECT_EQ(ack.lost_total, 3u);
    EXPECT_EQ(ack.credit_limit, 0xdeadbeef);
    EXPECT_EQ(ack.asked_by, 513);
  }
  EXPECT_EQ(seen, 2u);
  EXPECT_EQ(ack_records(link)[1].flow, 1);
  EXPECT_EQ(probe_records(link).size(), 0u) << "another kind";
}

TEST(FabricFrame, OtherRecordsSurviveTheLink) {
  TestPacket probes(record_frame<ProbeRecord>(HEDDLE_PROBE, {{2047, 0xffffffff}}));
  TestPacket credits(record_frame<CreditRecord>(HEDDLE_CREDIT, {{0, HEDDLE_CREDIT_ASK, 5, 0xfffffffe}, {7, 0, 1, 2}}));
  TestPacket notices(record_frame<NoticeRecord>(
      HEDDLE_NOTICE, {{65534, 9, 0x8000000000000001, 0x4000000000000002, 0x2000000000000004, 0x1122334455667788, 77}}));
  TestPacket loads(record_frame<LoadRecord>(HEDDLE_LOAD, {{63, 15, 65535, 65535, 1, 1000000}}));
  LinkFrame link;
  ASSERT_EQ(check_frame(probes.packet.data, probes.packet.length, link), DropReason::none);
  EXPECT_EQ(probe_records(link)[0].flow, 2047);
  EXPECT_EQ(probe_records(link)[0].data_flow, 0xffffffff);
  ASSERT_EQ(check_frame(credits.packet.data, credits.packet.length, link), DropReason::none);
  ASSERT_EQ(credit_records(link).size(), 2u);
  EXPECT_EQ(credit_records(link)[0].flags, HEDDLE_CREDIT_ASK);
  EXPECT_EQ(credit_records(link)[0].sent_total, 5u);
  EXPECT_EQ(credit_records(link)[0].limit, 0xfffffffe);
  EXPECT_EQ(credit_records(link)[1].vc, 7);
  ASSERT_EQ(check_frame(notices.packet.data, notices.packet.length, link), DropReason::none);
  EXPECT_EQ(notice_records(link)[0].node, 65534);
  EXPECT_EQ(notice_records(link)[0].sequence, 9u);
  EXPECT_EQ(notice_records(link)[0].ports_up, 0x8000000000000001);
  EXPECT_EQ(notice_records(link)[0].ports_settled, 0x4000000000000002);
  EXPECT_EQ(notice_records(link)[0].ports_kept_out, 0x2000000000000004);
  EXPECT_EQ(notice_records(link)[0].ends_seen, 0x1122334455667788);
  EXPECT_EQ(notice_records(link)[0].session_ends, 77u);
  ASSERT_EQ(check_frame(loads.packet.data, loads.packet.length, link), DropReason::none);
  EXPECT_EQ(load_records(link)[0].port, 63);
  EXPECT_EQ(load_records(link)[0].ftag, 15);
  EXPECT_EQ(load_records(link)[0].flows, 65535);
  EXPECT_EQ(load_records(link)[0].part, 1);
  EXPECT_EQ(load_records(link)[0].busy, 65535);
  EXPECT_EQ(load_records(link)[0].waiting_ns, 1000000u);
}

TEST(FabricFrame, RecordFramesFillUpAndRefuseOtherKinds) {
  TestPacket test;
  start_records(test.packet, HEDDLE_ACK, 3);
  EXPECT_EQ(record_count(test.packet), 0u);
  EXPECT_FALSE(append_record(test.packet, ProbeRecord{1, 2}));
  for (uint32_t i = 0; i < HEDDLE_ACK_RECORDS_MAX; ++i) EXPECT_TRUE(append_record(test.packet, kAck));
  EXPECT_FALSE(append_record(test.packet, kAck));
  EXPECT_EQ(record_count(test.packet), uint32_t{HEDDLE_ACK_RECORDS_MAX});
  finish_records(test.packet, kTag, 1, kPortMac);
  LinkFrame link;
  ASSERT_EQ(check_frame(test.packet.data, test.packet.length, link), DropReason::none);
  EXPECT_EQ(link.channel, 3);
  EXPECT_EQ(ack_records(link).size(), uint32_t{HEDDLE_ACK_RECORDS_MAX});
}

TEST(FabricFrame, HelloSurvivesTheLink) {
  TestPacket test(hello_frame(hello()));
  LinkFrame link;
  ASSERT_EQ(check_frame(test.packet.data, test.packet.length, link), DropReason::none);
  Hello read;
  read_hello(link, read);
  EXPECT_EQ(read.nonce, 0x1122334455667788u);
  EXPECT_EQ(read.echo, 0x99aabbccddeeff00u);
  EXPECT_EQ(read.topology_hash, 1u);
  EXPECT_EQ(read.notice_digest, 2u);
  EXPECT_EQ(read.notice_sequence, 17u);
  EXPECT_EQ(read.node, 1);
  EXPECT_EQ(read.port, 2);
  EXPECT_EQ(read.peer_node, 3);
  EXPECT_EQ(read.peer_port, 4);
  EXPECT_EQ(read.buffer_bytes, 2048u);
  EXPECT_EQ(read.credits, 1024u);
  EXPECT_STREQ(read.node_name, "leaf-1");
  EXPECT_STREQ(read.port_name, "to spine-1");
}

TEST(FabricFrame, AHelloMayBeAsLongAsTheLongestFrame) {
  Hello content = hello();
  content.hears_only_short = true;
  TestPacket test;
  write_hello(test.packet, content, 1568, kPortMac);
  ASSERT_EQ(test.packet.length, 1568);
  LinkFrame link;
  ASSERT_EQ(check_frame(test.packet.data, test.packet.length, link), DropReason::none);
  Hello read;
  read_hello(link, read);
  EXPECT_TRUE(read.hears_only_short);
  EXPECT_EQ(read.nonce, content.nonce);
  const Bytes bytes = test.bytes();
  EXPECT_TRUE(std::all_of(bytes.begin() + HEDDLE_ETHERNET_BYTES + sizeof(heddle_hello), bytes.end(),
                          [](uint8_t byte) { return byte == 0; }));
}

TEST(FabricFrame, HelloNamesMayFillTheirField) {
  Hello full = hello();
  full.set_names(std::string(40, 'n'), "p\xc3\xb6rt");
  TestPacket test(hello_frame(full));
  LinkFrame link;
  ASSERT_EQ(check_frame(test.packet.data, test.packet.length, link), DropReason::none);
  Hello read;
  read_hello(link, read);
  EXPECT_EQ(read.node_name, std::string(HEDDLE_NODE_NAME_BYTES, 'n'));
  EXPECT_STREQ(read.port_name, "p??rt");
}

TEST(FabricFrame, RefusesWhatIsNotFabricOrOfAnotherVersion) {
  EXPECT_EQ(check(original_frame()), DropReason::not_fabric);
  EXPECT_EQ(check(Bytes(13, 0x88)), DropReason::not_fabric);
  EXPECT_EQ(check(forged(data_frame(), 14, HEDDLE_VERSION + 1)), DropReason::bad_version);
  EXPECT_EQ(check(forged(hello_frame(hello()), 14, 0)), DropReason::bad_version);
}

TEST(FabricFrame, RefusesImpossibleKindsAndCounts) {
  const Bytes acks = record_frame<AckRecord>(HEDDLE_ACK, {kAck});
  for (const int kind : {0, HEDDLE_RETRY + 1, 255}) {
    Bytes frame = acks;
    frame[15] = static_cast<uint8_t>(kind);
    EXPECT_EQ(check(frame), DropReason::bad_frame) << kind;
  }
  Bytes none = acks;
  none[31] = 0;
  EXPECT_EQ(check(none), DropReason::bad_frame);
  Bytes many = acks;
  many.resize(5000);
  many[31] = HEDDLE_ACK_RECORDS_MAX + 1;
  EXPECT_EQ(check(many), DropReason::bad_frame);
  Bytes beyond = acks;
  beyond[31] = 3;
  EXPECT_EQ(check(beyond), DropReason::bad_frame) << "more records than the frame holds";
}

TEST(FabricFrame, RefusesImpossibleDataFields) {
  using Change = std::function<void(Packet&, Stamp&)>;
  const std::pair<const char*, Change> changes[] = {
      {"no source node", [](Packet& packet, Stamp&) { packet.source.node = 0; }},
      {"source node of a flood", [](Packet& packet, Stamp&) { packet.source.node = HEDDLE_FLOOD_NODE; }},
      {"no destination node", [](Packet& packet, Stamp&) { packet.destination.node = 0; }},
      {"flood with a flow",
       [](Packet& packet, Stamp&) {
         packet.destination.node = HEDDLE_FLOOD_NODE;
         packet.via = 0;
       }},
      {"flood on a longer way",
       [](Packet& packet, Stamp& stamp) {
         packet.destination.node = HEDDLE_FLOOD_NODE;
         stamp.flow = kNoFlow;
       }},
      {"class", [](Packet& packet, Stamp&) { packet.ftag = kFtagMax + 1; }},
      {"virtual channel", [](Packet&, Stamp& stamp) { stamp.vc = kVirtualChannelsMax; }},
      {"VLAN", [](Packet& packet, Stamp&) { packet.vni = 4095; }},
      {"flag", [](Packet&, Stamp& stamp) { stamp.flags = 0x08; }},
      {"shorter than an Ethernet header", [](Packet& packet, Stamp&) { packet.payload = 13; }},
  };
  for (const auto& [text, change] : changes) EXPECT_EQ(check(data_frame(change)), DropReason::bad_frame) << text;
  EXPECT_EQ(check(data_frame([](Packet& packet, Stamp& stamp) {
              packet.destination.node = HEDDLE_FLOOD_NODE;
              packet.via = 0;
              stamp.flow = kNoFlow;
            })),
            DropReason::none);
}

TEST(FabricFrame, RefusesImpossibleRecordFields) {
  const auto acks = [](const std::function<void(AckRecord&)>& change) {
    AckRecord record = kAck;
    change(record);
    return record_frame<AckRecord>(HEDDLE_ACK, {kAck, record});
  };
  EXPECT_EQ(check(acks([](AckRecord& ack) { ack.flow = kNoFlow; })), DropReason::bad_frame);
  EXPECT_EQ(check(acks([](AckRecord& ack) { ack.severity = kSeverityMax + 1; })), DropReason::bad_frame);
  EXPECT_EQ(check(acks([](AckRecord& ack) { ack.flags = 0x40; })), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<ProbeRecord>(HEDDLE_PROBE, {{kNoFlow, 1}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<CreditRecord>(HEDDLE_CREDIT, {{8, 0, 1, 2}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<CreditRecord>(HEDDLE_CREDIT, {{0, 2, 1, 2}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<NoticeRecord>(HEDDLE_NOTICE, {{0, 1, 2, 3}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<NoticeRecord>(HEDDLE_NOTICE, {{0xffff, 1, 2, 3}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<LoadRecord>(HEDDLE_LOAD, {{64, 1, 2, 3, 4, 5}})), DropReason::bad_frame);
  EXPECT_EQ(check(record_frame<LoadRecord>(HEDDLE_LOAD, {{1, 16, 2, 3, 4, 5}})), DropReason::bad_frame) << "class";
  EXPECT_EQ(check(record_frame<LoadRecord>(HEDDLE_LOAD, {{1, 1, 2, 3, 0, 5}})), DropReason::bad_frame) << "part";
  EXPECT_EQ(check(forged(record_frame<AckRecord>(HEDDLE_ACK, {kAck}), 17, 1)), DropReason::bad_frame) << "flags";
}

TEST(FabricFrame, RefusesImpossibleHellos) {
  const Bytes good = hello_frame(hello());
  constexpr size_t kNodeName = HEDDLE_ETHERNET_BYTES + offsetof(heddle_hello, node_name);
  constexpr size_t kPortName = HEDDLE_ETHERNET_BYTES + offsetof(heddle_hello, port_name);
  EXPECT_EQ(check(forged(good, kNodeName, 0x1b)), DropReason::bad_frame) << "not printable";
  EXPECT_EQ(check(forged(good, kNodeName + 1, 0xc3)), DropReason::bad_frame) << "not ASCII";
  EXPECT_EQ(check(forged(good, kNodeName + 31, 'x')), DropReason::bad_frame) << "text behind the padding";
  EXPECT_EQ(check(forged(good, kPortName, 0)), DropReason::bad_frame) << "padding before the text";
  for (const size_t at : {size_t{16}, size_t{17}, size_t{18}, size_t{25}}) {
    EXPECT_EQ(check(forged(good, at, 2)), DropReason::bad_frame) << "channel, flags, tag, sequence";
  }
  Hello content = hello();
  content.nonce = 0;
  EXPECT_EQ(check(hello_frame(content)), DropReason::bad_frame);
  content = hello();
  content.buffer_bytes = 0;
  EXPECT_EQ(check(hello_frame(content)), DropReason::bad_frame);
}

TEST(FabricFrame, NoTruncationReadsPastTheEnd) {
  for (const Bytes& frame : one_of_each_kind()) {
    size_t end = headers_end(frame);
    if (frame[15] == HEDDLE_DATA) end = frame.size();
    for (size_t length = 0; length < frame.size(); ++length) {
      const DropReason reason = check(Bytes(frame.begin(), frame.begin() + static_cast<long>(length)));
      EXPECT_EQ(reason == DropReason::none, length >= end) << length;
    }
  }
}

TEST(FabricFrame, EveryBitFlipInTheHeadersIsRefused) {
  for (const Bytes& frame : one_of_each_kind()) {
    const size_t end = headers_end(frame);
    for (size_t at = 12; at < end; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        Bytes damaged = frame;
        damaged[at] = static_cast<uint8_t>(damaged[at] ^ 1 << bit);
        EXPECT_NE(check(damaged), DropReason::none) << "byte " << at << " bit " << bit;
      }
    }
  }
}

TEST(SessionValues, TagIsTheSameFromBothEndsAndNeverZero) {
  EXPECT_EQ(session_tag(1, 2), session_tag(2, 1));
  EXPECT_NE(session_tag(1, 2), session_tag(1, 3));
  EXPECT_NE(session_tag(0, 0), 0u);
  EXPECT_EQ(session_tag(0, 0), 1u) << "0 is the tag of hellos";
}

TEST(SessionValues, FirstPositionsDependOnDirectionNoncesAndFlow) {
  std::set<uint32_t> seen;
  for (const uint64_t nonce : {uint64_t{1}, uint64_t{1} << 32, uint64_t{1} << 63}) {
    for (FlowId flow = 1; flow <= 2047; ++flow) {
      seen.insert(first_position(nonce, 5, flow));
      seen.insert(first_position(5, nonce, flow));
    }
  }
  EXPECT_GT(seen.size(), 6u * 2047 - 10) << "all but a few birthdays differ";
}

TEST(SessionValues, PortMacNamesNodeAndPort) {
  EXPECT_EQ(port_mac({0x1234, 0x0056}), 0x026812340056u);
  EXPECT_FALSE(mac_is_group(port_mac({0xffff, 0xffff})));
  EXPECT_TRUE(mac_is_group(kFabricGroupMac));
}

}  // namespace
}  // namespace heddle::wire_fabric_frame_test
