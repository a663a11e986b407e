// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_names.h"

#include <sys/socket.h>
#include <unistd.h>

namespace heddle {

namespace {

constexpr uint32_t kRingFrames = 2048;  // per port and direction: what comes while the switch sleeps or waits for a CPU
constexpr uint32_t kRingFrameBytes = 2048;
constexpr uint32_t kRingBlockBytes = 64 * 1024;

std::string device_string(LabDriver driver, uint32_t number, const std::string& interface) {
  if (driver == LabDriver::kAfXdp) return "net_af_xdp" + std::to_string(number) + ",iface=" + interface + ",busy_budget=0";
  return "net_af_packet" + std::to_string(number) + ",iface=" + interface + ",blocksz=" +
         std::to_string(kRingBlockBytes) + ",framesz=" + std::to_string(kRingFrameBytes) +
         ",framecnt=" + std::to_string(kRingFrames);
}

}  // namespace

std::string lab_folder(const std::string& lab) { return "/run/heddle/" + lab; }
std::string lab_socket(const std::string& lab) { return lab_folder(lab) + "/heddled.sock"; }
std::string lab_log(const std::string& lab) { return lab_folder(lab) + "/heddled.log"; }
std::string lab_copy(const std::string& lab) { return lab_folder(lab) + "/lab.yaml"; }
std::string switch_namespace(const std::string& lab) { return "heddle-" + lab + "-switch"; }
std::string host_namespace(const std::string& lab, const std::string& host) { return "heddle-" + lab + "-" + host; }

std::string switch_interface(const LabInterface& interface) {
  return "n" + std::to_string(interface.node_index) + "p" + std::to_string(interface.port);
}

std::string port_name(const Topology& topology, uint16_t node_index, PortIndex port) {
  const TopologyNode& node = topology.nodes[node_index];
  return node.name + ":" + node.ports[port].name;
}

LabDriver usable_driver(LabDriver wanted) {
  if (wanted != LabDriver::kAfXdp) return wanted;
  const int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (fd < 0) return LabDriver::kAfPacket;
  close(fd);
  return wanted;
}

ProcessConfig lab_process(const LabConfig& lab, LabDriver driver) {
  ProcessConfig process = lab.process();
  process.socket = lab_socket(lab.name);
  uint32_t number = 0;
  for (const LabHost& host : lab.hosts) {
    for (const LabInterface& interface : host.interfaces) {
      for (NodeProcess& node : process.nodes) {
        if (node.node_index != interface.node_index) continue;
        PortDevice& port = node.ports[interface.port];
        port.device = device_string(driver, number++, switch_interface(interface));
        port.complete_checksums = true;
      }
    }
  }
  return process;
}

}  // namespace heddle
