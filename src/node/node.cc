// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include "wire/fabric_frame.h"

namespace heddle {

namespace {
// Ports are dealt to the workers in turn.
uint32_t worker_of(PortIndex port, const NodeOptions& options) { return port % options.workers; }

std::unique_ptr<Port> make_port(const NodeOptions& options, PortIndex index) {
  const Topology& topology = *options.topology;
  const TopologyNode& node = topology.nodes[options.node_index];
  const TopologyPort& settings = node.ports[index];
  const FabricSettings& fabric = topology.settings;
  const auto ports = static_cast<uint32_t>(node.ports.size());
  const FabricAddress self{node.address, index};
  FabricAddress peer{};
  if (settings.fabric) peer = {topology.nodes[settings.peer.node_index].address, settings.peer.port};
  const Lanes lanes(topology);
  const SessionOptions session{.hello_interval_ns = fabric.hello_interval_ns,
                               .hellos_missed = fabric.hellos_missed,
                               .topology_hash = topology.hash(),
                               .self = self,
                               .peer = peer,
                               .node_name = node.name.c_str(),
                               .port_name = settings.name.c_str(),
                               .buffer_bytes = kBufferBytes,
                               .credits = fabric.link_credits,
                               .frame_bytes_max = settings.mtu_bytes + kEthernetHeaderBytes,
                               .sends_again = lanes.any_retry()};
  auto port = std::make_unique<Port>(index, settings, fabric, ports, lanes, session, options.seed + index);
  port->device = options.devices[index];
  port->receive_room = options.devices[index]->receive_room();
  port->mac = port_mac(self);
  const PortSet up = up_ports(topology)[options.node_index];
  for (uint32_t i = 0; i < port->input.voqs.size(); ++i) {
    Voq& voq = port->input.voqs[i];
    voq.output = static_cast<PortIndex>(i % ports);
    voq.lane = static_cast<uint8_t>(i / ports);
    voq.came_in = lanes.channel(voq.lane);
    voq.shares_credit = voq.came_in != kLossyChannel && topology.nodes[options.node_index].ports[voq.output].fabric;
    const bool turns = next_channel(0, up >> index & 1, up >> voq.output & 1) != 0;
    if (voq.came_in != kLossyChannel && turns) --voq.came_in;
    const bool other_worker = worker_of(index, options) != worker_of(voq.output, options);
    const bool edges = !settings.fabric && !node.ports[voq.output].fabric;
    voq.at_once = other_worker && edges && !lanes.lossless(lanes.ftag(voq.lane));
    voq.room = crossing_room(fabric, voq.at_once);
  }
  if (settings.rate_bps != 0) {
    // One frame, for a thread that wakes up late while a slow port sends the one before, and a little more.
    constexpr Nanos kBurstNs = 20 * kMicrosecond;
    const double byte_ns = 8e9 / static_cast<double>(settings.rate_bps);
    const auto frame_ns = static_cast<Nanos>(byte_ns * (settings.mtu_bytes + kEthernetHeaderBytes));
    port->output.pace = TokenBucket(byte_ns, kBurstNs + frame_ns);
  }
  if (settings.fabric) return port;
  port->pause = HostPause(settings.rate_bps, fabric.pause_watchdog_ns);
  const uint32_t flood = settings.flood_frames_per_second;
  port->input.edge = {.settings = &settings,
                      .address = self,
                      .port = index,
                      .complete_checksums = options.complete_checksums[index],
                      .plain_bytes = options.complete_checksums[index] || settings.vlans.native == 0
                                         ? 0
                                         : settings.mtu_bytes + kEthernetHeaderBytes,
                      .flood = TokenBucket(flood == 0 ? 0 : 1e9 / flood, 100 * kMillisecond)};
  return port;
}

}  // namespace

Node::Node(const NodeOptions& options) : options_(options), board_(description().ports.size()) {
  const TopologyNode& node = description();
  const auto ports = static_cast<PortIndex>(node.ports.size());
  const FabricSettings& fabric = topology().settings;
  std::vector<uint32_t> ports_of(options_.workers);
  for (PortIndex port = 0; port < ports; ++port) {
    ports_.push_back(make_port(options_, port));
    worker_of_port_.push_back(worker_of(port, options_));
    ++ports_of[worker_of_port_.back()];
    if (!node.ports[port].fabric) board_.publish_state(port, true);
  }
  for (uint32_t index = 0; index < options_.workers; ++index) {
    std::vector<Port*> own(ports);
    for (PortIndex port = 0; port < ports; ++port)
      if (worker_of_port_[port] == index) own[port] = ports_[port].get();
    workers_.push_back(std::make_unique<Worker>(options_, index, board_, std::move(own), worker_of_port_));
  }
  constexpr uint32_t kMessages = 1024;
  std::vector<Crossing*> between(size_t{options_.workers} * options_.workers);
  for (uint32_t from = 0; from < options_.workers; ++from) {
    for (uint32_t to = 0; to < options_.workers; ++to) {
      if (from == to) continue;
      const uint32_t packets = ports_of[from] * ports_of[to] * crossing_room(fabric, true) * Lanes(topology()).count();
      crossings_.push_back(std::make_unique<Crossing>(packets, ports_of[to] * fabric.flow_ids, kMessages));
      between[size_t{from} * options_.workers + to] = crossings_.back().get();
    }
  }
  for (uint32_t from = 0; from < options_.workers; ++from)
    for (uint32_t to = 0; to < options_.workers; ++to)
      if (from != to)
        workers_[from]->connect(to, between[size_t{from} * options_.workers + to],
                                between[size_t{to} * options_.workers + from]);
}

Node::~Node() = default;

void Node::plug(PortIndex index, Device* device) {
  Port& port = *ports_[index];
  port.device = device;
  port.receive_room = device->receive_room();
}

}  // namespace heddle
