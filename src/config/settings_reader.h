// SPDX-License-Identifier: Apache-2.0
// Reads what holds for a whole fabric: its settings and its traffic classes.
#pragma once

#include <vector>

#include "config/yaml_value.h"
#include "topology/topology.h"

namespace heddle {

void read_settings(const YamlValue& value, FabricSettings& settings);

// At least one class comes back: PCP values and FTAGs that no class names go to the first one and by position, and
// classes that give no life have `life_ns`.
std::vector<TrafficClass> read_classes(const YamlValue& value, Nanos life_ns);

// The one that is named; nullptr where nothing is, or none has that name, which is said.
const TrafficClass* find_class(const YamlValue& value, const std::vector<TrafficClass>& classes);

}  // namespace heddle
