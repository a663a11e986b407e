// SPDX-License-Identifier: Apache-2.0
// One process of heddled as its node file describes it: which nodes of the topology it runs, on which
// devices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "topology/application_policy.h"
#include "topology/shaper_policy.h"
#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

// Faults and limits of an in-process link, per direction; what a lab uses instead of netem.
struct LinkImpairment {
  Nanos delay_ns = 0;
  uint32_t loss_ppm = 0;  // frames lost per million
};

struct PortDevice {
  PortIndex port = 0;
  std::string device;               // DPDK device string: a PCI address or vdev arguments; empty = in-process link to a
                                    // node of this process
  std::string host;                 // whose interface is at the other end, as in h1:eth1; empty = not known
  LinkImpairment impairment;        // in-process links, of the direction that leaves this port
  bool complete_checksums = false;  // look for checksums left to the hardware (on by default for af_packet and af_xdp)
};

struct NodeProcess {
  uint16_t node_index = 0;  // in the topology
  uint32_t workers = 1;     // ports are dealt to them in turn
  ApplicationPolicy applications = {};
  PortShapers shapers = {};
  std::vector<PortDevice> ports;  // every port of the node, in topology order
};

struct ProcessConfig {
  Topology topology;
  std::string topology_file;
  std::vector<NodeProcess> nodes;
  uint32_t threads = 1;  // OS threads that run the workers of all nodes
  bool poll = false;     // never sleep
  bool huge_pages = false;
  uint32_t memory_mb = 512;
  uint32_t buffers = 32768;             // packet buffers of the process
  uint32_t receive_descriptors = 2048;  // per port; on fabric ports all credits and a reserve fit in (C9)
  uint32_t transmit_descriptors = 256;
  uint32_t match_entries = 262144;   // per worker (F4)
  uint32_t station_entries = 65536;  // per worker (E1)
  std::string socket;                // operator socket path
  std::string socket_group;          // empty = root only
  std::string log_level = "info";
};

}  // namespace heddle
