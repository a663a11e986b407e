// SPDX-License-Identifier: Apache-2.0
// The application group of a flow (A1): by its match key, which says all that a policy may ask. So a flow has one group
// as long as its match is there, and a frame costs nothing.
#pragma once

#include "flow/match_table.h"
#include "topology/application_policy.h"

namespace heddle {

// 0 to kNoFlowGroup - 1. Fields that the class's pattern leaves out of the key are zero, and prefixes then hold for no
// flow; the reader of the policy sees to it that nobody asks for them.
uint8_t group_of(const ApplicationPolicy& policy, const MatchKey& key);

}  // namespace heddle
