// SPDX-License-Identifier: Apache-2.0
// `heddle trace`: asks hop by hop what becomes of a frame, and prints.
#pragma once

#include <CLI/App.hpp>

namespace heddle {

void add_trace_command(CLI::App& app);

}  // namespace heddle
