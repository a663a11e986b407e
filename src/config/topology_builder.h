// SPDX-License-Identifier: Apache-2.0
// Puts a Topology together from YAML, for the topology file and the lab file alike, and remembers where every
// part stands, so that checks of the whole can name line and column.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "config/yaml_value.h"
#include "topology/fabric_plan.h"
#include "topology/topology.h"

namespace heddle {

constexpr size_t kNodesMax = 4096;
constexpr size_t kNodeNameBytes = 31;  // a hello has 32 bytes for it, and 16 for a port's
constexpr size_t kPortNameBytes = 15;

// Two names as in leaf1:p3.
struct PortReference {
  std::string node;
  std::string port;
};

// Reported and nullopt if the text is not of this form.
std::optional<PortReference> read_port_reference(const YamlValue& value);

class TopologyBuilder {
 public:
  explicit TopologyBuilder(const YamlValue& root) : root_(root) {}

  // Keys name, edge_mtu, settings and classes of the file.
  void read_fabric();

  // The node's own entry is this one, for what is told of it.
  void set_source(uint16_t node_index, const YamlValue& source) { sources_[node_index].value = source; }
  // A node under the key of `source`, without address (0) or ports. nullopt if there are too many.
  std::optional<uint16_t> add_node(const YamlValue& source) { return add_node(source.key(), source); }
  // The same with a name that does not stand in the file.
  std::optional<uint16_t> add_node(const std::string& name, const YamlValue& source);
  // The nodes, ports and links of a plan, whose links have the limits of `value`. Returns where its hosts
  // belong, in their order; nullopt if it does not fit.
  std::optional<std::vector<LinkEnd>> add_plan(const FabricPlan& plan, const YamlValue& value);
  void read_address(uint16_t node_index, const YamlValue& value);
  // Gives the nodes that have none the lowest addresses that are free, in their order.
  void fill_addresses();

  // An edge port, until add_link takes it. nullopt if there are too many.
  std::optional<PortIndex> add_port(uint16_t node_index, const std::string& name, const YamlValue& source);
  // Keys of an edge port; where a link has given a rate or MTU already, these overrule.
  void read_port(uint16_t node_index, PortIndex port, const YamlValue& value);

  // Keys rate and mtu of a link whose other end is a host; and one rate of several such links.
  void read_edge_limits(LinkEnd end, const YamlValue& link);
  void read_edge_rate(const std::vector<LinkEnd>& ends, const YamlValue& rate);

  // The port that a text names, among those added.
  std::optional<LinkEnd> find_port(const YamlValue& value) const;
  // The port of a known node.
  std::optional<PortIndex> find_port_of(uint16_t node_index, const std::string& name) const;
  std::optional<uint16_t> find_node(const std::string& name) const;

  // A link between ports of two nodes, or of a plan's link what differs. `ends` has one value per end; its limits come
  // from `link`. Returns its index; nullopt and reported if there can be none.
  std::optional<size_t> add_link(const YamlValue& link, const std::vector<YamlValue>& ends, LinkEnd first,
                                 LinkEnd second);
  // One end's port is used; false and reported if it has been before.
  bool take_port(const YamlValue& end_value, LinkEnd end);

  // Key stations of the file; after the links.
  void read_stations();

  // What no single key shows. `graph_known`: every link was read, so that missing ones can be told, and the virtual
  // channels and lives of lossless classes found.
  void check(bool graph_known);

  Topology& topology() { return topology_; }
  const Topology& topology() const { return topology_; }
  std::string port_text(LinkEnd end) const;  // leaf1:p3

 private:
  struct LinkLimits {
    uint64_t rate_bps = 0;
    uint8_t overhead_bytes = kWireExtraBytes;
    uint16_t mtu_bytes = 0;
    uint8_t cost = 1;
  };
  struct NodeSource {
    YamlValue value;
    std::vector<YamlValue> ports;
    std::vector<std::string> used_by;  // path of the link that uses each port; empty = none
  };

  // What `link` does not say is as in `limits`.
  void read_link_limits(const YamlValue& link, LinkLimits& limits) const;
  void set_limits(LinkEnd end, const LinkLimits& limits);
  void join(LinkEnd first, LinkEnd second, const LinkLimits& limits);
  // The plan's link between these, if the file has not said yet what differs.
  std::optional<size_t> planned_link(LinkEnd first, LinkEnd second) const;
  void read_vlans(const YamlValue& value, VlanMembership& vlans) const;
  void read_port_classes(const YamlValue& value, TopologyPort& port) const;
  void check_pause(const YamlValue& value, const TopologyPort& port) const;
  void read_policer(const YamlValue& value, TopologyPort& port) const;
  void read_trunk(const YamlValue& value, VlanMembership& vlans) const;
  void check_addresses() const;
  void check_ports() const;
  void check_flow_ids() const;
  void check_room(const TopologyNode& node, const TopologyPort& port) const;
  void check_reachable() const;
  void settle_lossless();
  bool settle_lossless_credits();
  Nanos least_lossless_life_ns() const;
  std::string slowest_edge_port() const;

  YamlValue root_;
  Topology topology_;
  std::vector<NodeSource> sources_;  // by node index
  std::map<std::string, uint16_t, std::less<>> node_indices_;
  std::string planned_by_;  // path of the key that plans links
};

}  // namespace heddle
