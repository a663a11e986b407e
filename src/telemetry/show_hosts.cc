// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

// Of one edge port since it began.
struct HostTotals {
  uint64_t offered = 0, delivered = 0, received = 0, dropped_frames = 0;
  Nanos at_ns = 0;
};

using Key = std::pair<uint16_t, PortIndex>;

std::map<Key, HostTotals> totals_of(const SwitchProcess& process, const ShowRequest& request) {
  std::map<Key, HostTotals> all;
  for_each_node(process, request, [&](const ProcessNode& node) {
    for_each_port(node, request, [&](PortIndex index) {
      if (node.node == nullptr || description(process, node).ports[index].fabric) return;
      look_at_port(process, node, index, [&](const Port& port) {
        HostTotals& totals = all[{node.settings.node_index, index}];
        totals = {.offered = port.counters.received_bytes,
                  .delivered = port.counters.acknowledged_bytes,
                  .received = port.counters.delivered_bytes,
                  .dropped_frames = 0,
                  .at_ns = monotonic_now()};
        for (const uint64_t dropped : port.counters.drops) totals.dropped_frames += dropped;
      });
    });
  });
  return all;
}

std::string host_name(const ProcessNode& node, PortIndex index) {
  for (const PortDevice& device : node.settings.ports)
    if (device.port == index) return device.host;
  return {};
}

Json rated_hosts(const SwitchProcess& process, const ShowRequest& request, std::map<Key, HostTotals> earlier) {
  Json rows = Json::array();
  for (const auto& [key, totals] : totals_of(process, request)) {
    const HostTotals& before = earlier[key];
    const double seconds = std::max(1e-3, static_cast<double>(totals.at_ns - before.at_ns) / 1e9);
    const auto bps = [seconds](uint64_t now, uint64_t then) {
      return static_cast<uint64_t>(static_cast<double>(now - std::min(now, then)) * 8 / seconds);
    };
    for (const ProcessNode& node : process.nodes()) {
      if (node.settings.node_index != key.first) continue;
      rows.push_back({{"node", description(process, node).name},
                      {"port", description(process, node).ports[key.second].name},
                      {"host", host_name(node, key.second)},
                      {"offered_bytes", totals.offered},
                      {"delivered_bytes", totals.delivered},
                      {"received_bytes", totals.received},
                      {"dropped_frames", totals.dropped_frames},
                      {"offered_bps", bps(totals.offered, before.offered)},
                      {"delivered_bps", bps(totals.delivered, before.delivered)},
                      {"received_bps", bps(totals.received, before.received)}});
    }
  }
  return {{"interval_ms", request.interval_ms}, {"hosts", std::move(rows)}};
}

}  // namespace

// What the host at each edge port has sent and what of it has come to its destinations, and what it has been sent.
std::function<Json()> show_hosts(const SwitchProcess& process, const ShowRequest& request) {
  return [&process, request, earlier = totals_of(process, request)] { return rated_hosts(process, request, earlier); };
}

}  // namespace heddle
