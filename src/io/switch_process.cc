// SPDX-License-Identifier: Apache-2.0
#include "io/switch_process.h"

#include <rte_config.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <random>
#include <stdexcept>

#include "config/budget.h"
#include "config/device_string.h"
#include "config/memory_budget.h"
#include "io/clock.h"
#include "io/ethdev_device.h"
#include "io/packet_socket.h"

namespace heddle {

namespace {

static_assert(kThreadsMax < RTE_MAX_LCORE);

uint64_t random_seed() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

bool same_end(const LinkEnd& a, const LinkEnd& b) { return a.node_index == b.node_index && a.port == b.port; }

}  // namespace

SwitchProcess::SwitchProcess(ProcessConfig config)
    : config_(std::move(config)),
      pool_(std::make_unique<MempoolPool>("packets", config_.buffers, buffer_room_bytes(config_))),
      control_pool_(std::make_unique<MempoolPool>("control", control_buffers(config_), control_room_bytes(config_))) {
  for (uint32_t index = 0; index < config_.threads; ++index) runners_.push_back(std::make_unique<Runner>(config_.poll));
  nodes_.reserve(config_.nodes.size());  // flow samples and lambdas point into it
  for (const NodeProcess& settings : config_.nodes) make_ports(settings);
  make_links();
  size_t next_runner = 0;
  for (ProcessNode& node : nodes_) {
    for (WorkerIndex worker = 0; worker < node.settings.workers; ++worker)
      node.runners.push_back(runners_[next_runner++ % runners_.size()].get());
    start_node(node);
  }
}

SwitchProcess::~SwitchProcess() {
  stop();
  nodes_.clear();  // packets go back to the pool before it goes
  links_.clear();
}

void SwitchProcess::make_ports(const NodeProcess& settings) {
  ProcessNode& node = nodes_.emplace_back();
  node.settings = settings;
  const TopologyNode& about = topology().nodes[settings.node_index];
  node.ports.resize(about.ports.size());
  for (const PortDevice& device : settings.ports) {
    if (device.device.empty()) continue;
    ProcessPort& port = node.ports[device.port];
    port.outward = make_device(device.device, about.ports[device.port]);
    port.unplugged = std::make_unique<UnpluggedDevice>(*pool_);
    port.device = port.unplugged.get();
    plug(settings.node_index, device.port);
  }
}

std::unique_ptr<OutwardDevice> SwitchProcess::make_device(const std::string& device, const TopologyPort& port) {
  if (!packet_socket_interface(device).empty())
    return std::make_unique<PacketSocket>(PacketSocketOptions{.device = device,
                                                              .mtu_bytes = port.mtu_bytes,
                                                              .frame_bytes = frame_bytes_max(port),
                                                              .receive_frames = config_.receive_descriptors},
                                          *pool_);
  const EthdevOptions options{.device = device,
                              .mtu_bytes = port.mtu_bytes,
                              .receive_descriptors = static_cast<uint16_t>(config_.receive_descriptors),
                              .transmit_descriptors = static_cast<uint16_t>(config_.transmit_descriptors),
                              .receive_frames_min = port.fabric ? ring_frames_needed(topology()) : 0};
  return std::make_unique<EthdevDevice>(options, *pool_);
}

bool SwitchProcess::plug(uint16_t node_index, PortIndex index) {
  ProcessNode& node = *find(node_index);
  ProcessPort& port = node.ports[index];
  const std::string name = topology().nodes[node_index].name + ":" + topology().nodes[node_index].ports[index].name;
  try {
    port.outward->start();
  } catch (const DeviceAbsent& absent) {
    port.absent = absent.what();
    return false;
  } catch (const std::exception& error) {
    port.absent = error.what();
    throw;
  }
  port.plugged = true;
  port.absent.clear();
  spdlog::info("port {} is {} ({})", name, port.outward->device(), port.outward->driver());
  for (const std::string& note : port.outward->notes()) spdlog::info("port {}: {}", name, note);
  put_under(node, index, port.outward.get());
  return true;
}

void SwitchProcess::unplug(uint16_t node_index, PortIndex index, const std::string& why) {
  ProcessNode& node = *find(node_index);
  ProcessPort& port = node.ports[index];
  if (node.node != nullptr) runner_of(node, index).unwatch(port.outward->readable_fd());
  put_under(node, index, port.unplugged.get());
  port.plugged = false;
  port.absent = why;
  port.outward->stop();
}

// What is under the port of a node that is down is there when it starts.
void SwitchProcess::put_under(ProcessNode& node, PortIndex index, Device* device) {
  ProcessPort& port = node.ports[index];
  port.device = device;
  if (node.node == nullptr) return;
  const bool outward = device == port.outward.get();
  run_on(node, node.node->worker_of_port(index), [&] { node.node->plug(index, device); });
  if (outward) runner_of(node, index).watch(port.outward->readable_fd());
  port.carrier = outward && port.outward->carrier();
  set_carrier({node.settings.node_index, index}, port.carrier);
}

bool SwitchProcess::tell_carrier(uint16_t node_index, PortIndex index) {
  ProcessPort& port = find(node_index)->ports[index];
  const bool carrier = port.plugged && port.outward->carrier();
  if (carrier == port.carrier) return false;
  port.carrier = carrier;
  set_carrier({node_index, index}, carrier);
  return true;
}

// A fabric port without a device is one end of a link to another node of this process; an edge port without one has
// nothing plugged in.
void SwitchProcess::make_links() {
  for (const TopologyLink& described : topology().links) {
    ProcessNode* ends[2] = {find(described.ends[0].node_index), find(described.ends[1].node_index)};
    if (ends[0] == nullptr || ends[1] == nullptr) continue;
    ProcessPort* ports[2] = {&ends[0]->ports[described.ends[0].port], &ends[1]->ports[described.ends[1].port]};
    if (ports[0]->device != nullptr || ports[1]->device != nullptr) continue;
    auto link = std::make_unique<ProcessLink>();
    for (unsigned side = 0; side < 2; ++side) {
      link->ends[side] = described.ends[side];
      for (const PortDevice& device : ends[side]->settings.ports)
        if (device.port == described.ends[side].port) link->impairment[side] = device.impairment;
    }
    make_memory_link(*link);
    for (unsigned side = 0; side < 2; ++side) {
      ports[side]->link = link.get();
      ports[side]->device = &link->link->end(side);
    }
    links_.push_back(std::move(link));
  }
  for (ProcessNode& node : nodes_) {
    for (ProcessPort& port : node.ports) {
      if (port.device != nullptr) continue;
      port.unplugged = std::make_unique<UnpluggedDevice>(*pool_);
      port.device = port.unplugged.get();
    }
  }
}

// The configured rate is kept by the sending port, where the queue can be seen; the link adds none of its own. What
// the neighbour may send by its credits never overflows it (C9).
void SwitchProcess::make_memory_link(ProcessLink& link) {
  MemoryLinkOptions options;
  options.receive_frames = std::max(options.receive_frames, ring_frames_needed(topology()));
  options.capacity_frames = std::max(options.capacity_frames, 2 * options.receive_frames);
  link.link = std::make_unique<MemoryLink>(*pool_, options, options, random_seed());
  apply_faults(link);
}

void SwitchProcess::apply_faults(ProcessLink& link) {
  for (unsigned direction = 0; direction < 2; ++direction) {
    link.link->set_loss(direction, link.impairment[direction].loss_ppm);
    link.link->set_delay(direction, link.impairment[direction].delay_ns);
  }
}

// A link is up while both its nodes are and the operator has not cut it.
void SwitchProcess::apply_state(ProcessLink& link) {
  bool up = link.up;
  for (const LinkEnd& end : link.ends) up = up && find(end.node_index)->node != nullptr;
  link.link->set_up(up);
}

void SwitchProcess::start_node(ProcessNode& node) {
  NodeOptions options{.topology = &config_.topology,
                      .node_index = node.settings.node_index,
                      .applications = &node.settings.applications,
                      .shapers = node.settings.shapers,
                      .workers = node.settings.workers,
                      .devices = {},
                      .complete_checksums = std::vector<bool>(node.ports.size()),
                      .pool = pool_.get(),
                      .control_pool = control_pool_.get(),
                      .match_entries = config_.match_entries,
                      .station_entries = config_.station_entries,
                      .tables = &table_memory_,
                      .seed = random_seed()};
  for (const ProcessPort& port : node.ports) options.devices.push_back(port.device);
  for (const PortDevice& device : node.settings.ports)
    options.complete_checksums[device.port] = device.complete_checksums;
  try {
    node.node = std::make_unique<Node>(options);
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("node " + topology().nodes[node.settings.node_index].name + ": no memory for tables of " +
                             std::to_string(config_.match_entries) + " flows and " +
                             std::to_string(config_.station_entries) +
                             " stations; lower match_entries or station_entries");
  }
  if (++node.starts == 1) set_link_wakers(node);
  std::vector<Waker*> wakers;
  for (Runner* runner : node.runners) wakers.push_back(&runner->waker());
  for (PortIndex index = 0; index < node.ports.size(); ++index) {
    ProcessPort& port = node.ports[index];
    if (port.outward == nullptr) continue;
    if (port.plugged) runner_of(node, index).watch(port.outward->readable_fd());
    port.carrier = port.plugged && port.outward->carrier();
    set_carrier({node.settings.node_index, index}, port.carrier);
  }
  for (WorkerIndex worker = 0; worker < node.settings.workers; ++worker)
    node.runners[worker]->run([&] { node.runners[worker]->add(&node.node->worker(worker), wakers); });
}

// A node that is down is nobody's to wake: what comes in meanwhile waits until empty_devices().
void SwitchProcess::remove_node(ProcessNode& node) {
  for (PortIndex port = 0; port < node.ports.size(); ++port)
    if (node.ports[port].plugged) runner_of(node, port).unwatch(node.ports[port].outward->readable_fd());
  for (WorkerIndex worker = 0; worker < node.settings.workers; ++worker)
    node.runners[worker]->run([&] { node.runners[worker]->remove(&node.node->worker(worker)); });
  node.node.reset();
}

Runner& SwitchProcess::runner_of(const ProcessNode& node, PortIndex port) const {
  return *node.runners[node.node->worker_of_port(port)];
}

void SwitchProcess::set_link_wakers(const ProcessNode& node) {
  for (PortIndex port = 0; port < node.ports.size(); ++port) {
    ProcessLink* link = node.ports[port].link;
    for (unsigned side = 0; link != nullptr && side < 2; ++side)
      if (same_end(link->ends[side], {node.settings.node_index, port}))
        link->link->set_waker(side, &runner_of(node, port).waker());
  }
}

// What has come in for the node meanwhile was never received. Bounded: more may come in all the time.
void SwitchProcess::empty_devices(ProcessNode& node) {
  constexpr uint32_t kBursts = 256;
  for (ProcessPort& port : node.ports) {
    Packet* packets[kBurst];
    uint32_t count = kBurst;
    for (uint32_t burst = 0; burst < kBursts && count != 0; ++burst) {
      count = port.device->receive(packets, kBurst, monotonic_now());
      pool_->release(packets, count);
    }
  }
}

void SwitchProcess::set_applications(uint16_t node_index, const ApplicationPolicy& policy) {
  ProcessNode* node = find(node_index);
  if (node == nullptr) throw std::runtime_error("the node is not in this process");
  node->settings.applications = policy;  // also for when it starts anew
  for (WorkerIndex worker = 0; node->node != nullptr && worker < node->node->workers(); ++worker) {
    ApplicationPolicy own = policy;
    run_on(*node, worker, [&] { node->node->set_applications(worker, std::move(own)); });
  }
}

void SwitchProcess::set_shapers(uint16_t node_index, const PortShapers& shapers) {
  ProcessNode* node = find(node_index);
  if (node == nullptr) throw std::runtime_error("the node is not in this process");
  node->settings.shapers = shapers;  // also for when it starts anew
  for (WorkerIndex worker = 0; node->node != nullptr && worker < node->node->workers(); ++worker)
    run_on(*node, worker, [&] { node->node->set_shapers(worker, shapers); });
}

void SwitchProcess::restart_queue_marks(const ProcessNode& node, PortIndex port) {
  run_on(node, node.node->worker_of_port(port), [&] { node.node->restart_queue_marks(port); });
}

void SwitchProcess::set_node_up(uint16_t node_index, bool up) {
  ProcessNode* node = find(node_index);
  if (node == nullptr) throw std::runtime_error("the node is not in this process");
  if (up == (node->node != nullptr)) return;
  if (up) {
    empty_devices(*node);
    start_node(*node);
    for (const auto& link : links_)
      for (const LinkEnd& end : link->ends)
        if (end.node_index == node_index) set_carrier(end, link->up);
  } else {
    remove_node(*node);
  }
  for (const auto& link : links_)
    if (link->ends[0].node_index == node_index || link->ends[1].node_index == node_index) apply_state(*link);
}

// What the device at a fabric port says of its cable.
void SwitchProcess::set_carrier(LinkEnd end, bool carrier) {
  const ProcessNode* node = find(end.node_index);
  if (node->node == nullptr) return;
  Worker& worker = node->node->worker(node->node->worker_of_port(end.port));
  run_on(*node, worker.site().worker, [&] { worker.set_carrier(end.port, carrier); });
}

void SwitchProcess::change_link(LinkEnd end, const LinkChange& change) {
  for (const auto& link : links_) {
    if (!same_end(link->ends[0], end) && !same_end(link->ends[1], end)) continue;
    if (change.up) {
      link->up = *change.up;
      for (const LinkEnd& cable_end : link->ends) set_carrier(cable_end, *change.up);
    }
    for (LinkImpairment& impairment : link->impairment) {
      if (change.loss_ppm) impairment.loss_ppm = *change.loss_ppm;
      if (change.delay_ns) impairment.delay_ns = *change.delay_ns;
    }
    apply_faults(*link);
    return apply_state(*link);
  }
  throw std::runtime_error("the port is no in-process link of this process");
}

void SwitchProcess::start() {
  started_ns_ = monotonic_now();
  for (unsigned index = 0; index < runners_.size(); ++index) runners_[index]->start(index + 1);
}

void SwitchProcess::stop() {
  for (const auto& runner : runners_) runner->stop();
}

size_t SwitchProcess::runner_index(const Runner* runner) const {
  const auto found = std::find_if(runners_.begin(), runners_.end(), [&](const auto& r) { return r.get() == runner; });
  return static_cast<size_t>(found - runners_.begin());
}

void SwitchProcess::run_on(size_t runner, const std::function<void(const Runner&)>& function) const {
  runners_[runner]->run([&] { function(*runners_[runner]); });
}

ProcessNode* SwitchProcess::find(uint16_t node_index) {
  const auto found = std::find_if(nodes_.begin(), nodes_.end(),
                                  [&](const ProcessNode& node) { return node.settings.node_index == node_index; });
  return found == nodes_.end() ? nullptr : &*found;
}

}  // namespace heddle
