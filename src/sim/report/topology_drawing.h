// SPDX-License-Identifier: Apache-2.0
// A scenario's fabric as SVG text that needs nothing else: switches with their hosts below, those without above them by
// their distance, a ring as a ring; what its faults meet is red. Pure.
#pragma once

#include <string>

#include "sim/scenario/scenario.h"

namespace heddle::sim {

std::string topology_svg(const Scenario& scenario);

}  // namespace heddle::sim
