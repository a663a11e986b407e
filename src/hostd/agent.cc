// SPDX-License-Identifier: Apache-2.0
#include "hostd/agent.h"

#include <arpa/inet.h>
#include <net/if.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "hostd/control_group.h"
#include "hostd/departure_times.h"
#include "hostd/traffic_control.h"

namespace heddle::hostd {

namespace {

constexpr uint64_t kLookNs = 1'000'000'000;                 // between looks for interfaces that went or came
constexpr uint64_t kUnheldBytesPerSecond = 12'500'000'000;  // of a class of which nothing is held any more: 100 Gb/s

// 0: there is none of this name.
int index_of(const std::string& name) { return static_cast<int>(if_nametoindex(name.c_str())); }

std::string mac_text(const uint8_t* address) {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", address[0], address[1], address[2], address[3],
                address[4], address[5]);
  return text;
}

std::string address_text(const hostd_flow& flow, const uint8_t* address) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(flow.l3 == 4 ? AF_INET : AF_INET6, address, text, sizeof text);
  return text;
}

std::string protocol_text(uint8_t protocol) {
  return protocol == 6 ? "tcp" : protocol == 17 ? "udp" : std::to_string(protocol);
}

// As the switch tells flows apart: "udp 10.0.0.1:4000 > 10.0.0.2:53", or as much of it as counts; of an application
// "all 10.0.0.1 > any".
std::string flow_text(const hostd_flow& flow) {
  std::string from, to, text;
  if (flow.fields & HEDDLE_FGFC_ADDRESSES && flow.l3 != 0) {
    from = address_text(flow, flow.source_address);
    to = address_text(flow, flow.destination_address);
  } else {
    const bool has_source = flow.fields & HEDDLE_FGFC_SOURCE_ADDRESS && flow.l3 != 0;
    from = has_source ? address_text(flow, flow.source_address) : mac_text(flow.source);
    to = flow.fields & HEDDLE_FGFC_ANY_DESTINATION ? "any" : mac_text(flow.destination);
  }
  if (flow.fields & HEDDLE_FGFC_PORTS && flow.l3 != 0) {
    text = protocol_text(flow.protocol) + " ";
    if (flow.source_port != 0 || flow.destination_port != 0) {
      from += (flow.l3 == 6 ? "." : ":") + std::to_string(ntohs(flow.source_port));
      to += (flow.l3 == 6 ? "." : ":") + std::to_string(ntohs(flow.destination_port));
    }
  }
  if (flow.fields & HEDDLE_FGFC_ANY_DESTINATION) text = "all ";
  text += from + " > " + to;
  if (flow.vlan != 0) text += " vlan " + std::to_string(ntohs(flow.vlan));
  if (flow.fields & HEDDLE_FGFC_DSCP) text += " dscp " + std::to_string(flow.dscp);
  return text;
}

// The two ends of a flow that a socket has; of all others null.
nlohmann::json socket_of(const hostd_flow& flow) {
  constexpr uint8_t kEnds = HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS;
  if ((flow.fields & kEnds) != kEnds || flow.l3 == 0 || flow.source_port == 0) return nullptr;
  return {{"protocol", flow.protocol},
          {"source", address_text(flow, flow.source_address)},
          {"source_port", ntohs(flow.source_port)},
          {"destination", address_text(flow, flow.destination_address)},
          {"destination_port", ntohs(flow.destination_port)}};
}

struct NotUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

bool holds(const hostd_pause& pause, uint64_t now_ns) { return now_ns < pause.until_ns; }

}  // namespace

Agent::Agent(const AgentOptions& options) : replace_mq_(options.replace_mq) {
  for (const std::string& name : options.interfaces) {
    const int index = index_of(name);
    if (index == 0) throw std::runtime_error(name + ": there is no such interface");
    if (std::any_of(interfaces_.begin(), interfaces_.end(),
                    [&](const Interface& one) { return index_of(one.name) == index; }))
      throw std::runtime_error(name + ": is named twice");
    interfaces_.emplace_back().name = name;
    try {
      hold(interfaces_.back(), index);
    } catch (const NotUp& error) {
      std::fprintf(stderr, "heddle-hostd: %s\n", error.what());
      interfaces_.back().trouble = error.what();
    }
  }
}

// First nobody is told any more, then nothing is put into classes, then they go.
Agent::~Agent() {
  for (Interface& interface : interfaces_) interface.announcer.reset();
  programs_.detach_all();
}

