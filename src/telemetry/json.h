// SPDX-License-Identifier: Apache-2.0
// JSON whose keys stay in the order they were written.
#pragma once

#include <nlohmann/json.hpp>

#include "wire/id.h"

namespace heddle {

using Json = nlohmann::ordered_json;

// There they are numbers.
template <typename Kind, typename Number>
void to_json(Json& json, Id<Kind, Number> id) {
  json = static_cast<Number>(id);
}

}  // namespace heddle
