// SPDX-License-Identifier: Apache-2.0
#include "config/lab_file.h"

#include <algorithm>
#include <array>

#include "config/application_reader.h"
#include "config/budget.h"
#include "config/config_keys.h"
#include "config/fabric_plan_reader.h"
#include "config/lab_host_reader.h"
#include "config/memory_budget.h"
#include "config/shaper_reader.h"
#include "config/topology_builder.h"
#include "config/yaml_value.h"

namespace heddle {

namespace {

// What it does not say is as in `impairment`.
LinkImpairment read_impairment(const YamlValue& link, LinkImpairment impairment) {
  link["delay"].read_duration(impairment.delay_ns, 0, 10 * kSecond);
  link["loss"].read_loss(impairment.loss_ppm);
  return impairment;
}

class LabReader {
 public:
  explicit LabReader(const YamlValue& root) : root_(root), topology_(root["topology"]), builder_(root), hosts_(root) {}

  std::optional<LabConfig> read(ConfigErrors& errors);

 private:
  void read_kinds();
  bool read_plan();
  void read_nodes();
  void read_switch(const YamlValue& value);
  void read_link(const YamlValue& value);
  std::optional<LinkEnd> switch_end(const YamlValue& value, const PortReference& end);
  void link_host(const YamlValue& link, const YamlValue& host_value, const PortReference& host,
                 const YamlValue& switch_value, const PortReference& switch_reference);
  void link_switches(const YamlValue& link, const std::vector<YamlValue>& ends, const PortReference& first,
                     const PortReference& second);
  void read_ports();
  void read_processes();
  void read_driver();

