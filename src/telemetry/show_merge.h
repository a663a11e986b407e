// SPDX-License-Identifier: Apache-2.0
// The answers of several heddleds to one `show`, as one.
#pragma once

#include <vector>

#include "telemetry/json.h"

namespace heddle {

// Rows one after the other; each link once, with what either end's process knows of it; counts added up; what else a
// process says of itself stands under "processes". Of one reply: that reply, with its process. Where there are several
// fabrics, each row says which is its own.
Json merge_replies(const std::vector<Json>& replies);

// Of the flows of several processes the busiest, without the first `offset`, `limit` at most.
void cut_flows(Json& merged, uint32_t offset, uint32_t limit);

// What is to be shown to people: where there are several fabrics their names stand before those of nodes.
Json with_fabric_names(const Json& merged);

// Adds to each flow the nodes that it passes, as far as they are known: "path": ["leaf1", "spine1", "leaf3"].
void add_paths(Json& merged);

}  // namespace heddle
