// SPDX-License-Identifier: Apache-2.0
// `heddle clear`: what is counted for operators alone begins anew. Counters that add up, of frames and drops, are never
// set back.
#pragma once

#include <CLI/App.hpp>

namespace heddle {

void add_clear_command(CLI::App& app);

}  // namespace heddle
