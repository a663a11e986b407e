// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <memory>

#include "io/clock.h"
#include "telemetry/flow_sample.h"
#include "telemetry/inspect.h"
#include "telemetry/transit_flows.h"

namespace heddle {

std::string mac_text(uint64_t mac) {
  char text[18];
  const auto byte = [mac](unsigned shift) { return static_cast<unsigned>(mac >> shift & 0xff); };
  std::snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", byte(40), byte(32), byte(24), byte(16), byte(8),
                byte(0));
  return text;
}

std::string address_text(const uint8_t* address, unsigned layer3) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(layer3 == 4 ? AF_INET : AF_INET6, address, text, sizeof(text));
  return text;
}

namespace {

// The fields that the class's pattern leaves out of the key are left out here.
void add_key(Json& json, const MatchKey& key) {
  json["vlan"] = key.vni;
  json["ftag"] = key.ftag;
  json["source_mac"] = mac_text(load_mac(key.macs + 6));
  json["destination_mac"] = mac_text(load_mac(key.macs));
  const auto any = [](const uint8_t(&address)[16]) {
    return std::any_of(std::begin(address), std::end(address), [](uint8_t byte) { return byte != 0; });
  };
  if ((key.l3 == 4 || key.l3 == 6) && (any(key.source_address) || any(key.destination_address))) {
    json["source"] = address_text(key.source_address, key.l3);
    json["destination"] = address_text(key.destination_address, key.l3);
    json["protocol"] = key.protocol;
  }
  if (key.source_port != 0 || key.destination_port != 0) {
    json["source_port"] = big_endian(key.source_port);
    json["destination_port"] = big_endian(key.destination_port);
  }
  if (key.dscp != 0) json["dscp"] = key.dscp >> 2;
  if (key.flow_label != 0) json["flow_label"] = key.flow_label;
}

// Group, name and injection limit ID, if the node tells applications apart.
void add_application(Json& json, const SampledFlow& sample) {
  json["group"] = sample.group;
  const ApplicationPolicy& policy = sample.node->settings.applications;
  if (!policy.configured) return;
  const ApplicationPolicy::Group& group = policy.groups[sample.group];
  json["limit"] = group.limit;
  if (!group.name.empty()) json["group_name"] = group.name;
}

std::string flow_state_text(const FlowView& view) {
  if (view.at_port_limit) return "at port limit";
  return view.at_limit ? "at limit" : state_text(view.state, view.rests);
}

Json flow_json(const SwitchProcess& process, const SampledFlow& sample, const FlowView& view, double seconds) {
  const TopologyNode& about = description(process, *sample.node);
  const auto bps = [seconds](uint32_t bytes) { return static_cast<uint64_t>(bytes * 8.0 / seconds); };
  Json json{{"node", about.name},
            {"port", about.ports[view.input_port].name},
            {"to", destination_text(process, view.destination)},
            {"offered_bps", bps(sample.totals.offered)},
            {"delivered_bps", bps(sample.delivered)},
            {"dropped_bps", bps(sample.totals.lost)},
            {"dropped_bytes", view.lost_bytes}};
  if (view.lost_bytes != 0)
    json["dropped_reason"] =
        view.lost_reason == DropReason::none ? "further on" : kDropReasonNames[static_cast<unsigned>(view.lost_reason)];
  add_key(json, view.key);
  add_application(json, sample);
  json["flow_id"] = view.flow;
  json["state"] = flow_state_text(view);
  json["level"] = view.level;
  json["queue_bytes"] = view.queue_bytes;
  json["queued_packets"] = view.queued_packets;
  json["in_fabric_bytes"] = view.flow_extent_bytes;
  add_output(json, process, about, view.output_port, view.output_flow);
  return json;
}

Json rated_flows(const SwitchProcess& process, const ShowRequest& request, const std::vector<SampledFlow>& earlier,
                 Nanos began_ns) {
  std::vector<SampledFlow> flows = sample_flows(process, request);
  const double seconds = std::max(1e-3, static_cast<double>(monotonic_now() - began_ns) / 1e9);
  rate_flows(earlier, flows);

  const size_t known = flows.size();
  if (!request.all)
    std::erase_if(flows, [](const SampledFlow& flow) { return flow.totals.offered == 0 && !flow.attached; });
  std::stable_sort(flows.begin(), flows.end(),
                   [](const SampledFlow& a, const SampledFlow& b) { return a.totals.offered > b.totals.offered; });
  Json rows = Json::array();
  for (size_t i = request.offset; i < flows.size() && rows.size() < request.limit; ++i) {
    FlowView view;
    if (!view_flow(process, flows[i], view)) continue;
    if (request.port && *request.port != view.input_port) continue;
    rows.push_back(flow_json(process, flows[i], view, seconds));
  }
  return {{"interval_ms", static_cast<uint64_t>(seconds * 1000)},
          {"known", known},
          {"moving", request.all ? Json(nullptr) : Json(flows.size())},
          {"offset", request.offset},
          {"flows", std::move(rows)},
          {"transit", transit_json(process, request)}};
}

}  // namespace

std::function<Json()> show_flows(const SwitchProcess& process, const ShowRequest& request) {
  auto earlier = std::make_shared<std::vector<SampledFlow>>(sample_flows(process, request));
  return [&process, request, earlier, began_ns = monotonic_now()] {
    return rated_flows(process, request, *earlier, began_ns);
  };
}

}  // namespace heddle
