// SPDX-License-Identifier: Apache-2.0
#include "machine/doctor.h"

#include <linux/capability.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "machine/examine_machine.h"
#include "machine/examine_port.h"
#include "machine/stale_socket.h"

namespace heddle {

namespace {

void append(Findings& to, Findings what) {
  to.insert(to.end(), std::make_move_iterator(what.begin()), std::make_move_iterator(what.end()));
}

// `running`: the heddled of this very file, whose interfaces are its own; 0 = none.
Findings examine_device(const std::string& device, const TopologyPort& port, const MachineFacts& machine,
                        pid_t running) {
  if (is_pci_device(device)) return examine_pci(pci_facts(device.substr(0, device.find(','))), machine);
  if (const std::string interface(kernel_interface(device)); !interface.empty())
    return examine_interface(interface_facts(interface),
                             {.mtu_bytes = port.mtu_bytes, .fabric = port.fabric, .running = running}, machine);
  if (const DeviceSocket socket = device_socket(device); !socket.path.empty() && running == 0)
    return examine_device_socket(socket);
  return {};
}

bool in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

Findings examine_process(const ProcessConfig& process) {
  const MachineFacts machine = machine_facts();
  const pid_t owner = socket_owner(process.socket), running = owner == getpid() ? 0 : owner;
  Findings out;
  for (const NodeProcess& node : process.nodes)
    for (const PortDevice& port : node.ports)
      append(out,
             examine_device(port.device, process.topology.nodes[node.node_index].ports[port.port], machine, running));
  append(out, examine_rights(process, machine));
  append(out, examine_memory(process, machine));
  append(out, examine_cpus(process, machine));
  if (running != 0)
    out.push_back({Severity::advice, process.socket,
                   "heddled (process " + std::to_string(running) + ") runs already and answers there",
                   "heddle show nodes --socket " + process.socket});
  return out;
}

Findings examine_lab(const LabConfig& lab) {
  const MachineFacts machine = machine_facts();
  Findings out;
  const bool may = machine.may(CAP_SYS_ADMIN) && machine.may(CAP_NET_ADMIN) && machine.may(CAP_NET_RAW);
  out.push_back({may ? Severity::good : Severity::bad, "rights",
                 may ? "enough for network namespaces" : "network namespaces ask for root", may ? "" : "sudo"});
  for (const char* program : {"ip", "ethtool"}) {
    const bool there = in_path(program);
    out.push_back({there ? Severity::good : Severity::bad, program, there ? "is there" : "is not in PATH",
                   there ? "" : std::string("apt install ") + (program[0] == 'i' ? "iproute2" : program)});
  }
  const bool wants_vlan = std::any_of(lab.hosts.begin(), lab.hosts.end(), [](const LabHost& host) {
    return std::any_of(host.interfaces.begin(), host.interfaces.end(),
                       [](const LabInterface& interface) { return interface.vlan != 0; });
  });
  if (wants_vlan && !machine.vlan_interfaces)
    out.push_back(
        {Severity::bad, "vlan", "this kernel has no VLAN interfaces, which hosts of this lab have", "modprobe 8021q"});
  const ProcessConfig process = lab.process();
  append(out, examine_memory(process, machine));
  append(out, examine_cpus(process, machine));
  return out;
}

Findings examine_this_machine() { return examine_offers(machine_facts()); }

}  // namespace heddle
