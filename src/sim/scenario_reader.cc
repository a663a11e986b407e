// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario_reader.h"

#include "config/budget.h"
#include "config/units.h"
#include "sim/scenario_keys.h"

namespace heddle::sim {

namespace {
constexpr uint32_t kFabricCapacity = 16384;  // frames under way on one link
constexpr Nanos kDelayMax = 10 * kSecond;
constexpr Nanos kAnnounceNs = 20 * kMillisecond;  // links are up after about 10 ms: then every host is learned soon
}  // namespace

void ScenarioReader::read_nodes() {
  const YamlValue nodes = root_["nodes"];
  if (!nodes.require("a map of nodes") || !nodes.expect_free_map("nodes")) return;
  for (const YamlValue& node : nodes.entries()) {
    const auto index = builder_.add_node(node);
    if (!index) return;
    node_values_.push_back(node);
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
  const size_t before = builder_.topology().links.size();
  builder_.add_link(value, items, *first, *second);
  if (builder_.topology().links.size() == before) return;
  MemoryLinkOptions options;
  options.delay_ns = 1 * kMicrosecond;
  options.capacity_frames = kFabricCapacity;
  options.rate_bps = builder_.topology().nodes[first->node_index].ports[first->port].rate_bps;
  value["delay"].read_duration(options.delay_ns, 0, kDelayMax);
  value["loss"].read_loss(options.loss_ppm);
  value["duplicate"].read_loss(options.duplicate_ppm);
  value["reorder"].read_loss(options.reorder_ppm);
  value["corrupt"].read_loss(options.corrupt_ppm);
  options.reorder_max_ns = 10 * kMicrosecond;
  value["reorder_by"].read_duration(options.reorder_max_ns, 0, kDelayMax);
  scenario_.setup.links.push_back({options, options});
}

void ScenarioReader::read_hosts() {
  const YamlValue hosts = root_["hosts"];
  if (!hosts.expect_free_map("hosts")) return;
  for (const YamlValue& host : hosts.entries()) read_host(host);
}

void ScenarioReader::read_host(const YamlValue& value) {
  constexpr uint64_t kRateMax = 1'000'000'000'000;
  if (!is_name(value.key(), kNodeNameBytes))
    value.problem_at_key("this name", "letters, digits, - and _, at most " + std::to_string(kNodeNameBytes));
  value.expect_map(scenario_keys::kHost);
  const YamlValue port = value["port"];
  if (!port.require("a port of a node, as in leaf1:p1")) return;
  const auto end = end_of(port);
  if (!end || !builder_.take_port(port, *end)) return;
  HostSetup host;
  host.name = value.key();
  host.port = *end;
  host.announce_interval_ns = kAnnounceNs;
  const auto index = static_cast<uint16_t>(scenario_.setup.hosts.size());
  host.mac = 0x020000000000u + index + 1;
  value["mac"].read_mac(host.mac);
  MemoryLinkOptions options;
  options.rate_bps = 10'000'000'000;
  options.delay_ns = 500;
  options.transmit_frames = 256;
  value["rate"].read_rate(options.rate_bps, 1000, kRateMax);
  value["delay"].read_duration(options.delay_ns, 0, kDelayMax);
  host.to_switch = host.from_switch = options;
  builder_.topology().nodes[end->node_index].ports[end->port].rate_bps = options.rate_bps;
  hosts_.emplace(host.name, index);
  scenario_.setup.hosts.push_back(std::move(host));
  scenario_.host_vlans.emplace_back();
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

void ScenarioReader::finish_nodes() {
  for (uint16_t node = 0; node < node_values_.size(); ++node) {
    NodeSetup setup;
    setup.match_entries = 16384;
    setup.station_entries = 16384;
    const size_t ports = builder_.topology().nodes[node].ports.size();
    node_values_[node]["workers"].read_integer(setup.workers, 1, std::max<size_t>(1, ports));
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
  if (measure.expect_map(scenario_keys::kMeasure)) {
    measure["from"].read_duration(scenario_.measure_from_ns, 0, kLongest);
    measure["to"].read_duration(scenario_.measure_to_ns, 0, kLongest);
    measure["interval"].read_duration(scenario_.interval_ns, 10 * kMicrosecond, kLongest);
  }
  const bool to_end = scenario_.measure_to_ns >= scenario_.duration_ns;
  if (to_end) scenario_.measure_to_ns = scenario_.duration_ns;
  // A value that could not be read has left its default, which the others need not fit.
  if (root_.errors_so_far() != errors_before || scenario_.measure_from_ns < scenario_.measure_to_ns) return;
  // Nothing would be measured.
  if (measure.has("from"))
    measure["from"].problem("less than " + format_duration(scenario_.measure_to_ns) +
                            (to_end ? ", the duration" : ", the end of the measurement"));
  else
    measure["to"].problem("more than " + format_duration(scenario_.measure_from_ns));
}

void ScenarioReader::read_frame() {
  root_["seed"].read_integer(scenario_.setup.seed);
  read_times();
  const YamlValue costs = root_["costs"];
  if (costs.expect_map(scenario_keys::kCosts)) {
    costs["turn"].read_duration(scenario_.setup.costs.turn_ns, 0, kMillisecond);
    costs["packet"].read_duration(scenario_.setup.costs.packet_ns, 0, kMillisecond);
    costs["crossing"].read_duration(scenario_.setup.costs.crossing_ns, 0, kMillisecond);
  }
}

std::optional<Scenario> ScenarioReader::read(ConfigErrors& errors) {
  const size_t errors_before = errors.size();
  root_.expect_map(scenario_keys::kScenario);
  builder_.read_fabric();
  read_frame();
  read_nodes();
  const size_t errors_before_links = errors.size();
  read_links();
  read_hosts();
  const bool graph_known = errors.size() == errors_before_links;
  read_ports();
  builder_.read_stations();
  builder_.check(graph_known);
  finish_nodes();
  // A host or link that could not be read would be missed by all that names it.
  const bool all_there = scenario_.setup.links.size() == root_["links"].items().size() &&
                         scenario_.setup.hosts.size() == root_["hosts"].entries().size();
  if (all_there) {
    scenario_.setup.topology = builder_.topology();
    read_workloads();
    read_faults();
    read_expectations();
  }
  if (errors.size() != errors_before) {
    errors.sort();
    return std::nullopt;
  }
  scenario_.name = scenario_.setup.topology.name;
  return std::move(scenario_);
}

namespace {

std::optional<Scenario> read_scenario(const YamlDocument* document, ConfigErrors& errors) {
  if (document == nullptr) return std::nullopt;
  const YamlValue root(*document, errors);
  if (!root.is(YamlNode::Kind::kMap)) {
    root.problem("a map with name, nodes, links and hosts");
    return std::nullopt;
  }
  return ScenarioReader(root).read(errors);
}

}  // namespace

std::optional<Scenario> load_scenario(const std::string& path, ConfigErrors& errors) {
  return read_scenario(YamlDocument::load(path, errors).get(), errors);
}

std::optional<Scenario> parse_scenario(const std::string& text, const std::string& file_name, ConfigErrors& errors) {
  return read_scenario(YamlDocument::parse(text, file_name, errors).get(), errors);
}

}  // namespace heddle::sim
