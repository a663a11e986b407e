// SPDX-License-Identifier: Apache-2.0
// JSON whose keys stay in the order they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace heddle {

using Json = nlohmann::ordered_json;

}  // namespace heddle
