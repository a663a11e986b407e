// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace.h"

#include <algorithm>

#include "cli/text_table.h"
#include "io/clock.h"
#include "telemetry/inspect.h"
#include "telemetry/request_fields.h"
#include "telemetry/trace_frame.h"
#include "telemetry/trace_view.h"
#include "telemetry/transit_flows.h"

namespace heddle {

namespace {

// What a choice among ports looks at (R3).
std::string load_text(const TraceView::Way& way) {
  return "waits " + scaled_duration(static_cast<double>(way.load.waiting_ns)) + ", " +
         std::to_string(std::min<uint64_t>(100, way.load.sent_ns * uint64_t{100} / way.load.lately_ns)) + "% busy";
}

const char* policy_text(PathPolicy policy) {
  switch (policy) {
    case PathPolicy::fixed:
      return "the destination's own";
    case PathPolicy::random:
      return "any of them, by chance";
    case PathPolicy::least_loaded:
    case PathPolicy::shortest:
    case PathPolicy::adaptive:
      return "the least loaded";
    case PathPolicy::valiant:
      return "a longer one";
  }
  return "";
}

const char* gate_text(Gate gate) {
  switch (gate) {
    case Gate::open:
      return "";
    case Gate::lapsed:
      return "; its limit is over";
    case Gate::leaving:
      return "; leaves its path when that is settled";
    case Gate::injection:
      return "; waits for what its application or its port has in the fabric";
    case Gate::no_share:
      return "; waits for the next switch's buffers";
    case Gate::no_credit:
      return "; waits for credit";
    case Gate::paced:
      return "; waits for its time";
    case Gate::window:
      return "; waits for its window";
  }
  return "";
}

// The steps at one hop, as they are told.
class Steps {
 public:
  Steps(const SwitchProcess& process, const ProcessNode& node, PortIndex port, const TraceView& view, Nanos now)
      : process_(process),
        policy_(node.settings.applications),
        about_(description(process, node)),
        port_(about_.ports[port]),
        view_(view),
        now_(now) {}

  Json tell_frame();
  Json tell_flow_at_edge();
  Json tell_transit();

 private:
  void step(const char* stage, const std::string& decision, const std::string& why) {
    steps_.push_back({{"stage", stage}, {"decision", decision}, {"why", why}});
  }
  // There it ends.
  void drop(const char* stage, DropReason reason, const std::string& why = "") {
    step(stage, "dropped: " + std::string(kDropReasonNames[static_cast<unsigned>(reason)]),
         why.empty() ? std::string(kDropReasonTexts[static_cast<unsigned>(reason)]) : why);
    ended_ = true;
  }
  // Something is in its way here, so that it joins its flow's queue.
  bool waits() const {
    return !delivered_at_once() && ((view_.live && view_.flow.state != FlowState::idle) || !is_open(view_.gate) ||
                                    view_.room < view_.cost || (!bound() && !view_.id_free));
  }
  // The short cut past the queue; to a host of this node it asks for no flow, nor for an ID of one.
  bool at_once() const { return view_.at_once && !waits(); }
  bool delivered_at_once() const { return view_.at_once && !about_.ports[view_.output].fabric; }
  bool bound() const { return view_.live && view_.flow.branch.flow != kNoFlow; }
  // What its host is told about it (F10, G1).
  std::string host_text() const {
    return std::string(view_.host_paces ? "; its host is told how much it may send" : "") +
           (view_.told_priorities & traffic_class().priorities() ? "; its host is told to wait" : "");
  }
  void tell_station();
  void tell_group();
  void tell_flow();
  void tell_ways();
  void tell_output();
  void tell_credit();
  void tell_retry();
  void tell_host();
  std::string held_text() const;
  std::string moved_text() const;
  Json answer();

  const TrafficClass& traffic_class() const {
    for (const TrafficClass& one : process_.topology().classes)
      if (one.ftag == view_.ftag) return one;
    return process_.topology().classes.front();
  }
  std::string class_text() const {
    return "class " + traffic_class().name + (traffic_class().lossless ? ", lossless" : "");
  }

