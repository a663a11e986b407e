// SPDX-License-Identifier: Apache-2.0
// MTUs of kernel interfaces under ports. A frame that is longer than the interface's MTU is refused by the kernel in
// one direction and dropped unseen in the other.
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

// Raises the interface's MTU if packets of `mtu_bytes` (layer 3) don't fit. Returns what was done, for the operator;
// empty if it was large enough. `device` is for messages. Throws std::runtime_error if it is too small and stays so.
std::string ensure_interface_mtu(const std::string& device, const std::string& interface, uint32_t mtu_bytes);

}  // namespace heddle
