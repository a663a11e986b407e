// SPDX-License-Identifier: Apache-2.0
// What heddled does from its start to its end: DPDK, the nodes, the operator socket, and in between what has to be
// looked after some ten times a second.
#pragma once

#include "config/node_config.h"
#include "service/reload.h"

namespace heddle {

// Comes back when it is told to stop. `load`: reads the configuration again, for SIGHUP. Throws std::exception.
void run_daemon(ProcessConfig config, Reload::Load load);

}  // namespace heddle
