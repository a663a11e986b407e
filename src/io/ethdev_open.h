// SPDX-License-Identifier: Apache-2.0
// From a DPDK device string to a started port, for whoever drives ports itself.
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

// All throw std::runtime_error with the device's name in front.
[[noreturn]] void fail_ethdev(const std::string& device, const std::string& what, int error);
// The port of a device that the EAL has been given, or of one that is made now; neither set up nor started.
uint16_t open_ethdev(const std::string& device);
// Not started any more. A virtual device is unmade, so that its name can be opened again.
void close_ethdev(uint16_t port_id);

}  // namespace heddle