void Agent::hold(Interface& interface, int index) {
  Interface held{.name = interface.name, .index = index};
  held.paced_by = pacing_of(root_of(index, held.name), held.name, replace_mq_);
  if (held.paced_by == PacedBy::nothing) throw NotUp(held.name + ": is not up yet");
  if (held.paced_by == PacedBy::departures)
    held.classes = std::make_unique<DepartureTimes>(index, programs_);
  else
    held.classes = std::make_unique<TrafficControl>(index, held.name);
  held.announcer = std::make_unique<Announcer>(index, held.name);
  programs_.attach(index, held.name, held.paced_by);
  interface = std::move(held);
}

void Agent::let_go(Interface& interface) {
  interface.announcer.reset();
  programs_.detach(interface.index);
  for (const HeldFlow& one : programs_.held())
    if (static_cast<int>(one.flow.interface) == interface.index) programs_.forget(one);
  interface = Interface{.name = interface.name, .held_before = true};
}

// First all are let go that have changed: one may have the name of another one now.
void Agent::look_for_interfaces() {
  for (Interface& interface : interfaces_) {
    const int index = index_of(interface.name);
    if (index == 0) interface.trouble.clear();
    if (interface.index == 0) continue;
    const bool gone = index != interface.index;
    const std::string what = gone ? interface.name + " is gone" : changed(interface);
    if (what.empty()) continue;
    std::fprintf(stderr, "heddle-hostd: %s\n", what.c_str());
    let_go(interface);
    if (!gone) interface.trouble = what;  // it has been told
  }
  for (Interface& interface : interfaces_) {
    const int index = index_of(interface.name);
    if (interface.index != 0 || index == 0) continue;
    const bool before = interface.held_before;
    try {
      hold(interface, index);
      std::fprintf(stderr, "heddle-hostd: %s is %s\n", interface.name.c_str(), before ? "back" : "up");
    } catch (const std::runtime_error& error) {
      if (interface.trouble != error.what()) std::fprintf(stderr, "heddle-hostd: %s\n", error.what());
      interface.trouble = error.what();
    }
  }
}

// Somebody may put another qdisc there meanwhile. What is said of it; empty: it is as it was.
std::string Agent::changed(const Interface& interface) const {
  RootQdisc root;
  try {
    root = root_of(interface.index, interface.name);
  } catch (const std::runtime_error&) {
    return "";  // the kernel does not say
  }
  try {
    const bool same = pacing_of(root, interface.name, replace_mq_) == interface.paced_by &&
                      (interface.paced_by == PacedBy::departures || root.is_ours());
    return same ? "" : interface.name + ": its root qdisc is another one now";
  } catch (const std::runtime_error& refused) {
    return refused.what();
  }
}

void Agent::tick(uint64_t now_ns) {
  programs_.set_alive_until(now_ns + HOSTD_ALIVE_NS);
  if (now_ns >= next_look_ns_) {
    next_look_ns_ = now_ns + kLookNs;
    look_for_interfaces();
  }
  const uint64_t begun = programs_.count(HOSTD_BEGUN);  // before, so that all of them are counted below
  held_ = programs_.held();
  const uint64_t known = programs_.forgotten() + held_.size();
  if (begun > known) evicted_ = std::max(evicted_, begun - known);
  for (Interface& interface : interfaces_) {
    if (interface.index == 0) continue;
    try {
      pace(interface, now_ns);
    } catch (const std::runtime_error&) {
      if (index_of(interface.name) == interface.index && changed(interface).empty()) throw;
      next_look_ns_ = now_ns;  // it has changed since the last look
    }
  }
  programs_.free_unused_classes(held_);
  if (now_ns >= next_announcement_ns_) announce(now_ns);
}

// A class that flows share is as fast as the sum of what they may send. One of which nothing is held any more is as
// fast as any, and its flows leave it a tick later, when nothing waits there: so nothing overtakes it.
void Agent::pace(Interface& interface, uint64_t now_ns) {
  const auto is_here = [&](const HeldFlow& one) { return static_cast<int>(one.flow.interface) == interface.index; };
  if (std::none_of(held_.begin(), held_.end(), is_here) &&
      std::none_of(interface.open.begin(), interface.open.end(), [](bool open) { return open; }))
    return;
  const auto& states = interface.states = interface.classes->look(now_ns);
  forget_what_is_over(interface, now_ns);
  struct Sum {
    uint32_t numbers = 0;
    uint64_t credit = 0;
    bool holds = false, used = false;
  };
  std::array<Sum, HOSTD_CLASSES + 1> sums{};
  for (const HeldFlow& one : held_) {
    if (!is_here(one) || one.pause.class_minor > HOSTD_CLASSES) continue;
    Sum& sum = sums[one.pause.class_minor];
    sum.used = true;
    if (!holds(one.pause, now_ns)) continue;
    sum.holds = true;
    sum.numbers += one.pause.number;  // another one among them, and it counts anew
    sum.credit += one.pause.credit;
  }
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
    const Sum& sum = sums[minor];
    interface.open[minor] = !sum.holds && (sum.used || states[minor].waiting_bytes != 0);
    if (!sum.used) interface.pacing[minor] = Pacing();  // what comes next is another flow
    if (!sum.holds) interface.pacing[minor].let_go();
    if (sum.holds)
      set_rate(interface, minor, interface.pacing[minor].rate(sum.numbers, sum.credit, states[minor], now_ns));
    else
      set_rate(interface, minor, interface.open[minor] ? kUnheldBytesPerSecond : Pacing::kRestBytesPerSecond);
  }
}

