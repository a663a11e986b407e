// SPDX-License-Identifier: Apache-2.0
// Which of the files that heddle knows a file is, by its keys: a wrong one given to a program gets a better answer than
// a list of keys that are not known.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "config/config_errors.h"

namespace heddle {

enum class FileKind : uint8_t { node, topology, lab, scenario };

std::string_view file_kind_name(FileKind kind);  // "node file"

// nullopt if it can't be read as YAML, or is no map; then `errors` has grown.
std::optional<FileKind> file_kind(const std::string& path, ConfigErrors& errors);

}  // namespace heddle
