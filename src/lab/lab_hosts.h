// SPDX-License-Identifier: Apache-2.0
// The hosts of a lab: network namespaces, and the cables from them to the switch namespace, made with ip and ethtool.
#pragma once

#include <string>
#include <vector>

#include "config/lab_file.h"

namespace heddle {

// Every namespace the lab has, that of the switches first.
std::vector<std::string> lab_namespaces(const LabConfig& lab);

// Makes namespaces, cables, addresses; throws std::runtime_error. What is half made is the caller's to take away.
void make_lab_hosts(const LabConfig& lab);

// Runs the commands that the lab file gives for its hosts, in order. Throws std::runtime_error if one fails.
void run_host_commands(const LabConfig& lab);

bool namespace_exists(const std::string& name);
// The command that runs `command` there.
std::vector<std::string> in_namespace(const std::string& name, std::vector<std::string> command);
// Ends every process in it, then removes it; interfaces in it go too. Nothing if it isn't there.
void remove_namespace(const std::string& name);

}  // namespace heddle
