// SPDX-License-Identifier: Apache-2.0
// Why a link is down, in words that name what is wrong with this one.
#pragma once

#include <string>

#include "io/switch_process.h"

namespace heddle {

// `found`: node:port at the other end, if it is another one than the topology says.
std::string link_reason(const SwitchProcess& process, const TopologyPort& port, LinkDownReason reason,
                        const std::string& found);

}  // namespace heddle
