// SPDX-License-Identifier: Apache-2.0
// The fabric that a file of any kind describes or names.
#pragma once

#include <optional>
#include <string>

#include "config/file_kind.h"
#include "config/yaml_document.h"
#include "topology/topology.h"

namespace heddle {

// None if anything is wrong.
std::optional<Topology> load_fabric(FileKind kind, const std::string& file, ConfigErrors& errors);

}  // namespace heddle
