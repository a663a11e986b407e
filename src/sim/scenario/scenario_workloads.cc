// SPDX-License-Identifier: Apache-2.0
// The parts of a scenario that happen: workloads, faults, expectations.
#include <fnmatch.h>

#include <algorithm>
#include <numeric>

#include "config/units.h"
#include "sim/hosts/sim_frame.h"
#include "sim/scenario/scenario_keys.h"
#include "sim/scenario/scenario_reader.h"

namespace heddle::sim {

namespace {

constexpr Nanos kLongest = 1000 * kSecond;

std::vector<YamlValue> one_or_more(const YamlValue& value) {
  if (value.is(YamlNode::Kind::kList)) return value.items();
  if (value.present()) return {value};
  return {};
}

}  // namespace

uint16_t ScenarioReader::native_vlan(uint16_t host) const {
  const LinkEnd end = scenario_.setup.hosts[host].port;
  return scenario_.setup.topology.nodes[end.node_index].ports[end.port].vlans.native;
}

void ScenarioReader::note_vlan(uint16_t host, uint16_t vlan) {
  auto& vlans = scenario_.host_vlans[host];
  if (std::find(vlans.begin(), vlans.end(), vlan) == vlans.end()) vlans.push_back(vlan);
}

std::vector<uint16_t> ScenarioReader::read_host_names(const YamlValue& value) {
  std::vector<uint16_t> hosts;
  if (!value.require("hosts")) return hosts;
  std::vector<bool> named(hosts_.size());
  for (const YamlValue& item : one_or_more(value)) {
    const std::vector<uint16_t> found = matching_hosts(item.text());
    if (found.empty()) item.problem("a name under hosts, or a pattern that fits some, as in h1-*");
    for (const uint16_t host : found) {
      if (named[host]) {
        item.problem(scenario_.setup.hosts[host].name + " a second time", "each host once");
        break;
      }
      named[host] = true;
      hosts.push_back(host);
    }
  }
  return hosts;
}

// A host, or all that a pattern of the shell fits, in their order.
std::vector<uint16_t> ScenarioReader::matching_hosts(std::string_view pattern) const {
  if (const auto found = hosts_.find(pattern); found != hosts_.end()) return {found->second};
  std::vector<uint16_t> hosts;
  if (pattern.find_first_of("*?[") == std::string_view::npos) return hosts;
  const std::string text(pattern);
  for (uint16_t host = 0; host < scenario_.setup.hosts.size(); ++host)
    if (fnmatch(text.c_str(), scenario_.setup.hosts[host].name.c_str(), 0) == 0) hosts.push_back(host);
  return hosts;
}

// Who sends to whom.
std::vector<std::pair<uint16_t, uint16_t>> ScenarioReader::read_pairs(const YamlValue& value,
                                                                      const std::vector<uint16_t>& from) {
  static constexpr std::string_view kPatterns[] = {"all", "pairs", "permutation"};
  size_t pattern = 0;
  value["pattern"].read_choice(pattern, kPatterns);
  std::vector<std::pair<uint16_t, uint16_t>> pairs;
  if (pattern == 2) {  // each host of `from` sends to one and hears from one, in an order drawn from the seed
    if (value.has("to")) value["to"].problem_at_key("to", "from alone, with this pattern");
    std::vector<uint16_t> order = from;
    Random random(scenario_.setup.seed + scenario_.workloads.size());
    for (size_t left = order.size(); left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
    for (size_t i = 0; i < order.size() && order.size() > 1; ++i)
      pairs.emplace_back(order[i], order[(i + 1) % order.size()]);
    return pairs;
  }
  const std::vector<uint16_t> to = read_host_names(value["to"]);
  if (pattern == 1) {
    if (from.size() != to.size())
      value["to"].problem(std::to_string(to.size()) + " hosts", std::to_string(from.size()) + ", as many as in from");
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) pairs.emplace_back(from[i], to[i]);
    return pairs;
  }
  for (const uint16_t source : from)
    for (const uint16_t destination : to)
      if (source != destination) pairs.emplace_back(source, destination);
  return pairs;
}

void ScenarioReader::read_workloads() {
  const YamlValue workloads = root_["workloads"];
  if (!workloads.expect_list("workloads")) return;
  for (const YamlValue& workload : workloads.items()) {
    if (!workload.is(YamlNode::Kind::kMap)) {
      workload.problem("a map with name, from and to");
      continue;
    }
    read_workload(workload);
  }
}

void ScenarioReader::read_workload(const YamlValue& value) {
  value.expect_map(scenario_keys::kWorkload);
  std::string name;
  const std::string allowed_name = "a name of letters, digits, - and _, at most " + std::to_string(kNodeNameBytes);
  if (value["name"].require(allowed_name)) {
    name = value["name"].text();
    if (!is_name(name, kNodeNameBytes)) value["name"].problem(allowed_name);
  }
  const std::vector<uint16_t> from = read_host_names(value["from"]);
  if (value.has("hostile")) return read_hostile(value, name, from);
  const std::vector<std::pair<uint16_t, uint16_t>> pairs = read_pairs(value, from);
  uint32_t flows = 1;
  value["flows"].read_integer(flows, 1, 10'000);
  HostFlow model;
  Workload workload;
  workload.name = name;
  value["congestor"].read_bool(workload.congestor);
  read_contents(value, model);
  read_pace(value, model, workload.offered_bps);
  uint16_t vlan = 0;
  value["vlan"].read_integer(vlan, 1, kVlanMax);
  for (const auto& [source, destination] : pairs) {
    for (uint32_t i = 0; i < flows; ++i) {
      if (scenario_.flows.size() >= kHostileFlow - 1u) return value.problem_at_key("too many flows", "60,000 in all");
      HostFlow flow = model;
      flow.id = static_cast<uint16_t>(scenario_.flows.size());
      flow.source = source;
      flow.destination = destination;
      flow.vlan = vlan != 0 ? vlan : native_vlan(source);
      flow.name =
          scenario_.setup.hosts[source].name + ">" + scenario_.setup.hosts[destination].name + "#" + std::to_string(i);
      // Not all at the same instant.
      if (flow.interval_ns > 0) flow.starts_ns += flow.interval_ns * (flow.id % 97) / 97;
      classify(flow);
      note_vlan(source, flow.vlan);
      note_vlan(destination, flow.vlan);
      workload.flows.push_back(flow.id);
      scenario_.flows.push_back(std::move(flow));
    }
  }
  scenario_.workloads.push_back(std::move(workload));
}

void ScenarioReader::classify(HostFlow& flow) {
  const auto& classes = scenario_.setup.topology.classes;
  for (uint8_t i = 0; i < classes.size(); ++i) {
    if (flow.kind == FrameKind::ethernet || !(classes[i].dscp_set >> flow.priority.dscp & 1)) continue;
    flow.class_index = i;
    break;
  }
  flow.ordered = classes[flow.class_index].flow_channels;
  const bool apart = flow.kind != FrameKind::ethernet && (classes[flow.class_index].match & kMatchPorts);
  flow.pattern = apart ? 0x80000000u | flow.id : 0x40000000u | uint32_t{flow.source} << 14 | flow.destination;
}

void ScenarioReader::read_contents(const YamlValue& value, HostFlow& flow) {
  static constexpr std::string_view kKinds[] = {"ethernet", "ipv4", "ipv6"};
  size_t kind = 1;
  value["frames"].read_choice(kind, kKinds);
  flow.kind = static_cast<FrameKind>(kind);
  value["dscp"].read_integer(flow.priority.dscp, 0, 63);
  value["ecn"].read_bool(flow.ecn);
  const uint16_t least = flow.kind == FrameKind::ipv6 ? kLeastLengthIpv6 : kLeastLength;
  const auto most = static_cast<uint64_t>(builder_.topology().edge_mtu_bytes + kEthernetHeaderBytes);
  flow.length_min = flow.length_max = static_cast<uint16_t>(most);
  const YamlValue length = value["length"];
  if (length.is(YamlNode::Kind::kList)) {
    const std::vector<YamlValue> both = length.items();
    if (both.size() != 2) return length.problem("one length or two, as in [60, 1514]");
    both[0].read_integer(flow.length_min, least, most);
    both[1].read_integer(flow.length_max, flow.length_min, most);
  } else {
    length.read_integer(flow.length_min, least, most);
    flow.length_max = flow.length_min;
  }
  uint64_t message = 0;
  if (value["message"].read_size(message, 1, uint64_t{1} << 30))
    flow.message_frames = static_cast<uint32_t>((message + flow.length_max - 1) / flow.length_max);
  uint64_t transfer = 0;
  if (value["transfer"].read_size(transfer, 1, uint64_t{1} << 40))
    flow.frames_max = (transfer + flow.length_max - 1) / flow.length_max;
}

void ScenarioReader::read_pace(const YamlValue& value, HostFlow& flow, uint64_t& offered_bps) {
  const Nanos start = scenario_.setup.start_ns;
  Nanos from = 0, until = kLongest;
  value["start"].read_duration(from, 0, kLongest);
  value["stop"].read_duration(until, 0, kLongest);
  flow.starts_ns = start + from;
  flow.stops_ns = start + std::min(until, scenario_.duration_ns);
  value["burst"].read_integer(flow.burst_frames, 1, 100'000);
  value["window"].read_integer(flow.window_frames, 1, 100'000);
  value["interval"].read_duration(flow.interval_ns, 1, kLongest);
  value["on"].read_duration(flow.on_ns, 1, kLongest);
  value["off"].read_duration(flow.off_ns, 1, kLongest);
  if (value.has("on") != value.has("off")) value.problem_at_key("one of on and off", "both, or none");
  const YamlValue rate = value["rate"];
  if (rate.present() && value.has("interval")) return rate.problem_at_key("both rate and interval", "one of them");
  if (!rate.read_rate(offered_bps, 1000, 1'000'000'000'000)) return;
  // With what a frame costs on a wire, as rates of links count it.
  const uint64_t frame_bits = (uint64_t{flow.length_min} + flow.length_max + 2 * kWireExtraBytes) * 4;
  flow.interval_ns = std::max<Nanos>(1, flow.burst_frames * frame_bits * kSecond / offered_bps);
}

void ScenarioReader::read_hostile(const YamlValue& value, const std::string& name, const std::vector<uint16_t>& from) {
  HostileWorkload workload;
  workload.name = name;
  workload.hosts = from;
  for (const YamlValue& item : one_or_more(value["hostile"])) {
    size_t kind = 0;
    if (item.text() == "all")
      workload.options.kinds = (1u << kHostileKinds) - 1;
    else if (item.read_choice(kind, kHostileKindNames))
      workload.options.kinds |= 1u << kind;
  }
  HostFlow pace;
  pace.length_min = pace.length_max = kLeastLength;
  pace.interval_ns = 10 * kMicrosecond;
  uint64_t offered = 0;
  read_pace(value, pace, offered);
  workload.options.interval_ns = pace.interval_ns;
  workload.options.burst_frames = pace.burst_frames;
  workload.options.starts_ns = pace.starts_ns;
  workload.options.stops_ns = pace.stops_ns;
  value["sources"].read_integer(workload.options.sources, 1, 1 << 20);
  scenario_.hostile.push_back(std::move(workload));
}

void ScenarioReader::read_faults() {
  const YamlValue faults = root_["faults"];
  if (!faults.expect_list("faults")) return;
  for (const YamlValue& fault : faults.items()) {
    if (fault.is(YamlNode::Kind::kMap))
      read_fault(fault);
    else
      fault.problem("a map with at and do");
  }
}

// A link is named by either of its ends.
std::optional<uint32_t> ScenarioReader::read_link_name(const YamlValue& value) {
  if (!value.require("an end of a link, as in leaf1:p1")) return std::nullopt;
  const auto end = builder_.find_port(value);
  if (!end) return std::nullopt;
  const auto& links = scenario_.setup.topology.links;
  for (uint32_t link = 0; link < links.size(); ++link)
    for (const LinkEnd& other : links[link].ends)
      if (other.node_index == end->node_index && other.port == end->port) return link;
  value.problem("an end of a link between nodes");
  return std::nullopt;
}

// False if it is not to be done.
bool ScenarioReader::read_new_policy(const YamlValue& value, ScenarioFault& fault) {
  if (!value.require("applications, as of a node")) return false;
  fault.applications = read_policy(value, fault.node);
  if (scenario_.variant.baseline == Baseline::no_groups) return false;
  return fault.applications.configured;
}

void ScenarioReader::read_fault(const YamlValue& value) {
  static constexpr std::string_view kActions[] = {"link_down",    "link_up",   "node_crash", "node_start",
                                                  "worker_pause", "link_loss", "link_delay", "regroup"};
  value.expect_map(scenario_keys::kFault);
  ScenarioFault fault;
  if (value["at"].require("a time")) value["at"].read_duration(fault.at_ns, 0, kLongest);
  size_t action = 0;
  if (!value["do"].require("what happens") || !value["do"].read_choice(action, kActions)) return;
  fault.action = static_cast<FaultAction>(action);
  value["for"].read_duration(fault.for_ns, 1, kLongest);
  value["loss"].read_loss(fault.loss_ppm);
  value["delay"].read_duration(fault.delay_ns, 0, 10 * kSecond);
  const bool of_node = fault.action == FaultAction::node_crash || fault.action == FaultAction::node_start ||
                       fault.action == FaultAction::worker_pause || fault.action == FaultAction::regroup;
  if (of_node) {
    const YamlValue node = value["node"];
    if (!node.require("a node")) return;
    const auto index = builder_.find_node(std::string(node.text()));
    if (!index) return node.problem("a name under nodes");
    fault.node = *index;
    uint32_t worker = 0;
    value["worker"].read_integer(worker, 0, scenario_.setup.nodes[*index].workers - 1);
    fault.worker = WorkerIndex::of(worker);
    if (fault.action == FaultAction::regroup && !read_new_policy(value["applications"], fault)) return;
  } else {
    const auto link = read_link_name(value["link"]);
    if (!link) return;
    fault.link = *link;
  }
  scenario_.faults.push_back(fault);
}

void ScenarioReader::read_expectations() {
  const YamlValue list = root_["expect"];
  if (!list.expect_list("expectations")) return;
  for (const YamlValue& item : list.items()) {
    if (item.is(YamlNode::Kind::kMap))
      read_expectation(item);
    else
      item.problem("a map, as in {gap_at_most: 100ms}");
  }
}

namespace {
// Intervals are counted from the start.
bool has_interval(const Scenario& scenario, const Window& window) {
  const Nanos first = (window.from_ns + scenario.interval_ns - 1) / scenario.interval_ns * scenario.interval_ns;
  return first + scenario.interval_ns <= std::min(window.to_ns, scenario.duration_ns);
}
}  // namespace

void ScenarioReader::read_expectation(const YamlValue& value) {
  value.expect_map(scenario_keys::kExpect);
  std::string workload;
  if (value["workload"].read_text(workload) &&
      std::none_of(scenario_.workloads.begin(), scenario_.workloads.end(),
                   [&workload](const Workload& other) { return other.name == workload; }))
    value["workload"].problem("the name of a workload");
  size_t window = 0;
  if (const YamlValue name = value["window"]; name.present()) {
    const auto& windows = scenario_.windows;
    while (window < windows.size() && (windows[window].name != name.text() || name.text().empty())) ++window;
    if (window == windows.size()) return name.problem("the name of a window");
  }
  for (size_t i = 0; i < std::size(kMeasureNames); ++i) {
    const YamlValue entry = value[kMeasureNames[i]];
    if (!entry.present()) continue;
    Expectation expectation;
    expectation.workload = workload;
    expectation.window = window;
    expectation.measure = static_cast<Measure>(i);
    expectation.text = entry.text();
    uint32_t ppm = 0;
    switch (expectation.measure) {
      case Measure::delivered_at_least:
      case Measure::share_at_least:
      case Measure::fairness_at_least:
      case Measure::steady_fairness_at_least:
      case Measure::buffers_at_most:
        if (!entry.read_loss(ppm)) return;
        expectation.limit = ppm;
        break;
      case Measure::throughput_of_alone_at_least:
      case Measure::mean_of_alone_at_most:
      case Measure::p99_of_alone_at_most:
      case Measure::transfer_spread_at_most:
        if (!entry.read_ratio(ppm)) return;
        expectation.limit = ppm;
        break;
      case Measure::throughput_at_least:
      case Measure::throughput_at_most:
      case Measure::steady_throughput_at_least:
      case Measure::steady_throughput_at_most:
        if (!entry.read_rate(expectation.limit, 0, 1'000'000'000'000)) return;
        break;
      case Measure::injected_at_most:
      case Measure::beyond_credit_at_most:
        if (!entry.read_size(expectation.limit, 0, kInjectionLimitMax)) return;
        break;
      case Measure::held_flows_at_most:
      case Measure::held_flows_at_least:
      case Measure::late_frames_at_most:
      case Measure::lost_frames_at_most:
      case Measure::drops_at_most:
        if (!entry.read_integer(expectation.limit)) return;
        break;
      default:
        if (!entry.read_duration(expectation.limit, 0, kLongest)) return;
        break;
    }
    if (is_of_intervals(expectation.measure) && !has_interval(scenario_, scenario_.windows[window]))
      return entry.problem_at_key(
          "no interval of " + format_duration(scenario_.interval_ns) + " that lies in the window, whole",
          "a shorter measure.interval, or a longer window");
    scenario_.expectations.push_back(expectation);
  }
}

}  // namespace heddle::sim
