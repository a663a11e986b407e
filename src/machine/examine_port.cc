// SPDX-License-Identifier: Apache-2.0
#include "machine/examine_port.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "machine/stale_socket.h"

namespace heddle {

namespace {

void examine_numa(const std::string& place, int numa_node, const MachineFacts& machine, Findings& out) {
  const auto& nodes = machine.allowed_nodes;
  if (numa_node < 0 || nodes.empty() || std::find(nodes.begin(), nodes.end(), numa_node) != nodes.end()) return;
  out.push_back({Severity::advice, place,
                 "is at NUMA node " + std::to_string(numa_node) + ", and heddled's CPUs are not",
                 "systemctl edit heddled    # [Service] CPUAffinity=<CPUs of " + std::to_string(numa_node) +
                     ": /sys/devices/system/node/node" + std::to_string(numa_node) + "/cpulist>"});
}

void examine_mtu(const InterfaceFacts& interface, const PortNeeds& needs, Findings& out) {
  if (interface.mtu_bytes >= needs.mtu_bytes) return;
  const std::string needed = std::to_string(needs.mtu_bytes);
  out.push_back({Severity::advice, interface.name,
                 "has an MTU of " + std::to_string(interface.mtu_bytes) + ", the port needs " + needed +
                     "; heddled raises it" +
                     (needs.fabric ? ", and the other end and every switch between have to pass as much" : ""),
                 "ip link set " + interface.name + " mtu " + needed});
}

void examine_use(const InterfaceFacts& interface, const PortNeeds& needs, Findings& out) {
  if (interface.heddled != 0 && interface.heddled != getpid() && interface.heddled != needs.running) {
    const std::string who = interface.heddled > 0 ? " (process " + std::to_string(interface.heddled) + ")" : "";
    out.push_back({Severity::bad, interface.name, "is used by another heddled" + who,
                   interface.heddled > 0 ? "kill " + std::to_string(interface.heddled) : ""});
  }
  if (!interface.master.empty())
    out.push_back({Severity::bad, interface.name,
                   "is a member of " + interface.master + ", which takes its frames, too",
                   "ip link set " + interface.name + " nomaster"});
  if (!interface.addresses.empty())
    out.push_back({Severity::bad, interface.name,
                   "has the address " + interface.addresses.front() + ": this machine answers on it beside the switch",
                   "ip address flush dev " + interface.name + " scope global"});
}

void examine_carrier(const InterfaceFacts& interface, Findings& out) {
  if (!interface.up)
    out.push_back({Severity::bad, interface.name, "is down", "ip link set " + interface.name + " up"});
  else if (!interface.carrier)
    out.push_back({Severity::bad, interface.name, "has no carrier: no cable, or the other end is down", ""});
}

}  // namespace

std::vector<std::string> interface_warnings(const InterfaceFacts& interface) {
  Findings found;
  examine_use(interface, {}, found);
  if (!interface.up) examine_carrier(interface, found);
  std::vector<std::string> lines;
  for (const Finding& finding : found) lines.push_back(finding.place + " " + finding.text + "; mend: " + finding.mend);
  return lines;
}

Findings examine_interface(const InterfaceFacts& interface, const PortNeeds& needs, const MachineFacts& machine) {
  const std::string& name = interface.name;
  if (!interface.present)
    return {{Severity::bad, name, "there is no such interface; heddled waits for it", "ip -brief link"}};
  Findings out;
  examine_use(interface, needs, out);
  examine_carrier(interface, out);
  examine_mtu(interface, needs, out);
  if (!needs.fabric && interface.has_hardware && interface.merges_frames)
    out.push_back({Severity::bad, name, "puts received frames together (GRO or LRO), to lengths that no port passes",
                   "ethtool -K " + name + " gro off lro off"});
  examine_numa(name, interface.numa_node, machine, out);
  if (out.empty()) out.push_back({Severity::good, name, "up, with carrier, nobody else's", ""});
  return out;
}

Findings examine_pci(const PciFacts& device, const MachineFacts& machine) {
  const std::string& address = device.address;
  const std::string bind = "dpdk-devbind.py --bind=vfio-pci " + address;
  if (!device.present) return {{Severity::bad, address, "there is no such device", "dpdk-devbind.py --status-dev net"}};
  if (!device.is_network) return {{Severity::bad, address, "is no network device", "dpdk-devbind.py --status-dev net"}};
  Findings out;
  // Theirs work beside the kernel's driver.
  constexpr auto kShared = std::to_array<std::string_view>({"mlx4_core", "mlx5_core"});
  constexpr auto kGiven = std::to_array<std::string_view>({"vfio-pci", "uio_pci_generic", "igb_uio"});
  const auto is_among = [&](const auto& names) {
    return std::find(names.begin(), names.end(), device.driver) != names.end();
  };
  if (!is_among(kShared) && !is_among(kGiven))
    out.push_back({Severity::bad, address,
                   (device.driver.empty() ? "has no driver" : "belongs to the kernel's driver " + device.driver) +
                       (device.interface.empty() ? "" : ", as interface " + device.interface),
                   (machine.vfio_pci ? "" : "modprobe vfio-pci && ") +
                       (device.interface.empty() ? "" : "ip link set " + device.interface + " down && ") + bind});
  if (!is_among(kShared) && device.driver != "uio_pci_generic" && device.driver != "igb_uio") {
    if (device.iommu_group < 0 && !machine.vfio_without_iommu)
      out.push_back(
          {Severity::bad, address,
           "has no IOMMU: turn VT-d or AMD-Vi on in the firmware and boot Linux with intel_iommu=on iommu=pt; "
           "or do without, and trust the card with all memory",
           "modprobe vfio enable_unsafe_noiommu_mode=1"});
    else if (device.driver == "vfio-pci" && !device.may_open)
      out.push_back({Severity::bad, address, "is not this user's to open",
                     "chgrp heddle /dev/vfio/" + std::to_string(device.iommu_group) + " && chmod g+rw /dev/vfio/" +
                         std::to_string(device.iommu_group)});
  }
  examine_numa(address, device.numa_node, machine, out);
  if (out.empty()) out.push_back({Severity::good, address, "given to DPDK by " + device.driver, ""});
  return out;
}

Findings examine_device_socket(const DeviceSocket& socket) {
  const std::string folder = std::filesystem::path(socket.path).parent_path();
  if (access(folder.c_str(), F_OK) != 0)
    return {{Severity::bad, socket.path, "its folder is not there", "mkdir -p " + folder}};
  const SocketState state = socket_state(socket.path, socket.is_stream);
  if (socket.listens) {
    if (state == SocketState::answers)
      return {{Severity::bad, socket.path, "somebody listens there already", "ss -xlp src " + socket.path}};
    if (access(folder.c_str(), W_OK) != 0)
      return {{Severity::bad, socket.path, "its folder is not this user's to write", ""}};
    return {{Severity::good, socket.path, "can be listened at", ""}};
  }
  if (state != SocketState::answers)
    return {{Severity::advice, socket.path, "nobody listens there yet; heddled waits for it", ""}};
  return {{Severity::good, socket.path, "answers", ""}};
}

}  // namespace heddle