void Agent::forget_what_is_over(const Interface& interface, uint64_t now_ns) {
  for (const HeldFlow& one : held_) {
    const uint16_t minor = one.pause.class_minor;
    if (static_cast<int>(one.flow.interface) != interface.index || minor > HOSTD_CLASSES) continue;
    if (!holds(one.pause, now_ns) && interface.open[minor] && interface.states[minor].waiting_bytes == 0)
      programs_.forget(one);
  }
}

// Nothing is said to the kernel of a change that nobody would notice.
void Agent::set_rate(Interface& interface, uint16_t minor, uint64_t bytes_per_second) {
  uint64_t& rate = interface.rates[minor];
  const uint64_t difference = rate > bytes_per_second ? rate - bytes_per_second : bytes_per_second - rate;
  if (difference <= rate / 32) return;
  interface.classes->set_rate(minor, bytes_per_second);
  rate = bytes_per_second;
}

void Agent::announce(uint64_t now_ns) {
  next_announcement_ns_ = now_ns + HEDDLE_FGFC_ANNOUNCE_NS;
  const std::vector<hostd_source> seen = programs_.sources(now_ns);
  for (Interface& interface : interfaces_) {
    if (interface.index == 0) continue;
    std::vector<MacAddress> others;
    for (const hostd_source& source : seen) {
      if (static_cast<int>(source.interface) != interface.index) continue;
      others.emplace_back();
      std::copy_n(source.address, others.back().size(), others.back().begin());
    }
    interface.announcer->announce(others);
  }
}

nlohmann::json Agent::status(uint64_t now_ns) const {
  nlohmann::json flows = nlohmann::json::array(), names = nlohmann::json::array(), not_held = nlohmann::json::array();
  const auto paths = held_.empty() ? std::map<uint64_t, std::string>() : control_group_paths();
  for (const Interface& interface : interfaces_) {
    if (interface.index == 0) {
      not_held.push_back(
          {{"interface", interface.name},
           {"why", interface.trouble.empty() ? interface.name + ": there is no such interface" : interface.trouble}});
      continue;
    }
    names.push_back(interface.name);
    for (const HeldFlow& one : held_) {
      if (static_cast<int>(one.flow.interface) != interface.index || !holds(one.pause, now_ns)) continue;
      const uint16_t minor = one.pause.class_minor;
      const ClassState& state = interface.states[minor];
      flows.push_back({{"interface", interface.name},
                       {"flow", flow_text(one.flow)},
                       {"socket", socket_of(one.flow)},
                       {"cgroup", paths.contains(one.pause.cgroup) ? paths.at(one.pause.cgroup) : ""},
                       {"since_ms", (now_ns - std::min(now_ns, one.pause.since_ns)) / 1'000'000},
                       {"switch_node", one.pause.node},
                       {"switch_port", one.pause.port},
                       {"rate_bps", interface.rates[minor] * 8},
                       {"waiting_bytes", state.waiting_bytes},
                       {"dropped_packets", state.dropped_packets},
                       {"credit_bytes", one.pause.credit},
                       {"shared", one.pause.shared != 0}});
    }
  }
  return {{"interfaces", names},
          {"not_held", not_held},
          {"flows", flows},
          {"pauses_heard", programs_.count(HOSTD_PAUSES_HEARD)},
          {"ends_heard", programs_.count(HOSTD_ENDS_HEARD)},
          {"not_understood", programs_.count(HOSTD_NOT_UNDERSTOOD)},
          {"frames_held", programs_.count(HOSTD_FRAMES_HELD)},
          {"evicted", evicted_},
          {"classes_shared", programs_.count(HOSTD_SHARED)}};
}

}  // namespace heddle::hostd
