// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario_reader.h"

#include <algorithm>

#include "config/application_reader.h"
#include "config/budget.h"
#include "config/shaper_reader.h"
#include "config/units.h"
#include "sim/scenario/scenario_keys.h"

namespace heddle::sim {

namespace {
constexpr uint32_t kFabricCapacity = 16384;  // frames under way on one link
constexpr Nanos kTurnNsMin = 10;             // less than any turn takes; with none a worker that waits would stop time
constexpr size_t kAboutBytesMax = 2000;
constexpr Nanos kAnnounceNs = 20 * kMillisecond;  // links are up after about 10 ms: then every host is learned soon
}  // namespace

void ScenarioReader::read_nodes() {
  const YamlValue nodes = root_["nodes"];
  if (!read_generated()) return;
  if (root_.has("fabric") && !nodes.present()) return builder_.fill_addresses();
  if (!nodes.require("a map of nodes") || !nodes.expect_free_map("nodes")) return;
  for (const YamlValue& node : nodes.entries()) {
    auto index = builder_.find_node(node.key());  // one of the plan may be given keys of its own
    if (!index) {
      index = builder_.add_node(node);
      if (!index) return;
      node_values_.emplace_back();
    }
    node_values_[*index] = node;
    builder_.set_source(*index, node);
    node.expect_map(scenario_keys::kNode);
    builder_.read_address(*index, node["address"]);
  }
  builder_.fill_addresses();
}

// A port that a link or host names; made where it is the first to name it.
std::optional<LinkEnd> ScenarioReader::end_of(const YamlValue& value) {
  const auto reference = read_port_reference(value);
  if (!reference) return std::nullopt;
  const auto node = builder_.find_node(reference->node);
  if (!node) {
    value.problem("no node " + reference->node, "a name under nodes");
    return std::nullopt;
  }
  auto port = builder_.find_port_of(*node, reference->port);
  if (!port) port = builder_.add_port(*node, reference->port, value);
  if (!port) return std::nullopt;
  return LinkEnd{*node, *port};
}

MemoryLinkOptions ScenarioReader::fabric_link_defaults() {
  MemoryLinkOptions options;
  options.delay_ns = 1 * kMicrosecond;
  options.capacity_frames = kFabricCapacity;
  return options;
}

MemoryLinkOptions ScenarioReader::host_link_defaults() {
  MemoryLinkOptions options;
  options.rate_bps = 10'000'000'000;
  options.delay_ns = 500;
  options.transmit_frames = 256;
  return options;
}

void ScenarioReader::read_links() {
  const YamlValue links = root_["links"];
  if (!links.expect_list("links")) return;
  for (const YamlValue& link : links.items()) read_link(link);
}

void ScenarioReader::read_link(const YamlValue& value) {
  if (!value.is(YamlNode::Kind::kMap)) return value.problem("a map with ends");
  value.expect_map(scenario_keys::kLink);
  const YamlValue ends = value["ends"];
  const std::string allowed = "2, as in [leaf1:p1, spine1:p1]";
  if (!ends.require(allowed) || !ends.expect_list("2 ends")) return;
  const std::vector<YamlValue> items = ends.items();
  if (items.size() != 2) return ends.problem(allowed);
  const auto first = end_of(items[0]), second = end_of(items[1]);
  if (!first || !second) return;
  const auto index = builder_.add_link(value, items, *first, *second);
  if (!index) return;
  auto& links = scenario_.setup.links;
  MemoryLinkOptions options = *index < links.size() ? links[*index][0] : fabric_link_defaults();
  options.rate_bps = builder_.topology().nodes[first->node_index].ports[first->port].rate_bps;
  value["delay"].read_duration(options.delay_ns, 0, kLinkDelayMax);
  value["loss"].read_loss(options.loss_ppm);
  value["duplicate"].read_loss(options.duplicate_ppm);
  value["reorder"].read_loss(options.reorder_ppm);
  value["corrupt"].read_loss(options.corrupt_ppm);
  options.reorder_max_ns = 10 * kMicrosecond;
  value["reorder_by"].read_duration(options.reorder_max_ns, 0, kLinkDelayMax);
  links.resize(std::max(links.size(), *index + 1));
  links[*index] = {options, options};
  ++links_read_;
}

void ScenarioReader::read_hosts() {
  const YamlValue hosts = root_["hosts"];
  if (!hosts.expect_free_map("hosts")) return;
  for (const YamlValue& host : hosts.entries()) read_host(host);
}

void ScenarioReader::read_host(const YamlValue& value) {
  if (!is_name(value.key(), kNodeNameBytes))
    value.problem_at_key("this name", "letters, digits, - and _, at most " + std::to_string(kNodeNameBytes));
  value.expect_map(scenario_keys::kHost);
  const YamlValue port = value["port"];
  if (!port.require("a port of a node, as in leaf1:p1")) return;
  const auto end = end_of(port);
  if (!end) return;
  MemoryLinkOptions options = host_link_defaults();
  value["rate"].read_rate(options.rate_bps, kRateMinBps, kRateMaxBps);
  value["delay"].read_duration(options.delay_ns, 0, kLinkDelayMax);
  HostSetup* host = add_host(value.key(), *end, port, options);
  if (host == nullptr) return;
  value["mac"].read_mac(host->mac);
  bool silent = false;
  value["silent"].read_bool(silent);
  if (silent) host->announce_interval_ns = kNever;
  size_t conduct = 0;
  value["fgfc"].read_choice(conduct, kFgfcConductNames);
  if (scenario_.variant.baseline != Baseline::no_fgfc) host->fgfc = static_cast<FgfcConduct>(conduct);
  value["fgfc_lost_every"].read_integer(host->fgfc_lost_every, 2, 1'000'000);
}

// nullptr and reported if its port is taken or there is one of that name.
HostSetup* ScenarioReader::add_host(const std::string& name, LinkEnd end, const YamlValue& port,
                                    const MemoryLinkOptions& link) {
  if (!builder_.take_port(port, end)) return nullptr;
  const auto index = static_cast<uint16_t>(scenario_.setup.hosts.size());
  if (!hosts_.emplace(name, index).second) {
    port.problem_at_key("a second host " + name, "a name that `fabric` does not give");
    return nullptr;
  }
  HostSetup host;
  host.name = name;
  host.port = end;
  host.announce_interval_ns = kAnnounceNs;
  host.mac = 0x020000000000u + index + 1;
  host.to_switch = host.from_switch = link;
  builder_.topology().nodes[end.node_index].ports[end.port].rate_bps = link.rate_bps;
  scenario_.setup.hosts.push_back(std::move(host));
  scenario_.host_vlans.emplace_back();
  return &scenario_.setup.hosts.back();
}

// Settings of ports; links and hosts have made the ports.
void ScenarioReader::read_ports() {
  for (uint16_t node = 0; node < node_values_.size(); ++node) {
    const YamlValue ports = node_values_[node]["ports"];
    if (!ports.expect_free_map("ports")) continue;
    for (const YamlValue& entry : ports.entries()) {
      const auto port = builder_.find_port_of(node, entry.key());
      if (port)
        builder_.read_port(node, *port, entry);
      else
        entry.problem_at_key("a port without link or host", "ports that links and hosts name");
    }
  }
}

// As far as the baseline has it.
ApplicationPolicy ScenarioReader::read_policy(const YamlValue& value, uint16_t node) {
  ApplicationPolicy policy = read_applications(value, builder_.topology(), node);
  if (scenario_.variant.baseline == Baseline::no_groups) return {};
  if (scenario_.variant.baseline == Baseline::no_limits) {
    policy.port_bytes = kNoInjectionLimit;
    for (ApplicationPolicy::Limit& limit : policy.limits) limit.bytes = kNoInjectionLimit;
  }
  return policy;
}

void ScenarioReader::read_port_shapers() {
  shapers_.resize(node_values_.size());
  for (uint16_t node = 0; node < node_values_.size(); ++node) {
    PortShapers shapers = read_shapers(node_values_[node]["shapers"], builder_.topology(), node);
    if (scenario_.variant.baseline != Baseline::no_shapers) shapers_[node] = std::move(shapers);
  }
}

void ScenarioReader::finish_nodes() {
  for (uint16_t node = 0; node < node_values_.size(); ++node) {
    NodeSetup setup;
    setup.match_entries = 16384;
    setup.station_entries = 16384;
    const size_t ports = builder_.topology().nodes[node].ports.size();
    const YamlValue own = node_values_[node]["workers"];
    const YamlValue workers = own.present() || node >= planned_nodes_ ? own : root_["fabric"]["workers"];
    workers.read_integer(setup.workers, 1, std::max<size_t>(1, ports));
    if (scenario_.variant.workers != 0)
      setup.workers = static_cast<uint32_t>(std::clamp<size_t>(ports, 1, scenario_.variant.workers));
    setup.applications = read_policy(node_values_[node]["applications"], node);
    setup.shapers = std::move(shapers_[node]);
    scenario_.setup.nodes.push_back(setup);
  }
  for (auto& both : scenario_.setup.links)
    for (MemoryLinkOptions& way : both)
      way.receive_frames = std::max(way.receive_frames, link_buffers(builder_.topology()) + 512);
}

void ScenarioReader::read_times() {
  constexpr Nanos kLongest = 1000 * kSecond;
  const size_t errors_before = root_.errors_so_far();
  root_["duration"].read_duration(scenario_.duration_ns, kMillisecond, kLongest);
  const YamlValue measure = root_["measure"];
  Window whole;
  if (measure.expect_map(scenario_keys::kMeasure)) {
    measure["from"].read_duration(whole.from_ns, 0, kLongest);
    measure["to"].read_duration(whole.to_ns, 0, kLongest);
    measure["interval"].read_duration(scenario_.interval_ns, 10 * kMicrosecond, kLongest);
    if (measure.has("windows")) return read_windows(measure["windows"]);
  }
  const bool to_end = whole.to_ns >= scenario_.duration_ns;
  if (to_end) whole.to_ns = scenario_.duration_ns;
  scenario_.windows.push_back(whole);
  // A value that could not be read has left its default, which the others need not fit.
  if (root_.errors_so_far() != errors_before || whole.from_ns < whole.to_ns) return;
  // Nothing would be measured.
  if (measure.has("from"))
    measure["from"].problem("less than " + format_duration(whole.to_ns) +
                            (to_end ? ", the duration" : ", the end of the measurement"));
  else
    measure["to"].problem("more than " + format_duration(whole.from_ns));
}

// Windows follow each other: each begins where the one before has ended, or later.
void ScenarioReader::read_windows(const YamlValue& list) {
  for (const std::string_view key : {"from", "to"})
    if (root_["measure"].has(key)) root_["measure"][key].problem_at_key("both windows and from or to", "one of them");
  if (!list.expect_list("windows")) return;
  if (list.items().empty()) list.problem("an empty list", "1 or more windows");
  Nanos free_from = 0;
  for (const YamlValue& item : list.items()) {
    if (!item.is(YamlNode::Kind::kMap)) {
      item.problem("a map with name, from and to");
      continue;
    }
    item.expect_map(scenario_keys::kWindow);
    Window window{.name = std::string(item["name"].text()), .from_ns = free_from, .to_ns = scenario_.duration_ns};
    if (!item["name"].require("a name")) continue;
    if (!is_name(window.name, kNodeNameBytes)) item["name"].problem("a name of letters, digits, - and _");
    const bool from_sound = item["from"].read_duration(window.from_ns, free_from, scenario_.duration_ns - 1);
    const bool to_sound = item["to"].read_duration(window.to_ns, window.from_ns + 1, scenario_.duration_ns);
    if (from_sound || to_sound) free_from = window.to_ns;
    if (free_from >= scenario_.duration_ns) free_from = scenario_.duration_ns - 1;
    scenario_.windows.push_back(std::move(window));
  }
}

void ScenarioReader::read_frame() {
  root_["seed"].read_integer(scenario_.setup.seed);
  scenario_.setup.seed = scenario_.variant.seed.value_or(scenario_.setup.seed);
  read_times();
  const YamlValue costs = root_["costs"];
  if (costs.expect_map(scenario_keys::kCosts)) {
    costs["turn"].read_duration(scenario_.setup.costs.turn_ns, kTurnNsMin, kMillisecond);
    costs["packet"].read_duration(scenario_.setup.costs.packet_ns, 0, kMillisecond);
    costs["crossing"].read_duration(scenario_.setup.costs.crossing_ns, 0, kMillisecond);
  }
}

void ScenarioReader::read_about() {
  const YamlValue about = root_["about"];
  if (!about.present()) return;
  const std::string_view text = about.text();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' && c != '\n'; };
  if (text.empty() || text.size() > kAboutBytesMax || std::any_of(text.begin(), text.end(), is_control))
    return about.problem("a text of up to " + std::to_string(kAboutBytesMax) + " bytes");
  scenario_.about = text;
}

std::optional<Scenario> ScenarioReader::read(ConfigErrors& errors) {
  const size_t errors_before = errors.size();
  root_.expect_map(scenario_keys::kScenario);
  read_about();
  builder_.read_fabric();
  set_baseline();
  read_frame();
  read_nodes();
  const size_t errors_before_links = errors.size();
  read_links();
  read_hosts();
  const bool graph_known = errors.size() == errors_before_links;
  read_ports();
  read_port_shapers();
  slow_down_links();
  builder_.read_stations();
  builder_.check(graph_known);
  finish_nodes();
  // A host or link that could not be read would be missed by all that names it.
  const bool all_there = links_read_ == root_["links"].items().size() &&
                         scenario_.setup.hosts.size() == root_["hosts"].entries().size() + generated_hosts_;
  if (all_there) {
    scenario_.setup.topology = builder_.topology();
    read_workloads();
    read_faults();
    read_expectations();
    slow_down();
  }
  if (errors.size() != errors_before) {
    errors.sort();
    return std::nullopt;
  }
  scenario_.name = scenario_.setup.topology.name;
  return std::move(scenario_);
}

namespace {

std::optional<Scenario> read_scenario(const YamlDocument* document, ConfigErrors& errors,
                                      const ScenarioVariant& variant) {
  if (document == nullptr) return std::nullopt;
  const YamlValue root(*document, errors);
  if (!root.is(YamlNode::Kind::kMap)) {
    root.problem("a map with name, nodes, links and hosts");
    return std::nullopt;
  }
  return ScenarioReader(root, variant).read(errors);
}

}  // namespace

std::optional<Scenario> load_scenario(const std::string& path, ConfigErrors& errors, const ScenarioVariant& variant) {
  return read_scenario(YamlDocument::load(path, errors).get(), errors, variant);
}

std::optional<Scenario> parse_scenario(const std::string& text, const std::string& file_name, ConfigErrors& errors,
                                       const ScenarioVariant& variant) {
  return read_scenario(YamlDocument::parse(text, file_name, errors).get(), errors, variant);
}

}  // namespace heddle::sim
