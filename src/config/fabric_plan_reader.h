// SPDX-License-Identifier: Apache-2.0
// Key `fabric` of topology, lab and scenario files: which plan (topology/fabric_plan.h), and its sizes.
#pragma once

#include <optional>

#include "config/yaml_value.h"
#include "topology/fabric_plan.h"

namespace heddle {

// nullopt if there is no such key, or anything in it is wrong; keys that are not the plan's the caller reads. Reports
// keys that belong to another plan.
std::optional<FabricPlan> read_fabric_plan(const YamlValue& value);

}  // namespace heddle
