// SPDX-License-Identifier: Apache-2.0
// What a node is built from. A value; sizes as they say, in entries, buffers or frames, from files that have been
// checked (config/), so that nothing here is refused.
#pragma once

#include <memory_resource>
#include <vector>

#include "node/device.h"
#include "topology/application_policy.h"
#include "topology/shaper_policy.h"
#include "topology/topology.h"
#include "wire/packet.h"

namespace heddle {

struct NodeOptions {
  const Topology* topology;  // outlives the node
  uint16_t node_index;
  const ApplicationPolicy* applications = &kNoApplications;  // a node has its own copies; outlives a port, a worker
  PortShapers shapers = {};                                  // by port; none: all classes share all ports alike
  uint32_t workers = 1;                                      // ports are dealt to them in turn
  std::vector<Device*> devices;                              // by port; outlive the node
  std::vector<bool> complete_checksums;                      // by port
  PacketPool* pool;                                          // outlives the node; shared by its workers
  PacketPool* control_pool;         // of the same kind, for frames made here: data never takes their last buffer
  uint32_t match_entries = 4096;    // per worker (F4)
  uint32_t station_entries = 4096;  // per worker
  std::pmr::memory_resource* tables = std::pmr::get_default_resource();  // of these two; outlives the node
  uint32_t copies_max = 512;   // buffers of packets from replication at one time, per worker
  uint32_t waiting_max = 256;  // frames per edge port that wait for a flow ID (F10)
  uint64_t seed = 1;
};

}  // namespace heddle
