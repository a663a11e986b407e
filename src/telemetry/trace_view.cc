// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_view.h"

#include <bit>

#include "io/clock.h"
#include "node/edge_flows.h"
#include "node/stamping_at_once.h"
#include "wire/ethernet.h"

namespace heddle {

namespace {

void look_at_flow(TraceView& view, const Worker& worker, const Port& port, FlowId id, Nanos now) {
  view.flow_id = id;
  view.flow = port.input.flows[id];
  view.live = true;
  const Voq& voq = port.input.arbiter[view.flow.branch.voq];
  const bool has_id = view.flow.branch.flow != kNoFlow;
  const bool at_limit =
      view.flow.state == FlowState::ready && port.input.arbiter.at_limit(view.flow.branch.voq, view.flow.group);
  const uint32_t bytes = view.flow.queue.empty() ? view.bytes : view.flow.queue.head->payload;
  view.gate = gate_of(view.flow, port.input.limits[id], port.input.meters[id],
                      has_id ? worker.shares().free_bytes_of(voq) : kNoShare, !at_limit, bytes, now);
}

// What an edge port with flow channels has for it.
void look_at_edge(TraceView& view, const Worker& worker, const Port& port) {
  view.id_free_here = EdgeFlows::has_free_id(port);
  view.may_wait = EdgeFlows::may_wait(worker.site(), port, view.ftag, view.group);
  view.frames_waiting = port.input.waiting.count();
  const uint8_t told = port.pause.told();  // PAUSE is for all of them
  view.told_priorities = told == 0 || port.settings.flow_control == HostFlowControl::pfc ? told : uint8_t{0xff};
}

// The frame's flow; of one that is not there yet, what its first frame makes of it.
InputFlow flow_of(const TraceView& view) {
  InputFlow flow = view.flow;
  if (!view.live) flow.begin(view.destination, view.ftag, kNoMatch, view.group);
  return flow;
}

Packet packet_of(const TraceView& view, const Port& port) {
  Packet packet{};
  packet.hop_limit = view.hop_limit;
  packet.vc = view.channel;
  packet.ftag = view.ftag;
  packet.destination = view.destination;
  packet.via = view.via;
  packet.payload = view.bytes;
  packet.cost = static_cast<uint16_t>(view.cost);
  packet.input = port.input.ref.with(view.flow_id);
  return packet;
}

// Would the frame pass flows and queues by, as far as its input goes? To hosts of this node go frames of which no flow
// is there, from its own hosts those whose match says all there is to say; into the fabric also those of an idle flow.
bool passes(const TraceView& view, const Worker& worker, const Port& port, const Voq& voq) {
  const TrafficClass& traffic_class = worker.site().classes.of(view.ftag);
  if (!traffic_class.flow_channels) return false;
  if (view.destination.node == worker.site().address) {
    if (view.live || !(port.is_fabric() || view.match_says_all)) return false;
    return voq.at_once ? voq.room >= DeliveryAtOnce::room_asked(worker.site(), port, voq) : voq.ready() == 0;
  }
  if (view.live ? (view.flow.flags & kFlowPending) != 0 : !view.id_free_here) return false;
  InputFlow flow = flow_of(view);
  flow.branch.injects = port.input.arbiter.injects_as(voq, flow.group);
  return worker.admission().would_pass(port, flow, voq, packet_of(view, port));
}

void look_at_group(TraceView& view, const Port& port, uint8_t group) {
  view.has_group = true;
  view.group = group;
  view.injection = port.input.arbiter.injection();
}

// Would its queue take the frame?
void look_at_queue(TraceView& view, const Worker& worker, const Port& port) {
  InputFlow flow = flow_of(view);
  flow.next_data_flow += view.bytes;
  view.not_queued = worker.admission().refusal(port, flow, packet_of(view, port));
}

// Where a flow that is there goes, or waits to go; kNoPort if that is not settled.
PortIndex output_of(const TraceView& view) {
  const bool has = view.live && (view.flow.branch.flow != kNoFlow || view.flow.state == FlowState::wanting);
  return has ? view.flow.branch.output() : kNoPort;
}

// What lies before the frame, at the input's worker.
void look_at_ways(TraceView& view, const Worker& worker, const Port& port, Nanos now) {
  const PathChoice& paths = worker.paths();
  PathChoice::Frame frame{.input = port.index,
                          .channel = view.channel,
                          .hop_limit = view.hop_limit,
                          .destination = view.destination,
                          .via = view.via};
  const TrafficClass& traffic_class = worker.site().classes.of(view.ftag);
  frame.policy = traffic_class.path;
  frame.lossless = traffic_class.lossless;
  frame.of_class = worker.site().lanes.class_of(view.ftag);
  if (view.live && (view.flow.flags & kFlowMoved)) {
    const PathLease& lease = port.input.leases[view.flow_id];
    view.left = frame.left = lease.left(now);
    view.moved_by = lease.asked_by();
    view.moved_ns = lease.asked_ns();
  }
  view.ways = paths.ways(frame);
  Random random(1);  // not the worker's: asking must not change what it does
  DropReason reason = DropReason::none;
  if (view.flow.at_rest() && (view.flow.flags & kFlowChooses)) {
    frame.had = {view.flow.branch.output(), port.input.flows.via(view.flow_id)};
    if (paths.choose(frame, random, reason, now) != frame.had) view.flow.branch.flow = kNoFlow;
  }
  for (PortSet rest = view.ways.ports; rest != 0; rest &= rest - 1) {
    const auto way = PortIndex::of(std::countr_zero(rest));
    view.loads.push_back({way, worker.board().up(way), worker.board().load(way, frame.of_class, now)});
  }
  view.output = output_of(view);
  const bool flow_has_it = view.output != kNoPort;
  if (flow_has_it && view.hop_limit == 0 && view.ways.reason == DropReason::hop_limit) view.output = kNoPort;
  if (flow_has_it) {
    view.via = port.input.flows.via(view.flow_id);
  } else {
    const PathChoice::Way way = worker.site().classes.of(view.ftag).flow_channels
                                    ? paths.choose(frame, random, reason, now)
                                    : PathChoice::Way{paths.choose_shortest(frame, random, reason, now), view.via};
    view.output = way.port;
    view.via = way.via;
  }
  if (view.output == kNoPort) return;
  const Lanes& lanes = paths.lanes();
  if (flow_has_it)
    view.lane = port.input.arbiter[view.flow.branch.voq].lane;
  else
    view.lane = lanes.lossless(view.ftag) ? paths.lane(port.index, view.output, view.ftag, view.channel)
                                          : lanes.of(view.ftag, kLossyChannel);
  if (view.lane >= lanes.count()) {  // no such turn: the hop before says what is not so, or no more
    view.output = kNoPort;
    view.ways = {0, DropReason::protocol_error};
    return;
  }
  view.channel_on = lanes.channel(view.lane);
  const Voq& voq = port.input.arbiter[worker.site().voq_index(view.output, view.lane)];
  view.room = voq.room;
  view.cost = buffers_for(view.bytes + (port.is_fabric() ? HEDDLE_DATA_OVERHEAD_BYTES : 0));
  view.passes = passes(view, worker, port, voq);
  view.id_free = worker.admission().has_id(port, flow_of(view), voq);
  view.id_waits = !port.input.ids[view.output].wanting.empty();
}

// What the port's turn asks before it takes a frame that stands first in its lane (node/departure.h). By a clock of its
// own: the output's worker has sent since the input was looked at.
void look_at_rate(TraceView& view, const OutputScheduler& scheduler) {
  const Nanos now = monotonic_now();
  const Nanos ready = scheduler.ready_at(LaneSet{1} << view.lane, now);
  if (ready == kNever) return;
  view.held_ns = ready - now;
  view.held_by_rate = !scheduler.may_send(now);
}

// Then, on a link, as node/fabric_transmit.cc asks it, of lossy and lossless channels alike.
void look_at_credits(TraceView& view, const Port& port) {
  if (!port.is_fabric() || !port.session.up()) return;  // what an ended session has left says nothing
  const LinkCredits& credits = port.credits[view.channel_on];
  view.has_credits = true;
  view.credits_left = credits.left();
  view.credits_asked = Stamping::cost(credits, view.bytes);
  view.credit = credits.may_send(view.credits_asked);
}

// And where the link sends again what it loses, as node/retry_frames.cc asks it.
void look_at_retry(TraceView& view, const Lanes& lanes, const Port& port) {
  if (!port.is_fabric() || !port.session.up() || !lanes.retry(view.lane)) return;
  view.kept_for_retry = true;
  view.kept = port.retry.kept();
  view.kept_max = port.retry.kept_max();
  view.sends_again = port.retry.again() != nullptr;
  view.may_stamp = port.retry.may_stamp();
}

void look_at_output(const SwitchProcess& process, const ProcessNode& node, PortIndex input, TraceView& view) {
  if (view.output == kNoPort) return;
  process.run_on(node, node.node->worker_of_port(view.output), [&] {
    const Port& port = node.node->port(view.output);
    const Lanes& lanes = node.node->worker(node.node->worker_of_port(view.output)).site().lanes;
    view.ids = port.output.flows.size();
    view.ids_used = port.output.flows.used();
    // Between ports of one worker, and between any edge ports.
    const bool near = node.node->worker_of_port(input) == node.node->worker_of_port(view.output) ||
                      (!node.node->port(input).is_fabric() && !port.is_fabric());
    view.at_once =
        near && view.passes &&
        (port.is_fabric() ? StampingAtOnce::may_take(lanes, port, view.lane, view.flow.branch.flow, view.bytes)
                          : DeliveryAtOnce::takes_at_once(port));
    if (!port.is_fabric() && view.vlan != 0) {
      Packet packet{};
      packet.vni = view.vlan;
      packet.payload = view.bytes;
      view.host_refuses = port.output.host_frames.refuses(packet);
      view.tagged = port.output.host_frames.tagged(packet);
    }
    const Packet* packet = port.output.scheduler.packets_of(view.lane, input).head;
    for (; packet != nullptr && view.lane_packets < kTraceCountMax; packet = packet->next) ++view.lane_packets;
    view.queued_bytes = port.output.scheduler.bytes();
    view.paused = port.output.paused_lanes >> view.lane & 1;
    const EndpointCongestion& congestion = port.output.congestion.of(port.output.scheduler.class_of(view.lane));
    view.congested = !port.is_fabric() && congestion.congested();
    view.level = view.congested ? static_cast<unsigned>(congestion.position()) : 0;
    look_at_rate(view, port.output.scheduler);
    look_at_credits(view, port);
    look_at_retry(view, lanes, port);
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
  const WorkerIndex index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Worker& worker = node.node->worker(index_of_worker);
    const Port& port = node.node->port(index);
    const EdgeInput& edge = worker.edge_input();
    EdgeKey key;
    view.bytes = packet.length;
    view.refused = EdgeReceive::would_police(port.input.edge, packet, now) ? DropReason::policed
                                                                           : edge.read(packet, port.input.edge, key);
    if (view.refused != DropReason::none) return;
    view.to_mac = load_mac(packet.data);
    view.vlan = packet.vni;
    view.ftag = packet.ftag;
    view.bytes = packet.payload;
    view.hop_limit = kHopLimit;
    view.matches = edge.matches().capacity();
    view.matches_used = edge.matches().used();
    const Station* station = mac_is_group(view.to_mac) ? nullptr : edge.stations().find(view.to_mac, view.vlan);
    view.not_placed = edge.refusal(packet, port.input.edge, station, now);
    view.flooded = station == nullptr;
    if (view.flooded || view.not_placed != DropReason::none) return;
    view.destination = station->address;
    view.station_fixed = station->fixed;
    view.station_seen_ns = station->seen_ns;
    if (worker.site().classes.of(view.ftag).flow_channels) {
      if (edge.applications().configured) look_at_group(view, port, group_of(edge.applications(), key.match));
      const uint32_t match = edge.matches().find(key.match, key.hash);
      view.has_match = match != kNotFound;
      if (view.has_match) {
        const FlowId id = edge.matches()[match].flow;
        if (port.input.flows[id].in_use() && port.input.flows[id].match == match)
          look_at_flow(view, worker, port, id, now);
        const MatchEntry& entry = edge.matches()[match];
        view.host_paces = entry.flags & kMatchHeld;
        view.match_says_all =
            (entry.flags & (kMatchNear | kMatchBeside)) != 0 && edge.is_current(entry) && entry.waiting == 0;
      }
      view.not_placed = worker.edge_receive().refusal(match, view.destination, now);
      look_at_edge(view, worker, port);
      look_at_queue(view, worker, port);
    }
    look_at_ways(view, worker, port, now);
  });
  if (view.refused == DropReason::none && !view.flooded) look_at_output(process, node, index, view);
  return view;
}

TraceView view_transit(const SwitchProcess& process, const ProcessNode& node, PortIndex index, TraceView view,
                       Nanos now) {
  reserve(view);
  const WorkerIndex index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Worker& worker = node.node->worker(index_of_worker);
    const Port& port = node.node->port(index);
    const FlowId id = view.flow_id;
    view.via = via_from(worker.site().address, view.destination.node, view.via);
    if (id != kNoFlow && port.input.flows.valid(id) && port.input.flows[id].in_use() &&
        FlowLife::is_of(port, port.input.flows[id], packet_of(view, port)))
      look_at_flow(view, worker, port, id, now);
    look_at_queue(view, worker, port);
    look_at_ways(view, worker, port, now);
  });
  look_at_output(process, node, index, view);
  return view;
}

