// SPDX-License-Identifier: Apache-2.0
// A lab comes up, is looked at and goes away. Needs root. All throw std::runtime_error with what is wrong.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "config/lab_file.h"

namespace heddle {

struct LabUpOptions {
  std::string file;
  std::string heddled;  // the program
  std::string hostd;    // heddle-hostd, if a host wants one
  bool replace = false;
  std::function<void(const std::string& why)> tell_restart;
};

// Makes what is missing; a lab that is up from the same text is left alone, one that is broken is made anew. So is one
// that runs another program than the one at `heddled` now, after tell_restart(). One that runs from another text is
// only taken away with `replace`; else it throws. Comes back when every link is up and the hosts' commands have run.
// False if there was nothing to do.
bool lab_up(const LabConfig& lab, const LabUpOptions& options);

// Takes all of it away, whatever state it is in. False if there was nothing. Throws if nothing is written about the lab
// and yet something of it is there, unless `force`: then that goes, too.
bool lab_down(const std::string& lab, bool force);

// {"lab", "up", "heddled": {"pid", "alive", "socket", "log"}, "links": {...}, "hosts": [...]}; a host with a
// heddle-hostd has "hostd": {"pid", "alive", "log"}
nlohmann::json lab_status(const std::string& lab);

// Puts the command in the place of this process; comes back only by throwing.
[[noreturn]] void lab_exec(const std::string& lab, const std::string& host, const std::vector<std::string>& command);

}  // namespace heddle
