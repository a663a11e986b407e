// SPDX-License-Identifier: Apache-2.0
#include "telemetry/inspect.h"

namespace heddle {

namespace {

struct EndView {
  bool here = false;  // a node of this process
  bool up = false;
  std::string reason;
  uint32_t flaps = 0;
  uint64_t sessions = 0;
};

// expected spine1:p2, found spine2:p1
std::string wrong_cable(const SwitchProcess& process, const TopologyPort& settings, const Hello& hello) {
  return "expected " + port_name(process, settings.peer.node_index, settings.peer.port) + ", found " + hello.node_name +
         ":" + hello.port_name;
}

EndView view_of(const SwitchProcess& process, LinkEnd end) {
  EndView view;
  for (const ProcessNode& node : process.nodes()) {
    if (node.settings.node_index != end.node_index) continue;
    view.here = true;
    if (node.node == nullptr) {
      view.reason = "node is down";
      continue;
    }
    look_at_port(process, node, end.port, [&](const Port& port) {
      view.up = port.session.up();
      view.reason = link_down_text(port.session.down_reason());
      if (!view.up && port.session.down_reason() == LinkDownReason::wrong_cable)
        view.reason = wrong_cable(process, port.settings, port.session.last_hello());
      view.flaps = port.session.flaps();
      view.sessions = port.counters.events[static_cast<unsigned>(ProtocolEvent::session_began)];
    });
  }
  return view;
}

const ProcessLink* process_link(const SwitchProcess& process, LinkEnd end) {
  for (const ProcessNode& node : process.nodes())
    if (node.settings.node_index == end.node_index) return node.ports[end.port].link;
  return nullptr;
}

// What an operator should know first: that it was done on purpose, then what the end that hears something says.
std::string reason_of(const ProcessLink* link, const EndView& a, const EndView& b) {
  if (link != nullptr && !link->up) return "taken down";
  const std::string nothing_heard = link_down_text(LinkDownReason::no_hello);
  if (a.here && !a.up && (a.reason != nothing_heard || !b.here || b.up)) return a.reason;
  if (b.here && !b.up) return b.reason;
  return a.here ? a.reason : b.reason;
}

Json end_json(const EndView& view) {
  if (!view.here) return nullptr;
  return {{"up", view.up}, {"reason", view.reason}, {"flaps", view.flaps}, {"sessions", view.sessions}};
}

Json link_json(const SwitchProcess& process, const TopologyLink& link) {
  const EndView a = view_of(process, link.ends[0]);
  const EndView b = view_of(process, link.ends[1]);
  const bool up = (a.up || !a.here) && (b.up || !b.here);
  const ProcessLink* faults = process_link(process, a.here ? link.ends[0] : link.ends[1]);
  Json json{{"a", port_name(process, link.ends[0].node_index, link.ends[0].port)},
            {"b", port_name(process, link.ends[1].node_index, link.ends[1].port)},
            {"up", up},
            {"reason", up ? "up" : reason_of(faults, a, b)},
            {"a_end", end_json(a)},
            {"b_end", end_json(b)}};
  json["rate_bps"] = process.topology().nodes[link.ends[0].node_index].ports[link.ends[0].port].rate_bps;
  if (faults == nullptr) return json;
  const bool same_way =
      faults->ends[0].node_index == link.ends[0].node_index && faults->ends[0].port == link.ends[0].port;
  const LinkImpairment& from_a = faults->impairment[same_way ? 0 : 1];
  const LinkImpairment& from_b = faults->impairment[same_way ? 1 : 0];
  json["loss_ppm"] = {from_a.loss_ppm, from_b.loss_ppm};
  json["delay_ns"] = {from_a.delay_ns, from_b.delay_ns};
  return json;
}

}  // namespace

Json show_links(const SwitchProcess& process, const ShowRequest& request) {
  Json links = Json::array();
  for (const TopologyLink& link : process.topology().links) {
    bool wanted = false;
    for_each_node(process, request, [&](const ProcessNode& node) {
      for (const LinkEnd& end : link.ends)
        wanted = wanted || (end.node_index == node.settings.node_index && (!request.port || *request.port == end.port));
    });
    if (wanted) links.push_back(link_json(process, link));
  }
  return {{"links", std::move(links)}};
}

}  // namespace heddle
