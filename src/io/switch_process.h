// SPDX-License-Identifier: Apache-2.0
// All that one heddled runs: its nodes, the devices and in-process links under their ports, the threads that poll them.
// Built, asked, changed and torn down by the control thread alone; what belongs to a worker is touched only in that
// worker's thread (run_on).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/node_config.h"
#include "io/huge_memory.h"
#include "io/memory_link.h"
#include "io/mempool_pool.h"
#include "io/outward_device.h"
#include "io/runner.h"
#include "io/unplugged_device.h"
#include "node/node.h"

namespace heddle {

// A link between two nodes of the process. Direction d leaves ends[d].
struct ProcessLink {
  LinkEnd ends[2];
  LinkImpairment impairment[2];
  bool up = true;  // as the operator wants it; it is also down while one of its nodes is
  std::unique_ptr<MemoryLink> link;
};

struct ProcessPort {
  Device* device = nullptr;                    // under the node's port
  ProcessLink* link = nullptr;                 // that is an end of it
  std::unique_ptr<OutwardDevice> outward;      // where the configuration has a device
  bool plugged = false;                        // `outward` is started, and under the port
  std::string absent;                          // else what it waits for
  bool carrier = false;                        // of it, as the node has been told
  std::unique_ptr<UnpluggedDevice> unplugged;  // under the port else; empty for in-process links
};

struct ProcessNode {
  NodeProcess settings;
  std::vector<ProcessPort> ports;  // in topology order
  std::vector<Runner*> runners;    // by worker
  std::unique_ptr<Node> node;      // empty while it is down
  uint32_t starts = 0;
};

class SwitchProcess {
 public:
  // Opens all devices that are there; the EAL is up. Throws std::runtime_error.
  explicit SwitchProcess(ProcessConfig config);
  ~SwitchProcess();
  SwitchProcess(const SwitchProcess&) = delete;
  SwitchProcess& operator=(const SwitchProcess&) = delete;

  void start();
  void stop();

  const ProcessConfig& config() const { return config_; }
  const Topology& topology() const { return config_.topology; }
  const std::vector<ProcessNode>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<ProcessLink>>& links() const { return links_; }
  const MempoolPool& pool() const { return *pool_; }
  const MempoolPool& control_pool() const { return *control_pool_; }  // of frames made here
  size_t runners() const { return runners_.size(); }
  size_t runner_index(const Runner* runner) const;
  Nanos last_round_ns(size_t runner) const { return runners_[runner]->last_round_ns(); }
  Nanos started_ns() const { return started_ns_; }

  // Calls `function` in the thread of that worker, between its turns, and waits for it.
  void run_on(const ProcessNode& node, WorkerIndex worker, const std::function<void()>& function) const {
    node.runners[worker]->run(function);
  }
  void run_on(size_t runner, const std::function<void(const Runner&)>& function) const;

  // --- devices that come and go; see io/device_supervisor.h ---
  // Starts a port's device and puts it under the port. False: it is not there yet, `absent` says why. Throws
  // std::runtime_error if it can't be had for another reason.
  bool plug(uint16_t node_index, PortIndex port);
  void unplug(uint16_t node_index, PortIndex port, const std::string& why);
  // Tells the node what the device says of its cable. False if it says what it said before.
  bool tell_carrier(uint16_t node_index, PortIndex port);

  // The node's edge ports are shared by this policy from now on (A9).
  void set_applications(uint16_t node_index, const ApplicationPolicy& policy);
  // Traffic classes have this of the node's ports from now on (X4).
  void set_shapers(uint16_t node_index, const PortShapers& shapers);

  // What the port's queues hold most, and what they drop, is counted anew from here on. The node is not down.
  void restart_queue_marks(const ProcessNode& node, PortIndex port);

  // Faults on purpose, for labs. What is left out stays as it is. Both throw std::runtime_error if `port` is no
  // in-process link of this process.
  struct LinkChange {
    std::optional<bool> up;
    std::optional<uint32_t> loss_ppm;  // both directions, as is the delay
    std::optional<Nanos> delay_ns;
  };
  void change_link(LinkEnd end, const LinkChange& change);
  // Down: the node is gone with all it knew and held, as after a crash. Up: it starts anew.
  void set_node_up(uint16_t node_index, bool up);

 private:
  void make_ports(const NodeProcess& settings);
  std::unique_ptr<OutwardDevice> make_device(const std::string& device, const TopologyPort& port);
  void put_under(ProcessNode& node, PortIndex port, Device* device);
  void make_links();
  void make_memory_link(ProcessLink& link);
  void start_node(ProcessNode& node);
  void remove_node(ProcessNode& node);
  Runner& runner_of(const ProcessNode& node, PortIndex port) const;
  void set_link_wakers(const ProcessNode& node);
  void empty_devices(ProcessNode& node);
  void apply_faults(ProcessLink& link);
  void apply_state(ProcessLink& link);
  void set_carrier(LinkEnd end, bool carrier);
  ProcessNode* find(uint16_t node_index);

  ProcessConfig config_;
  HugeMemory table_memory_;
  std::unique_ptr<MempoolPool> pool_;
  std::unique_ptr<MempoolPool> control_pool_;
  std::vector<std::unique_ptr<Runner>> runners_;
  std::vector<std::unique_ptr<ProcessLink>> links_;
  std::vector<ProcessNode> nodes_;  // in the order of the configuration
  Nanos started_ns_ = 0;
};

}  // namespace heddle
