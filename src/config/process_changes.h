// SPDX-License-Identifier: Apache-2.0
// What differs between the configuration that a process runs with and the one that its file says now.
#pragma once

#include <string>
#include <vector>

#include "config/node_config.h"

namespace heddle {

struct ProcessChanges {
  std::vector<std::string> live;     // can be changed while it runs: "log_level: info, now debug"
  std::vector<std::string> restart;  // can't
  // Of the first: positions of nodes whose policy of applications (A9), or whose shapers (X4), are others.
  std::vector<size_t> applications, shapers;
  bool none() const { return live.empty() && restart.empty(); }
};

ProcessChanges process_changes(const ProcessConfig& running, const ProcessConfig& file);

// Takes over what can be changed while the process runs.
void take_live_changes(ProcessConfig& running, const ProcessConfig& file);

}  // namespace heddle
