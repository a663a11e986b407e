// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_view.h"

#include <bit>

#include "wire/ethernet.h"

namespace heddle {

namespace {

void look_at_flow(TraceView& view, const Port& port, FlowId id, Nanos now) {
  view.flow_id = id;
  view.flow = port.input.flows[id];
  view.live = true;
  view.head_waits = !view.flow.queue.empty();
  const uint32_t bytes = view.head_waits ? view.flow.queue.head->payload : view.bytes;
  view.gate = gate_of(view.flow, port.input.limits[id], port.input.meters[id], kNoShare, bytes, now);
}

// What lies before the frame, at the input's worker.
void look_at_ways(TraceView& view, const Worker& worker, const Port& port) {
  const PathChoice& paths = worker.paths();
  const PathChoice::Frame frame{
      .input = port.index, .channel = view.channel, .hop_limit = view.hop_limit, .destination = view.destination};
  view.ways = paths.ways(frame);
  for (PortSet rest = view.ways.ports; rest != 0; rest &= rest - 1) {
    const auto way = static_cast<PortIndex>(std::countr_zero(rest));
    view.loads.push_back({way, worker.board().up(way), worker.board().queue_bytes(way)});
  }
  if (view.live && view.flow.branch.flow != kNoFlow) {
    view.output = view.flow.branch.output;
  } else {
    Random random(1);  // not the worker's: asking must not change what it does
    DropReason reason = DropReason::none;
    view.output = paths.choose(frame, random, reason);
  }
  if (view.output == kNoPort) return;
  const Lanes& lanes = paths.lanes();
  view.lane = lanes.lossless(view.ftag) ? paths.lane(port.index, view.output, view.ftag, view.channel)
                                        : lanes.of(view.ftag, kLossyChannel);
  if (view.lane >= lanes.count()) {  // no such turn: the hop before says what is not so, or no more
    view.output = kNoPort;
    view.ways = {0, DropReason::protocol_error};
    return;
  }
  view.channel_on = lanes.channel(view.lane);
  const Voq& voq = port.input.voqs[size_t{view.lane} * port.input.ids.size() + view.output];
  view.room = voq.room;
  view.room_waits = !port.input.ids[view.output].wanting.empty();
}

void look_at_output(const SwitchProcess& process, const ProcessNode& node, TraceView& view) {
  if (view.output == kNoPort) return;
  process.run_on(node, node.node->worker_of_port(view.output), [&] {
    const Port& port = node.node->port(view.output);
    view.ids = port.output.flows.size();
    view.ids_used = port.output.flows.used();
    for (const Packet* packet = port.output.queues.of(view.lane).head; packet != nullptr; packet = packet->next)
      ++view.lane_packets;
    view.queued_bytes = port.output.queues.bytes();
    view.paused = port.output.paused_lanes >> view.lane & 1;
    view.congested = !port.is_fabric() && port.output.congestion.congested();
    view.level = view.congested ? static_cast<unsigned>(port.output.congestion.position()) : 0;
    view.usable = port.usable();
  });
}

void reserve(TraceView& view) { view.loads.reserve(kPortsMax); }  // not in the worker's thread

}  // namespace

TraceView view_frame(const SwitchProcess& process, const ProcessNode& node, PortIndex index, std::vector<uint8_t> frame,
                     Nanos now) {
  TraceView view;
  reserve(view);
  frame.insert(frame.begin(), kPacketHeadroomBytes, 0);
  frame.resize(frame.size() + 64);  // wide reads at the end of a short one
  Packet packet{};
  packet.data = frame.data() + kPacketHeadroomBytes;
  packet.length = static_cast<uint16_t>(frame.size() - kPacketHeadroomBytes - 64);
  const uint32_t index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Worker& worker = node.node->worker(index_of_worker);
    const Port& port = node.node->port(index);
    const EdgeInput& edge = worker.edge_input();
    EdgeKey key;
    view.bytes = packet.length;
    view.refused = edge.read(packet, port.input.edge, key);
    if (view.refused != DropReason::none) return;
    view.to_mac = load_mac(packet.data);
    view.from_mac = load_mac(packet.data + 6);
    view.vlan = packet.vni;
    view.ftag = packet.ftag;
    view.bytes = packet.payload;
    view.hop_limit = kHopLimit;
    view.matches = edge.matches().capacity();
    view.matches_used = edge.matches().used();
    const Station* station = mac_is_group(view.to_mac) ? nullptr : edge.stations().find(view.to_mac, view.vlan);
    view.flooded = station == nullptr;
    if (view.flooded) return;
    view.destination = station->address;
    view.station_fixed = station->fixed;
    view.station_seen_ns = station->seen_ns;
    if (worker.site().classes.of(view.ftag).flow_channels) {
      const uint32_t match = edge.matches().find(key.match, key.hash);
      view.has_match = match != kNotFound;
      if (view.has_match) {
        const FlowId id = edge.matches()[match].flow;
        if (port.input.flows[id].in_use() && port.input.flows[id].match == match) look_at_flow(view, port, id, now);
      }
    }
    look_at_ways(view, worker, port);
  });
  if (view.refused == DropReason::none && !view.flooded) look_at_output(process, node, view);
  return view;
}

TraceView view_transit(const SwitchProcess& process, const ProcessNode& node, PortIndex index, TraceView view,
                       Nanos now) {
  reserve(view);
  const uint32_t index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Port& port = node.node->port(index);
    const FlowId id = view.flow_id;
    if (id != kNoFlow && port.input.flows.valid(id) && port.input.flows[id].in_use() &&
        port.input.flows[id].destination == view.destination && port.input.flows[id].ftag == view.ftag)
      look_at_flow(view, port, id, now);
    look_at_ways(view, node.node->worker(index_of_worker), port);
  });
  look_at_output(process, node, view);
  return view;
}

bool view_flow(const SwitchProcess& process, const ProcessNode& node, PortIndex index, FlowId id, Nanos now,
               TraceView& view) {
  reserve(view);
  const uint32_t index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Port& port = node.node->port(index);
    if (!port.input.flows.valid(id) || !port.input.flows[id].in_use()) return;
    look_at_flow(view, port, id, now);
    view.destination = view.flow.destination;
    view.ftag = view.flow.ftag;
    view.hop_limit = kHopLimit;
    view.channel = view.head_waits ? view.flow.queue.head->vc : kLossyChannel;
    look_at_ways(view, node.node->worker(index_of_worker), port);
  });
  if (view.live) look_at_output(process, node, view);
  return view.live;
}

}  // namespace heddle
