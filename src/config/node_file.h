// SPDX-License-Identifier: Apache-2.0
// The node file: which nodes of the topology one heddled process runs, on which devices, with how much of the
// machine. docs/configuration.md tells its keys.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/config_errors.h"
#include "config/node_config.h"

namespace heddle {

// nullopt if anything is wrong, in this file or in the topology file it names (looked for beside this file);
// then `errors` has grown by every problem found, each under the name of its file.
std::optional<ProcessConfig> load_node_file(const std::string& path, ConfigErrors& errors);

using TopologyLoader = std::function<std::optional<Topology>(const std::string& path, ConfigErrors& errors)>;

// The same from a text. `file_name` is shown in messages and gives the folder that `topology:` is relative
// to; `load` is called at most once, with the resulting path.
std::optional<ProcessConfig> parse_node_file(const std::string& text, const std::string& file_name,
                                             const TopologyLoader& load, ConfigErrors& errors);

}  // namespace heddle
