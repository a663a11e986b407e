// SPDX-License-Identifier: Apache-2.0
// Devices come and go: an interface that appears after the start is taken, one that was removed is waited for, a memif
// or vhost server that was killed is connected to again, and a cable that is pulled is told to the switch. Runs in the
// control thread.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "io/switch_process.h"

namespace heddle {

class DeviceSupervisor {
 public:
  // `tell`: something an operator should know has happened at a port.
  using Tell = std::function<void(uint16_t node_index, PortIndex port, bool is_bad, const std::string& text)>;
  DeviceSupervisor(SwitchProcess& process, Tell tell) : process_(process), tell_(std::move(tell)) {}

  // Some ten times a second.
  void tick(Nanos now);

 private:
  void look_after(uint16_t node_index, PortIndex index, const ProcessPort& port);

  SwitchProcess& process_;
  Tell tell_;
  std::map<std::pair<uint16_t, PortIndex>, std::string> told_;  // of ports whose device is absent: why
  Nanos next_look_ns_ = 0;
};

}  // namespace heddle
