// SPDX-License-Identifier: Apache-2.0
// Judges what is under a port: pure functions of what was found.
#pragma once

#include "config/device_string.h"
#include "machine/finding.h"
#include "machine/interface_facts.h"
#include "machine/machine_facts.h"
#include "machine/pci_facts.h"

namespace heddle {

struct PortNeeds {
  uint32_t mtu_bytes = 0;  // layer 3
  bool fabric = false;     // else an edge port
  pid_t running = 0;       // the heddled that it is for, which has it rightly; 0 = not yet
};

Findings examine_interface(const InterfaceFacts& interface, const PortNeeds& needs, const MachineFacts& machine);
// Of the same, what whoever opens the interface should hear in any case, as lines.
std::vector<std::string> interface_warnings(const InterfaceFacts& interface);
Findings examine_pci(const PciFacts& device, const MachineFacts& machine);
// The Unix socket on which a memif, vhost or virtio_user device meets its other end.
Findings examine_device_socket(const DeviceSocket& socket);

}  // namespace heddle
