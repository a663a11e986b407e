// SPDX-License-Identifier: Apache-2.0
// Reads `applications`: what a node's file, a switch of a lab and a node of a scenario say of the groups that share its
// ports (A1-A3).
#pragma once

#include "config/yaml_value.h"
#include "topology/application_policy.h"
#include "topology/topology.h"

namespace heddle {

// Of node `node_index` of the topology, whose ports and classes are known. Absent, or with problems, which are
// reported: no applications.
ApplicationPolicy read_applications(const YamlValue& value, const Topology& topology, uint16_t node_index);

}  // namespace heddle
