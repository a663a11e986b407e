// SPDX-License-Identifier: Apache-2.0
// Those replies of `heddle show` as text that have sources of their own; show_text.h chooses among them.
#pragma once

#include <string>

#include "telemetry/json.h"

namespace heddle {

std::string applications_text(const Json& reply);
std::string shapers_text(const Json& reply);
std::string load_text(const Json& reply);
std::string queues_text(const Json& reply);
std::string flows_text(const Json& reply);
std::string hosts_text(const Json& reply);
std::string pauses_text(const Json& reply);
std::string stations_text(const Json& reply);
std::string routes_text(const Json& reply);
std::string congestion_text(const Json& reply);

}  // namespace heddle
