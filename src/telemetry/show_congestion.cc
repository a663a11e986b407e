// SPDX-License-Identifier: Apache-2.0
// Who is held, where, by what and since when (C1-C5).
#include "flow/flow_gate.h"
#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

// An edge port whose host takes less than comes for it, or a class there.
void add_outputs(const SwitchProcess& process, const TopologyNode& about, const Port& port, Nanos now, Json& rows) {
  const PortCongestion& all = port.output.congestion;
  for (uint8_t part = 0; part < all.parts(); ++part) {
    const EndpointCongestion& congestion = all.part(part);
    if (!congestion.congested()) continue;
    rows.push_back(
        {{"node", about.name},
         {"port", about.ports[port.index].name},
         {"level", congestion.position()},
         {"queued_bytes", all.by_class() ? port.output.scheduler.bytes_of(part) : port.output.scheduler.bytes()},
         {"round_trip_ns", congestion.round_trip_ns()},
         {"for_ns", now > congestion.since_ns() ? now - congestion.since_ns() : 0}});
    if (all.by_class()) rows.back()["class"] = process.topology().classes[part].name;
  }
}

// What a flow with packets waits for; empty if it goes on.
const char* waits_for(const Worker& worker, const Port& port, FlowId id, Nanos now) {
  const InputFlow& flow = port.input.flows[id];
  if (flow.state == FlowState::held && (flow.flags & kFlowLeaving)) return "path";
  if (flow.state != FlowState::blocked || flow.queue.empty()) return "";
  const uint64_t free_bytes =
      flow.branch.flow != kNoFlow ? worker.shares().free_bytes_of(port.input.arbiter[flow.branch.voq]) : kNoShare;
  const uint32_t bytes = flow.queue.head->payload;
  switch (gate_on_path(flow, port.input.limits[id], port.input.meters[id], free_bytes, bytes, now)) {
    case Gate::paced:
      return "time";
    case Gate::window:
      return "window";
    case Gate::no_credit:
      return "credit";
    case Gate::no_share:
      return "buffers";
    case Gate::leaving:    // a flow that waits for these
    case Gate::injection:  // is not blocked
    case Gate::open:       // it goes on in its next turn
    case Gate::lapsed:
      break;
  }
  return "";
}

Json flow_json(const SwitchProcess& process, const TopologyNode& about, const Worker& worker, const Port& port,
               FlowId id, Nanos now) {
  const InputFlow& flow = port.input.flows[id];
  const int node = process.topology().node_of_address(flow.destination.node);
  Json json = {{"node", about.name},
               {"port", about.ports[port.index].name},
               {"flow_id", id},
               {"to", node < 0 ? "?" : port_name(process, static_cast<uint16_t>(node), flow.destination.port)},
               {"level", flow.congestion & kCongestionLevelMask},
               {"in_fabric_bytes", flow.flow_extent()},
               {"queue_bytes", flow.queue_extent()},
               {"blocked", flow.state == FlowState::blocked},
               {"waits_for", waits_for(worker, port, id, now)}};
  if (!(flow.flags & kFlowLimited)) return json;
  const FlowLimit& limit = port.input.limits[id];
  json["share_bps"] = static_cast<uint64_t>(8e9 / limit.ns_per_byte());
  json["window_bytes"] = limit.window_bytes();
  json["delay_ns"] = limit.delay_ns();
  json["for_ns"] = now > limit.since_ns() ? now - limit.since_ns() : 0;
  return json;
}

// An edge port that has told its host to wait (F10), or is held by it (K14).
Json paused_json(const TopologyNode& about, const Port& port) {
  const auto count = [&port](ProtocolEvent event) { return port.counters.events[static_cast<unsigned>(event)]; };
  return {{"node", about.name},
          {"port", about.ports[port.index].name},
          {"told_priorities", port.pause.told()},
          {"queued_packets", port.input.queues.lossless_packets()},
          {"obeys", port.output.paused_lanes != 0},
          {"told", count(ProtocolEvent::pause_sent)},
          {"heard", count(ProtocolEvent::pause_heard)},
          {"overruled", count(ProtocolEvent::pause_overruled)}};
}

}  // namespace

Json show_congestion(const SwitchProcess& process, const ShowRequest& request) {
  Json outputs = Json::array(), flows = Json::array(), hosts = Json::array();
  uint64_t held = 0;
  const Nanos now = monotonic_now();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    for_each_port(node, request, [&](PortIndex index) {
      const Worker& worker = node.node->worker(node.node->worker_of_port(index));
      uint32_t ids = 1;
      for (uint32_t first = 1; first <= ids; first += kIdsAtOnce) {
        look_at_port(process, node, index, [&](const Port& port) {
          if (first == 1) add_outputs(process, about, port, now, outputs);
          if (first == 1 && (port.pause.told() != 0 || port.output.paused_lanes != 0))
            hosts.push_back(paused_json(about, port));
          ids = port.input.flows.size();
          for (uint32_t id = first; id <= ids && id < first + kIdsAtOnce; ++id) {
            const InputFlow& flow = port.input.flows[FlowId::of(id)];
            if (!flow.in_use() || (!(flow.flags & kFlowLimited) && flow.state != FlowState::blocked)) continue;
            if (held++ < request.offset || flows.size() >= request.limit) continue;
            flows.push_back(flow_json(process, about, worker, port, FlowId::of(id), now));
          }
        });
      }
    });
  });
  return {{"outputs", std::move(outputs)},
          {"hosts", std::move(hosts)},
          {"held", held},
          {"offset", request.offset},
          {"flows", std::move(flows)}};
}

}  // namespace heddle
