// SPDX-License-Identifier: Apache-2.0
#include "telemetry/link_reason.h"

#include "telemetry/inspect.h"

namespace heddle {

std::string link_reason(const SwitchProcess& process, const TopologyPort& port, LinkDownReason reason,
                        const std::string& found) {
  switch (reason) {
    case LinkDownReason::wrong_cable:
      return "expected " + port_name(process, port.peer.node_index, port.peer.port) + ", found " + found;
    case LinkDownReason::too_long:
      return "frames of " + std::to_string(port.mtu_bytes + kEthernetHeaderBytes) + " bytes don't pass";
    default:
      return link_down_text(reason);
  }
}

}  // namespace heddle
