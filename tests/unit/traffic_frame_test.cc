// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "traffic/frame.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace heddle::traffic::traffic_frame_test {
namespace {

constexpr FrameFields kFields{.flow = 70000, .number = 5, .stamp = 123456789012345};

std::vector<uint8_t> whole_frame(Direction direction, uint32_t bytes) {
  std::vector<uint8_t> frame(std::max(bytes, kTemplateBytes));
  write_frame(frame.data(), make_template(direction, kFields.flow, 3, static_cast<uint16_t>(bytes)), kFields);
  write_pattern(frame.data(), bytes);
  frame.resize(bytes);
  return frame;
}

Verdict verdict_of(const std::vector<uint8_t>& frame, Direction direction) {
  FrameFields fields;
  const Verdict verdict = read_frame(frame.data(), static_cast<uint32_t>(frame.size()), direction, fields);
  const bool intact = pattern_intact(frame.data(), static_cast<uint32_t>(frame.size()));
  return verdict == Verdict::good && !intact ? Verdict::corrupt : verdict;
}

TEST(TrafficFrame, ComesBackAsItWasMade) {
  for (const uint32_t bytes : {60u, 64u, 65u, 590u, 1514u, 9614u}) {
    const std::vector<uint8_t> frame = whole_frame(Direction::back, bytes);
    FrameFields fields;
    ASSERT_EQ(read_frame(frame.data(), bytes, Direction::back, fields), Verdict::good) << bytes;
    EXPECT_EQ(fields.flow, kFields.flow);
    EXPECT_EQ(fields.number, kFields.number);
    EXPECT_EQ(fields.stamp, kFields.stamp);
    EXPECT_TRUE(pattern_intact(frame.data(), bytes)) << bytes;
  }
}

TEST(TrafficFrame, IsAPlainUdpFrameToASwitch) {
  const std::vector<uint8_t> frame = whole_frame(Direction::forth, 64);
  EdgeHeaders headers;
  ASSERT_EQ(parse_edge_frame(frame.data(), 64, headers), DropReason::none);
  EXPECT_EQ(headers.l3, 4);
  EXPECT_EQ(headers.protocol, 17);
  EXPECT_EQ(load_mac(frame.data()), 0x02bb00000003u);
  EXPECT_EQ(load_mac(frame.data() + 6), 0x02aa00000003u);
}

TEST(TrafficFrame, OfTheOtherDirectionIsForeign) {
  EXPECT_EQ(verdict_of(whole_frame(Direction::forth, 64), Direction::back), Verdict::foreign);
  const FrameTemplate announcement = make_announcement(Direction::forth, 1);
  const std::vector<uint8_t> frame(announcement.bytes.begin(), announcement.bytes.begin() + kAnnouncementBytes);
  EXPECT_EQ(verdict_of(frame, Direction::forth), Verdict::foreign);
}

TEST(TrafficFrame, EveryChangedByteBehindTheMacsShows) {
  const std::vector<uint8_t> good = whole_frame(Direction::forth, 100);
  for (size_t at = 26; at < good.size(); ++at) {
    if (at == 34 || at == 35 || (at >= 38 && at < 42)) continue;  // UDP source port, length and checksum
    std::vector<uint8_t> frame = good;
    frame[at] ^= 0x10;
    EXPECT_NE(verdict_of(frame, Direction::forth), Verdict::good) << at;
  }
}

TEST(TrafficFrame, CutOrLongerThanSentIsCorrupt) {
  std::vector<uint8_t> frame = whole_frame(Direction::forth, 100);
  frame.push_back(0);
  EXPECT_EQ(verdict_of(frame, Direction::forth), Verdict::corrupt);
  frame.resize(99);
  EXPECT_EQ(verdict_of(frame, Direction::forth), Verdict::corrupt);
  frame.resize(59);
  EXPECT_EQ(verdict_of(frame, Direction::forth), Verdict::foreign);
}

TEST(TrafficFrame, StationsAreToldApartByBothMacs) {
  const FrameTemplate one = make_template(Direction::forth, 0, 1, 64),
                      other = make_template(Direction::forth, 0, 2, 64);
  EXPECT_NE(load_mac(one.bytes.data()), load_mac(other.bytes.data()));
  EXPECT_NE(load_mac(one.bytes.data() + 6), load_mac(other.bytes.data() + 6));
  // Announced is the address that the frames go to.
  EXPECT_EQ(load_mac(make_announcement(Direction::forth, 1).bytes.data() + 6), load_mac(one.bytes.data()));
}

}  // namespace
}  // namespace heddle::traffic::traffic_frame_test
