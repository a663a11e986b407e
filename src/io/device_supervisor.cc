// SPDX-License-Identifier: Apache-2.0
#include "io/device_supervisor.h"

#include <stdexcept>

namespace heddle {

void DeviceSupervisor::tick(Nanos now) {
  const bool look = now >= next_look_ns_;
  if (look) next_look_ns_ = now + kSecond;
  for (const ProcessNode& node : process_.nodes()) {
    const uint16_t node_index = node.settings.node_index;
    for (PortIndex index = 0; index < node.ports.size(); ++index) {
      const ProcessPort& port = node.ports[index];
      if (port.outward == nullptr) continue;
      if (look) look_after(node_index, index, port);
      if (node.node != nullptr && process_.tell_carrier(node_index, index))
        tell_(node_index, index, !port.carrier, port.carrier ? "carrier is back" : "carrier is lost");
    }
  }
}

void DeviceSupervisor::look_after(uint16_t node_index, PortIndex index, const ProcessPort& port) {
  std::string& told = told_[{node_index, index}];
  if (port.plugged) {
    const std::string lost = port.outward->lost();
    if (lost.empty()) return;
    tell_(node_index, index, true, lost + "; it is waited for");
    process_.unplug(node_index, index, lost);
    told = lost;
  }
  try {
    if (process_.plug(node_index, index)) {
      tell_(node_index, index, false, "device " + port.outward->device() + " is there");
      return told.clear();
    }
  } catch (const std::runtime_error&) {  // what it is stands at the port, too
  }
  if (told.empty()) tell_(node_index, index, true, port.absent + "; it is waited for");
  told = port.absent;
}

}  // namespace heddle