  YamlValue root_;
  YamlValue topology_;
  TopologyBuilder builder_;
  LabHostReader hosts_;
  LabConfig lab_;
  uint32_t kind_workers_ = 1;
  std::vector<std::string> names_;   // of all nodes
  std::vector<YamlValue> switches_;  // by node index
  std::map<std::pair<uint16_t, PortIndex>, LinkImpairment> impairments_;
};

void LabReader::read_kinds() {
  const YamlValue kinds = topology_["kinds"];
  if (!kinds.expect_map(config_keys::kLabKinds)) return;
  kinds["switch"].expect_map(config_keys::kLabSwitchKind);
  kinds["switch"]["workers"].read_integer(kind_workers_, 1, kPortsMax);
  hosts_.read_kind(kinds["host"]);
}

// False if it does not say which nodes there are.
bool LabReader::read_plan() {
  const YamlValue value = topology_["fabric"];
  if (!value.present()) return true;
  if (!value.expect_map(config_keys::kLabFabric)) return false;
  const std::optional<FabricPlan> plan = read_fabric_plan(value);
  const auto ends = plan ? builder_.add_plan(*plan, value) : std::nullopt;
  if (!ends) return false;
  switches_.resize(plan->nodes.size(), value);
  names_ = plan->nodes;
  const LinkImpairment impairment = read_impairment(value, {});
  for (const TopologyLink& link : builder_.topology().links)
    for (const LinkEnd& end : link.ends) impairments_[{end.node_index, end.port}] = impairment;
  builder_.read_edge_rate(*ends, value["host_rate"]);
  for (size_t i = 0; i < ends->size(); ++i) {
    const std::string& name = plan->hosts[i].name;
    names_.push_back(name);
    builder_.take_port(value, (*ends)[i]);
    hosts_.add_planned(name, value);
    hosts_.plug(value, {name, "eth1"}, (*ends)[i]);
  }
  return true;
}

// One of the plan may be given keys of its own.
void LabReader::read_switch(const YamlValue& value) {
  auto node_index = builder_.find_node(value.key());
  if (!node_index) {
    node_index = builder_.add_node(value);
    if (!node_index) return;
    switches_.emplace_back();
  }
  switches_[*node_index] = value;
  builder_.set_source(*node_index, value);
  value.expect_map(config_keys::kLabSwitch);
  builder_.read_address(*node_index, value["address"]);
}

void LabReader::read_nodes() {
  const YamlValue nodes = topology_["nodes"];
  const bool planned = topology_.has("fabric");
  if ((!planned || nodes.present()) && !(nodes.require("a map of nodes") && nodes.expect_free_map("nodes"))) return;
  for (const YamlValue& node : nodes.entries()) {
    if (!node.is(YamlNode::Kind::kMap) && !node.is(YamlNode::Kind::kNull)) {
      node.problem("a map");
      continue;
    }
    names_.push_back(node.key());
    size_t kind = 0;
    const bool known = node["kind"].require("switch or host") && node["kind"].read_choice(kind, config_keys::kLabKinds);
    const bool planned_host = hosts_.has(node.key()), planned_switch = builder_.find_node(node.key()).has_value();
    if (!known && (planned_host || planned_switch)) continue;
    if (kind == 1 ? planned_switch : planned_host) {
      node["kind"].problem(planned_host ? "host, as in the fabric" : "switch, as in the fabric");
    } else if (kind == 1) {
      hosts_.add(node);
    } else {
      read_switch(node);
    }
  }
  if (switches_.empty()) nodes.problem("no switch", "1 or more");
  builder_.fill_addresses();
}

// The port that an end names on a switch; made where the end is the first to name it.
std::optional<LinkEnd> LabReader::switch_end(const YamlValue& value, const PortReference& end) {
  const auto node_index = builder_.find_node(end.node);
  if (!node_index) {
    const std::vector<std::string_view> names(names_.begin(), names_.end());
    value.problem("no node " + end.node, suggested_name(value, end.node, names, "a name under nodes"));
    return std::nullopt;
  }
  auto port = builder_.find_port_of(*node_index, end.port);
  if (!port) port = builder_.add_port(*node_index, end.port, value);
  if (!port) return std::nullopt;
  return LinkEnd{*node_index, *port};
}

void LabReader::link_host(const YamlValue& link, const YamlValue& host_value, const PortReference& host,
                          const YamlValue& switch_value, const PortReference& switch_reference) {
  if (hosts_.has(switch_reference.node)) {
    return switch_value.problem("two hosts", "a switch at one end");
  }
  const auto end = switch_end(switch_value, switch_reference);
  if (!end || !builder_.take_port(switch_value, *end)) return;
  for (std::string_view key : {"delay", "loss", "cost"}) {
    if (link.has(key)) link[key].problem_at_key("the key on a host's link", "the key between switches");
  }
  builder_.read_edge_limits(*end, link);
  hosts_.plug(host_value, host, *end);
}

void LabReader::link_switches(const YamlValue& link, const std::vector<YamlValue>& ends, const PortReference& first,
                              const PortReference& second) {
  const auto first_end = switch_end(ends[0], first);
  const auto second_end = switch_end(ends[1], second);
  if (!first_end || !second_end) return;
  const LinkImpairment impairment = read_impairment(link, impairments_[{first_end->node_index, first_end->port}]);
  for (const LinkEnd& end : {*first_end, *second_end}) impairments_[{end.node_index, end.port}] = impairment;
  builder_.add_link(link, ends, *first_end, *second_end);
}

void LabReader::read_link(const YamlValue& value) {
  if (!value.is(YamlNode::Kind::kMap)) return value.problem("a map with endpoints");
  value.expect_map(config_keys::kLabLink);
  const YamlValue ends = value["endpoints"];
  const std::string allowed = "2, as in [leaf1:p1, spine1:p1]";
  if (!ends.require(allowed) || !ends.expect_list("2 endpoints")) return;
  const std::vector<YamlValue> items = ends.items();
  if (items.size() != 2) {
    return ends.problem(std::to_string(items.size()) + (items.size() == 1 ? " endpoint" : " endpoints"), allowed);
  }
  const auto first = read_port_reference(items[0]);
  const auto second = read_port_reference(items[1]);
  if (!first || !second) return;
  if (hosts_.has(first->node)) return link_host(value, items[0], *first, items[1], *second);
  if (hosts_.has(second->node)) return link_host(value, items[1], *second, items[0], *first);
  link_switches(value, items, *first, *second);
}

// Settings of ports; the links have made the ports.
void LabReader::read_ports() {
  for (uint16_t node_index = 0; node_index < switches_.size(); ++node_index) {
    const YamlValue ports = switches_[node_index]["ports"];
    if (!ports.expect_free_map("ports")) continue;
    for (const YamlValue& entry : ports.entries()) {
      const auto port = builder_.find_port_of(node_index, entry.key());
      if (port) {
        builder_.read_port(node_index, *port, entry);
      } else {
        entry.problem_at_key("a port without link", "ports that links name");
      }
    }
  }
}

void LabReader::read_processes() {
  uint32_t workers = 0;
  for (uint16_t node_index = 0; node_index < switches_.size(); ++node_index) {
    const std::vector<TopologyPort>& ports = builder_.topology().nodes[node_index].ports;
    NodeProcess node;
    node.node_index = node_index;
    const YamlValue own_workers = switches_[node_index]["workers"];
    const size_t workers_max = std::max<size_t>(ports.size(), 1);
    // The kind's number is for all switches: one with fewer ports takes what it can use.
    node.workers = static_cast<uint32_t>(std::min<size_t>(kind_workers_, workers_max));
    own_workers.read_integer(node.workers, 1, workers_max);
    workers += node.workers;
    node.applications = read_applications(switches_[node_index]["applications"], builder_.topology(), node_index);
    node.shapers = read_shapers(switches_[node_index]["shapers"], builder_.topology(), node_index);
    for (PortIndex port = 0; port < ports.size(); ++port) {
      node.ports.push_back({.port = port,
                            .device = {},
                            .host = {},
                            .impairment = impairments_[{node_index, port}],
                            .complete_checksums = !ports[port].fabric});
    }
    lab_.nodes.push_back(std::move(node));
  }
  const YamlValue threads = root_["threads"];
  if (threads.read_integer(lab_.threads, 1, kThreadsMax) && lab_.threads > workers) {
    threads.problem(std::to_string(lab_.threads), "up to " + std::to_string(workers) + ", the number of workers");
  }
}

void LabReader::read_driver() {
  static constexpr auto kLabDrivers = std::to_array<std::string_view>({"af_packet", "af_xdp"});
  auto driver = static_cast<size_t>(lab_.driver);
  root_["driver"].read_choice(driver, kLabDrivers);
  lab_.driver = static_cast<LabDriver>(driver);
  TopologyPort largest;
  largest.mtu_bytes = builder_.topology().edge_mtu_bytes;
  const uint32_t excess = frame_bytes_max(largest) - largest.mtu_bytes;
  if (lab_.driver == LabDriver::kAfXdp && frame_bytes_max(largest) > kAfXdpFrameBytesMax) {
    root_["edge_mtu"].problem("up to " + std::to_string(kAfXdpFrameBytesMax - excess) +
                              " (a frame of AF_XDP lies in one page)");
  }
}

std::optional<LabConfig> LabReader::read(ConfigErrors& errors) {
  const size_t errors_before = errors.size();
  root_.expect_map(config_keys::kLab);
  builder_.read_fabric();
  if (topology_.require("a map of kinds, nodes and links")) {
    topology_.expect_map(config_keys::kLabTopology);
    read_kinds();
    if (!read_plan()) {  // nobody knows which nodes there are
      errors.sort();
      return std::nullopt;
    }
    read_nodes();
  }
  const size_t errors_before_links = errors.size();
  const YamlValue links = topology_["links"];
  if (links.expect_list("links")) {
    for (const YamlValue& link : links.items()) read_link(link);
  }
  const bool graph_known = errors.size() == errors_before_links;
  read_ports();
  builder_.read_stations();
  builder_.check(graph_known);
  lab_.hosts = hosts_.finish(builder_);
  read_processes();
  read_driver();
  if (errors.size() != errors_before) {
    errors.sort();
    return std::nullopt;
  }
  lab_.topology = std::move(builder_.topology());
  lab_.name = lab_.topology.name;
  return std::move(lab_);
}

std::optional<LabConfig> read_lab(const YamlDocument* document, ConfigErrors& errors) {
  if (document == nullptr) return std::nullopt;
  const YamlValue root(*document, errors);
  if (!root.is(YamlNode::Kind::kMap)) {
    root.problem("a map with name and topology");
    return std::nullopt;
  }
  return LabReader(root).read(errors);
}

}  // namespace

std::string vlan_interface_name(const LabInterface& interface) {
  return interface.name + "." + std::to_string(interface.vlan);
}

ProcessConfig LabConfig::process() const {
  constexpr uint32_t kMatchEntries = 32768;  // hosts of a lab have few flows
  ProcessConfig process;
  process.topology = topology;
  process.nodes = nodes;
  process.threads = threads;
  process.match_entries = kMatchEntries;
  // A quarter more than the least, for what is on its way between two counts.
  const uint64_t needed = buffers_needed(process);
  process.buffers = static_cast<uint32_t>(std::max<uint64_t>(needed + needed / 4, 8192));
  constexpr uint32_t kSpareMegabytes = 64;  // costs nothing until it is used
  process.memory_mb = static_cast<uint32_t>(memory_needed_megabytes(process)) + kSpareMegabytes;
  return process;
}

std::optional<LabConfig> load_lab(const std::string& path, ConfigErrors& errors) {
  return read_lab(YamlDocument::load(path, errors).get(), errors);
}

std::optional<LabConfig> parse_lab(const std::string& text, const std::string& file_name, ConfigErrors& errors) {
  return read_lab(YamlDocument::parse(text, file_name, errors).get(), errors);
}

}  // namespace heddle
