// SPDX-License-Identifier: Apache-2.0
// The application group of a flow (A1): by its match key, which says all that a policy may ask. So a flow has one group
// as long as its match is there, and a frame costs nothing.
#pragma once

#include <optional>

#include "flow/match_table.h"
#include "heddle/fgfc.h"
#include "topology/application_policy.h"
#include "topology/classes.h"

namespace heddle {

// 0 to kNoFlowGroup - 1, of a policy that is configured. Fields that the class's pattern leaves out of the key are
// zero, and prefixes then hold for no flow; the reader of the policy sees to it that nobody asks for them.
uint8_t configured_group_of(const ApplicationPolicy& policy, const MatchKey& key);
// Of any policy: where there are no applications all flows are of one group.
inline uint8_t group_of(const ApplicationPolicy& policy, const MatchKey& key) {
  return policy.configured ? configured_group_of(policy, key) : uint8_t{0};
}

// The fields by which a host is told of a group (G1): HEDDLE_FGFC_ANY_DESTINATION and those on which the policy's
// answer for this key depends, so that all flows of the port that agree with it there are of its group. Nothing where
// it depends on the class, which a host does not know.
std::optional<uint8_t> fields_of_group(const ApplicationPolicy& policy, const MatchKey& key,
                                       const std::vector<TrafficClass>& classes);

}  // namespace heddle
