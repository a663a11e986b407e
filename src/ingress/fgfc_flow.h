// SPDX-License-Identifier: Apache-2.0
// A flow of an edge port, or all flows together that agree with it in some fields, as its host is told of them (G1).
#pragma once

#include <cstring>

#include "flow/match_table.h"
#include "topology/topology.h"
#include "wire/ethernet.h"
#include "wire/fgfc.h"

namespace heddle {

// What a class tells flows apart by (F1): `pattern` of kMatchIp and so on.
inline uint8_t fgfc_fields(uint8_t pattern) {
  uint8_t fields = 0;
  if (pattern & kMatchIp) fields |= HEDDLE_FGFC_ADDRESSES;
  if (pattern & kMatchPorts) fields |= HEDDLE_FGFC_PORTS;
  if (pattern & kMatchDscp) fields |= HEDDLE_FGFC_DSCP;
  if (pattern & kMatchFlowLabel) fields |= HEDDLE_FGFC_FLOW_LABEL;
  return fields;
}

// `fields`: HEDDLE_FGFC_ADDRESSES and so on, that count. A host has no tag for the port's own VLAN.
inline FgfcFlow fgfc_flow(const MatchKey& key, uint8_t fields, uint16_t native_vlan) {
  FgfcFlow flow{.fields = fields, .vlan = key.vni == native_vlan ? uint16_t{0} : key.vni};
  if (!(fields & HEDDLE_FGFC_ANY_DESTINATION)) flow.destination = load_mac(key.macs);
  if (fields & ~(HEDDLE_FGFC_FLOW_LABEL | HEDDLE_FGFC_ANY_DESTINATION)) flow.l3 = key.l3;
  if (fields & HEDDLE_FGFC_PORTS) {
    flow.protocol = key.protocol;
    flow.source_port = big_endian(key.source_port);
    flow.destination_port = big_endian(key.destination_port);
  }
  if (fields & HEDDLE_FGFC_DSCP) flow.dscp = static_cast<uint8_t>(key.dscp >> 2);
  if (fields & HEDDLE_FGFC_FLOW_LABEL) flow.flow_label = key.flow_label;
  if (fields & (HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_SOURCE_ADDRESS))
    std::memcpy(flow.source_address.data(), key.source_address, sizeof key.source_address);
  if (fields & HEDDLE_FGFC_ADDRESSES)
    std::memcpy(flow.destination_address.data(), key.destination_address, sizeof key.destination_address);
  return flow;
}

}  // namespace heddle
