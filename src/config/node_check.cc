// SPDX-License-Identifier: Apache-2.0
#include "config/node_check.h"

#include <algorithm>
#include <map>
#include <string>

#include "config/device_string.h"
#include "config/memory_budget.h"
#include "config/units.h"

namespace heddle {

namespace {

class ProcessCheck {
 public:
  ProcessCheck(const ProcessConfig& process, const YamlValue& root, const NodeFileSources& sources)
      : process_(process), root_(root), sources_(sources) {}

  void run() {
    for (size_t i = 0; i < process_.nodes.size(); ++i) {
      for (size_t port = 0; port < process_.nodes[i].ports.size(); ++port) check_port(i, port);
    }
    check_rings();
    check_pool();
    check_workers();
    check_threads();
    check_stations();
  }

 private:
  const TopologyPort& port_of(const NodeProcess& node, size_t port) const {
    return process_.topology.nodes[node.node_index].ports[port];
  }

  void check_port(size_t node, size_t port) {
    const TopologyPort& topology_port = port_of(process_.nodes[node], port);
    const std::string& device = process_.nodes[node].ports[port].device;
    const YamlValue& source = sources_.nodes[node].devices_by_port[port];
    if (!device.empty()) {
      check_device_unique(device, source);
      check_device_count(device, source);
      check_device_frames(topology_port, device, source);
    } else if (!topology_port.fabric) {
      no_device(node, source, "a device for each edge port");
    } else {
      check_in_process(node, topology_port.peer, source);
    }
  }

  // A port without device is a link inside the process, whose other end is such a port too.
  void check_in_process(size_t node, const PortPeer& peer, const YamlValue& source) {
    const TopologyNode& peer_node = process_.topology.nodes[peer.node_index];
    const std::string peer_text = peer_node.name + ":" + peer_node.ports[peer.port].name;
    const auto it = std::find_if(process_.nodes.begin(), process_.nodes.end(),
                                 [&](const NodeProcess& other) { return other.node_index == peer.node_index; });
    if (it == process_.nodes.end()) {
      return no_device(node, source, "a device, since " + peer_text + " is in another process");
    }
    if (!it->ports[peer.port].device.empty()) {
      no_device(node, source, "a device, since " + peer_text + " has one");
    }
  }

  void no_device(size_t node, const YamlValue& source, const std::string& allowed) {
    // Without any `devices` the message points at the node.
    if (!source.present() && !sources_.nodes[node].devices.present()) {
      return sources_.nodes[node].name.problem_at_key("no device for " + source.key(), allowed);
    }
    source.problem("nothing", allowed);
  }

  void check_device_unique(const std::string& device, const YamlValue& source) {
    const std::string name = device.substr(0, device.find(','));
    const auto [first, is_new] = names_.emplace(name, source.path());
    if (!is_new) return source.problem(name + ", which is at " + first->second, "another device");
    const std::string interface(device_argument(device, "iface"));
    if (interface.empty()) return;
    const auto [other, is_new_interface] = interfaces_.emplace(interface, source.path());
    if (is_new_interface) return;
    source.problem("interface " + interface + ", which is at " + other->second, "another interface");
  }

  void check_device_count(const std::string& device, const YamlValue& source) {
    if (device_uses(device, "packet_socket") || ++dpdk_devices_ <= kDpdkDevicesMax) return;
    source.problem("DPDK device number " + std::to_string(dpdk_devices_),
                   std::to_string(kDpdkDevicesMax) + " of them in a process, and packet sockets");
  }

  void check_device_frames(const TopologyPort& port, const std::string& device, const YamlValue& source) {
    const uint32_t overhead = frame_bytes_max(port) - port.mtu_bytes;
    const uint32_t allowed = device_frame_bytes_max(device);
    if (frame_bytes_max(port) <= allowed) return;
    const bool one_page = device_uses(device, "net_af_xdp");
    source.problem("MTU " + std::to_string(port.mtu_bytes),
                   "up to " + std::to_string(allowed < overhead ? 0 : allowed - overhead) +
                       (one_page ? " (a frame of AF_XDP lies in one page)" : " (framesz of the device)"));
  }

  // C9: what the neighbour may send by its credits never overflows the ring.
  void check_rings() {
    bool small = false;
    for (size_t node = 0; node < process_.nodes.size(); ++node) {
      for (const PortDevice& device : process_.nodes[node].ports) {
        if (device.device.empty() || !port_of(process_.nodes[node], device.port).fabric) continue;
        const YamlValue& source = sources_.nodes[node].devices_by_port[device.port];
        if (device_uses(device.device, "net_af_packet") && !device_argument(device.device, "framecnt").empty())
          check_ring(source, "framecnt ", device_ring_frames(device.device, 0));
        else
          small = small || process_.receive_descriptors < ring_frames_needed(process_.topology);
      }
    }
    if (small) check_ring(root_["receive_descriptors"], "", process_.receive_descriptors);
  }

  void check_ring(const YamlValue& source, const std::string& what, uint32_t frames) {
    const uint32_t needed = ring_frames_needed(process_.topology);
    if (frames >= needed) return;
    source.problem(what + std::to_string(frames), std::to_string(needed) + " or more (credits of the link " +
                                                      std::to_string(needed - kDescriptorReserve) +
                                                      " and a reserve of " + std::to_string(kDescriptorReserve) + ")");
  }

  void check_pool() {
    const uint64_t needed = buffers_needed(process_);
    if (process_.buffers < needed) {
      root_["buffers"].problem(std::to_string(process_.buffers),
                               std::to_string(needed) + " or more (credits, rings and caches of all ports)");
    }
    const uint64_t memory_needed = memory_needed_megabytes(process_);
    if (process_.memory_mb < memory_needed) {
      root_["memory"].problem(format_size(uint64_t{process_.memory_mb} * 1024 * 1024),
                              std::to_string(memory_needed) + "M or more (" + std::to_string(process_.buffers) +
                                  " buffers of " + std::to_string(buffer_room_bytes(process_)) + " bytes, " +
                                  std::to_string(process_.match_entries) + " matches of each worker)");
    }
  }

  void check_stations() const {
    const size_t fixed = process_.topology.stations.size();
    if (process_.station_entries < 2 * fixed)
      root_["station_entries"].problem(std::to_string(process_.station_entries),
                                       std::to_string(2 * fixed) + " or more, twice the " + std::to_string(fixed) +
                                           " stations of the topology file");
  }

  // DPDK counts what it gives out by name, and a worker's match table has one.
  void check_workers() {
    constexpr uint32_t kWorkersMax = 2048;
    if (workers() > kWorkersMax)
      root_.problem(std::to_string(workers()) + " workers of all its nodes",
                    "up to " + std::to_string(kWorkersMax) + " in a process");
  }

  void check_threads() {
    if (process_.threads > workers()) {
      root_["threads"].problem(std::to_string(process_.threads),
                               "up to " + std::to_string(workers()) + ", the number of workers");
    }
  }

  uint32_t workers() const {
    uint32_t workers = 0;
    for (const NodeProcess& node : process_.nodes) workers += node.workers;
    return workers;
  }

  const ProcessConfig& process_;
  YamlValue root_;
  const NodeFileSources& sources_;
  std::map<std::string, std::string> names_;       // device -> where it stands
  std::map<std::string, std::string> interfaces_;  // iface= -> where it stands
  uint32_t dpdk_devices_ = 0;
};

}  // namespace

void check_process(const ProcessConfig& process, const YamlValue& root, const NodeFileSources& sources) {
  ProcessCheck(process, root, sources).run();
}

}  // namespace heddle
