// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/budget.h"
#include "config/memory_budget.h"
#include "config/units.h"
#include "config/yaml_value.h"

namespace heddle::config_units_test {
namespace {

TEST(Units, Durations) {
  EXPECT_EQ(parse_duration("0us"), 0u);
  EXPECT_EQ(parse_duration("50us"), 50'000u);
  EXPECT_EQ(parse_duration("1.5ms"), 1'500'000u);
  EXPECT_EQ(parse_duration("0.1us"), 100u);
  EXPECT_EQ(parse_duration("7ns"), 7u);
  for (const char* bad : {"", "10", "ms", "10 ms", "-1ms", "1.ms", ".5ms", "1..5ms", "1.5.1ms", "10Ms", "0.1ns",
                          "99999999999999999999s", "20000000000s", "0.00000000000000000000000001s", "1msx"}) {
    EXPECT_EQ(parse_duration(bad), std::nullopt) << bad;
  }
}

TEST(Units, RatesSizesAndLoss) {
  EXPECT_EQ(parse_rate("10G"), 10'000'000'000u);
  EXPECT_EQ(parse_rate("2.5G"), 2'500'000'000u);
  EXPECT_EQ(parse_rate("1k"), 1'000u);
  EXPECT_EQ(parse_rate("1T"), 1'000'000'000'000u);
  EXPECT_EQ(parse_rate("10"), std::nullopt);
  EXPECT_EQ(parse_rate("1g"), std::nullopt);
  EXPECT_EQ(parse_size("256k"), 262'144u);
  EXPECT_EQ(parse_size("0.5M"), 524'288u);
  EXPECT_EQ(parse_size("1T"), std::nullopt);
  EXPECT_EQ(parse_loss_ppm("1%"), 10'000u);
  EXPECT_EQ(parse_loss_ppm("0.0001%"), 1u);
  EXPECT_EQ(parse_loss_ppm("0.00001%"), std::nullopt);
  EXPECT_EQ(parse_loss_ppm("20ppm"), 20u);
  EXPECT_EQ(parse_loss_ppm("0.1"), std::nullopt);
}

TEST(Units, Integers) {
  EXPECT_EQ(parse_integer("18446744073709551615"), ~uint64_t{0});
  for (const char* bad : {"", "18446744073709551616", "1e3", "0x10", "+1", "-1", " 1", "1 "}) {
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
  }
}

TEST(Units, MacAddresses) {
  EXPECT_EQ(parse_mac("02:00:00:00:01:0a"), 0x02000000010au);
  EXPECT_EQ(parse_mac("FF:ff:ff:ff:ff:ff"), 0xffffffffffffu);
  for (const char* bad : {"", "02:00:00:00:01:0", "02:00:00:00:01:0g", "02-00-00-00-01-0a",
                          "02:00:00:00:01:0a:", "+2:00:00:00:01:0a", "0200:00:00:01:0a"}) {
    EXPECT_EQ(parse_mac(bad), std::nullopt) << bad;
  }
}

TEST(Units, ShownInTheLargestThatFits) {
  EXPECT_EQ(format_duration(0), "0ns");
  EXPECT_EQ(format_duration(10 * kMillisecond), "10ms");
  EXPECT_EQ(format_duration(1'500'000), "1500us");
  EXPECT_EQ(format_rate(2'500'000'000), "2500M");
  EXPECT_EQ(format_size(262'144), "256k");
  EXPECT_EQ(format_size(1000), "1000B");
}

TEST(Units, NearestName) {
  constexpr std::string_view kNames[] = {"hello_interval", "hellos_missed", "life"};
  EXPECT_EQ(nearest_name("helo_interval", kNames), "hello_interval");
  EXPECT_EQ(nearest_name("lief", kNames), "life");
  EXPECT_EQ(nearest_name("weather", kNames), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'x'), kNames), "");
}

TEST(Units, Names) {
  EXPECT_TRUE(is_name("leaf-1_a", 8));
  EXPECT_FALSE(is_name("leaf-1_ab", 8));
  for (const char* bad : {"", "-a", "_a", "a:b", "a.b", "a b", "a/b", "\xc3\xa4"}) EXPECT_FALSE(is_name(bad, 31));
}

TEST(Budget, FabricMtuHasRoomForTheHeader) {
  TopologyPort edge;
  edge.mtu_bytes = 1500;
  EXPECT_EQ(frame_bytes_max(edge), 1518u);
  TopologyPort fabric;
  fabric.fabric = true;
  fabric.mtu_bytes = static_cast<uint16_t>(fabric_mtu_bytes(1500));
  EXPECT_EQ(frame_bytes_max(fabric), 14u + 1500u + 54u);
}

TEST(Budget, DeviceStrings) {
  EXPECT_EQ(device_frame_bytes_max("net_af_packet0,iface=a"), 2048u - 80u);
  EXPECT_EQ(device_frame_bytes_max("net_af_packet0,iface=a,framesz=0"), 0u);
  EXPECT_EQ(device_frame_bytes_max("net_af_xdp0,iface=a"), 3496u);
  EXPECT_GT(device_frame_bytes_max("0000:03:00.0"), 65535u);
}

TEST(Budget, RingsThatTheDeviceStringSizes) {
  EXPECT_EQ(device_with_ring("net_af_packet0,iface=a", 2048), "net_af_packet0,iface=a,framecnt=2048");
  EXPECT_EQ(device_with_ring("net_af_packet0,iface=a", 2047), "net_af_packet0,iface=a,framecnt=2048");
  EXPECT_EQ(device_with_ring("net_af_packet0,iface=a,framesz=16384,blocksz=65536", 1101),
            "net_af_packet0,iface=a,framesz=16384,blocksz=65536,framecnt=1104");
  EXPECT_EQ(device_with_ring("net_af_packet0,iface=a,framecnt=512", 2048), "net_af_packet0,iface=a,framecnt=512");
  EXPECT_EQ(device_with_ring("net_memif0,id=0", 2000), "net_memif0,id=0,rsize=11");
  EXPECT_EQ(device_with_ring("net_memif0,id=0", 32768), "net_memif0,id=0,rsize=14");
  EXPECT_EQ(device_with_ring("net_memif0,rsize=9", 2048), "net_memif0,rsize=9");
  EXPECT_EQ(device_with_ring("0000:03:00.0", 2048), "0000:03:00.0");
  EXPECT_EQ(device_ring_frames("net_af_packet0,iface=a,framecnt=512", 2048), 512u);
  EXPECT_EQ(device_ring_frames("net_memif0,rsize=9", 2048), 512u);
  EXPECT_EQ(device_ring_frames("0000:03:00.0", 2048), 2048u);
}

TEST(Budget, BuffersTakeWholePagesWithoutHugePages) {
  const uint64_t without = pool_memory_bytes(32768, 2048, false), with = pool_memory_bytes(32768, 2048, true);
  EXPECT_GT(without, 32768u * 4096);
  EXPECT_LT(with, 32768u * 2650);
  EXPECT_GT(pool_memory_bytes(32768, 16384, false), 32768u * 5 * 4096);
}

}  // namespace
}  // namespace heddle::config_units_test
