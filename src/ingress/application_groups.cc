// SPDX-License-Identifier: Apache-2.0
#include "ingress/application_groups.h"

#include <rte_hash_crc.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle {

namespace {

bool is_in(const std::optional<IpPrefix>& prefix, uint8_t l3, const uint8_t (&address)[16]) {
  if (!prefix) return true;
  if (prefix->l3 != l3) return false;
  const uint8_t whole = prefix->bits / 8, rest = prefix->bits % 8;
  if (!std::equal(address, address + whole, prefix->address.begin())) return false;
  return rest == 0 || (address[whole] ^ prefix->address[whole]) >> (8 - rest) == 0;
}

bool has_dscp(const GroupRule& rule, const MatchKey& key) {
  return !rule.dscp || (key.l3 != 0 && *rule.dscp == key.dscp >> 2);
}

bool holds(const GroupRule& rule, const MatchKey& key) {
  return rule.port.value_or(key.input_port) == key.input_port && rule.vlan.value_or(key.vni) == key.vni &&
         rule.ftag.value_or(key.ftag) == key.ftag && has_dscp(rule, key) &&
         is_in(rule.source, key.l3, key.source_address) && is_in(rule.destination, key.l3, key.destination_address);
}

// Never over ports: who opens more flows would have more groups.
uint32_t index_of(IndexField field, const MatchKey& key) {
  switch (field) {
    case IndexField::vlan:
      return key.vni;
    case IndexField::vlan_crc:
      return rte_hash_crc_4byte(key.vni, 0);
    case IndexField::source: {
      alignas(uint64_t) uint8_t address[sizeof key.source_address];  // read by eights; a key is aligned to four
      std::memcpy(address, key.source_address, sizeof address);
      return rte_hash_crc(address, sizeof address, 0);
    }
    case IndexField::flow_label:
      return key.flow_label;
  }
  __builtin_unreachable();
}

// Of those that say the index; VLANs always count.
uint8_t fields_of(IndexField field) {
  switch (field) {
    case IndexField::vlan:
    case IndexField::vlan_crc:
      return 0;
    case IndexField::source:
      return HEDDLE_FGFC_SOURCE_ADDRESS;
    case IndexField::flow_label:
      return HEDDLE_FGFC_FLOW_LABEL;
  }
  __builtin_unreachable();
}

}  // namespace

uint8_t configured_group_of(const ApplicationPolicy& policy, const MatchKey& key) {
  for (const GroupRule& rule : policy.rules)
    if (holds(rule, key)) return rule.group;
  const GroupIndex& index = policy.indices[key.ftag & (kClassesMax - 1)];
  if (index.bits == 0) return index.base;
  const uint32_t group = index.base + (index_of(index.field, key) & ((1u << index.bits) - 1));
  return static_cast<uint8_t>(std::min<uint32_t>(group, kNoFlowGroup - 1));
}

std::optional<uint8_t> fields_of_group(const ApplicationPolicy& policy, const MatchKey& key,
                                       const std::vector<TrafficClass>& classes) {
  uint8_t fields = HEDDLE_FGFC_ANY_DESTINATION;
  for (const GroupRule& rule : policy.rules) {
    if (rule.port.value_or(key.input_port) != key.input_port || rule.vlan.value_or(key.vni) != key.vni) continue;
    if (rule.ftag) return std::nullopt;
    if (rule.source) fields |= HEDDLE_FGFC_SOURCE_ADDRESS;
    if (rule.destination) fields |= HEDDLE_FGFC_ADDRESSES;
    if (rule.dscp) fields |= HEDDLE_FGFC_DSCP;
    if (holds(rule, key)) return fields;
  }
  const GroupIndex& index = policy.indices[key.ftag & (kClassesMax - 1)];
  for (const TrafficClass& other : classes)
    if (other.flow_channels && policy.indices[other.ftag & (kClassesMax - 1)] != index) return std::nullopt;
  return index.bits == 0 ? fields : static_cast<uint8_t>(fields | fields_of(index.field));
}

}  // namespace heddle
