// SPDX-License-Identifier: Apache-2.0
// What things of a lab are called outside of it: all names come from the lab's own, so that labs live side by side and
// what is left of one is found again.
#pragma once

#include <string>

#include "config/lab_file.h"

namespace heddle {

// In the run folder: what was made, the log, the operator socket.
std::string lab_folder(const std::string& lab);
std::string lab_socket(const std::string& lab);
std::string lab_log(const std::string& lab);
std::string lab_hostd_log(const std::string& lab, const std::string& host);
// A copy of the lab file as it was at `up`.
std::string lab_copy(const std::string& lab);

// Network namespaces.
std::string switch_namespace(const std::string& lab);
std::string host_namespace(const std::string& lab, const std::string& host);

// The switch's end of a host's cable, in the switch namespace; short enough for the kernel whatever the node is called.
std::string switch_interface(const LabInterface& interface);
// leaf1:p3
std::string port_name(const Topology& topology, uint16_t node_index, PortIndex port);

// The process that runs the lab's switches, on the interfaces above.
ProcessConfig lab_process(const LabConfig& lab);

}  // namespace heddle
