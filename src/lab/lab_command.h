// SPDX-License-Identifier: Apache-2.0
// `heddle lab`: up, down, status, exec, and faults on purpose.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <vector>

namespace heddle {

// What stands behind the host of `heddle lab exec LAB HOST [--] COMMAND...` is the command's, options too: taken out of
// the arguments before they are parsed. Empty if they are of something else.
std::vector<std::string> take_exec_command(int& argc, char** argv);

// `exec_command`: what take_exec_command() gave.
void add_lab_command(CLI::App& app, const std::vector<std::string>& exec_command);

}  // namespace heddle
