// SPDX-License-Identifier: Apache-2.0
// The topology file: one text, the same on every node of the fabric. docs/configuration.md tells its keys.
#pragma once

#include <optional>
#include <string>

#include "config/config_errors.h"
#include "topology/topology.h"

namespace heddle {

// nullopt if anything is wrong; then `errors` has grown by every problem found, in the order of the file.
std::optional<Topology> load_topology(const std::string& path, ConfigErrors& errors);

// The same from a text; `file_name` is only shown in messages.
std::optional<Topology> parse_topology(const std::string& text, const std::string& file_name, ConfigErrors& errors);

}  // namespace heddle
