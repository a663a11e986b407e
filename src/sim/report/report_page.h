// SPDX-License-Identifier: Apache-2.0
// Scenarios drawn beside their variants. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "sim/report/line_chart.h"
#include "sim/scenario/scenario_run.h"

namespace heddle::sim {

struct PlayedScenario {
  Scenario scenario;
  ScenarioResult result;
};

// Of one scenario and its variants, of which the first is the switch as it is: throughput of each variant, queues, and
// latencies of each workload.
std::vector<Chart> charts_of(const std::vector<PlayedScenario>& variants);

// One HTML page that needs nothing else; for each scenario its variants. `version`: of the program, with its commit.
std::string report_page(const std::vector<std::vector<PlayedScenario>>& scenarios, const std::string& version);

}  // namespace heddle::sim
