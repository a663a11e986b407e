// SPDX-License-Identifier: Apache-2.0
#include "flow/tag_ways.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::tag_ways_test {
namespace {

std::vector<uint32_t> ways_with(const TagWays& ways, uint16_t tag) {
  std::vector<uint32_t> found;
  for (uint32_t set = ways.matching(tag); set != 0; set &= set - 1) found.push_back(TagWays::first_of(set));
  return found;
}

TEST(TagWays, EightTagsAreOneWord) {
  EXPECT_EQ(sizeof(TagWays), sizeof(__m128i));
  EXPECT_EQ(alignof(TagWays), alignof(__m128i));
}

TEST(TagWays, ATagIsTheUpperHalfOfAHash) {
  EXPECT_EQ(TagWays::tag_of(0x12350000), 0x1235);
  EXPECT_EQ(TagWays::tag_of(0x1235ffff), 0x1235);
  EXPECT_EQ(TagWays::tag_of(0xffff0000), 0xffff);
}

TEST(TagWays, NoTagIsThatOfAFreePlace) {
  EXPECT_EQ(TagWays::tag_of(0), 1);
  EXPECT_EQ(TagWays::tag_of(0x0000ffff), 1);
  EXPECT_EQ(TagWays::tag_of(0x00020000), 3);
  EXPECT_EQ(TagWays::tag_of(0x80000000), 0x8001);
}

TEST(TagWays, EachWayThatMatchesIsFoundOnceAndInTurn) {
  const TagWays ways{{7, 9, 7, 0, 7, 0x8001, 3, 7}};
  EXPECT_EQ(ways_with(ways, 7), (std::vector<uint32_t>{0, 2, 4, 7}));
  EXPECT_EQ(ways_with(ways, 9), std::vector<uint32_t>{1});
  EXPECT_EQ(ways_with(ways, 0x8001), std::vector<uint32_t>{5});
  EXPECT_EQ(ways_with(ways, 3), std::vector<uint32_t>{6});
  EXPECT_EQ(ways_with(ways, 0), std::vector<uint32_t>{3}) << "it is free";
  EXPECT_EQ(ways.matching(5), 0u);
}

TEST(TagWays, AllMayMatch) {
  const TagWays free{};
  EXPECT_EQ(ways_with(free, 0), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(TagWays, HalfATagIsNoMatch) {
  const TagWays ways{{0x1201, 0x1203, 0x3401, 0, 0, 0, 0, 0}};
  EXPECT_EQ(ways_with(ways, 0x1201), std::vector<uint32_t>{0});
  EXPECT_EQ(ways.matching(0x3403), 0u);
}

}  // namespace
}  // namespace heddle::tag_ways_test
