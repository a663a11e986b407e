// SPDX-License-Identifier: Apache-2.0
// heddle check FILE...: what is wrong with files of any kind. heddle doctor [FILE]: what is wrong with this machine for
// it.
#pragma once

#include <CLI/App.hpp>

namespace heddle {

void add_check_command(CLI::App& app);
void add_doctor_command(CLI::App& app);

}  // namespace heddle
