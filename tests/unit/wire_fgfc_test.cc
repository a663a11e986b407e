// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "packet_builder.h"
#include "wire/ethernet.h"
#include "wire/fgfc.h"

namespace heddle::test::wire_fgfc_test {
namespace {

constexpr uint64_t kHost = 0x020000000001, kSwitch = 0x026800010003;

FgfcPause example() {
  FgfcPause pause{.flow = {.fields = HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS,
                           .l3 = 4,
                           .protocol = 17,
                           .dscp = 0,
                           .vlan = 7,
                           .source_port = 4000,
                           .destination_port = 53,
                           .flow_label = 0,
                           .destination = 0x020000000002},
                  .number = 9,
                  .timer_ns = 200 * kMillisecond,
                  .credit = 0x123456789a,
                  .by = {1, 3}};
  pause.flow.source_address[3] = 1;
  pause.flow.destination_address[3] = 2;
  return pause;
}

Bytes written_pause() {
  TestPacket test;
  write_fgfc_pause(test.packet, example(), kHost, kSwitch);
  return test.bytes();
}

Bytes written_announcement(bool obeys) {
  TestPacket test;
  write_fgfc_announcement(test.packet, obeys, kHost);
  return test.bytes();
}

bool reads_pause(const Bytes& bytes) {
  FgfcPause pause;
  return read_fgfc_pause(bytes.data(), static_cast<uint32_t>(bytes.size()), pause);
}

bool reads_announcement(const Bytes& bytes) {
  bool obeys;
  return read_fgfc_announcement(bytes.data(), static_cast<uint32_t>(bytes.size()), obeys);
}

TEST(WireFgfc, APauseIsReadAsItWasWritten) {
  const Bytes bytes = written_pause();
  EXPECT_EQ(bytes.size(), kFgfcPauseBytes);
  EXPECT_EQ(load_mac(bytes.data()), kHost);
  EXPECT_EQ(load_mac(bytes.data() + 6), kSwitch);
  FgfcPause pause;
  ASSERT_TRUE(read_fgfc_pause(bytes.data(), static_cast<uint32_t>(bytes.size()), pause));
  const FgfcPause expected = example();
  EXPECT_EQ(pause.flow, expected.flow);
  EXPECT_EQ(pause.number, expected.number);
  EXPECT_EQ(pause.timer_ns, expected.timer_ns);
  EXPECT_EQ(pause.credit, expected.credit);
  EXPECT_TRUE(pause.by == expected.by);
}

TEST(WireFgfc, AnAnnouncementSaysWhetherItsSourceObeys) {
  for (const bool obeys : {true, false}) {
    const Bytes bytes = written_announcement(obeys);
    EXPECT_EQ(bytes.size(), 60u);
    EXPECT_TRUE(mac_is_group(load_mac(bytes.data()))) << "the host need not know whom it is connected to";
    EXPECT_EQ(load_mac(bytes.data() + 6), kHost);
    bool read = !obeys;
    ASSERT_TRUE(read_fgfc_announcement(bytes.data(), static_cast<uint32_t>(bytes.size()), read));
    EXPECT_EQ(read, obeys);
  }
}

TEST(WireFgfc, NeitherIsReadAsTheOther) {
  EXPECT_FALSE(reads_announcement(written_pause()));
  EXPECT_FALSE(reads_pause(written_announcement(true)));
}

TEST(WireFgfc, AFrameThatEndsTooEarlyIsNone) {
  for (size_t length = 0; length < kFgfcPauseBytes; ++length) {
    Bytes bytes = written_pause();
    bytes.resize(length);
    bytes.shrink_to_fit();
    EXPECT_FALSE(reads_pause(bytes)) << length;
  }
  Bytes bytes = written_announcement(true);
  bytes.resize(HEDDLE_ETHERNET_BYTES + sizeof(heddle_fgfc_header) - 1);
  EXPECT_FALSE(reads_announcement(bytes));
}

// Every byte that says what a frame is, and values that it may not have.
TEST(WireFgfc, WhatIsNotDefinedIsNotRead) {
  const auto pause_with = [](size_t at, uint8_t value) {
    Bytes bytes = written_pause();
    bytes[HEDDLE_ETHERNET_BYTES + at] = value;
    return reads_pause(bytes);
  };
  const auto announcement_with = [](size_t at, uint8_t value) {
    Bytes bytes = written_announcement(true);
    bytes[at] = value;
    return reads_announcement(bytes);
  };
  for (size_t at = 0; at < 8; ++at) EXPECT_FALSE(pause_with(at, 0x55)) << at;
  EXPECT_FALSE(pause_with(offsetof(heddle_fgfc_pause, fields), 0x40));
  EXPECT_FALSE(pause_with(offsetof(heddle_fgfc_pause, l3), 5));
  EXPECT_FALSE(pause_with(offsetof(heddle_fgfc_pause, dscp), 64));
  EXPECT_TRUE(pause_with(offsetof(heddle_fgfc_pause, dscp), 63));
  for (size_t at = 12; at < 22; ++at) EXPECT_FALSE(announcement_with(at, 0x55)) << at;
}

// K14: edge ports tell them from what hosts send each other, tagged or not; those of other organisations are frames.
TEST(WireFgfc, EdgePortsKnowThem) {
  EdgeHeaders headers;
  Bytes bytes = written_announcement(true);
  EXPECT_EQ(parse_edge_frame(bytes.data(), 60, headers), DropReason::fgfc_at_edge);
  Bytes tagged = bytes;
  const Bytes tag{0x81, 0x00, 0x00, 0x07};
  tagged.insert(tagged.begin() + 12, tag.begin(), tag.end());
  EXPECT_EQ(parse_edge_frame(tagged.data(), 64, headers), DropReason::fgfc_at_edge);
  bytes[14] ^= 1;
  EXPECT_EQ(parse_edge_frame(bytes.data(), 60, headers), DropReason::none);
}

}  // namespace
}  // namespace heddle::test::wire_fgfc_test
