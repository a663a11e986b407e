// SPDX-License-Identifier: Apache-2.0
#include "node/short_way_tries.h"

#include <gtest/gtest.h>

namespace heddle::test::short_way_tries_test {
namespace {

TEST(ShortWayTriesTest, GrowRareWhereTheyFindNothing) {
  ShortWayTries tries;
  EXPECT_EQ(tries.others_after(3), 1u);
  EXPECT_EQ(tries.others_after(0), 4u);
  EXPECT_EQ(tries.others_after(0), 16u);
  EXPECT_EQ(tries.others_after(1), 1u);
}

}  // namespace
}  // namespace heddle::test::short_way_tries_test
