// SPDX-License-Identifier: Apache-2.0
// `heddle show`: asks over the operator socket and prints.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace heddle {

void add_show_command(CLI::App& app);

// Path of the operator socket to ask: `given`, else the one of lab `lab`, else HEDDLE_SOCKET, else the only one that
// there is under /run/heddle. Throws std::runtime_error if it can't be told which.
std::string choose_operator_socket(const std::string& given, const std::string& lab);

}  // namespace heddle
