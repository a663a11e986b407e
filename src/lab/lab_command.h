// SPDX-License-Identifier: Apache-2.0
// `heddle lab`: up, down, status, exec, and faults on purpose.
#pragma once

#include <CLI/App.hpp>

namespace heddle {

void add_lab_command(CLI::App& app);

}  // namespace heddle
