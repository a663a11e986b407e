// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <vector>

#include "io/clock.h"
#include "telemetry/inspect.h"
#include "telemetry/transit_flows.h"

namespace heddle {

namespace {

constexpr uint32_t kPlacesAtOnce = 8192;  // looked at per turn

struct StationView {
  uint64_t mac = 0;
  uint16_t vlan = 0;
  FabricAddress address;
  Nanos seen_ns = 0;
  bool fixed = false, held = false;
};

using Stations = std::map<std::pair<uint64_t, uint16_t>, StationView>;  // by MAC and VLAN

// A node's workers tell each other what they learn; the one that heard of a station last knows best.
Stations stations_of(const SwitchProcess& process, const ProcessNode& node, Nanos now) {
  Stations stations;
  std::vector<StationView> views;
  for (WorkerIndex index = 0; index < node.node->workers(); ++index) {
    const StationTable& table = node.node->worker(index).edge_input().stations();
    for (uint32_t first = 0; first < table.capacity(); first += kPlacesAtOnce) {
      views.clear();
      views.reserve(kPlacesAtOnce);  // not in the worker's thread
      process.run_on(node, index, [&] {
        table.for_each(first, first + kPlacesAtOnce, [&](uint64_t mac, uint16_t vlan, const Station& station) {
          views.push_back({mac, vlan, station.address, station.seen_ns, station.fixed, station.held_until_ns > now});
        });
      });
      for (const StationView& view : views) {
        StationView& best = stations[{view.mac, view.vlan}];
        if (best.seen_ns <= view.seen_ns) best = view;
      }
    }
  }
  return stations;
}

}  // namespace

// As each node knows them: on its own edge ports and where it has heard from over the fabric.
Json show_stations(const SwitchProcess& process, const ShowRequest& request) {
  const Nanos now = monotonic_now();
  Json rows = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    for (const auto& [key, view] : stations_of(process, node, now)) {
      const std::string at = destination_text(process, view.address);
      const std::string here = description(process, node).name;
      if (request.port && at != here + ":" + description(process, node).ports[*request.port].name) continue;
      rows.push_back({{"node", here},
                      {"mac", mac_text(key.first)},
                      {"vlan", key.second},
                      {"at", at},
                      {"how", view.fixed  ? "fixed"
                              : view.held ? "held"
                                          : "learned"},
                      {"age_ns", view.fixed ? Json(nullptr) : Json(now > view.seen_ns ? now - view.seen_ns : 0)}});
    }
  });
  return {{"stations", std::move(rows)}};
}

}  // namespace heddle
