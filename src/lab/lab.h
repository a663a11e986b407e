// SPDX-License-Identifier: Apache-2.0
// A lab comes up, is looked at and goes away. Needs root. All throw std::runtime_error with what is wrong.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "config/lab_file.h"

namespace heddle {

// Makes what is missing; a lab that is up from the same text is left alone, one that is broken or from another text is
// made anew. So is one that runs another program than the one at `heddled` now, after tell_restart(). Comes back when
// every link is up and the hosts' commands have run. False if there was nothing to do.
bool lab_up(const LabConfig& lab, const std::string& file, const std::string& heddled,
            const std::function<void()>& tell_restart);

// Takes all of it away, whatever state it is in. False if there was nothing.
bool lab_down(const std::string& lab);

// {"lab", "up", "heddled": {"pid", "alive", "socket", "log"}, "links": {...}, "hosts": [...]}
nlohmann::json lab_status(const std::string& lab);

// Puts the command in the place of this process; comes back only by throwing.
[[noreturn]] void lab_exec(const std::string& lab, const std::string& host, const std::vector<std::string>& command);

}  // namespace heddle
