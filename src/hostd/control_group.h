// SPDX-License-Identifier: Apache-2.0
// Names of control groups (cgroup2) from their numbers, as the kernel gives them to programs.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::hostd {

// "/system.slice/ssh.service"; empty if there is none of that number in what is mounted here.
std::string control_group_path(uint64_t number);

}  // namespace heddle::hostd
