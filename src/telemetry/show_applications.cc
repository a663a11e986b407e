// SPDX-License-Identifier: Apache-2.0
// Who shares each edge port (A1): its flows by group, and what came of each group in the interval; and what ports with
// injection limits have in the fabric (A6).
#include <map>
#include <memory>
#include <tuple>

#include "io/clock.h"
#include "telemetry/flow_sample.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

struct GroupTotals {
  uint32_t flows = 0, queued_flows = 0;
  uint64_t offered = 0, delivered = 0, lost = 0, queued = 0, in_fabric = 0;
};
struct PortOfNode {
  const ProcessNode* node;
  PortIndex port;
  auto operator<=>(const PortOfNode&) const = default;
};

Json group_json(const SwitchProcess& process, const PortOfNode& place, uint8_t number, const GroupTotals& totals,
                uint64_t delivered_of_port, double seconds) {
  const TopologyNode& about = description(process, *place.node);
  const ApplicationPolicy& policy = place.node->settings.applications;
  const ApplicationPolicy::Group& group = policy.groups[number];
  const auto bps = [seconds](uint64_t bytes) {
    return static_cast<uint64_t>(static_cast<double>(bytes) * 8 / seconds);
  };
  Json json{{"node", about.name},
            {"port", about.ports[place.port].name},
            {"group", number},
            {"limit", group.limit},
            {"weight", group.weight},
            {"limit_weight", policy.limits[group.limit].weight},
            {"flows", totals.flows},
            {"queued_flows", totals.queued_flows},
            {"offered_bps", bps(totals.offered)},
            {"delivered_bps", bps(totals.delivered)},
            {"dropped_bps", bps(totals.lost)},
            {"queue_bytes", totals.queued},
            {"in_fabric_bytes", totals.in_fabric}};
  if (!group.name.empty()) json["name"] = group.name;
  if (delivered_of_port != 0)
    json["share_ppm"] =
        static_cast<uint64_t>(1e6 * static_cast<double>(totals.delivered) / static_cast<double>(delivered_of_port));
  return json;
}

// A port's limit IDs that flows have or that have something in the fabric, if any limit holds there, and the port.
void add_limits(const SwitchProcess& process, const ProcessNode& node, PortIndex index, Json& rows) {
  const ApplicationPolicy& policy = node.settings.applications;
  InjectionLimits limits{kNoApplications};
  look_at_port(process, node, index, [&limits](const Port& port) { limits = port.input.arbiter.injection(); });
  const auto add = [&](uint64_t injected_bytes, uint64_t limit_bytes) -> Json& {
    rows.push_back({{"node", description(process, node).name},
                    {"port", description(process, node).ports[index].name},
                    {"injected_bytes", injected_bytes}});
    if (limit_bytes != kNoInjectionLimit) rows.back()["limit_bytes"] = limit_bytes;
    return rows.back();
  };
  for (uint8_t id = 0; id < kNoLimitId; ++id) {
    const bool used = (limits.active() >> id & 1) || policy.limits[id].bytes != kNoInjectionLimit;
    if (!used) continue;
    Json& row = add(limits.injected_bytes(id), limits.limit_bytes(id));
    row["limit"] = id;
    row["open"] = (limits.open() >> id & 1) != 0;
  }
  add(limits.injected_bytes(), limits.limit_bytes());
}

Json injected(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr || !node.settings.applications.limits_injection()) return;
    for_each_port(node, request, [&](PortIndex index) {
      if (!description(process, node).ports[index].fabric) add_limits(process, node, index, rows);
    });
  });
  return rows;
}

Json rated_groups(const SwitchProcess& process, const ShowRequest& request, const std::vector<SampledFlow>& earlier,
                  Nanos began_ns) {
  std::vector<SampledFlow> flows = sample_flows(process, request);
  const double seconds = std::max(1e-3, static_cast<double>(monotonic_now() - began_ns) / 1e9);
  rate_flows(earlier, flows);
  std::map<std::pair<PortOfNode, uint8_t>, GroupTotals> groups;
  std::map<PortOfNode, uint64_t> delivered_of_ports;
  for (const SampledFlow& flow : flows) {
    if (request.port && *request.port != flow.port) continue;
    const PortOfNode place{flow.node, flow.port};
    GroupTotals& totals = groups[{place, flow.group}];
    ++totals.flows;
    totals.queued_flows += flow.queued_bytes != 0;
    totals.offered += flow.totals.offered;
    totals.delivered += flow.delivered;
    totals.lost += flow.totals.lost;
    totals.queued += flow.queued_bytes;
    totals.in_fabric += flow.totals.held - flow.queued_bytes;
    delivered_of_ports[place] += flow.delivered;
  }
  Json rows = Json::array();
  for (const auto& [key, totals] : groups)
    rows.push_back(group_json(process, key.first, key.second, totals, delivered_of_ports[key.first], seconds));
  return {{"interval_ms", static_cast<uint64_t>(seconds * 1000)},
          {"groups", std::move(rows)},
          {"injected", injected(process, request)}};
}

}  // namespace

std::function<Json()> show_applications(const SwitchProcess& process, const ShowRequest& request) {
  auto earlier = std::make_shared<std::vector<SampledFlow>>(sample_flows(process, request));
  return [&process, request, earlier, began_ns = monotonic_now()] {
    return rated_groups(process, request, *earlier, began_ns);
  };
}

}  // namespace heddle
