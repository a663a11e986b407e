// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include "node/port_setup.h"

namespace heddle {

Node::Node(const NodeOptions& options)
    : options_(options),
      applications_(options.workers, *options.applications),
      board_(description().ports.size(), options.workers, options.topology->classes.size()) {
  board_.begin_session_ends(static_cast<uint32_t>(Random(options.seed ^ 0xe2d5).next()));
  const TopologyNode& node = description();
  const auto ports = PortIndex::of(node.ports.size());
  const FabricSettings& fabric = topology().settings;
  std::vector<uint32_t> ports_of(options_.workers);
  for (PortIndex port = 0; port < ports; ++port) {
    worker_of_port_.push_back(worker_of(port, options_));
    ports_.push_back(make_port(of_worker(worker_of_port_.back()), port));
    ++ports_of[worker_of_port_.back()];
    board_.set_rate(port, shared_rate_bps(node.ports[port]), node.ports[port].mtu_bytes + kEthernetHeaderBytes);
    if (!node.ports[port].fabric) board_.publish_standing(port, LinkStanding::up);
    publish_parts(port);
  }
  for (WorkerIndex index = 0; index < options_.workers; ++index) {
    std::vector<Port*> own(ports);
    for (PortIndex port = 0; port < ports; ++port)
      if (worker_of_port_[port] == index) own[port] = ports_[port].get();
    workers_.push_back(std::make_unique<Worker>(of_worker(index), index, board_, std::move(own), worker_of_port_));
  }
  constexpr uint32_t kMessages = 1024;
  std::vector<Crossing*> between(size_t{options_.workers} * options_.workers);
  for (WorkerIndex from = 0; from < options_.workers; ++from) {
    for (WorkerIndex to = 0; to < options_.workers; ++to) {
      if (from == to) continue;
      const uint32_t room = crossing_room(fabric, true) + copy_room(fabric);
      const uint32_t packets = ports_of[from] * ports_of[to] * room * Lanes(topology()).count();
      crossings_.push_back(std::make_unique<Crossing>(packets, ports_of[to] * fabric.flow_ids, kMessages));
      between[size_t{from} * options_.workers + to] = crossings_.back().get();
    }
  }
  for (WorkerIndex from = 0; from < options_.workers; ++from)
    for (WorkerIndex to = 0; to < options_.workers; ++to)
      if (from != to)
        workers_[from]->connect(to, between[size_t{from} * options_.workers + to],
                                between[size_t{to} * options_.workers + from]);
}

Node::~Node() = default;

NodeOptions Node::of_worker(WorkerIndex worker) const {
  NodeOptions options = options_;
  options.applications = &applications_[worker];
  return options;
}

void Node::set_applications(WorkerIndex worker, ApplicationPolicy&& policy) {
  applications_[worker] = std::move(policy);
  workers_[worker]->regroup();
}

void Node::set_shapers(WorkerIndex worker, const PortShapers& shapers) {
  for (PortIndex index = 0; index < ports_.size(); ++index) {
    if (worker_of_port_[index] != worker) continue;
    const ShaperPolicy policy = shapers.empty() ? ShaperPolicy{} : shapers[index];
    if (policy == ports_[index]->output.scheduler.shaper().policy()) continue;
    shape(*ports_[index], policy);
    publish_parts(index);
  }
}

void Node::publish_parts(PortIndex index) {
  const ShaperPolicy& policy = ports_[index]->output.scheduler.shaper().policy();
  const size_t classes = board_.classes();
  for (uint8_t position = 0; position < classes; ++position)
    board_.publish_part(index, position, policy.least_part(position, classes, ports_[index]->settings.rate_bps));
}

void Node::restart_queue_marks(PortIndex index) {
  ports_[index]->input.queues.restart_marks();
  ports_[index]->output.scheduler.restart_marks();
}

void Node::plug(PortIndex index, Device* device) { heddle::plug(*ports_[index], *device); }

}  // namespace heddle
