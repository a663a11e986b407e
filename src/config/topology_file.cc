// SPDX-License-Identifier: Apache-2.0
#include "config/topology_file.h"

#include "config/config_keys.h"
#include "config/fabric_plan_reader.h"
#include "config/topology_builder.h"
#include "config/yaml_value.h"

namespace heddle {

namespace {

// False if it does not say which nodes there are.
bool read_plan(const YamlValue& value, TopologyBuilder& builder) {
  if (!value.present()) return true;
  if (!value.expect_map(config_keys::kFabric)) return false;
  const std::optional<FabricPlan> plan = read_fabric_plan(value);
  const auto hosts = plan ? builder.add_plan(*plan, value) : std::nullopt;
  if (!hosts) return false;
  builder.read_edge_rate(*hosts, value["host_rate"]);
  return true;
}

// One of the plan has its address and its ports already, and may be given others.
void read_node(const YamlValue& value, TopologyBuilder& builder) {
  const auto planned = builder.find_node(value.key());
  const auto node_index = planned ? planned : builder.add_node(value);
  if (!node_index) return;
  builder.set_source(*node_index, value);
  if (!value.is(YamlNode::Kind::kMap)) return value.problem("a map with address and ports");
  value.expect_map(config_keys::kNode);
  const YamlValue address = value["address"];
  if (planned || address.require("1 to 65534")) builder.read_address(*node_index, address);
  const YamlValue ports = value["ports"];
  if (!ports.expect_free_map("ports")) return;
  for (const YamlValue& port : ports.entries()) {
    if (!is_name(port.key(), kPortNameBytes)) {
      port.problem_at_key("this name", "letters, digits, - and _, at most 15");
    }
    auto index = builder.find_port_of(*node_index, port.key());
    if (!index) index = builder.add_port(*node_index, port.key(), port);
    if (!index) return;
    builder.read_port(*node_index, *index, port);
  }
}

void read_link(const YamlValue& value, TopologyBuilder& builder) {
  if (!value.is(YamlNode::Kind::kMap)) return value.problem("a map with ends");
  value.expect_map(config_keys::kLink);
  const YamlValue ends = value["ends"];
  const std::string allowed = "2, as in [leaf1:p1, spine1:p1]";
  if (!ends.require(allowed) || !ends.expect_list("2 ends")) return;
  const std::vector<YamlValue> items = ends.items();
  if (items.size() != 2) {
    return ends.problem(std::to_string(items.size()) + (items.size() == 1 ? " end" : " ends"), allowed);
  }
  const auto first = builder.find_port(items[0]);
  const auto second = builder.find_port(items[1]);
  if (first && second) builder.add_link(value, items, *first, *second);
}

std::optional<Topology> read_topology(const YamlDocument* document, ConfigErrors& errors) {
  if (document == nullptr) return std::nullopt;
  const size_t errors_before = errors.size();
  const YamlValue root(*document, errors);
  if (!root.is(YamlNode::Kind::kMap)) {
    root.problem("a map with name, nodes and links");
    return std::nullopt;
  }
  root.expect_map(config_keys::kTopology);
  TopologyBuilder builder(root);
  builder.read_fabric();
  const YamlValue plan = root["fabric"];
  if (read_plan(plan, builder)) {  // else nobody knows which nodes there are
    const YamlValue nodes = root["nodes"];
    const bool there = nodes.present() || (!plan.present() && nodes.require("a map of nodes"));
    if (there && nodes.expect_free_map("nodes")) {
      if (nodes.entries().empty() && !plan.present()) nodes.problem("no nodes", "1 to " + std::to_string(kNodesMax));
      for (const YamlValue& node : nodes.entries()) read_node(node, builder);
    }
    if (plan.present()) builder.fill_addresses();
    const size_t errors_before_links = errors.size();
    const YamlValue links = root["links"];
    if (links.expect_list("links")) {
      for (const YamlValue& link : links.items()) read_link(link, builder);
    }
    const bool graph_known = errors.size() == errors_before_links;
    builder.read_stations();
    builder.check(graph_known);
  }
  if (errors.size() != errors_before) {
    errors.sort();
    return std::nullopt;
  }
  return std::move(builder.topology());
}

}  // namespace

std::optional<Topology> load_topology(const std::string& path, ConfigErrors& errors) {
  return read_topology(YamlDocument::load(path, errors).get(), errors);
}

std::optional<Topology> parse_topology(const std::string& text, const std::string& file_name, ConfigErrors& errors) {
  return read_topology(YamlDocument::parse(text, file_name, errors).get(), errors);
}

}  // namespace heddle
