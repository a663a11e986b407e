// SPDX-License-Identifier: Apache-2.0
#include "ingress/station_table.h"

#include <gtest/gtest.h>

namespace heddle::station_table_test {
namespace {

constexpr FabricAddress kHere{1, 0}, kThere{2, 3};
constexpr uint32_t kNoQuota = ~0u;
// As drawn at random: a key of small numbers is none.
constexpr HashKey kHashKey{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

struct Stations : testing::Test {
  StationTable table{64, 10 * kSecond, kHashKey};
  Nanos now = kSecond;
};

TEST_F(Stations, AreKeptPerVlan) {
  EXPECT_EQ(table.learn(1, 10, kHere, kNoQuota, now), Learned::added);
  EXPECT_EQ(table.learn(1, 20, kThere, kNoQuota, now), Learned::added);
  EXPECT_EQ(table.find(1, 10)->address, kHere);
  EXPECT_EQ(table.find(1, 20)->address, kThere);
  EXPECT_EQ(table.find(1, 30), nullptr);
}

TEST_F(Stations, AMoveIsNewsAndChangesTheVersion) {
  table.learn(1, 1, kHere, kNoQuota, now);
  const uint32_t version = table.version();
  EXPECT_EQ(table.learn(1, 1, kHere, kNoQuota, now), Learned::known);
  EXPECT_EQ(table.version(), version);
  EXPECT_EQ(table.learn(1, 1, kThere, kNoQuota, now), Learned::moved);
  EXPECT_NE(table.version(), version);
}

// The other workers hear of it now and then, not with each of its frames.
TEST_F(Stations, OneThatIsSeenIsRenewedOnceInAWhile) {
  table.learn(1, 1, kHere, kNoQuota, now);
  int renewed = 0;
  for (int i = 0; i < 1000; ++i) {
    now += 5 * kMillisecond;
    renewed += table.learn(1, 1, kHere, kNoQuota, now) == Learned::renewed;
  }
  EXPECT_GE(renewed, 1);
  EXPECT_LE(renewed, 10);
}

TEST_F(Stations, OneThatKeepsMovingIsHeldWhereItIs) {
  table.learn(1, 1, kHere, kNoQuota, now);
  Learned last = Learned::known;
  for (int i = 0; i < 2 * StationTable::kMovesMax; ++i) last = table.learn(1, 1, i % 2 ? kHere : kThere, kNoQuota, now);
  EXPECT_EQ(last, Learned::held);
  now += StationTable::kHoldNs;
  const FabricAddress other = table.find(1, 1)->address == kHere ? kThere : kHere;
  EXPECT_EQ(table.learn(1, 1, other, kNoQuota, now), Learned::moved);
}

TEST_F(Stations, OneThatIsHeldStaysForAWhileHoweverQuietItIs) {
  table.learn(1, 1, kHere, kNoQuota, now);
  for (int i = 0; i < 2 * StationTable::kMovesMax; ++i) table.learn(1, 1, i % 2 ? kHere : kThere, kNoQuota, now);
  const FabricAddress other = table.find(1, 1)->address == kHere ? kThere : kHere;
  now += StationTable::kHoldNs - 1;
  EXPECT_EQ(table.learn(1, 1, other, kNoQuota, now), Learned::held);
}

// As who does not learn asks.
TEST_F(Stations, WhetherOneIsToStayCanBeAsked) {
  EXPECT_FALSE(table.holds(1, 1, kHere, now)) << "it is not known";
  table.learn(1, 1, kHere, kNoQuota, now);
  EXPECT_FALSE(table.holds(1, 1, kThere, now)) << "it may move";
  for (int i = 0; i < 2 * StationTable::kMovesMax; ++i) table.learn(1, 1, i % 2 ? kHere : kThere, kNoQuota, now);
  const FabricAddress at = table.find(1, 1)->address, other = at == kHere ? kThere : kHere;
  EXPECT_TRUE(table.holds(1, 1, other, now));
  EXPECT_FALSE(table.holds(1, 1, at, now)) << "it is there";
  EXPECT_FALSE(table.holds(1, 1, other, now + StationTable::kHoldNs));
  table.add_fixed(2, 1, kThere);
  EXPECT_TRUE(table.holds(2, 1, kHere, now));
  EXPECT_FALSE(table.holds(2, 1, kThere, now));
}

TEST_F(Stations, OneIsRenewedInAQuarterOfAShortAge) {
  StationTable brief{64, 2 * kSecond, kHashKey};
  brief.learn(1, 1, kHere, kNoQuota, now);
  EXPECT_EQ(brief.learn(1, 1, kHere, kNoQuota, now + kSecond / 2 - 1), Learned::known);
  EXPECT_EQ(brief.learn(1, 1, kHere, kNoQuota, now + kSecond / 2), Learned::renewed);
}

// Who remembers what it found asks again.
TEST_F(Stations, TheVersionChangesNowAndThen) {
  table.age(now);
  const uint32_t version = table.version();
  table.age(now + StationTable::kAskAgainNs - 1);
  EXPECT_EQ(table.version(), version);
  table.age(now + StationTable::kAskAgainNs);
  EXPECT_EQ(table.version(), version + 1);
}

TEST_F(Stations, AllAreShownWithTheirAddressAndVlan) {
  static constexpr uint64_t kMac = 0x0200'0000'ff01;
  table.learn(kMac, 4094, kThere, kNoQuota, now);
  int shown = 0;
  table.for_each(0, table.capacity(), [&shown](uint64_t mac, uint16_t vlan, const Station& station) {
    EXPECT_EQ(mac, kMac);
    EXPECT_EQ(vlan, 4094);
    EXPECT_EQ(station.address, kThere);
    ++shown;
  });
  EXPECT_EQ(shown, 1);
}

TEST_F(Stations, OnePortLearnsNoMoreThanItsQuota) {
  for (uint64_t mac = 1; mac <= 10; ++mac) EXPECT_EQ(table.learn(mac, 1, kHere, 10, now), Learned::added);
  EXPECT_EQ(table.learn(11, 1, kHere, 10, now), Learned::refused);
  EXPECT_EQ(table.learn(11, 1, kThere, 10, now), Learned::added);
}

TEST_F(Stations, AFullTableMakesRoomForAnotherPort) {
  for (uint64_t mac = 1; mac <= 100; ++mac) table.learn(mac, 1, kHere, kNoQuota, now);
  EXPECT_EQ(table.used(), 64u);
  EXPECT_EQ(table.learn(200, 1, kThere, kNoQuota, now), Learned::added);
  EXPECT_EQ(table.find(200, 1)->address, kThere);
  for (uint64_t mac = 300; mac < 400; ++mac) table.learn(mac, 1, kThere, kNoQuota, now);
  uint32_t there = 0;
  table.for_each(0, table.capacity(),
                 [&there](uint64_t, uint16_t, const Station& station) { there += station.address == kThere; });
  EXPECT_EQ(there, 32u);  // half of it, not all
}

TEST_F(Stations, SilentOnesAgeAndStaticOnesStay) {
  table.learn(1, 1, kHere, kNoQuota, now);
  table.add_fixed(2, 1, kThere);
  now += 11 * kSecond;
  for (int i = 0; i < 10; ++i) table.age(now);
  EXPECT_EQ(table.find(1, 1), nullptr);
  EXPECT_NE(table.find(2, 1), nullptr);
  EXPECT_EQ(table.learn(2, 1, kHere, kNoQuota, now), Learned::held);
}

}  // namespace
}  // namespace heddle::station_table_test
