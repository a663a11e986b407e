// SPDX-License-Identifier: Apache-2.0
#include "ingress/lent_ids.h"

#include <gtest/gtest.h>

namespace heddle::lent_ids_test {
namespace {

class LentIdsTest : public testing::Test {
 protected:
  LentIdsTest() { lent_.make_room(3); }
  LentIds lent_{2};
};

TEST_F(LentIdsTest, InTheBeginningThereAreNone) {
  EXPECT_EQ(lent_.held(), 0u);
  EXPECT_EQ(lent_.count(), 0u);
  for (const uint8_t channel : {uint8_t{0}, uint8_t{1}}) {
    EXPECT_EQ(lent_.count(channel), 0u);
    EXPECT_EQ(lent_.spare(channel), 0u);
    EXPECT_EQ(lent_.take(channel), kNoFlow);
    EXPECT_EQ(lent_.count(channel), 0u) << "nor are there fewer then";
  }
  EXPECT_EQ(lent_.count(), 0u);
}

TEST_F(LentIdsTest, WhatWasUsedLastComesFirst) {
  lent_.put(0, 11);
  lent_.put(0, 12);
  lent_.put(0, 13);
  EXPECT_EQ(lent_.take(0), 13);
  EXPECT_EQ(lent_.take(0), 12);
  lent_.put(0, 14);
  EXPECT_EQ(lent_.take(0), 14);
  EXPECT_EQ(lent_.take(0), 11);
  EXPECT_EQ(lent_.take(0), kNoFlow);
}

TEST_F(LentIdsTest, EachIsOfItsChannel) {
  lent_.put(0, 11);
  lent_.put(1, 21);
  lent_.put(1, 22);
  EXPECT_EQ(lent_.count(0), 1u);
  EXPECT_EQ(lent_.count(1), 2u);
  EXPECT_EQ(lent_.count(), 3u);
  EXPECT_EQ(lent_.take(0), 11);
  EXPECT_EQ(lent_.take(0), kNoFlow);
  EXPECT_EQ(lent_.count(0), 0u);
  EXPECT_EQ(lent_.count(1), 2u);
  EXPECT_EQ(lent_.count(), 2u);
  EXPECT_EQ(lent_.take(1), 22);
  EXPECT_EQ(lent_.count(1), 1u);
  EXPECT_EQ(lent_.count(), 1u);
}

TEST_F(LentIdsTest, ThoseThatFlowsHaveAreHeldToo) {
  lent_.came();
  lent_.came();
  lent_.put(0, 11);
  EXPECT_EQ(lent_.held(), 2u);
  lent_.take(0);
  EXPECT_EQ(lent_.held(), 2u);
  lent_.went_home();
  EXPECT_EQ(lent_.held(), 1u);
}

TEST_F(LentIdsTest, SpareAreThoseThatWereNotNeededSinceTheMark) {
  for (const FlowId id : {FlowId::of(11), FlowId::of(12), FlowId::of(13)}) lent_.put(0, id);
  lent_.put(1, 21);
  EXPECT_EQ(lent_.spare(0), 0u) << "they came after it";
  lent_.mark();
  EXPECT_EQ(lent_.spare(0), 3u);
  EXPECT_EQ(lent_.spare(1), 1u);
  lent_.take(0);
  EXPECT_EQ(lent_.spare(0), 2u);
  lent_.take(0);
  EXPECT_EQ(lent_.spare(0), 1u);
  lent_.put(0, 12);
  lent_.put(0, 13);
  EXPECT_EQ(lent_.spare(0), 1u) << "two had been needed";
  lent_.take(0);
  EXPECT_EQ(lent_.spare(0), 1u);
  EXPECT_EQ(lent_.spare(1), 1u);
  lent_.mark();
  EXPECT_EQ(lent_.spare(0), 2u);
}

}  // namespace
}  // namespace heddle::lent_ids_test
