// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_names.h"

#include "config/run_folders.h"

namespace heddle {

namespace {

std::string device_string(LabDriver driver, uint32_t number, const std::string& interface) {
  const std::string kind = driver == LabDriver::kAfXdp ? "net_af_xdp" : "packet_socket";
  return kind + std::to_string(number) + ",iface=" + interface;
}

}  // namespace

std::string lab_folder(const std::string& lab) { return std::string(kLabRunFolder) + "/" + lab; }
std::string lab_socket(const std::string& lab) { return lab_folder(lab) + "/heddled.sock"; }
std::string lab_log(const std::string& lab) { return lab_folder(lab) + "/heddled.log"; }
std::string lab_hostd_log(const std::string& lab, const std::string& host) {
  return lab_folder(lab) + "/" + host + ".hostd.log";
}
std::string lab_copy(const std::string& lab) { return lab_folder(lab) + "/lab.yaml"; }
std::string switch_namespace(const std::string& lab) { return host_namespace(lab, std::string(kSwitchNamespace)); }
std::string host_namespace(const std::string& lab, const std::string& host) { return "heddle-" + lab + "-" + host; }

std::string switch_interface(const LabInterface& interface) {
  return "n" + std::to_string(interface.node_index) + "p" + std::to_string(interface.port);
}

std::string port_name(const Topology& topology, uint16_t node_index, PortIndex port) {
  const TopologyNode& node = topology.nodes[node_index];
  return node.name + ":" + node.ports[port].name;
}

ProcessConfig lab_process(const LabConfig& lab) {
  ProcessConfig process = lab.process();
  process.socket = lab_socket(lab.name);
  uint32_t number = 0;
  for (const LabHost& host : lab.hosts) {
    for (const LabInterface& interface : host.interfaces) {
      for (NodeProcess& node : process.nodes) {
        if (node.node_index != interface.node_index) continue;
        PortDevice& port = node.ports[interface.port];
        port.device = device_string(lab.driver, number++, switch_interface(interface));
        port.host = host.name + ":" + interface.name;
        port.complete_checksums = true;
      }
    }
  }
  return process;
}

}  // namespace heddle
