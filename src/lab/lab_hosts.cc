// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_hosts.h"

#include <signal.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "lab/lab_names.h"
#include "lab/subprocess.h"

namespace heddle {

namespace {

std::string mac_text(uint64_t mac) {
  char text[18];
  std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", static_cast<unsigned>(mac >> 40 & 0xff),
                static_cast<unsigned>(mac >> 32 & 0xff), static_cast<unsigned>(mac >> 24 & 0xff),
                static_cast<unsigned>(mac >> 16 & 0xff), static_cast<unsigned>(mac >> 8 & 0xff),
                static_cast<unsigned>(mac & 0xff));
  return text;
}

// /proc/sys/net belongs to the namespace of whoever writes.
void set_kernel_option(const std::string& name_space, const std::string& option, const std::string& value) {
  run_or_throw(in_namespace(name_space, {"tee", "/proc/sys/net/" + option}), value);
}

// The kernel has no word in what the switch's ends receive or send.
void make_switch_namespace(const std::string& name) {
  run_or_throw({"ip", "netns", "add", name});
  set_kernel_option(name, "ipv6/conf/all/disable_ipv6", "1");
  set_kernel_option(name, "ipv6/conf/default/disable_ipv6", "1");
  run_or_throw({"ip", "-n", name, "link", "set", "lo", "up"});
}

void make_host_namespace(const std::string& name) {
  run_or_throw({"ip", "netns", "add", name});
  set_kernel_option(name, "ipv6/conf/all/accept_dad", "0");  // an address can be used at once
  set_kernel_option(name, "ipv6/conf/default/accept_dad", "0");
  run_or_throw({"ip", "-n", name, "link", "set", "lo", "up"});
}

// The two ends of a cable. The host's kernel must leave nothing to hardware: what it sends goes on over a real wire.
void make_cable(const LabConfig& lab, const LabHost& host, const LabInterface& interface) {
  const std::string outer = switch_namespace(lab.name);
  const std::string inner = host_namespace(lab.name, host.name);
  const std::string cable = switch_interface(interface);
  const TopologyPort& port = lab.topology.nodes[interface.node_index].ports[interface.port];
  std::ostringstream batch;
  batch << "link add " << cable << " mtu " << port.mtu_bytes << " type veth peer name " << interface.name << " mtu "
        << port.mtu_bytes;
  if (interface.mac != 0) batch << " address " << mac_text(interface.mac);
  batch << " netns " << inner << "\n";
  batch << "link set dev " << cable << " alias " << port_name(lab.topology, interface.node_index, interface.port)
        << "\n";
  batch << "link set dev " << cable << " arp off\n";
  batch << "link set dev " << cable << " up\n";
  run_or_throw({"ip", "-n", outer, "-batch", "-"}, batch.str());
  run_or_throw(in_namespace(inner, {"ethtool", "-K", interface.name, "tx", "off", "txvlan", "off"}));
}

void add_vlan_interface(const std::string& name_space, const LabInterface& interface) {
  const std::string name = vlan_interface_name(interface);
  const RunResult result = run_program({"ip", "-n", name_space, "link", "add", "link", interface.name, "name", name,
                                        "type", "vlan", "id", std::to_string(interface.vlan)});
  if (result.ok()) return;
  const bool unknown = result.output.find("nknown device type") != std::string::npos ||
                       result.output.find("not supported") != std::string::npos;
  throw std::runtime_error("interface " + name + " can't be made: " +
                           (unknown ? "this kernel has no VLAN interfaces (modprobe 8021q)" : result.output));
}

void set_addresses(const LabConfig& lab, const LabHost& host, const LabInterface& interface) {
  const std::string inner = host_namespace(lab.name, host.name);
  std::string device = interface.name;
  std::ostringstream batch;
  batch << "link set dev " << interface.name << " up\n";
  if (interface.vlan != 0) {
    device = vlan_interface_name(interface);
    add_vlan_interface(inner, interface);
    batch << "link set dev " << device << " up\n";
  }
  if (!interface.address_v4.empty()) batch << "addr add " << interface.address_v4 << " dev " << device << "\n";
  if (!interface.address_v6.empty()) batch << "addr add " << interface.address_v6 << " dev " << device << " nodad\n";
  run_or_throw({"ip", "-n", inner, "-batch", "-"}, batch.str());
}

std::vector<pid_t> processes_in(const std::string& name) {
  std::istringstream list(run_program({"ip", "netns", "pids", name}).output);
  std::vector<pid_t> pids;
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

std::vector<std::string> lab_namespaces(const LabConfig& lab) {
  std::vector<std::string> names{switch_namespace(lab.name)};
  for (const LabHost& host : lab.hosts) names.push_back(host_namespace(lab.name, host.name));
  return names;
}

void make_lab_hosts(const LabConfig& lab) {
  make_switch_namespace(switch_namespace(lab.name));
  for (const LabHost& host : lab.hosts) {
    make_host_namespace(host_namespace(lab.name, host.name));
    for (const LabInterface& interface : host.interfaces) {
      make_cable(lab, host, interface);
      set_addresses(lab, host, interface);
    }
  }
}

void run_host_commands(const LabConfig& lab) {
  for (const LabHost& host : lab.hosts) {
    for (const std::string& command : host.exec) {
      const RunResult result =
          run_program(in_namespace(host_namespace(lab.name, host.name), {"/bin/sh", "-c", command}));
      if (!result.ok())
        throw std::runtime_error("host " + host.name + ": `" + command + "` failed (" + std::to_string(result.status) +
                                 "): " + result.output);
    }
  }
}

std::vector<std::string> in_namespace(const std::string& name, std::vector<std::string> command) {
  command.insert(command.begin(), {"ip", "netns", "exec", name});
  return command;
}

bool namespace_exists(const std::string& name) { return std::filesystem::exists("/run/netns/" + name); }

void remove_namespace(const std::string& name) {
  if (!namespace_exists(name)) return;
  constexpr int kAttempts = 20;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::vector<pid_t> pids = processes_in(name);
    if (pids.empty()) break;
    for (const pid_t pid : pids) kill(pid, attempt < kAttempts / 2 ? SIGTERM : SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  run_or_throw({"ip", "netns", "del", name});
}

}  // namespace heddle
