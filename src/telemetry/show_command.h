// SPDX-License-Identifier: Apache-2.0
// `heddle show`: asks over the operator socket and prints.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace heddle {

void add_show_command(CLI::App& app);

}  // namespace heddle
