// SPDX-License-Identifier: Apache-2.0
// Looking into running nodes, for show_*.cc.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "io/switch_process.h"
#include "telemetry/show.h"

namespace heddle {

constexpr uint32_t kIdsAtOnce = 2048;  // flow IDs that are looked at between two polls

inline const TopologyNode& description(const SwitchProcess& process, const ProcessNode& node) {
  return process.topology().nodes[node.settings.node_index];
}

// leaf1:p3
inline std::string port_name(const SwitchProcess& process, uint16_t node_index, PortIndex port) {
  const TopologyNode& node = process.topology().nodes[node_index];
  return node.name + ":" + node.ports[port].name;
}

inline void add_buffers(const SwitchProcess& process, Json& json) {
  json["buffers"] = process.pool().buffers();
  json["buffers_in_use"] = process.pool().in_use();
  json["control_buffers"] = process.control_pool().buffers();
  json["control_buffers_in_use"] = process.control_pool().in_use();
}

// Calls visit(node) for the nodes the request is about, those that are down too.
template <typename Visit>
void for_each_node(const SwitchProcess& process, const ShowRequest& request, Visit visit) {
  for (const ProcessNode& node : process.nodes())
    if (!request.node || *request.node == node.settings.node_index) visit(node);
}

// Calls visit(port index) for the ports the request is about.
template <typename Visit>
void for_each_port(const ProcessNode& node, const ShowRequest& request, Visit visit) {
  for (size_t index = 0; index < node.ports.size(); ++index)
    if (!request.port || *request.port == index) visit(PortIndex::of(index));
}

// Calls visit(port) in the thread of the port's worker. The node is not down.
template <typename Visit>
void look_at_port(const SwitchProcess& process, const ProcessNode& node, PortIndex index, Visit visit) {
  process.run_on(node, node.node->worker_of_port(index), [&] { visit(node.node->port(index)); });
}

// Frames that a port's queues hold at this moment.
inline uint64_t held_frames(const Port& port) {
  return uint64_t{port.input.queues.packets()} + port.input.waiting.count() + port.output.scheduler.packets() +
         port.output.control_packets + (port.output.probes != nullptr ? 1 : 0) +
         (port.output.probes_in_turn != nullptr ? 1 : 0) + port.retry.kept();
}

// Frames of one or several ports, as invariant 2 sums them up.
struct FrameBalance {
  uint64_t in = 0, out = 0, held = 0, drops = 0;
  void add(const Port& port) {
    const PortCounters& counters = port.counters;
    in += counters.received_frames + counters.originated_frames + counters.copied_frames;
    out += counters.sent_frames + counters.consumed_frames;
    held += held_frames(port);
    for (const uint64_t dropped : counters.drops) drops += dropped;
  }
  Json json() const { return {{"in", in}, {"out", out}, {"held", held}, {"drops", drops}}; }
};

// Frames that are lost below a port, where the switch doesn't see them.
struct LossBelow {
  std::string_view reason;
  std::string_view text;
  uint64_t frames;
};

// Of a port's device, or of its end of an in-process link: all reasons there are, those that have not come about too.
inline std::vector<LossBelow> losses_below(const ProcessNode& node, PortIndex index) {
  static constexpr std::string_view kMissed = "device_missed", kMissedText = "no room in the device's receive ring";
  const ProcessPort& port = node.ports[index];
  if (port.link != nullptr) {
    const LinkEnd& first = port.link->ends[0];
    const unsigned side = first.node_index == node.settings.node_index && first.port == index ? 0 : 1;
    const MemoryLink& link = *port.link->link;
    return {{kMissed, kMissedText, link.events(1 - side, LinkFrameEvent::ring_full)}};
  }
  const uint64_t unplugged = port.unplugged->lost_frames();
  static constexpr std::string_view kNowhere = "not_plugged_in", kNowhereText = "sent while nothing was plugged in";
  if (port.outward == nullptr) return {{kNowhere, kNowhereText, unplugged}};
  const DriverCounters counters = port.outward->driver_counters();
  return {
      {kNowhere, kNowhereText, unplugged},
      {kMissed, kMissedText, counters.missed_frames},
      {"device_no_buffer", "no buffer for a frame that came in", counters.no_buffer_frames},
      {"device_unusable", "came in damaged, cut or in pieces too large", counters.unusable_frames},
      {"device_send_error", "taken by the device and not sent: too long for it, or it is down", counters.send_errors},
      {"device_refused", "never found room to be sent: too long for the cable's other end, or that one is stuck",
       counters.refused_frames}};
}

// Of all ports that worker has, seen at one moment.
inline FrameBalance balance_of(const Worker& worker) {
  FrameBalance balance;
  for (const Port* port : worker.ports()) balance.add(*port);
  return balance;
}

}  // namespace heddle