  const SwitchProcess& process_;
  const ApplicationPolicy& policy_;
  const TopologyNode& about_;
  const TopologyPort& port_;
  const TraceView& view_;
  Nanos now_;
  bool ended_ = false;  // the frame is dropped here
  Json steps_ = Json::array();
};

Json Steps::tell_frame() {
  if (view_.refused != DropReason::none) {
    drop("frame", view_.refused);
    return answer();
  }
  step("frame", "taken",
       std::to_string(view_.bytes) + " bytes, VLAN " + std::to_string(view_.vlan) + ", " + class_text());
  if (view_.not_placed != DropReason::none) {
    drop("station", view_.not_placed);
    return answer();
  }
  tell_station();
  if (view_.flooded) return answer();
  if (!traffic_class().flow_channels) {
    step("flow", "none", "the class has no flow channels");
  } else {
    step("match", view_.has_match ? "known" : "new",
         std::to_string(view_.matches_used) + " of " + std::to_string(view_.matches) + " matches are used");
    tell_group();
    tell_flow();
  }
  if (!ended_) tell_ways();
  return answer();
}

Json Steps::tell_flow_at_edge() {
  step("station", destination_text(process_, view_.destination), "of the flow, " + class_text());
  tell_group();
  tell_flow();
  tell_ways();
  return answer();
}

Json Steps::tell_transit() {
  step("frame", "taken",
       class_text() + ", channel " + std::to_string(view_.channel) + ", " + std::to_string(view_.hop_limit) +
           " hops left");
  if (traffic_class().flow_channels) tell_flow();
  if (!ended_) tell_ways();
  return answer();
}

void Steps::tell_station() {
  const std::string mac = mac_text(view_.to_mac);
  if (view_.flooded) {
    std::string ports;
    for (const TopologyPort& port : about_.ports)
      if (!port.fabric && &port != &port_ && port.vlans.member(view_.vlan)) ports += " " + port.name;
    return step("station", "flooded",
                mac + (mac_is_group(view_.to_mac) ? " is a group" : " is not known") + "; along the spanning tree" +
                    (ports.empty() ? "" : " and to" + ports));
  }
  const Nanos age = now_ > view_.station_seen_ns ? now_ - view_.station_seen_ns : 0;
  step("station", destination_text(process_, view_.destination),
       mac + (view_.station_fixed ? " by the topology file"
                                  : " was seen " + scaled_duration(static_cast<double>(age)) + " ago"));
}

// Its application (A1), and what holds that: limits are of what goes by a fabric port (A6).
void Steps::tell_group() {
  if (!view_.has_group) return;
  const ApplicationPolicy::Group& group = policy_.groups[view_.group];
  const InjectionLimits& limits = view_.injection;
  std::string why = "injection limit ID " + std::to_string(group.limit);
  const auto add = [&why](const char* what, uint64_t injected_bytes, uint64_t limit_bytes) {
    if (limit_bytes == kNoInjectionLimit) return;
    why += what + scaled_bytes(static_cast<double>(injected_bytes)) + " of " +
           scaled_bytes(static_cast<double>(limit_bytes));
  };
  if (view_.output != kNoPort && about_.ports[view_.output].fabric) {
    add(" has ", limits.injected_bytes(group.limit), limits.limit_bytes(group.limit));
    add(", the port ", limits.injected_bytes(), limits.limit_bytes());
    if (!(limits.open() >> group.limit & 1)) why += "; waits for acknowledgements";
  }
  step("group", group.name.empty() ? std::to_string(view_.group) : group.name, why);
}

void Steps::tell_flow() {
  if (view_.not_queued != DropReason::none && waits()) return drop("flow", view_.not_queued);
  const bool needs_id = !view_.live && !view_.id_free_here && !at_once();
  if (needs_id && !view_.may_wait) return drop("flow", DropReason::no_flow_id);
  if (needs_id)
    return step(
        "flow", "waits",
        "for a flow ID of " + port_.name + ", with " + std::to_string(view_.frames_waiting) + " frames" + host_text());
  if (!view_.live) return step("flow", "new", "nothing of it is under way" + host_text());
  const InputFlow& flow = view_.flow;
  std::string why =
      scaled_bytes(flow.queue_extent()) + " queued, " + scaled_bytes(flow.flow_extent()) + " in the fabric";
  why += gate_text(view_.gate);
  why += host_text();
  step("flow", std::to_string(view_.flow_id) + ", " + state_text(flow.state, flow.at_rest()), why);
}

void Steps::tell_ways() {
  std::string why;
  for (const TraceView::Way& way : view_.loads) {
    why += (why.empty() ? "" : ", ") + about_.ports[way.port].name;
    if (about_.ports[way.port].fabric) why += way.up ? " " + load_text(way) : std::string(" down");
    if (view_.left >> way.port & 1) why += ", which it was asked to leave";
  }
  if (view_.output == kNoPort) return drop("route", view_.ways.reason, why.empty() ? "" : "all are down: " + why);
  if (!about_.ports[view_.output].fabric) {
    why = "the host is here";
  } else {
    why = (bound() ? "has it; shortest paths: " : "shortest paths: ") + why;
    if (!bound() && view_.loads.size() > 1) why += std::string("; ") + policy_text(traffic_class().path);
    const int via = view_.via == 0 ? -1 : process_.topology().node_of_address(view_.via);
    if (via >= 0) why += "; on a longer one, by " + process_.topology().nodes[static_cast<size_t>(via)].name;
    why += moved_text();
  }
  step("route", about_.ports[view_.output].name, why);
  tell_output();
}

// R9: the last time that the flow took another way because it was asked to.
std::string Steps::moved_text() const {
  const int by = view_.moved_by == 0 ? -1 : process_.topology().node_of_address(view_.moved_by);
  if (by < 0) return "";
  return "; " + process_.topology().nodes[static_cast<size_t>(by)].name + " asked it to take another way, " +
         scaled_duration(static_cast<double>(now_ - std::min(now_, view_.moved_ns))) + " ago";
}

void Steps::tell_output() {
  const TopologyPort& output = about_.ports[view_.output];
  if (traffic_class().flow_channels)
    step("flow ID",
         bound()               ? std::to_string(view_.flow.branch.flow)
         : delivered_at_once() ? "not needed"
         : view_.id_free       ? "to be had"
                               : "waits",
         std::to_string(view_.ids_used) + " of " + std::to_string(view_.ids) + " of " + output.name + " are used" +
             (view_.id_waits ? "; flows of this port wait for one" : ""));
  std::string why = std::to_string(view_.lane_packets) +
                    (view_.lane_packets == kTraceCountMax ? " packets or more" : " packets") + " before it, " +
                    scaled_bytes(view_.queued_bytes) + " in all lanes; room for " + std::to_string(view_.room) +
                    " buffers";
  if (at_once()) why += "; goes at once";
  if (view_.paused) why += "; the host has asked to wait";
  why += held_text();
  if (view_.congested) why += "; congested, level " + std::to_string(view_.level);
  if (view_.room >= view_.cost)
    step("queue", "lane " + std::to_string(view_.lane), why);
  else if (traffic_class().flow_channels || traffic_class().lossless)
    step("queue", "waits", why);
  else
    return drop("queue", DropReason::output_full, why);
  if (!output.fabric) return tell_host();
  tell_credit();
  tell_retry();
}

std::string Steps::held_text() const {
  if (view_.held_ns == 0) return "";
  return "; waits " + scaled_duration(static_cast<double>(view_.held_ns)) +
         (view_.held_by_rate ? " for the port's rate" : " for a maximum of the shaper");
}

// Buffers of the next hop. What waits before the frame takes some of them first.
void Steps::tell_credit() {
  if (!view_.has_credits) return;
  const PortPeer& peer = about_.ports[view_.output].peer;
  step("credit", view_.credit ? "to be had" : "waits",
       port_name(process_, peer.node_index, peer.port) + " has " + std::to_string(view_.credits_left) +
           " buffers left for channel " + std::to_string(view_.channel_on) + "; it takes " +
           std::to_string(view_.credits_asked));
}

// K6: what is sent is kept here until the next hop has it.
void Steps::tell_retry() {
  if (!view_.kept_for_retry) return;
  step("retry", view_.may_stamp ? "kept" : "waits",
       std::to_string(view_.kept) + " of " + std::to_string(view_.kept_max) +
           " places have a frame that the next switch may miss" +
           (view_.sends_again ? "; some are sent again first" : ""));
}

void Steps::tell_host() {
  if (view_.host_refuses != DropReason::none) return drop("host", view_.host_refuses);
  if (view_.vlan == 0) return step("host", "delivered", "");  // of a flow whose match is another's now
  std::string how = view_.tagged ? "with tag, VLAN " + std::to_string(view_.vlan) : "without tag";
  const TrafficClass& is = traffic_class();
  if (view_.tagged && is.rewrite_pcp != kAsSent) how += ", PCP " + std::to_string(is.rewrite_pcp);
  if (is.rewrite_dscp != kAsSent) how += ", if IP with DSCP " + std::to_string(is.rewrite_dscp);
  step("host", "delivered", how);
}

Json Steps::answer() {
  Json answer{{"node", about_.name}, {"port", port_.name}, {"steps", std::move(steps_)}};
  if (ended_ || view_.output == kNoPort || !about_.ports[view_.output].fabric) return answer;
  const PortPeer& peer = about_.ports[view_.output].peer;
  answer["next"] = {{"port", port_name(process_, peer.node_index, peer.port)},
                    {"to_node", view_.destination.node},
                    {"to_port", view_.destination.port},
                    {"class", view_.ftag},
                    {"vlan", view_.vlan},
                    {"bytes", view_.bytes},
                    {"channel", view_.channel_on},
                    {"hops_left", view_.hop_limit - 1},
                    {"via", view_.via},
                    {"flow_id", view_.live ? view_.flow.branch.flow : kNoFlow}};
  return answer;
}

uint64_t need_number(const Json& fields, const char* key, uint64_t most) {
  const auto value = read_number(fields, key, most);
  if (!value) throw Refused(std::string("hop needs ") + key);
  return *value;
}

TraceView read_hop(const SwitchProcess& process, const Json& hop) {
  if (!hop.is_object()) throw Refused("hop must be an object");
  TraceView view;
  view.destination = {static_cast<uint16_t>(need_number(hop, "to_node", 65534)),
                      PortIndex::of(need_number(hop, "to_port", 65535))};
  view.ftag = static_cast<uint8_t>(need_number(hop, "class", kClassesMax - 1));
  view.vlan = static_cast<uint16_t>(need_number(hop, "vlan", kVlanMax));
  view.bytes = static_cast<uint16_t>(need_number(hop, "bytes", 65535));
  view.channel = static_cast<uint8_t>(need_number(hop, "channel", kVirtualChannels - 1));
  view.hop_limit = static_cast<uint8_t>(need_number(hop, "hops_left", 255));
  view.flow_id = FlowId::of(need_number(hop, "flow_id", 65535));
  view.via = static_cast<uint16_t>(need_number(hop, "via", 65534));
  const Lanes lanes(process.topology());
  if (!lanes.valid(view.ftag, view.channel, false) && !lanes.valid(view.ftag, view.channel, true))
    throw Refused("hop has a class or a channel that the fabric has not");
  return view;
}

}  // namespace

Json trace(const SwitchProcess& process, const Json& request) {
  const LinkEnd at = find_end(process, read_text(request, "port").value_or(""));
  const TopologyNode& about = process.topology().nodes[at.node_index];
  const ProcessNode* node = nullptr;
  for (const ProcessNode& one : process.nodes())
    if (one.settings.node_index == at.node_index) node = &one;
  if (node->node == nullptr) throw Refused("node " + about.name + " is down");
  const bool fabric = about.ports[at.port].fabric;
  const Nanos now = monotonic_now();
  if (request.contains("hop")) {
    if (!fabric)
      throw Refused(about.name + ":" + about.ports[at.port].name + " is an edge port; hop is for fabric ports");
    const TraceView view = view_transit(process, *node, at.port, read_hop(process, request["hop"]), now);
    return Steps(process, *node, at.port, view, now).tell_transit();
  }
  if (fabric) throw Refused(about.name + ":" + about.ports[at.port].name + " is a fabric port; ask at a host's");
  if (const auto id = read_number(request, "flow_id", 65535)) {
    TraceView view;
    if (!view_flow(process, *node, at.port, FlowId::of(*id), now, view))
      throw Refused("no flow " + std::to_string(*id) + " at " + about.name + ":" + about.ports[at.port].name);
    return Steps(process, *node, at.port, view, now).tell_flow_at_edge();
  }
  if (!request.contains("frame")) throw Refused("trace needs frame, flow_id or hop");
  const TraceView view = view_frame(process, *node, at.port, make_trace_frame(request["frame"]), now);
  return Steps(process, *node, at.port, view, now).tell_frame();
}

}  // namespace heddle
