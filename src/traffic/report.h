// SPDX-License-Identifier: Apache-2.0
// What heddle-traffic prints.
#pragma once

#include <string>
#include <vector>

#include "traffic/options.h"
#include "traffic/run.h"

namespace heddle::traffic {

std::string json_report(const TrafficOptions& options, const std::vector<StreamResult>& results);
std::string text_report(const TrafficOptions& options, const std::vector<StreamResult>& results);

}  // namespace heddle::traffic
