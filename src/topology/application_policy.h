// SPDX-License-Identifier: Apache-2.0
// Applications of a node's hosts (A1, A2): which group the flows of an edge port belong to, which injection limit ID a
// group has, and the weights of both when they share an output. A node's own: it is no part of the topology, and other
// nodes may have another one. Plain values, read from a file; a node that runs can be given others (A9).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

constexpr uint32_t kGroups = 128;
constexpr uint8_t kNoFlowGroup = 127;  // of frames without a flow
constexpr uint32_t kLimitIds = 9;
constexpr uint8_t kNoLimitId = 8;  // of kNoFlowGroup: no limit holds it
constexpr uint8_t kWeightMax = 100;
constexpr uint64_t kNoInjectionLimit = ~uint64_t{0};
constexpr uint64_t kInjectionLimitMax = uint64_t{1} << 40;

// Of addresses as the match table has them (flow/match_table.h): in network order, IPv4 in the first four bytes.
struct IpPrefix {
  uint8_t l3 = 4;  // 4, 6
  std::array<uint8_t, 16> address{};
  uint8_t bits = 0;

  bool operator==(const IpPrefix&) const = default;
};

// Flows that are of a group: those for which all holds that is given.
struct GroupRule {
  uint8_t group = 0;
  std::optional<PortIndex> port;
  std::optional<uint16_t> vlan;
  std::optional<uint8_t> ftag;
  std::optional<uint8_t> dscp;  // of IP
  std::optional<IpPrefix> source, destination;

  bool operator==(const GroupRule&) const = default;
};

// Where no rule holds, of the flow's class: so many low bits of a field, added to a base.
enum class IndexField : uint8_t { vlan, vlan_crc, source, flow_label };
struct GroupIndex {
  uint8_t base = 0;
  uint8_t bits = 0;
  IndexField field = IndexField::vlan;

  bool operator==(const GroupIndex&) const = default;
};

struct ApplicationPolicy {
  struct Group {
    std::string name;  // empty: none was given
    uint8_t weight = 1;
    uint8_t limit = 0;  // its injection limit ID

    bool operator==(const Group&) const = default;
  };
  struct Limit {
    uint8_t weight = 1;
    uint64_t bytes = kNoInjectionLimit;  // of original frames that an edge port may have in the fabric of the ID (A6)

    bool operator==(const Limit&) const = default;
  };

  ApplicationPolicy() { groups[kNoFlowGroup].limit = kNoLimitId; }

  bool configured = false;  // else all flows are of group 0
  std::array<Group, kGroups> groups;
  std::array<Limit, kLimitIds> limits;
  uint64_t port_bytes = kNoInjectionLimit;      // of all IDs together, which share it by their weights (A7)
  std::vector<GroupRule> rules;                 // the first that holds counts
  std::array<GroupIndex, kClassesMax> indices;  // by FTAG

  bool limits_injection() const {
    const auto has_one = [](const Limit& limit) { return limit.bytes != kNoInjectionLimit; };
    return configured && (port_bytes != kNoInjectionLimit || std::any_of(limits.begin(), limits.end(), has_one));
  }
  bool operator==(const ApplicationPolicy&) const = default;
};

// Of a node that knows of no applications.
inline const ApplicationPolicy kNoApplications;

}  // namespace heddle
