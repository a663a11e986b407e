// SPDX-License-Identifier: Apache-2.0
// Judges a machine by what a process of heddled asks of it: pure functions of what was found.
#pragma once

#include "config/node_config.h"
#include "machine/finding.h"
#include "machine/machine_facts.h"

namespace heddle {

Findings examine_memory(const ProcessConfig& process, const MachineFacts& machine);
Findings examine_cpus(const ProcessConfig& process, const MachineFacts& machine);
Findings examine_rights(const ProcessConfig& process, const MachineFacts& machine);
// Without a process: what this machine has to offer.
Findings examine_offers(const MachineFacts& machine);

}  // namespace heddle
