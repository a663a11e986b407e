// SPDX-License-Identifier: Apache-2.0
#include "ingress/obeying_hosts.h"

#include <gtest/gtest.h>

namespace heddle::obeying_hosts_test {
namespace {

constexpr Nanos kLongAgo = 100 * kSecond;

TEST(ObeyingHosts, WhoSaysSoObeysForAWhile) {
  ObeyingHosts hosts;
  EXPECT_FALSE(hosts.any());
  EXPECT_FALSE(hosts.obeys(1, kLongAgo));
  EXPECT_TRUE(hosts.announced(1, kLongAgo));
  EXPECT_TRUE(hosts.any());
  EXPECT_TRUE(hosts.obeys(1, kLongAgo + HEDDLE_FGFC_FORGET_NS - 1));
  EXPECT_FALSE(hosts.obeys(1, kLongAgo + HEDDLE_FGFC_FORGET_NS));
  EXPECT_FALSE(hosts.obeys(2, kLongAgo)) << "each address by itself";
  hosts.announced(1, kLongAgo + kSecond);
  EXPECT_TRUE(hosts.obeys(1, kLongAgo + HEDDLE_FGFC_FORGET_NS));
  EXPECT_EQ(hosts.all().size(), 1u);
}

TEST(ObeyingHosts, WhoTakesItBackDoesNot) {
  ObeyingHosts hosts;
  hosts.announced(1, kLongAgo);
  hosts.withdrawn(2);
  EXPECT_TRUE(hosts.obeys(1, kLongAgo));
  hosts.withdrawn(1);
  EXPECT_FALSE(hosts.obeys(1, kLongAgo));
}

TEST(ObeyingHosts, WhoDidNotThreeTimesIsNotBelievedForAWhile) {
  ObeyingHosts hosts;
  hosts.announced(1, kLongAgo);
  EXPECT_FALSE(hosts.strike(2, kLongAgo)) << "of whom nothing is known";
  EXPECT_FALSE(hosts.strike(1, kLongAgo));
  EXPECT_FALSE(hosts.strike(1, kLongAgo + 1));
  EXPECT_TRUE(hosts.obeys(1, kLongAgo + 1));
  EXPECT_TRUE(hosts.strike(1, kLongAgo + 2));
  const Nanos forgiven = kLongAgo + 2 + ObeyingHosts::kForgivenNs;
  hosts.announced(1, forgiven - 1);
  EXPECT_FALSE(hosts.obeys(1, forgiven - 1)) << "whatever it says";
  EXPECT_TRUE(hosts.obeys(1, forgiven));
  EXPECT_FALSE(hosts.strike(1, forgiven)) << "and counts from none";
}

TEST(ObeyingHosts, WhatWasLongAgoIsForgiven) {
  ObeyingHosts hosts;
  hosts.announced(1, kLongAgo);
  EXPECT_FALSE(hosts.strike(1, kLongAgo));
  EXPECT_FALSE(hosts.strike(1, kLongAgo));
  EXPECT_FALSE(hosts.strike(1, kLongAgo + ObeyingHosts::kForgivenNs));
}

// A host that gives itself one address after the other makes others of its port wait, until its own are forgotten.
TEST(ObeyingHosts, ThereIsRoomForSoMany) {
  ObeyingHosts hosts;
  for (uint64_t mac = 1; mac <= ObeyingHosts::kMost; ++mac) EXPECT_TRUE(hosts.announced(mac, kLongAgo));
  EXPECT_FALSE(hosts.announced(1000, kLongAgo + 1));
  EXPECT_TRUE(hosts.announced(1, kLongAgo + 1)) << "which has its place";
  for (int times = 0; times < 3; ++times) hosts.strike(2, kLongAgo);
  EXPECT_TRUE(hosts.announced(1000, kLongAgo + HEDDLE_FGFC_FORGET_NS));
  EXPECT_EQ(hosts.all().size(), 3u) << "1, 1000, and 2, of which is known that it does not obey";
}

}  // namespace
}  // namespace heddle::obeying_hosts_test
