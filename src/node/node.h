// SPDX-License-Identifier: Apache-2.0
// One switch: its ports, its workers and the crossings between them. Owns them all; shares nothing with other nodes of
// the process but links. Built and torn down by one thread; each worker is polled by one thread at a time.
#pragma once

#include <memory>
#include <vector>

#include "node/worker.h"

namespace heddle {

class Node {
 public:
  // Throws std::runtime_error if tables can't be had.
  explicit Node(const NodeOptions& options);
  ~Node();  // packets it still holds go back to the pool

  const Topology& topology() const { return *options_.topology; }
  const TopologyNode& description() const { return options_.topology->nodes[options_.node_index]; }
  uint16_t index() const { return options_.node_index; }
  uint32_t workers() const { return static_cast<uint32_t>(workers_.size()); }
  Worker& worker(WorkerIndex index) { return *workers_[index]; }
  const Worker& worker(WorkerIndex index) const { return *workers_[index]; }
  WorkerIndex worker_of_port(PortIndex port) const { return worker_of_port_[port]; }
  size_t ports() const { return ports_.size(); }
  // What stands under the port from now on; outlives the node or the next call. By the thread of the port's worker,
  // between its polls.
  void plug(PortIndex index, Device* device);
  // The worker's edge ports are shared by this policy from now on (A9). By the thread of the worker, between its polls.
  void set_applications(WorkerIndex worker, ApplicationPolicy&& policy);
  // What traffic classes have of the worker's ports from now on (X4); nothing changes at ports where that is what they
  // have. By the thread of the worker, between its polls.
  void set_shapers(WorkerIndex worker, const PortShapers& shapers);
  // What its queues hold most, and what they drop, is counted anew from here on. By the same thread.
  void restart_queue_marks(PortIndex index);
  // For inspection; by the thread of the port's worker, between its polls.
  const Port& port(PortIndex index) const { return *ports_[index]; }

 private:
  NodeOptions of_worker(WorkerIndex worker) const;
  // R3: what each class has of the port, whatever the others send.
  void publish_parts(PortIndex index);

  NodeOptions options_;
  std::vector<ApplicationPolicy> applications_;  // by worker, which alone reads it
  LoadBoard board_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<WorkerIndex> worker_of_port_;
  std::vector<std::unique_ptr<Crossing>> crossings_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace heddle
