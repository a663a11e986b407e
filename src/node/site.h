// SPDX-License-Identifier: Apache-2.0
// What a worker is told once and never changes: the fabric, which node and worker of it this is, bounds. Every stage
// reads it; nobody writes it.
#pragma once

#include <array>

#include "node/options.h"
#include "topology/classes.h"
#include "topology/lanes.h"
#include "topology/topology.h"

namespace heddle {

constexpr VoqIndex kNoVoq = 0xffff;

struct Site {
  Site(const NodeOptions& options, WorkerIndex worker_index);

  const Topology& topology;
  const FabricSettings settings;
  const Lanes lanes;
  const ClassTable classes;
  const uint16_t node;       // index in the topology
  const uint16_t address;    // of the node
  const WorkerIndex worker;  // index in the node
  const uint32_t workers;
  const uint32_t port_count;
  const uint32_t waiting_max;              // frames per edge port that wait for a flow ID (F10)
  const uint32_t copies_max;               // buffers of packets from replication at one time
  const uint32_t lent_max;                 // flow IDs of another worker's output that an input port keeps (K11)
  const uint32_t frame_bytes;              // of the longest untagged frame that a host may send
  const uint64_t frame_buffers;            // that it holds with a fabric header
  const PortSet fabric_ports, edge_ports;  // of the node
  const bool several_lossy_classes;        // with flow channels: each has its part of an input's buffers (A8)

  const std::vector<TopologyPort>& ports() const { return topology.nodes[node].ports; }
  VoqIndex voq_index(PortIndex output, LaneIndex lane) const { return VoqIndex::of(lane * port_count + output); }
  // That of the class's lane at an output; kNoVoq of a lossless class, which has several lanes.
  VoqIndex lossy_voq(uint8_t ftag, PortIndex output) const {
    const VoqIndex first = lossy_voqs_[ftag & (kClassesMax - 1)];
    return first == kNoVoq ? first : VoqIndex::of(first + output);
  }

 private:
  std::array<VoqIndex, kClassesMax> lossy_voqs_;  // by FTAG: at output 0
};

}  // namespace heddle
