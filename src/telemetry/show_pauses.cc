// SPDX-License-Identifier: Apache-2.0
// What hosts are told to hold back (G1), and which hosts say that they do.
#include "ingress/application_groups.h"
#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

// Of a pause, at one moment.
struct PauseView {
  FgfcFlow flow;
  uint64_t host;
  uint64_t credit;
  Nanos since_ns;
  uint32_t queue_bytes;
  uint8_t group;
  bool of_group;
};

// Of an edge port. Has room for all that there can be.
struct PortPauses {
  std::vector<PauseView> pauses;
  std::vector<ObeyingHost> hosts;

  PortPauses() {
    pauses.reserve(PausedFlows::kMost);
    hosts.reserve(ObeyingHosts::kMost);
  }
  void take(const Port& port, const EdgeInput& edge, const ClassTable& classes) {
    const PausedFlows& paused = port.input.paused;
    for (const FlowPause& pause : paused.pauses)
      if (pause.number() != 0 && !pause.ended() && pause.match() != kNoMatch) take_flow(port, edge, classes, pause);
    for (const PausedGroup& group : paused.groups) {
      const FlowPause& pause = paused.pauses[group.pause];
      if (pause.ended()) continue;
      pauses.push_back({.flow = group.flow,
                        .host = group.host,
                        .credit = pause.credit(),
                        .since_ns = pause.since(),
                        .queue_bytes = port.input.queues.of_group(group.group).bytes,
                        .group = group.group,
                        .of_group = true});
    }
    hosts.assign(paused.hosts.all().begin(), paused.hosts.all().end());
  }

 private:
  void take_flow(const Port& port, const EdgeInput& edge, const ClassTable& classes, const FlowPause& pause) {
    const MatchKey& key = edge.matches().key_at(pause.match());
    const MatchEntry& entry = edge.matches()[pause.match()];
    const InputFlow& flow = port.input.flows[entry.flow];  // the last one that it had
    pauses.push_back({.flow = fgfc_flow(key, fgfc_fields(classes.of(key.ftag).match), port.settings.vlans.native),
                      .host = load_mac(key.macs + 6),
                      .credit = pause.credit(),
                      .since_ns = pause.since(),
                      .queue_bytes = flow.in_use() && flow.match == pause.match() ? flow.queue_extent() : 0,
                      .group = group_of(edge.applications(), key),
                      .of_group = false});
  }
};

Json pause_json(const PauseView& view, const ApplicationPolicy& policy, Nanos now) {
  const FgfcFlow& flow = view.flow;
  Json row{{"host_mac", mac_text(view.host)},
           {"what", view.of_group ? "application" : "flow"},
           {"group", view.group},
           {"vlan", flow.vlan},
           {"credit_bytes", view.credit},
           {"queue_bytes", view.queue_bytes},
           {"for_ns", now - std::min(now, view.since_ns)}};
  if (!policy.groups[view.group].name.empty()) row["name"] = policy.groups[view.group].name;
  row["source_mac"] = mac_text(view.host);
  row["destination_mac"] = flow.fields & HEDDLE_FGFC_ANY_DESTINATION ? "any" : mac_text(flow.destination);
  if (flow.l3 != 0 && (flow.fields & (HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_SOURCE_ADDRESS)))
    row["source"] = address_text(flow.source_address.data(), flow.l3);
  if (flow.l3 != 0 && (flow.fields & HEDDLE_FGFC_ADDRESSES))
    row["destination"] = address_text(flow.destination_address.data(), flow.l3);
  if (flow.l3 != 0 && (flow.fields & HEDDLE_FGFC_PORTS)) {
    row["protocol"] = flow.protocol;
    if (flow.source_port != 0 || flow.destination_port != 0) {
      row["source_port"] = flow.source_port;
      row["destination_port"] = flow.destination_port;
    }
  }
  if (flow.fields & HEDDLE_FGFC_DSCP) row["dscp"] = flow.dscp;
  if (flow.fields & HEDDLE_FGFC_FLOW_LABEL) row["flow_label"] = flow.flow_label;
  return row;
}

const char* says(const ObeyingHost& host, Nanos now) {
  if (now < host.not_believed_ns) return "disobeyed";
  return now < host.until_ns ? "obeys" : "silent";
}

}  // namespace

Json show_pauses(const SwitchProcess& process, const ShowRequest& request) {
  Json pauses = Json::array(), hosts = Json::array();
  const ClassTable classes(process.topology());
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    for_each_port(node, request, [&](PortIndex index) {
      if (about.ports[index].fabric) return;
      PortPauses seen;
      const EdgeInput& edge = node.node->worker(node.node->worker_of_port(index)).edge_input();
      look_at_port(process, node, index, [&](const Port& port) { seen.take(port, edge, classes); });
      const Nanos now = monotonic_now();
      const Json place{{"node", about.name}, {"port", about.ports[index].name}};
      for (const PauseView& view : seen.pauses) {
        Json row = place;
        row.update(pause_json(view, node.settings.applications, now));
        pauses.push_back(std::move(row));
      }
      for (const ObeyingHost& host : seen.hosts) {
        Json row = place;
        row.update({{"mac", mac_text(host.mac)}, {"says", says(host, now)}, {"strikes", host.strikes}});
        hosts.push_back(std::move(row));
      }
    });
  });
  return {{"pauses", std::move(pauses)}, {"obeying", std::move(hosts)}};
}

}  // namespace heddle
