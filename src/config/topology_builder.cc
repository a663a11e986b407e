// SPDX-License-Identifier: Apache-2.0
#include "config/topology_builder.h"

#include <algorithm>
#include <set>

#include "config/budget.h"
#include "config/config_keys.h"
#include "config/settings_reader.h"

namespace heddle {

std::optional<PortReference> read_port_reference(const YamlValue& value) {
  const std::string_view text = value.text();
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || !is_name(text.substr(0, colon), kNodeNameBytes) ||
      !is_name(text.substr(colon + 1), kPortNameBytes)) {
    value.problem("a node and a port, as in leaf1:p1");
    return std::nullopt;
  }
  return PortReference{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

void TopologyBuilder::read_fabric() {
  const std::string allowed_name = "a name of letters, digits, - and _, at most 31";
  const YamlValue name = root_["name"];
  if (name.require(allowed_name)) {
    if (is_name(name.text(), kNodeNameBytes)) {
      topology_.name = name.text();
    } else {
      name.problem(allowed_name);
    }
  }
  root_["edge_mtu"].read_integer(topology_.edge_mtu_bytes, kEdgeMtuMin, kEdgeMtuMax);
  read_settings(root_["settings"], topology_.settings);
  topology_.classes = read_classes(root_["classes"], topology_.settings.life_ns);
}

std::optional<uint16_t> TopologyBuilder::add_node(const std::string& name, const YamlValue& source) {
  if (topology_.nodes.size() == kNodesMax) {
    source.problem_at_key("one node more", std::to_string(kNodesMax));
    return std::nullopt;
  }
  if (!is_name(name, kNodeNameBytes)) {
    source.problem_at_key("this name", "letters, digits, - and _, at most 31");
  }
  const auto index = static_cast<uint16_t>(topology_.nodes.size());
  topology_.nodes.push_back({name, 0, {}});
  sources_.push_back({source, {}, {}});
  node_indices_.emplace(name, index);
  return index;
}

std::optional<std::vector<LinkEnd>> TopologyBuilder::add_plan(const FabricPlan& plan, const YamlValue& value) {
  const size_t first = topology_.nodes.size();
  for (const std::string& name : plan.nodes)
    if (!add_node(name, value)) return std::nullopt;
  const auto add_end = [&](const FabricPlan::End& end) {
    const auto node = static_cast<uint16_t>(first + end.node);
    const auto port = add_port(node, end.port, value["kind"]);  // no key there is of a port
    return port ? std::optional(LinkEnd{node, *port}) : std::nullopt;
  };
  planned_by_ = value.path();
  LinkLimits limits;
  read_link_limits(value, limits);
  for (const FabricPlan::Link& link : plan.links) {
    const auto one = add_end(link.ends[0]), other = add_end(link.ends[1]);
    if (!one || !other) return std::nullopt;
    limits.cost = link.cost;
    take_port(value, *one);
    take_port(value, *other);
    join(*one, *other, limits);
  }
  std::vector<LinkEnd> hosts;
  for (const FabricPlan::Host& host : plan.hosts) {
    const auto end = add_end(host.end);
    if (!end) return std::nullopt;
    hosts.push_back(*end);
  }
  return hosts;
}

void TopologyBuilder::read_address(uint16_t node_index, const YamlValue& value) {
  constexpr uint16_t kAddressMax = 65534;  // 65535 stands for the spanning tree
  value.read_integer(topology_.nodes[node_index].address, 1, kAddressMax);
}

void TopologyBuilder::fill_addresses() {
  std::set<uint16_t> taken;
  for (const TopologyNode& node : topology_.nodes) taken.insert(node.address);
  uint16_t next = 1;
  for (TopologyNode& node : topology_.nodes) {
    if (node.address != 0) continue;
    while (taken.contains(next)) ++next;
    node.address = next++;
  }
}

std::optional<PortIndex> TopologyBuilder::add_port(uint16_t node_index, const std::string& name,
                                                   const YamlValue& source) {
  std::vector<TopologyPort>& ports = topology_.nodes[node_index].ports;
  if (ports.size() == kPortsMax) {
    source.problem_at_key("one port more", std::to_string(kPortsMax) + " on a node");
    return std::nullopt;
  }
  TopologyPort port;
  port.name = name;
  port.mtu_bytes = topology_.edge_mtu_bytes;
  ports.push_back(port);
  sources_[node_index].ports.push_back(source);
  sources_[node_index].used_by.emplace_back();
  return PortIndex::of(ports.size() - 1);
}

void TopologyBuilder::read_edge_limits(LinkEnd end, const YamlValue& link) {
  TopologyPort& port = topology_.nodes[end.node_index].ports[end.port];
  link["rate"].read_rate(port.rate_bps, kRateMinBps, kRateMaxBps);
  link["overhead"].read_integer(port.overhead_bytes, 0, kOverheadMaxBytes);
  link["mtu"].read_integer(port.mtu_bytes, kEdgeMtuMin, topology_.edge_mtu_bytes);
}

void TopologyBuilder::read_edge_rate(const std::vector<LinkEnd>& ends, const YamlValue& rate) {
  uint64_t rate_bps = 0;
  rate.read_rate(rate_bps, kRateMinBps, kRateMaxBps);
  for (const LinkEnd& end : ends) topology_.nodes[end.node_index].ports[end.port].rate_bps = rate_bps;
}

std::optional<uint16_t> TopologyBuilder::find_node(const std::string& name) const {
  const auto it = node_indices_.find(name);
  if (it == node_indices_.end()) return std::nullopt;
  return it->second;
}

std::optional<PortIndex> TopologyBuilder::find_port_of(uint16_t node_index, const std::string& name) const {
  const int port = topology_.find_port(node_index, name);
  if (port < 0) return std::nullopt;
  return PortIndex::of(port);
}

std::optional<LinkEnd> TopologyBuilder::find_port(const YamlValue& value) const {
  const auto reference = read_port_reference(value);
  if (!reference) return std::nullopt;
  const auto node_index = find_node(reference->node);
  if (!node_index) {
    std::vector<std::string_view> names;
    for (const TopologyNode& node : topology_.nodes) names.push_back(node.name);
    value.problem("no node " + reference->node, suggested_name(value, reference->node, names, "a name under nodes"));
    return std::nullopt;
  }
  const auto port = find_port_of(*node_index, reference->port);
  if (!port) {
    std::vector<std::string_view> names;
    for (const TopologyPort& other : topology_.nodes[*node_index].ports) names.push_back(other.name);
    value.problem("no port " + reference->port + " on " + reference->node, joined(names));
    return std::nullopt;
  }
  return LinkEnd{*node_index, *port};
}

std::string TopologyBuilder::port_text(LinkEnd end) const {
  const TopologyNode& node = topology_.nodes[end.node_index];
  return node.name + ":" + node.ports[end.port].name;
}

bool TopologyBuilder::take_port(const YamlValue& end_value, LinkEnd end) {
  std::string& used_by = sources_[end.node_index].used_by[end.port];
  if (!used_by.empty()) {
    end_value.problem(port_text(end) + ", which is in " + used_by, "one link for each port");
    return false;
  }
  used_by = end_value.path();
  return true;
}

void TopologyBuilder::read_link_limits(const YamlValue& link, LinkLimits& limits) const {
  link["rate"].read_rate(limits.rate_bps, kRateMinBps, kRateMaxBps);
  link["overhead"].read_integer(limits.overhead_bytes, 0, kOverheadMaxBytes);
  const uint32_t needed = fabric_mtu_bytes(topology_.edge_mtu_bytes);
  if (limits.mtu_bytes == 0) limits.mtu_bytes = static_cast<uint16_t>(needed);
  if (link["mtu"].read_integer(limits.mtu_bytes) && (limits.mtu_bytes < needed || limits.mtu_bytes > kLinkMtuMax)) {
    link["mtu"].problem(std::to_string(needed) + " to " + std::to_string(kLinkMtuMax) + " (edge MTU " +
                        std::to_string(topology_.edge_mtu_bytes) + " and the fabric header)");
  }
  link["cost"].read_integer(limits.cost, 1, kLinkCostMax);
}

std::optional<size_t> TopologyBuilder::add_link(const YamlValue& link, const std::vector<YamlValue>& ends,
                                                LinkEnd first, LinkEnd second) {
  if (const auto planned = planned_link(first, second)) {
    const TopologyPort& port = topology_.nodes[first.node_index].ports[first.port];
    LinkLimits limits{port.rate_bps, port.overhead_bytes, port.mtu_bytes, port.cost};
    read_link_limits(link, limits);
    set_limits(first, limits);
    set_limits(second, limits);
    sources_[first.node_index].used_by[first.port] = ends[0].path();
    sources_[second.node_index].used_by[second.port] = ends[1].path();
    return planned;
  }
  const bool first_free = take_port(ends[0], first);
  const bool second_free = take_port(ends[1], second);
  if (!first_free || !second_free) return std::nullopt;
  if (first.node_index == second.node_index) {
    ends[1].problem("both ends on " + topology_.nodes[first.node_index].name, "two different nodes");
    return std::nullopt;
  }
  LinkLimits limits;
  read_link_limits(link, limits);
  join(first, second, limits);
  return topology_.links.size() - 1;
}

std::optional<size_t> TopologyBuilder::planned_link(LinkEnd first, LinkEnd second) const {
  const TopologyPort& port = topology_.nodes[first.node_index].ports[first.port];
  const bool joined = port.fabric && port.peer.node_index == second.node_index && port.peer.port == second.port;
  if (!joined || sources_[first.node_index].used_by[first.port] != planned_by_) return std::nullopt;
  const auto is_it = [&](const TopologyLink& link) {
    return std::any_of(std::begin(link.ends), std::end(link.ends), [&](const LinkEnd& end) {
      return end.node_index == first.node_index && end.port == first.port;
    });
  };
  const auto found = std::find_if(topology_.links.begin(), topology_.links.end(), is_it);
  return static_cast<size_t>(found - topology_.links.begin());
}

void TopologyBuilder::set_limits(LinkEnd end, const LinkLimits& limits) {
  TopologyPort& port = topology_.nodes[end.node_index].ports[end.port];
  port.rate_bps = limits.rate_bps;
  port.overhead_bytes = limits.overhead_bytes;
  port.mtu_bytes = limits.mtu_bytes;
  port.cost = limits.cost;
}

void TopologyBuilder::join(LinkEnd first, LinkEnd second, const LinkLimits& limits) {
  const LinkEnd both[2] = {first, second};
  for (int side = 0; side < 2; ++side) {
    TopologyPort& port = topology_.nodes[both[side].node_index].ports[both[side].port];
    port.fabric = true;
    port.peer = {both[1 - side].node_index, both[1 - side].port};
    set_limits(both[side], limits);
  }
  topology_.links.push_back({{first, second}});
}

void TopologyBuilder::read_stations() {
  const YamlValue list = root_["stations"];
  if (!list.expect_list("stations")) return;
  std::set<std::pair<uint16_t, uint64_t>> known;
  for (const YamlValue& item : list.items()) {
    if (!item.is(YamlNode::Kind::kMap)) {
      item.problem("a map");
      continue;
    }
    item.expect_map(config_keys::kStation);
    StaticStation station;
    const YamlValue mac = item["mac"];
    const YamlValue vlan = item["vlan"];
    const YamlValue port_value = item["port"];
    const bool mac_good = mac.require("a MAC address") && mac.read_mac(station.mac);
    vlan.read_integer(station.vlan, 1, kVlanMax);
    if (!port_value.require("an edge port, as in leaf1:p1") || !mac_good) continue;
    const auto end = find_port(port_value);
    if (!end) continue;
    const TopologyPort& port = topology_.nodes[end->node_index].ports[end->port];
    if (port.fabric) {
      port_value.problem(port_text(*end) + ", which is in a link", "an edge port");
    } else if (!port.vlans.member(station.vlan)) {
      vlan.problem(std::to_string(station.vlan), "a VLAN of " + port_text(*end));
    } else if (!known.emplace(station.vlan, station.mac).second) {
      mac.problem(std::string(mac.text()) + " a second time", "each address once in a VLAN");
    }
    station.address = {topology_.nodes[end->node_index].address, end->port};
    topology_.stations.push_back(station);
  }
}

}  // namespace heddle
