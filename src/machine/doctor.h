// SPDX-License-Identifier: Apache-2.0
// What is wrong with this machine for what a file wants of it, each with the command that mends it. `heddle doctor`
// shows all of it; heddled logs what is bad when its start fails.
#pragma once

#include "config/lab_file.h"
#include "config/node_config.h"
#include "machine/finding.h"

namespace heddle {

Findings examine_process(const ProcessConfig& process);
Findings examine_lab(const LabConfig& lab);
Findings examine_this_machine();

}  // namespace heddle
