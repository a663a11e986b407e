// SPDX-License-Identifier: Apache-2.0
// heddle topology check|report|graph FILE: what a fabric's graph gives (R5, R11).
#pragma once

#include <CLI/App.hpp>

namespace heddle {

void add_topology_command(CLI::App& app);

}  // namespace heddle
