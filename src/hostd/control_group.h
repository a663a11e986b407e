// SPDX-License-Identifier: Apache-2.0
// Names of control groups (cgroup2) by their numbers, as the kernel gives them to programs.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace heddle::hostd {

// "/system.slice/ssh.service" and so on: all of what is mounted here; empty if nothing is.
std::map<uint64_t, std::string> control_group_paths();

}  // namespace heddle::hostd
