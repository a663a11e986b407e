// SPDX-License-Identifier: Apache-2.0
// Where heddled's log goes: to the journal, with priorities, if that is what stands behind standard error; else there,
// with the time in front.
#pragma once

#include <string>

namespace heddle {

void start_log(const std::string& level);
void set_log_level(const std::string& level);

}  // namespace heddle