bool view_flow(const SwitchProcess& process, const ProcessNode& node, PortIndex index, FlowId id, Nanos now,
               TraceView& view) {
  reserve(view);
  const WorkerIndex index_of_worker = node.node->worker_of_port(index);
  process.run_on(node, index_of_worker, [&] {
    const Worker& worker = node.node->worker(index_of_worker);
    const Port& port = node.node->port(index);
    if (!port.input.flows.valid(id) || !port.input.flows[id].in_use()) return;
    look_at_flow(view, worker, port, id, now);
    if (worker.edge_input().applications().configured) look_at_group(view, port, view.flow.group);
    view.destination = view.flow.destination;
    view.ftag = view.flow.ftag;
    if (view.flow.match != kNoMatch) {
      view.vlan = worker.edge_input().matches().key_at(view.flow.match).vni;
      view.host_paces = worker.edge_input().matches()[view.flow.match].flags & kMatchHeld;
    }
    look_at_edge(view, worker, port);
    const Packet* next = view.flow.queue.head;
    view.bytes = next == nullptr ? uint16_t{0} : next->payload;
    view.hop_limit = next == nullptr ? kHopLimit : next->hop_limit;
    view.channel = next == nullptr ? kLossyChannel : next->vc;
    look_at_ways(view, worker, port, now);
  });
  if (view.live) look_at_output(process, node, index, view);
  return view.live;
}

}  // namespace heddle
