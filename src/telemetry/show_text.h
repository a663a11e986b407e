// SPDX-License-Identifier: Apache-2.0
// The replies of `heddle show` as tables for people.
#pragma once

#include <string>

#include "telemetry/json.h"

namespace heddle {

// `what` as in the request, `reply` as show_*() makes it. Throws nlohmann's exceptions on anything else.
std::string show_text(const std::string& what, const Json& reply);

// One line of an event.
std::string event_text(const Json& event);

}  // namespace heddle
