// SPDX-License-Identifier: Apache-2.0
#include "telemetry/inspect.h"

namespace heddle {

namespace {

struct PortView {
  PortCounters counters;
  uint64_t held = 0;
  bool usable = false;
};

Json counters_json(const PortView& view) {
  const PortCounters& counters = view.counters;
  uint64_t drops = 0;
  for (const uint64_t dropped : counters.drops) drops += dropped;
  Json events = Json::object();
  for (unsigned event = 0; event < kProtocolEvents; ++event)
    if (counters.events[event] != 0) events[std::string(kProtocolEventNames[event])] = counters.events[event];
  return {{"received_frames", counters.received_frames},
          {"received_bytes", counters.received_bytes},
          {"sent_frames", counters.sent_frames},
          {"sent_bytes", counters.sent_bytes},
          {"originated_frames", counters.originated_frames},
          {"copied_frames", counters.copied_frames},
          {"consumed_frames", counters.consumed_frames},
          {"delivered_frames", counters.delivered_frames},
          {"delivered_bytes", counters.delivered_bytes},
          {"acknowledged_bytes", counters.acknowledged_bytes},
          {"lost_on_wire_frames", counters.lost_on_wire_frames},
          {"lost_on_wire_bytes", counters.lost_on_wire_bytes},
          {"held_frames", view.held},
          {"dropped_frames", drops},
          {"events", std::move(events)}};
}

void add_driver(Json& json, const OutwardDevice& device) {
  const DriverCounters counters = device.driver_counters();
  json["driver"] = {{"name", device.driver()},
                    {"carrier", device.carrier()},
                    {"speed_bps", device.link_speed_bps()},
                    {"received_frames", counters.received_frames},
                    {"sent_frames", counters.sent_frames},
                    {"missed_frames", counters.missed_frames},
                    {"no_buffer_frames", counters.no_buffer_frames},
                    {"unusable_frames", counters.unusable_frames},
                    {"send_errors", counters.send_errors},
                    {"refused_frames", counters.refused_frames},
                    {"delayed_frames", counters.delayed_frames},
                    {"notes", device.notes()}};
}

std::string device_text(const ProcessPort& port) {
  if (port.link != nullptr) return "in-process link";
  return port.outward != nullptr ? port.outward->device() : "nothing plugged in";
}

// Who is at the other end, as far as the files say.
std::string other_end(const SwitchProcess& process, const ProcessNode& node, PortIndex index) {
  const TopologyPort& settings = description(process, node).ports[index];
  if (settings.fabric) return port_name(process, settings.peer.node_index, settings.peer.port);
  for (const PortDevice& device : node.settings.ports)
    if (device.port == index) return device.host;
  return {};
}

Json port_json(const SwitchProcess& process, const ProcessNode& node, PortIndex index) {
  const TopologyNode& about = description(process, node);
  const TopologyPort& settings = about.ports[index];
  const ProcessPort& port = node.ports[index];
  Json json{
      {"node", about.name},          {"port", settings.name},         {"role", settings.fabric ? "fabric" : "edge"},
      {"device", device_text(port)}, {"rate_bps", settings.rate_bps}, {"mtu_bytes", settings.mtu_bytes}};
  if (const std::string peer = other_end(process, node, index); !peer.empty()) json["peer"] = peer;
  if (!port.absent.empty()) json["absent"] = port.absent;
  PortView view;
  if (node.node != nullptr)
    look_at_port(process, node, index, [&](const Port& seen) {
      view = {.counters = seen.counters, .held = held_frames(seen), .usable = seen.usable()};
    });
  // An edge port has no session that would tell: it is as good as its cable.
  const bool carrier = port.link != nullptr || (port.outward != nullptr && port.outward->carrier());
  json["up"] = view.usable && carrier;
  json.update(counters_json(view));
  uint64_t lost_below = view.counters.lost_on_wire_frames;
  for (const LossBelow& loss : losses_below(node, index)) lost_below += loss.frames;
  json["lost_below_frames"] = lost_below;
  if (port.outward != nullptr) add_driver(json, *port.outward);
  return json;
}

}  // namespace

Json show_ports(const SwitchProcess& process, const ShowRequest& request) {
  Json ports = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    for_each_port(node, request, [&](PortIndex index) { ports.push_back(port_json(process, node, index)); });
  });
  return {{"ports", std::move(ports)}};
}

}  // namespace heddle
