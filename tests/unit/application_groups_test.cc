// SPDX-License-Identifier: Apache-2.0
#include "ingress/application_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace heddle::application_groups_test {
namespace {

MatchKey key_of(std::initializer_list<uint8_t> source, std::initializer_list<uint8_t> destination = {}) {
  MatchKey key{};
  key.input_port = 3;
  key.vni = 10;
  key.ftag = 2;
  key.dscp = 40 << 2;
  key.l3 = source.size() == 4 ? 4 : 6;
  std::copy(source.begin(), source.end(), key.source_address);
  std::copy(destination.begin(), destination.end(), key.destination_address);
  return key;
}

IpPrefix prefix(std::initializer_list<uint8_t> address, uint8_t bits) {
  IpPrefix prefix;
  prefix.l3 = address.size() == 4 ? 4 : 6;
  std::copy(address.begin(), address.end(), prefix.address.begin());
  prefix.bits = bits;
  return prefix;
}

GroupRule rule(uint8_t group) {
  GroupRule rule;
  rule.group = group;
  return rule;
}

ApplicationPolicy configured() {
  ApplicationPolicy policy;
  policy.configured = true;
  return policy;
}

std::optional<uint8_t> fields(const ApplicationPolicy& policy, const MatchKey& key) {
  std::vector<TrafficClass> classes(2);
  classes[0].ftag = 2;
  classes[1].ftag = 3;
  return fields_of_group(policy, key, classes);
}

TEST(ApplicationGroups, WithoutAPolicyAllAreOne) {
  ApplicationPolicy policy = configured();
  policy.rules.resize(1);
  policy.rules[0].group = 3;
  ASSERT_EQ(group_of(policy, MatchKey{}), 3) << "a rule that gives nothing holds for all";
  policy.configured = false;
  EXPECT_EQ(group_of(policy, MatchKey{}), 0);
}

// G1: all that the policy has looked at until it knew the group, and no more.
TEST(ApplicationGroups, AHostIsToldByTheFieldsThatThePolicyHasLookedAt) {
  const MatchKey key = key_of({10, 1, 0, 1}, {10, 9, 0, 7});
  ApplicationPolicy policy = configured();
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION);
  policy.rules = {rule(5), rule(6)};
  policy.rules[0].source = prefix({10, 2, 0, 0}, 16);
  policy.rules[1].vlan = 10;
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_SOURCE_ADDRESS);
  policy.rules[1].destination = prefix({10, 9, 0, 0}, 16);
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_SOURCE_ADDRESS | HEDDLE_FGFC_ADDRESSES);
  policy.rules[0].vlan = 10;
  policy.rules[0].source.reset();
  policy.rules[0].dscp = 40;
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_DSCP) << "the first one holds";
  policy.rules[0].ftag = 2;
  policy.rules[0].vlan = 11;
  EXPECT_NE(fields(policy, key), std::nullopt) << "it is not of that VLAN";
  policy.rules[0].vlan = 10;
  EXPECT_EQ(fields(policy, key), std::nullopt) << "hosts know of no class";
}

TEST(ApplicationGroups, AnIndexThatClassesDoNotShareSaysNothingToAHost) {
  const MatchKey key = key_of({10, 1, 0, 1});
  ApplicationPolicy policy = configured();
  for (const uint8_t ftag : {2, 3}) policy.indices[ftag] = {.base = 1, .bits = 4, .field = IndexField::source};
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_SOURCE_ADDRESS);
  for (const uint8_t ftag : {2, 3}) policy.indices[ftag].field = IndexField::vlan_crc;
  EXPECT_EQ(fields(policy, key), HEDDLE_FGFC_ANY_DESTINATION);
  policy.indices[3].base = 2;
  EXPECT_EQ(fields(policy, key), std::nullopt);
}

TEST(ApplicationGroups, TheFirstRuleThatHoldsCounts) {
  ApplicationPolicy policy = configured();
  policy.rules = {rule(5), rule(6)};
  policy.rules[0].vlan = 20;
  policy.rules[1].vlan = 10;
  const MatchKey key = key_of({10, 0, 0, 1});
  EXPECT_EQ(group_of(policy, key), 6);
  policy.rules[0].vlan = 10;
  EXPECT_EQ(group_of(policy, key), 5);
}

