// SPDX-License-Identifier: Apache-2.0
// C2, C3: levels as ACK records tell them, and round trips as data frames do.
#include "flow/congestion_level.h"

#include <gtest/gtest.h>

#include <cmath>

namespace heddle::congestion_level_test {
namespace {

constexpr uint8_t kNew = HEDDLE_ACK_CONGESTION_NEW;
constexpr uint8_t kPersistent = HEDDLE_ACK_CONGESTION_PERSISTENT;
constexpr uint8_t kSevere = HEDDLE_ACK_CONGESTION_SEVERE;

TEST(CongestionLevel, LevelsAndRecordsAreTheSame) {
  for (uint8_t level = 0; level <= kCongestionLevelMax; ++level)
    EXPECT_EQ(congestion_of(congestion_severity(level), congestion_flags(level)), level);
}

TEST(CongestionLevel, BeyondSevenARecordSaysSevere) {
  EXPECT_EQ(congestion_severity(7), 7);
  EXPECT_EQ(congestion_flags(7), 0);
  EXPECT_EQ(congestion_severity(8), 1);
  EXPECT_EQ(congestion_flags(8), kSevere);
  EXPECT_EQ(congestion_severity(18), 11);
  EXPECT_EQ(congestion_flags(18), kSevere);
  EXPECT_EQ(congestion_of(1, 0), 1);
  EXPECT_EQ(congestion_of(1, kSevere), 8);
}

TEST(CongestionLevel, NoneIsNoneWhateverItsFlags) {
  EXPECT_EQ(congestion_severity(0), 0);
  EXPECT_EQ(congestion_flags(0), 0);
  EXPECT_EQ(congestion_of(0, 0), 0);
  EXPECT_EQ(congestion_of(0, kSevere | kNew | kPersistent), 0);
}

TEST(CongestionLevel, NoRecordTellsMoreThanTheHighestLevel) {
  EXPECT_EQ(congestion_of(10, kSevere), 17);
  EXPECT_EQ(congestion_of(11, kSevere), 18);
  EXPECT_EQ(congestion_of(12, kSevere), 18);
  EXPECT_EQ(congestion_of(15, 0), 15);
  EXPECT_EQ(congestion_of(255, kSevere | kNew), 18 | kCongestionNew);
}

TEST(CongestionLevel, WhatKindOfAckToldItStandsBesideTheLevel) {
  EXPECT_EQ(congestion_of(4, 0), 4);
  EXPECT_EQ(congestion_of(4, kNew), 4 | kCongestionNew);
  EXPECT_EQ(congestion_of(4, kPersistent), 4 | kCongestionPersistent);
  EXPECT_EQ(congestion_of(5, kSevere | kPersistent), 12 | kCongestionPersistent);
  EXPECT_EQ(congestion_of(4, HEDDLE_ACK_CONGESTION_FABRIC), 4) << "of another kind of congestion";
  EXPECT_EQ(congestion_flags(4 | kCongestionNew), kNew);
  EXPECT_EQ(congestion_flags(4 | kCongestionPersistent), kPersistent);
  EXPECT_EQ(congestion_flags(12 | kCongestionNew | kCongestionPersistent), kSevere | kNew | kPersistent);
  EXPECT_EQ(congestion_severity(4 | kCongestionNew), 4);
  EXPECT_EQ(congestion_severity(12 | kCongestionPersistent), 5);
}

TEST(CongestionLevel, TheFirstGrantsThePortsRateAndEachFurtherOneLess) {
  EXPECT_EQ(kCongestionShares[0], 1);
  EXPECT_EQ(kCongestionShares[1], 1);
  for (uint8_t level = 1; level <= kCongestionLevelMax; ++level)
    EXPECT_NEAR(kCongestionShares[level], std::exp2(-0.75 * (level - 1)), 1e-6);
  EXPECT_NEAR(1 / kCongestionShares.back(), 6889, 0.5) << "64 flows into a hundredth of a port";
}

TEST(RoundTripCode, IsOfTheLeastPowerOfTwoThatIsNotShorter) {
  EXPECT_EQ(round_trip_code(0), 1);
  EXPECT_EQ(round_trip_code(2 * kMicrosecond), 1);
  EXPECT_EQ(round_trip_code(2 * kMicrosecond + 1), 2);
  EXPECT_EQ(round_trip_code(4 * kMicrosecond), 2);
  EXPECT_EQ(round_trip_code(4 * kMicrosecond + 1), 3);
  EXPECT_EQ(round_trip_code(16'384 * kMicrosecond), 14);
  EXPECT_EQ(round_trip_code(16'384 * kMicrosecond + 1), 15);
}

TEST(RoundTripCode, TheLongestIs32Milliseconds) {
  EXPECT_EQ(round_trip_code(32'768 * kMicrosecond), 15);
  EXPECT_EQ(round_trip_code(32'768 * kMicrosecond + 1), 15);
  EXPECT_EQ(round_trip_code(kSecond), 15);
}

TEST(RoundTripCode, SaysHowLongItMayTakeAtMost) {
  EXPECT_EQ(round_trip_of_code(0), 0u) << "not known yet";
  EXPECT_EQ(round_trip_of_code(1), 2 * kMicrosecond);
  EXPECT_EQ(round_trip_of_code(2), 4 * kMicrosecond);
  EXPECT_EQ(round_trip_of_code(15), 32'768 * kMicrosecond);
}

TEST(RoundTripCode, WhatIsTakenForOneUntilItIsMeasuredIsToldAsItIs) {
  EXPECT_EQ(round_trip_of_code(round_trip_code(kRoundTripUnknownNs)), kRoundTripUnknownNs);
}

}  // namespace
}  // namespace heddle::congestion_level_test
