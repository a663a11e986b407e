// SPDX-License-Identifier: Apache-2.0
#include "flow/bounded_list.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::bounded_list_test {
namespace {

class BoundedListTest : public testing::Test {
 protected:
  BoundedListTest() {
    for (const int item : {10, 11, 12, 13, 14}) list_.push_back(item);
  }
  std::vector<int> items() const { return {list_.begin(), list_.end()}; }

  BoundedList<int> list_{5};
};

TEST(BoundedList, BeginsEmpty) {
  for (const size_t most : {0, 1, 5}) {
    const BoundedList<int> list(most);
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.size(), 0u);
    EXPECT_EQ(list.begin(), list.end());
  }
  EXPECT_TRUE(BoundedList<int>().empty());
}

TEST(BoundedList, WithOneItemIsNotEmpty) {
  BoundedList<int> list(1);
  list.push_back(7);
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0], 7);
}

TEST_F(BoundedListTest, KeepsTheOrderInWhichItemsCame) {
  EXPECT_EQ(list_.size(), 5u);
  EXPECT_EQ(items(), (std::vector{10, 11, 12, 13, 14}));
  EXPECT_EQ(list_[0], 10);
  EXPECT_EQ(list_[4], 14);
}

TEST_F(BoundedListTest, AnotherItemTakesAPlace) {
  list_.replace(2, 99);
  EXPECT_EQ(items(), (std::vector{10, 11, 99, 13, 14}));
}

TEST_F(BoundedListTest, TheLastItemTakesAPlaceThatIsGivenUp) {
  list_.replace_by_last(1);
  EXPECT_EQ(items(), (std::vector{10, 14, 12, 13}));
  list_.replace_by_last(3);
  EXPECT_EQ(items(), (std::vector{10, 14, 12})) << "the last itself";
}

TEST_F(BoundedListTest, FromTheFrontAsManyAsWantedGo) {
  list_.erase_front(0);
  EXPECT_EQ(items(), (std::vector{10, 11, 12, 13, 14}));
  list_.erase_front(2);
  EXPECT_EQ(items(), (std::vector{12, 13, 14}));
  list_.erase_front(3);
  EXPECT_TRUE(list_.empty());
}

TEST_F(BoundedListTest, HasItsWholeRoomAgainWhenItIsCleared) {
  list_.clear();
  EXPECT_TRUE(list_.empty());
  for (const int item : {20, 21, 22, 23, 24}) list_.push_back(item);
  EXPECT_EQ(items(), (std::vector{20, 21, 22, 23, 24}));
}

TEST_F(BoundedListTest, WhatCameBackIsFilledAnew) {
  list_.erase_front(1);
  list_.push_back(20);
  EXPECT_EQ(items(), (std::vector{11, 12, 13, 14, 20}));
  list_.replace_by_last(0);
  list_.push_back(21);
  EXPECT_EQ(items(), (std::vector{20, 12, 13, 14, 21}));
}

}  // namespace
}  // namespace heddle::bounded_list_test
