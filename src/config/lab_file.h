// SPDX-License-Identifier: Apache-2.0
// The lab file: switches, hosts and links of a fabric that lives on one machine, in the manner of
// containerlab. All switches run in one process over in-process links; hosts are network namespaces behind
// veth pairs. docs/configuration.md tells its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_errors.h"
#include "config/node_config.h"

namespace heddle {

struct LabInterface {
  std::string name;         // inside the host, as in eth1
  uint16_t node_index = 0;  // the switch and edge port it is plugged into
  PortIndex port = 0;
  std::string address_v4;  // as in 10.0.0.1/24; empty = none
  std::string address_v6;
  uint64_t mac = 0;   // 0 = the kernel's choice
  uint16_t vlan = 0;  // frames carry this tag: the addresses belong to a VLAN interface; 0 = untagged
};

// eth1.10: carries the addresses of an interface with a VLAN.
std::string vlan_interface_name(const LabInterface& interface);

// Stands where hosts have their names in those of network namespaces.
constexpr std::string_view kSwitchNamespace = "switch";

struct LabHost {
  std::string name;
  std::vector<LabInterface> interfaces;  // at least one, in the order of the links
  std::vector<std::string> exec;         // shell commands, run in the namespace once it is up
  bool hostd = false;                    // runs heddle-hostd on all its interfaces (G3)
};

enum class LabDriver : uint8_t { kAfPacket, kAfXdp };

struct LabConfig {
  std::string name;
  Topology topology;
  std::vector<NodeProcess> nodes;  // every switch; ports to hosts have an empty device until the lab has made it
  std::vector<LabHost> hosts;      // in the order of the file
  uint32_t threads = 1;
  LabDriver driver = LabDriver::kAfPacket;  // under the ports to hosts

  // The process that runs all switches, with buffers and memory as large as it needs. Devices of ports to
  // hosts are still empty; `topology_file` is too.
  ProcessConfig process() const;
};

// nullopt if anything is wrong; then `errors` has grown by every problem found, in the order of the file.
std::optional<LabConfig> load_lab(const std::string& path, ConfigErrors& errors);

// The same from a text; `file_name` is only shown in messages.
std::optional<LabConfig> parse_lab(const std::string& text, const std::string& file_name, ConfigErrors& errors);

}  // namespace heddle
