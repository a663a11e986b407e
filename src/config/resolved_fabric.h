// SPDX-License-Identifier: Apache-2.0
// What holds for a whole fabric, settings and classes, as a file could say it: with every field, also those that the
// file left to their defaults. In place of what the file says it means the same.
#pragma once

#include <string>

#include "topology/topology.h"

namespace heddle {

std::string resolved_fabric(const Topology& topology);

}  // namespace heddle
