// SPDX-License-Identifier: Apache-2.0
#include "ingress/fgfc_flow.h"

#include <gtest/gtest.h>

namespace heddle::fgfc_flow_test {
namespace {

constexpr uint16_t kVlan = 5, kNative = 1;
constexpr uint64_t kDestination = 0x02'00'00'00'0a'01;
constexpr std::array<uint8_t, 16> kFrom = {0xfd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
constexpr std::array<uint8_t, 16> kTo = {0xfe, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};

MatchKey key() {
  MatchKey key{};
  store_mac(key.macs, kDestination);
  store_mac(key.macs + 6, 0x02'00'00'00'0b'02);
  key.input_port = 3;
  key.vni = kVlan;
  std::memcpy(key.source_address, kFrom.data(), kFrom.size());
  std::memcpy(key.destination_address, kTo.data(), kTo.size());
  store_be16(reinterpret_cast<uint8_t*>(&key.source_port), 1000);
  store_be16(reinterpret_cast<uint8_t*>(&key.destination_port), 443);
  key.flow_label = 0xabcde;
  key.l3 = 6;
  key.protocol = kProtocolTcp;
  key.ftag = 2;
  key.dscp = 46 << 2;
  return key;
}
FgfcFlow with(uint8_t fields) { return fgfc_flow(key(), fields, kNative); }

TEST(FgfcFields, AreThoseThatTheClassTellsFlowsApartBy) {
  EXPECT_EQ(fgfc_fields(0), 0);
  EXPECT_EQ(fgfc_fields(kMatchIp), HEDDLE_FGFC_ADDRESSES);
  EXPECT_EQ(fgfc_fields(kMatchPorts), HEDDLE_FGFC_PORTS);
  EXPECT_EQ(fgfc_fields(kMatchDscp), HEDDLE_FGFC_DSCP);
  EXPECT_EQ(fgfc_fields(kMatchFlowLabel), HEDDLE_FGFC_FLOW_LABEL);
  EXPECT_EQ(fgfc_fields(kMatchPorts | kMatchFlowLabel), HEDDLE_FGFC_PORTS | HEDDLE_FGFC_FLOW_LABEL);
  EXPECT_EQ(fgfc_fields(kMatchIp | kMatchPorts | kMatchDscp | kMatchFlowLabel), 0x0f);
}

TEST(FgfcFlowOfAKey, WithoutFieldsIsAllThatGoesToAStationInAVlan) {
  EXPECT_EQ(with(0), (FgfcFlow{.vlan = kVlan, .destination = kDestination}));
}

TEST(FgfcFlowOfAKey, InThePortsOwnVlanItHasNoTag) {
  EXPECT_EQ(fgfc_flow(key(), 0, kVlan).vlan, 0);
  EXPECT_EQ(fgfc_flow(key(), 0, kVlan - 1).vlan, kVlan);
  EXPECT_EQ(fgfc_flow(key(), 0, kVlan + 1).vlan, kVlan);
}

TEST(FgfcFlowOfAKey, AddressesAreBothOfThem) {
  EXPECT_EQ(with(HEDDLE_FGFC_ADDRESSES), (FgfcFlow{.fields = HEDDLE_FGFC_ADDRESSES,
                                                   .l3 = 6,
                                                   .vlan = kVlan,
                                                   .destination = kDestination,
                                                   .source_address = kFrom,
                                                   .destination_address = kTo}));
}

TEST(FgfcFlowOfAKey, TheSourceMayStandByItself) {
  EXPECT_EQ(with(HEDDLE_FGFC_SOURCE_ADDRESS), (FgfcFlow{.fields = HEDDLE_FGFC_SOURCE_ADDRESS,
                                                        .l3 = 6,
                                                        .vlan = kVlan,
                                                        .destination = kDestination,
                                                        .source_address = kFrom}));
}

TEST(FgfcFlowOfAKey, PortsAreNumbersAndOfAProtocol) {
  EXPECT_EQ(with(HEDDLE_FGFC_PORTS), (FgfcFlow{.fields = HEDDLE_FGFC_PORTS,
                                               .l3 = 6,
                                               .protocol = kProtocolTcp,
                                               .vlan = kVlan,
                                               .source_port = 1000,
                                               .destination_port = 443,
                                               .destination = kDestination}));
}

TEST(FgfcFlowOfAKey, TheDscpStandsInTheLowerSixBits) {
  EXPECT_EQ(with(HEDDLE_FGFC_DSCP),
            (FgfcFlow{.fields = HEDDLE_FGFC_DSCP, .l3 = 6, .dscp = 46, .vlan = kVlan, .destination = kDestination}));
}

TEST(FgfcFlowOfAKey, AFlowLabelIsOfIpv6Anyway) {
  EXPECT_EQ(
      with(HEDDLE_FGFC_FLOW_LABEL),
      (FgfcFlow{.fields = HEDDLE_FGFC_FLOW_LABEL, .vlan = kVlan, .flow_label = 0xabcde, .destination = kDestination}));
  EXPECT_EQ(with(HEDDLE_FGFC_FLOW_LABEL | HEDDLE_FGFC_DSCP).l3, 6);
}

TEST(FgfcFlowOfAKey, WhereAnyDestinationWillDoNoneIsTold) {
  EXPECT_EQ(with(HEDDLE_FGFC_ANY_DESTINATION), (FgfcFlow{.fields = HEDDLE_FGFC_ANY_DESTINATION, .vlan = kVlan}));
  constexpr uint8_t kOfAHost = HEDDLE_FGFC_ANY_DESTINATION | HEDDLE_FGFC_SOURCE_ADDRESS;
  EXPECT_EQ(with(kOfAHost), (FgfcFlow{.fields = kOfAHost, .l3 = 6, .vlan = kVlan, .source_address = kFrom}));
}

}  // namespace
}  // namespace heddle::fgfc_flow_test
