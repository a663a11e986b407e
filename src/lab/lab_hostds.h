// SPDX-License-Identifier: Apache-2.0
// The heddle-hostd of each host of a lab that the file wants to obey its switches (`hostd`, G3): one for all its
// interfaces, in its namespace, which they end with.
#pragma once

#include <string>

#include "config/lab_file.h"
#include "lab/lab_state.h"

namespace heddle {

bool wants_hostds(const LabConfig& lab);
// Starts them, notes them in `state`, and comes back when each of them answers. `program`: heddle-hostd. Throws
// std::runtime_error with what one says that does not.
void start_hostds(const LabConfig& lab, LabState& state, const std::string& program);
// Are all that the file wants still those that were started?
bool hostds_alive(const LabConfig& lab, const LabState& state);

}  // namespace heddle
