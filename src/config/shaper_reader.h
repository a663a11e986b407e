// SPDX-License-Identifier: Apache-2.0
// Reads `shapers`: what a node's file, a switch of a lab and a node of a scenario say of what traffic classes have of
// its ports (X4).
#pragma once

#include "config/yaml_value.h"
#include "topology/shaper_policy.h"

namespace heddle {

// Of node `node_index` of the topology, whose ports, their rates and classes are known. Absent, or with problems, which
// are reported: no port has one.
PortShapers read_shapers(const YamlValue& value, const Topology& topology, uint16_t node_index);

}  // namespace heddle
