// SPDX-License-Identifier: Apache-2.0
// The options of every command that asks running heddleds: which of them, and how long they are waited for.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "telemetry/operator_fleet.h"

namespace heddle {

struct FleetOptions {
  std::string lab;
  std::vector<std::string> sockets;
  double timeout_seconds = static_cast<double>(kOperatorPatience.count());

  // It outlives the command.
  void add_to(CLI::App& command) {
    command.add_option("--lab", lab, "of this lab");
    command.add_option("--socket", sockets, "path of an operator socket, or several; else all of this machine");
    command.add_option("--timeout", timeout_seconds, "seconds that each heddled has to answer")
        ->check(CLI::Range(0.1, 3600.0));
  }
  // Those that were asked for. Throws std::runtime_error if there is none.
  OperatorFleet fleet() const {
    const auto patience = std::chrono::milliseconds(static_cast<int64_t>(timeout_seconds * 1000));
    return {choose_operator_sockets(sockets, lab, patience), patience};
  }
};

}  // namespace heddle
