// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/hosts/sim_frame.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace heddle::sim::frame_test {
namespace {

struct Frames : testing::TestWithParam<FrameKind> {
  HostFlow flow;
  StationAddress from{0x020000000001, 0}, to{0x020000000002, 1};
  uint8_t bytes[2048] = {};
  Frames() {
    flow.id = 5;
    flow.kind = GetParam();
    flow.vlan = 10;
  }
};

TEST_P(Frames, AreWhatTheSwitchesParserTakesAndTellWhoseTheyAre) {
  for (const bool tagged : {false, true}) {
    for (const uint16_t length : {kLeastLengthIpv6, uint16_t{300}, uint16_t{1514}}) {
      const uint32_t total = write_frame(bytes, flow, from, to, tagged, length, 77, 123456, true);
      EXPECT_EQ(total, length + (tagged ? 4u : 0u));
      EdgeHeaders headers;
      EXPECT_EQ(parse_edge_frame(bytes, total, headers), DropReason::none);
      EXPECT_EQ(headers.tagged, tagged);
      Trailer trailer;
      ASSERT_TRUE(read_trailer(bytes, total, trailer));
      EXPECT_EQ(trailer.flow, 5);
      EXPECT_EQ(trailer.sequence, 77u);
      EXPECT_EQ(compare_frame(bytes, total, flow, flow.priority, from, to, tagged, trailer), nullptr);
    }
  }
}

TEST_P(Frames, AnyChangedByteIsFound) {
  const uint32_t total = write_frame(bytes, flow, from, to, false, 200, 3, 9, true);
  for (uint32_t i = 0; i < total; ++i) {
    bytes[i] ^= 0x10;
    Trailer trailer;
    const bool read = read_trailer(bytes, total, trailer);
    EXPECT_TRUE(!read || compare_frame(bytes, total, flow, flow.priority, from, to, false, trailer) != nullptr)
        << "byte " << i;
    bytes[i] ^= 0x10;
  }
}

TEST_P(Frames, AChecksumLeftToHardwareIsOneThatTheSwitchCompletes) {
  if (flow.kind == FrameKind::ethernet) return;
  flow.checksum = ChecksumKind::partial;
  const uint32_t total = write_frame(bytes, flow, from, to, false, 333, 3, 9, true);
  EdgeHeaders headers;
  ASSERT_EQ(parse_edge_frame(bytes, total, headers), DropReason::none);
  EXPECT_TRUE(checksum_left_to_hardware(bytes, total, headers));
  Trailer trailer;
  ASSERT_TRUE(read_trailer(bytes, total, trailer));
  EXPECT_NE(compare_frame(bytes, total, flow, flow.priority, from, to, false, trailer), nullptr);
  EXPECT_TRUE(complete_checksum(bytes, total, headers));
  EXPECT_EQ(compare_frame(bytes, total, flow, flow.priority, from, to, false, trailer), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Frames, testing::Values(FrameKind::ethernet, FrameKind::ipv4, FrameKind::ipv6));

TEST(LatencyHistogram, QuantilesAreCloseToTheTruth) {
  LatencyHistogram histogram;
  for (Nanos i = 1; i <= 100'000; ++i) histogram.add(i);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.5)), 50'000, 3'200);
  EXPECT_NEAR(static_cast<double>(histogram.quantile(0.99)), 99'000, 6'300);
  EXPECT_EQ(histogram.max(), 100'000u);
}

}  // namespace
}  // namespace heddle::sim::frame_test
