// SPDX-License-Identifier: Apache-2.0
// The checks of a node file as a whole: every port has something under it, and rings, pool and memory hold
// what the settings promise.
#pragma once

#include <vector>

#include "config/budget.h"
#include "config/node_config.h"
#include "config/yaml_value.h"

namespace heddle {

// Where the parts of a node stand, for messages.
struct NodeSource {
  YamlValue name;   // where it is named
  YamlValue value;  // the map with workers and devices
  YamlValue devices;
  std::vector<YamlValue> devices_by_port;
};

struct NodeFileSources {
  std::vector<NodeSource> nodes;  // as in ProcessConfig
};

// Reports to the list of errors of `root`, the node file.
void check_process(const ProcessConfig& process, const YamlValue& root, const NodeFileSources& sources);

}  // namespace heddle