TEST(ApplicationGroups, ARuleHoldsWhereAllHoldsThatItGives) {
  const MatchKey key = key_of({10, 1, 2, 3}, {10, 9, 0, 7});
  ApplicationPolicy policy = configured();
  policy.rules = {rule(5)};
  GroupRule& all = policy.rules[0];
  all.port = PortIndex::of(3);
  all.vlan = 10;
  all.ftag = 2;
  all.dscp = 40;
  all.source = prefix({10, 1, 0, 0}, 16);
  all.destination = prefix({10, 9, 0, 7}, 32);
  EXPECT_EQ(group_of(policy, key), 5);
  const auto fails = [&policy, &key](auto change) {
    const GroupRule before = policy.rules[0];
    change(policy.rules[0]);
    EXPECT_EQ(group_of(policy, key), 0);
    policy.rules[0] = before;
  };
  fails([](GroupRule& one) { one.port = PortIndex::of(4); });
  fails([](GroupRule& one) { one.vlan = 11; });
  fails([](GroupRule& one) { one.ftag = 3; });
  fails([](GroupRule& one) { one.dscp = 41; });
  fails([](GroupRule& one) { one.source = prefix({10, 2, 0, 0}, 16); });
  fails([](GroupRule& one) { one.destination = prefix({10, 9, 0, 6}, 32); });
}

TEST(ApplicationGroups, PrefixesEndWithinAByte) {
  ApplicationPolicy policy = configured();
  policy.rules = {rule(5)};
  policy.rules[0].source = prefix({10, 1, 0xa0, 0}, 19);  // 10.1.160.0 to 10.1.191.255
  EXPECT_EQ(group_of(policy, key_of({10, 1, 0xa0, 0})), 5);
  EXPECT_EQ(group_of(policy, key_of({10, 1, 0xbf, 255})), 5);
  EXPECT_EQ(group_of(policy, key_of({10, 1, 0xc0, 0})), 0);
  EXPECT_EQ(group_of(policy, key_of({10, 1, 0x9f, 255})), 0);
  policy.rules[0].source = prefix({0, 0, 0, 0}, 0);
  EXPECT_EQ(group_of(policy, key_of({192, 168, 0, 1})), 5) << "all of IPv4";
}

TEST(ApplicationGroups, PrefixesAreOfOneKindOfAddress) {
  ApplicationPolicy policy = configured();
  policy.rules = {rule(5)};
  policy.rules[0].source = prefix({0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 32);
  const MatchKey v6 = key_of({0x20, 1, 0xd, 0xb8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
  EXPECT_EQ(group_of(policy, v6), 5);
  EXPECT_EQ(group_of(policy, key_of({0x20, 1, 0xd, 0xb8})), 0) << "32.1.13.184";
  MatchKey no_ip = v6;
  no_ip.l3 = 0;
  EXPECT_EQ(group_of(policy, no_ip), 0);
}

TEST(ApplicationGroups, ElseTheClassHasThemByLowBits) {
  ApplicationPolicy policy = configured();
  policy.indices[2] = {.base = 16, .bits = 3, .field = IndexField::vlan};
  MatchKey key = key_of({10, 0, 0, 1});
  key.vni = 0x123;
  EXPECT_EQ(group_of(policy, key), 16 + 3);
  policy.indices[2].field = IndexField::flow_label;
  key.flow_label = 0xfff5;
  EXPECT_EQ(group_of(policy, key), 16 + 5);
  key.ftag = 1;
  EXPECT_EQ(group_of(policy, key), 0) << "another class";
  policy.indices[1].base = 40;
  EXPECT_EQ(group_of(policy, key), 40);
}

// A1: a computed 127 is 126, since 127 is of what has no flow.
TEST(ApplicationGroups, TheLastOneIsOfFramesWithoutAFlow) {
  ApplicationPolicy policy = configured();
  policy.indices[2] = {.base = 126, .bits = 1, .field = IndexField::vlan};
  MatchKey key = key_of({10, 0, 0, 1});
  key.vni = 1;
  EXPECT_EQ(group_of(policy, key), 126);
}

// Who opens more flows has no more groups.
TEST(ApplicationGroups, TheSourceSpreadsAndPortsDoNot) {
  for (const IndexField field : {IndexField::source, IndexField::vlan_crc}) {
    ApplicationPolicy policy = configured();
    policy.indices[2] = {.base = 0, .bits = 4, .field = field};
    std::set<uint8_t> of_sources, of_ports;
    for (uint8_t i = 0; i < 200; ++i) {
      MatchKey key = key_of({10, 0, 0, i});
      key.vni = static_cast<uint16_t>(1 + i);
      of_sources.insert(group_of(policy, key));
      key = key_of({10, 0, 0, 1});
      key.source_port = i;
      of_ports.insert(group_of(policy, key));
    }
    EXPECT_EQ(of_sources.size(), 16u);
    EXPECT_EQ(of_ports.size(), 1u);
  }
}

}  // namespace
}  // namespace heddle::application_groups_test
