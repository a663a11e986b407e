// SPDX-License-Identifier: Apache-2.0
#include "node/port_setup.h"

#include <algorithm>
#include <cassert>

#include "topology/classes.h"
#include "topology/topology_hash.h"
#include "wire/fabric_frame.h"

namespace heddle {

namespace {
PortBytes port_bytes(const Topology& topology, const TopologyPort& port) {
  const uint32_t overhead = port.overhead_bytes + (port.fabric ? HEDDLE_DATA_OVERHEAD_BYTES : 0);
  const uint32_t tag = port.fabric ? 0 : kVlanTagBytes;
  const uint32_t largest = topology.edge_mtu_bytes + kEthernetHeaderBytes + tag + overhead;
  // 10 ms, or what a port of unknown rate sends in about that time at a gigabit a second.
  const uint64_t turn = port.rate_bps != 0 ? port.rate_bps / 800 : 1024 * largest;
  return {.overhead = overhead,
          .largest = largest,
          .turn_max = static_cast<uint32_t>(std::clamp<uint64_t>(turn, largest, 1024 * largest))};
}

void begin_link(Port& port, const FabricSettings& fabric, bool sends_again) {
  for (uint32_t channel = 0; channel < port.channels; ++channel)
    port.credits[channel] = LinkCredits(channel == kLossyChannel ? fabric.link_credits : fabric.lossless_credits,
                                        fabric.credit_interval_ns);
  if (sends_again)
    port.retry =
        LinkRetry((port.channels - kFirstLosslessChannel) * fabric.lossless_credits, fabric.credit_interval_ns);
}

// What the virtual output queues of the port are.
void begin_queues(Port& port, const NodeOptions& options, const Lanes& lanes) {
  const Topology& topology = *options.topology;
  const TopologyNode& node = topology.nodes[options.node_index];
  const TopologyPort& settings = port.settings;
  const PortIndex index = port.index;
  const auto ports = static_cast<uint32_t>(node.ports.size());
  const ClassTable classes(topology);
  const PortSet up = up_ports(topology)[options.node_index];
  for (VoqIndex i = 0; i < port.input.arbiter.size(); ++i) {
    Voq& voq = port.input.arbiter[i];
    voq.output = PortIndex::of(i % ports);
    voq.lane = LaneIndex::of(i / ports);
    voq.came_in = lanes.channel(voq.lane);
    voq.shares_credit = voq.came_in != kLossyChannel && node.ports[voq.output].fabric;
    const bool turns = next_channel(0, up >> index & 1, up >> voq.output & 1) != 0;
    if (voq.came_in != kLossyChannel && turns) --voq.came_in;
    const bool other_worker = worker_of(index, options) != worker_of(voq.output, options);
    voq.at_once = other_worker && crosses_at_once(settings, node.ports[voq.output], classes.of(lanes.ftag(voq.lane)),
                                                  lanes.channel(voq.lane));
    voq.leads_in = !settings.fabric && node.ports[voq.output].fabric;
    voq.room = crossing_room(topology.settings, voq.at_once);
    voq.copy_room = copy_room(topology.settings);
    voq.bytes = port_bytes(topology, node.ports[voq.output]);
  }
  port.input.arbiter.begin_policy();
}

}  // namespace

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
  const ApplicationPolicy& applications = settings.fabric ? kNoApplications : *options.applications;  // A10
  std::vector<ChannelSet> inputs(ports);
  for (PortIndex input = 0; input < ports; ++input)
    if (input != index) inputs[input] = flow_channels(topology, node.ports[input]);
  const SessionOptions session{.hello_interval_ns = fabric.hello_interval_ns,
                               .hellos_missed = fabric.hellos_missed,
                               .topology_hash = topology_hash(topology),
                               .self = self,
                               .peer = peer,
                               .node_name = node.name.c_str(),
                               .port_name = settings.name.c_str(),
                               .buffer_bytes = kBufferBytes,
                               .credits = fabric.link_credits,
                               .frame_bytes_max = settings.mtu_bytes + kEthernetHeaderBytes,
                               .sends_again = lanes.any_retry()};
  auto port = std::make_unique<Port>(index, settings, fabric, inputs, lanes, topology.classes, applications, session,
                                     port_bytes(topology, settings), options.seed + index);
  if (settings.fabric) begin_link(*port, fabric, lanes.any_retry());
  plug(*port, *options.devices[index]);
  port->mac = port_mac(self);
  port->data_frame_start = data_frame_start(port->mac);
  begin_queues(*port, options, lanes);
  // A flow's ACK is worth its place on the link once so many frames could have gone there: were it later, a few flows
  // on a fast link would spend their round trips waiting for it.
  constexpr uint32_t kAckFrames = 8;
  if (settings.fabric && settings.rate_bps != 0)
    port->input.ack_patience_ns =
        kAckFrames * 8'000'000'000 * (settings.mtu_bytes + kEthernetHeaderBytes) / settings.rate_bps;
  const ClassTable table(topology);
  for (LaneIndex lane = 0; lane < lanes.count(); ++lane)
    if (lanes.channel(lane) != kLossyChannel) port->output.scheduler.set_life(lane, table.of(lanes.ftag(lane)).life_ns);
  shape(*port, options.shapers.empty() ? ShaperPolicy{} : options.shapers[index]);
  if (settings.fabric) return port;
  port->pause = HostPause(settings.rate_bps, fabric.pause_watchdog_ns);
  const uint32_t flood = settings.flood_frames_per_second;
  port->input.edge = {
      .settings = &settings,
      .address = self,
      .port = index,
      .complete_checksums = options.complete_checksums[index],
      .plain_bytes = options.complete_checksums[index] || settings.vlans.native == 0
                         ? 0
                         : settings.mtu_bytes + kEthernetHeaderBytes,
      .flood = TokenBucket(flood == 0 ? 0 : 1e9 / flood, 100 * kMillisecond),
      .policer = settings.police_bps == 0 ? Policer() : Policer(settings.police_bps, settings.police_burst_bytes),
      .classifier = Classifier(topology.classes, settings)};
  return port;
}

void plug(Port& port, Device& device) {
  port.device = &device;
  port.receive_room = device.receive_room();
  port.output.transmitter.attach(device);
}

void shape(Port& port, const ShaperPolicy& policy) {
  const TopologyPort& settings = port.settings;
  assert(!policy.configured || settings.rate_bps != 0);
  port.output.scheduler.set_shaper(policy);
  if (settings.rate_bps == 0) return;
  // One frame ahead, for a thread that wakes up late while a slow port sends the one before; and what a fast one sends
  // until a busy thread comes again: no more than that where some classes come first, which what the device has already
  // is before.
  const double byte_ns = 8e9 / static_cast<double>(settings.rate_bps);
  const auto frame_ns = static_cast<Nanos>(byte_ns * (settings.mtu_bytes + kEthernetHeaderBytes));
  constexpr Nanos kLateMax = 20 * kMicrosecond;
  port.output.scheduler.set_pace(TokenBucket(byte_ns, policy.configured ? frame_ns : frame_ns + kLateMax),
                                 policy.configured ? kLateMax : 0);
  if (port.is_fabric()) return;
  if (!policy.configured) return port.output.congestion.watch();
  std::vector<uint64_t> rates_bps;
  for (size_t position = 0; position < port.output.scheduler.class_count(); ++position)
    rates_bps.push_back(policy.most_bps(position, settings.rate_bps));
  port.output.congestion.watch_classes(rates_bps, policy.maximum_bps != 0 ? policy.maximum_bps : settings.rate_bps);
}

}  // namespace heddle
