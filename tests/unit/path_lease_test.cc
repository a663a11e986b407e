// SPDX-License-Identifier: Apache-2.0
// R9: which ports a flow keeps off, and for how long.
#include "flow/path_lease.h"

#include <gtest/gtest.h>

namespace heddle::path_lease_test {
namespace {

constexpr Nanos kNow = kSecond;
constexpr uint16_t kAsker = 9;

TEST(PathLease, AFlowThatWasAskedToLeaveNoPortKeepsOffNone) {
  const PathLease lease;
  EXPECT_EQ(lease.left(0), 0u);
  EXPECT_EQ(lease.left(kNow), 0u);
}

TEST(PathLease, APortIsKeptOffForHalfAMillisecond) {
  PathLease lease;
  lease.leave(0b0100, kAsker, kNow);
  EXPECT_EQ(lease.left(kNow), 0b0100u);
  EXPECT_EQ(lease.left(kNow + 500 * kMicrosecond - 1), 0b0100u);
  EXPECT_EQ(lease.left(kNow + 500 * kMicrosecond), 0u);
  EXPECT_EQ(lease.left(kNow + 500 * kMicrosecond + 1), 0u);
}

TEST(PathLease, TheLastAskedSaysWhenAllMayBeTakenAgain) {
  PathLease lease;
  lease.leave(0b0001, kAsker, kNow);
  lease.leave(0b0110, kAsker, kNow + 400 * kMicrosecond);
  EXPECT_EQ(lease.left(kNow + 400 * kMicrosecond), 0b0111u);
  EXPECT_EQ(lease.left(kNow + 900 * kMicrosecond - 1), 0b0111u);
  EXPECT_EQ(lease.left(kNow + 900 * kMicrosecond), 0u);
}

TEST(PathLease, APortThatMayBeTakenAgainIsNotKeptOffWithAnother) {
  PathLease lease;
  lease.leave(0b0001, kAsker, kNow);
  lease.leave(0b0010, kAsker, kNow + 500 * kMicrosecond);
  EXPECT_EQ(lease.left(kNow + 500 * kMicrosecond), 0b0010u);
}

TEST(PathLease, KnowsWhoAskedLastAndWhen) {
  PathLease lease;
  lease.leave(0b0001, kAsker, kNow);
  lease.leave(0b0010, 4, kNow + 7);
  EXPECT_EQ(lease.asked_by(), 4);
  EXPECT_EQ(lease.asked_ns(), kNow + 7);
}

TEST(PathLease, AnyPortOfANodeCanBeLeft) {
  PathLease lease;
  lease.leave(PortSet{1} << (kPortsMax - 1), kAsker, kNow);
  lease.leave(1, kAsker, kNow);
  EXPECT_EQ(lease.left(kNow), PortSet{1} << 63 | 1);
}

}  // namespace
}  // namespace heddle::path_lease_test
