// SPDX-License-Identifier: Apache-2.0
#include "link/host_pause.h"

#include <gtest/gtest.h>

#include "packet_builder.h"

namespace heddle::host_pause_test {
namespace {

constexpr uint64_t kRate = 10'000'000'000;
constexpr Nanos kQuantumNs1000 = 51'200;  // 1000 quanta at 10 Gb/s

PauseFrame pfc(uint8_t enabled, uint16_t quanta) {
  PauseFrame frame{.by_priority = true, .enabled = enabled, .quanta = {}};
  frame.quanta.fill(quanta);
  return frame;
}

PauseFrame pause(uint16_t quanta) {
  PauseFrame frame;
  frame.quanta[0] = quanta;
  return frame;
}

TEST(PauseFrame, ReadsBackWhatWasWritten) {
  for (const bool by_priority : {false, true}) {
    test::TestPacket packet{std::vector<uint8_t>(60)};
    PauseFrame frame{.by_priority = by_priority, .enabled = by_priority ? uint8_t{0x21} : uint8_t{0}, .quanta = {}};
    frame.quanta[0] = 0x1234;
    if (by_priority) frame.quanta[5] = 0xffff;
    write_pause(packet.packet, frame, 0x026800010002);
    ASSERT_EQ(packet.packet.length, 60);
    PauseFrame read;
    ASSERT_TRUE(read_pause(packet.packet.data, 60, read));
    EXPECT_EQ(read.by_priority, by_priority);
    EXPECT_EQ(read.enabled, frame.enabled);
    EXPECT_EQ(read.quanta, frame.quanta);
    for (uint32_t length = 0; length < 18; ++length) EXPECT_FALSE(read_pause(packet.packet.data, length, read));
    EXPECT_NE(by_priority, read_pause(packet.packet.data, 33, read));  // PFC needs all its times
    packet.packet.data[15] ^= 2;                                       // another opcode
    EXPECT_FALSE(read_pause(packet.packet.data, 60, read));
  }
}

TEST(HostPause, HoldsThePrioritiesForTheTimeThatTheFrameNames) {
  HostPause host(kRate, kSecond);
  EXPECT_EQ(host.held(0), 0);
  EXPECT_EQ(host.next_change(0), kNever);
  host.hear(pfc(0x0c, 1000), 100);
  EXPECT_EQ(host.held(100), 0x0c);
  EXPECT_EQ(host.next_change(100), 100 + kQuantumNs1000);
  EXPECT_EQ(host.held(99 + kQuantumNs1000), 0x0c);
  EXPECT_EQ(host.held(100 + kQuantumNs1000), 0);
  host.hear(pause(1000), 200'000);
  EXPECT_EQ(host.held(200'001), 0xff);
  host.hear(pfc(0x04, 0), 200'002);
  EXPECT_EQ(host.held(200'003), 0xfb);
  host.hear(pause(0), 200'004);
  EXPECT_EQ(host.held(200'005), 0);
}

TEST(HostPause, TheWatchdogLetsGoWhatIsHeldWithoutABreak) {
  HostPause host(kRate, 2 * kMillisecond);
  Nanos now = 0;
  for (; now < 2 * kMillisecond; now += 50'000) {
    host.hear(pfc(0x03, 2000), now);
    EXPECT_EQ(host.held(now), 0x03);
  }
  host.hear(pfc(0x03, 2000), now);
  EXPECT_EQ(host.held(now), 0);
  EXPECT_EQ(host.ignored(), 1u);
  for (; now < 4 * kMillisecond; now += 50'000) {
    host.hear(pfc(0x83, 2000), now);
    EXPECT_EQ(host.held(now), 0) << now;
  }
  host.hear(pfc(0x03, 2000), now);
  EXPECT_EQ(host.held(now), 0x83);  // listened to again
  EXPECT_EQ(host.ignored(), 1u);
}

TEST(HostPause, AHostThatLetsGoNowAndThenIsNotOverruled) {
  HostPause host(kRate, 2 * kMillisecond);
  for (Nanos now = 0; now < 20 * kMillisecond; now += kMillisecond) {
    host.hear(pause(0), now);
    host.hear(pause(20'000), now + 1);  // 1.024 ms
    EXPECT_EQ(host.held(now + 999'000), 0xff);
  }
  EXPECT_EQ(host.ignored(), 0u);
}

TEST(HostPause, TheHostIsToldOnceAndAgainBeforeItsTimeIsOver) {
  HostPause host(kRate, kSecond);
  ASSERT_TRUE(host.due(0, 0));  // whatever was said in an earlier life
  PauseFrame frame = host.tell(0, true, 0);
  EXPECT_EQ(frame.enabled, 0xff);
  EXPECT_EQ(frame.quanta[3], 0);
  EXPECT_FALSE(host.due(0, kSecond));
  EXPECT_EQ(host.next_due(), kNever);

  ASSERT_TRUE(host.due(0x08, kSecond));
  frame = host.tell(0x08, true, kSecond);
  EXPECT_EQ(frame.enabled, 0x08);
  EXPECT_EQ(frame.quanta[3], 0xffff);  // 3.36 ms at this rate
  EXPECT_EQ(frame.quanta[2], 0);
  EXPECT_FALSE(host.due(0x08, kSecond + kMillisecond));
  EXPECT_TRUE(host.due(0x08, host.next_due()));
  EXPECT_LT(host.next_due(), kSecond + pause_ns(0xffff, kRate));

  EXPECT_TRUE(host.due(0, kSecond + kMillisecond)) << "it may go on before its time is over";
  frame = host.tell(0, true, 2 * kSecond);
  EXPECT_EQ(frame.enabled, 0x08);
  EXPECT_EQ(frame.quanta[3], 0);
  EXPECT_EQ(host.told(), 0);
}

TEST(HostPause, AtSlowPortsTheTimesAreShort) {
  HostPause host(1'000'000, kSecond);  // a quantum is half a millisecond
  const PauseFrame frame = host.tell(0xff, false, 0);
  EXPECT_FALSE(frame.by_priority);
  EXPECT_EQ(pause_ns(frame.quanta[0], 1'000'000), 9'728'000u);  // below 10 ms
}

}  // namespace
}  // namespace heddle::host_pause_test
