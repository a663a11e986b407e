// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"
#include "telemetry/inspect.h"
#include "telemetry/link_reason.h"

namespace heddle {

namespace {

// What one end of a link knows of it; of an end in another process nothing.
struct EndView {
  bool here = false;
  bool up = false;
  std::string reason, last_reason;  // last: why it was down before that; empty if it never was for another reason
  Nanos since_ns = 0;
  uint32_t flaps = 0;
  uint64_t sessions = 0;
  uint64_t lost_frames = 0, lost_bytes = 0;  // on the way here
  uint64_t sent_again = 0;                   // from here (K6)
};

EndView view_of(const SwitchProcess& process, LinkEnd end) {
  EndView view;
  for (const ProcessNode& node : process.nodes()) {
    if (node.settings.node_index != end.node_index) continue;
    view.here = true;
    if (node.node == nullptr) {
      view.reason = "node is down";
      continue;
    }
    const std::string& absent = node.ports[end.port].absent;
    look_at_port(process, node, end.port, [&](const Port& port) {
      view.up = port.session.up();
      const Hello& hello = port.session.last_hello();
      const std::string found = std::string(hello.node_name) + ":" + hello.port_name;
      view.reason = link_reason(process, port.settings, port.session.down_reason(), found);
      if (!view.up && !absent.empty()) view.reason = absent;
      if (const LinkDownReason last = port.session.last_reason(); last != LinkDownReason::none)
        view.last_reason = link_down_text(last);
      view.since_ns = port.session.since_ns();
      view.flaps = port.session.flaps();
      const auto events = [&port](ProtocolEvent event) { return port.counters.events[static_cast<unsigned>(event)]; };
      view.sessions = events(ProtocolEvent::session_began);
      view.lost_frames = port.counters.lost_on_wire_frames;
      view.lost_bytes = port.counters.lost_on_wire_bytes;
      view.sent_again = events(ProtocolEvent::sent_again);
    });
  }
  return view;
}

const ProcessLink* process_link(const SwitchProcess& process, LinkEnd end) {
  for (const ProcessNode& node : process.nodes())
    if (node.settings.node_index == end.node_index) return node.ports[end.port].link;
  return nullptr;
}

// The end that says why: the one that hears something, if only one does.
const EndView& end_that_tells(const EndView& a, const EndView& b) {
  const std::string nothing_heard = link_down_text(LinkDownReason::no_hello);
  if (a.here && !a.up && (a.reason != nothing_heard || !b.here || b.up)) return a;
  if (b.here && !b.up) return b;
  return a.here ? a : b;
}

Nanos age_of(const EndView& view, Nanos now) { return view.since_ns == 0 ? 0 : now - view.since_ns; }

Json end_json(const EndView& view, Nanos now) {
  if (!view.here) return nullptr;
  return {{"up", view.up},
          {"reason", view.reason},
          {"last_reason", view.last_reason},
          {"for_ns", age_of(view, now)},
          {"flaps", view.flaps},
          {"sessions", view.sessions},
          {"lost_frames", view.lost_frames},
          {"lost_bytes", view.lost_bytes},
          {"sent_again_frames", view.sent_again}};
}

Json link_json(const SwitchProcess& process, const TopologyLink& link) {
  const EndView a = view_of(process, link.ends[0]);
  const EndView b = view_of(process, link.ends[1]);
  const bool up = (a.up || !a.here) && (b.up || !b.here);
  const EndView& tells = end_that_tells(a, b);
  const Nanos now = monotonic_now();
  const ProcessLink* faults = process_link(process, a.here ? link.ends[0] : link.ends[1]);
  Json json{{"a", port_name(process, link.ends[0].node_index, link.ends[0].port)},
            {"b", port_name(process, link.ends[1].node_index, link.ends[1].port)},
            {"up", up},
            // First of all that it was done on purpose.
            {"reason", up                                 ? "up"
                       : faults != nullptr && !faults->up ? "taken down"
                                                          : tells.reason},
            {"last_reason", tells.last_reason},
            // Of an end whose node is down only the other one knows since when.
            {"for_ns", age_of(tells.since_ns != 0 ? tells
                              : &tells == &a      ? b
                                                  : a,
                              now)},
            {"a_end", end_json(a, now)},
            {"b_end", end_json(b, now)}};
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
