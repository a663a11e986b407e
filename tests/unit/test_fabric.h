// SPDX-License-Identifier: Apache-2.0
// A small fabric in memory for tests of the node: whole switches, and a clock that the test moves. Random fabrics under
// faults are the simulator's.
#pragma once

#include <memory>
#include <vector>

#include "memory_ports.h"
#include "node/node.h"

namespace heddle::test {

class TestFabric {
 public:
  explicit TestFabric(const Topology& description, uint32_t workers = 1) : topology(description) {
    if (topology.classes.empty()) topology.classes.push_back({});
    for (uint16_t i = 0; i < topology.nodes.size(); ++i) {
      devices.emplace_back();
      for (size_t port = 0; port < topology.nodes[i].ports.size(); ++port)
        devices[i].push_back(std::make_unique<MemoryDevice>(pool));
    }
    for (const TopologyLink& link : topology.links) {
      MemoryDevice& a = device(link.ends[0].node_index, link.ends[0].port);
      MemoryDevice& b = device(link.ends[1].node_index, link.ends[1].port);
      a.connect(b);
      b.connect(a);
    }
    for (uint16_t i = 0; i < topology.nodes.size(); ++i) start(i, workers);
  }

  MemoryDevice& device(uint16_t node, PortIndex port) { return *devices[node][port]; }
  // From now on it has room for so many frames at a time.
  void takes(uint16_t node, PortIndex port, uint32_t frames) {
    device(node, port).accepts = frames;
    nodes[node]->plug(port, &device(node, port));
    run(kMicrosecond);  // it has been looked at
  }

  void start(uint16_t index, uint32_t workers) {
    NodeOptions options;
    options.topology = &topology;
    options.node_index = index;
    options.workers = workers;
    for (auto& port : devices[index]) options.devices.push_back(port.get());
    options.complete_checksums.assign(devices[index].size(), false);
    options.pool = options.control_pool = &pool;
    options.seed = ++seed;
    if (nodes.size() <= index) nodes.resize(index + size_t{1});
    nodes[index].reset();
    nodes[index] = std::make_unique<Node>(options);
  }

  // Polls every worker once per `step` until `duration` has passed.
  void run(Nanos duration, Nanos step = 10 * kMicrosecond) {
    for (const Nanos end = now + duration; now < end; now += step)
      for (auto& node : nodes)
        for (WorkerIndex worker = 0; node && worker < node->workers(); ++worker) node->worker(worker).poll(now);
  }

  uint64_t drops(DropReason reason) const {
    return sum([reason](const PortCounters& c) { return c.drops[static_cast<unsigned>(reason)]; });
  }
  uint64_t all_drops() const {
    return sum([](const PortCounters& c) {
      uint64_t total = 0;
      for (uint64_t drops : c.drops) total += drops;
      return total;
    });
  }
  uint64_t events(ProtocolEvent event) const {
    return sum([event](const PortCounters& c) { return c.events[static_cast<unsigned>(event)]; });
  }
  // Flow IDs of outputs in use, all nodes: 0 at rest.
  // But for those that wait for whoever needs one (F9).
  static uint32_t used_at(const OutputFlowTable& flows) {
    uint32_t resting = 0;
    for (uint32_t i = 1; i <= flows.size(); ++i) {
      const OutputFlow& entry = flows[FlowId::of(i)];
      resting += entry.state == OutputFlowState::reserved && entry.at_rest() && flows.resting().has(FlowId::of(i));
    }
    return flows.used() - resting;
  }
  uint32_t output_flows_used() const {
    uint32_t used = 0;
    for (const auto& node : nodes)
      for (PortIndex port = 0; port < node->ports(); ++port) used += used_at(node->port(port).output.flows);
    return used;
  }

  Topology topology;
  HeapPool pool;
  std::vector<std::vector<std::unique_ptr<MemoryDevice>>> devices;
  std::vector<std::unique_ptr<Node>> nodes;
  Nanos now = kSecond;
  uint64_t seed = 0;

 private:
  template <typename Value>
  uint64_t sum(Value value) const {
    uint64_t total = 0;
    for (const auto& node : nodes)
      for (PortIndex port = 0; port < node->ports(); ++port) total += value(node->port(port).counters);
    return total;
  }
};

}  // namespace heddle::test
