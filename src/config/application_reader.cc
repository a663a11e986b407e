// SPDX-License-Identifier: Apache-2.0
#include "config/application_reader.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "config/config_keys.h"
#include "config/settings_reader.h"

namespace heddle {

namespace {

constexpr size_t kNameBytes = 31;

class ApplicationReader {
 public:
  ApplicationReader(const Topology& topology, uint16_t node_index) : topology_(topology), node_index_(node_index) {}

  ApplicationPolicy read(const YamlValue& value) {
    if (!value.present() || !value.expect_map(config_keys::kApplications)) return {};
    const size_t errors_before = value.errors_so_far();
    policy_.configured = true;
    read_classes(value["classes"]);
    read_groups(value["groups"]);
    read_limits(value["limits"]);
    value["injection_limit"].read_size(policy_.port_bytes, 0, kInjectionLimitMax);
    return value.errors_so_far() == errors_before ? std::move(policy_) : ApplicationPolicy{};
  }

 private:
  void read_classes(const YamlValue& value);
  void read_groups(const YamlValue& value);
  void read_group(const YamlValue& value);
  void read_limits(const YamlValue& value);
  bool read_port(const YamlValue& value, PortIndex& out) const;
  void read_prefix(const YamlValue& value, const std::optional<uint8_t>& ftag, std::optional<IpPrefix>& out) const;
  void need(const YamlValue& value, const std::optional<uint8_t>& ftag, uint8_t match, const char* pattern) const;

  const Topology& topology_;
  const uint16_t node_index_;
  ApplicationPolicy policy_;
  uint32_t given_[kGroups / 32] = {};  // bit n: group n has an entry
};

// What a group is told by has to be in the key that its flows are told apart by: else one flow would be in two groups.
void ApplicationReader::need(const YamlValue& value, const std::optional<uint8_t>& ftag, uint8_t match,
                             const char* pattern) const {
  for (const TrafficClass& traffic_class : topology_.classes) {
    if (ftag.value_or(traffic_class.ftag) != traffic_class.ftag || (traffic_class.match & match) != 0) continue;
    if (!traffic_class.flow_channels) continue;
    return value.problem_at_key(
        "the key, of class " + traffic_class.name + " whose match has no " + pattern,
        std::string("a class whose match has ") + pattern + ": frames of one flow have one group");
  }
}

void ApplicationReader::read_classes(const YamlValue& value) {
  static constexpr auto kFields = std::to_array<std::string_view>({"vlan", "vlan_crc", "source", "flow_label"});
  if (!value.present() || !value.expect_free_map("classes")) return;
  for (const YamlValue& entry : value.entries()) {
    const auto found = std::find_if(topology_.classes.begin(), topology_.classes.end(),
                                    [&entry](const TrafficClass& one) { return one.name == entry.key(); });
    if (found == topology_.classes.end()) {
      entry.problem_at_key("no class " + entry.key(), "a class of the topology");
      continue;
    }
    if (!entry.expect_map(config_keys::kApplicationClass)) continue;
    GroupIndex& index = policy_.indices[found->ftag];
    entry["base"].read_integer(index.base, 0, kNoFlowGroup - 1);
    entry["bits"].read_integer(index.bits, 0, 6);
    if (const uint32_t last = index.base + (1u << index.bits) - 1; last >= kNoFlowGroup)
      entry["bits"].problem("groups up to " + std::to_string(last), "groups up to " + std::to_string(kNoFlowGroup - 1));
    const bool knows_source = found->match & kMatchIp;
    auto field = static_cast<size_t>(knows_source ? IndexField::source : IndexField::vlan);
    const YamlValue field_value = entry["index"];
    field_value.read_choice(field, kFields);
    index.field = static_cast<IndexField>(field);
    if (index.field == IndexField::source) need(field_value, found->ftag, kMatchIp, "ip");
    if (index.field == IndexField::flow_label) need(field_value, found->ftag, kMatchFlowLabel, "flow_label");
  }
}

void ApplicationReader::read_groups(const YamlValue& value) {
  if (!value.present() || !value.expect_free_map("groups")) return;
  for (const YamlValue& entry : value.entries()) read_group(entry);
}

void ApplicationReader::read_group(const YamlValue& value) {
  if (!is_name(value.key(), kNameBytes))
    return value.problem_at_key("this name", "letters, digits, - and _, at most " + std::to_string(kNameBytes));
  if (!value.expect_map(config_keys::kApplicationGroup)) return;
  uint8_t number = 0;
  const YamlValue group_value = value["group"];
  if (!group_value.require("the group's number, 0 to 126") || !group_value.read_integer(number, 0, kNoFlowGroup - 1))
    return;
  if (given_[number / 32] >> number % 32 & 1)
    return group_value.problem("a second group " + std::to_string(number), "a number that no other group has");
  given_[number / 32] |= 1u << number % 32;
  ApplicationPolicy::Group& group = policy_.groups[number];
  group.name = value.key();
  value["weight"].read_integer(group.weight, 1, kWeightMax);
  const YamlValue limit = value["limit"];
  limit.read_integer(group.limit, 0, kNoLimitId - 1);
  GroupRule rule;
  rule.group = number;
  const YamlValue class_value = value["class"];
  if (class_value.present()) {
    const TrafficClass* of_class = find_class(class_value, topology_.classes);
    if (of_class == nullptr) return;
    rule.ftag = of_class->ftag;
  }
  uint16_t vlan = 0;
  if (value["vlan"].read_integer(vlan, 1, 4094)) rule.vlan = vlan;
  uint8_t dscp = 0;
  if (const YamlValue dscp_value = value["dscp"]; dscp_value.read_integer(dscp, 0, 63)) {
    rule.dscp = dscp;
    need(dscp_value, rule.ftag, kMatchDscp, "dscp");
  }
  PortIndex port = kNoPort;
  if (read_port(value["port"], port)) rule.port = port;
  read_prefix(value["source"], rule.ftag, rule.source);
  read_prefix(value["destination"], rule.ftag, rule.destination);
  const bool any = rule.ftag || rule.vlan || rule.port || rule.dscp || rule.source || rule.destination;
  if (any) policy_.rules.push_back(rule);
}

bool ApplicationReader::read_port(const YamlValue& value, PortIndex& out) const {
  std::string name;
  if (!value.read_text(name)) return false;
  const std::vector<TopologyPort>& ports = topology_.nodes[node_index_].ports;
  std::vector<std::string_view> names;
  for (PortIndex port = 0; port < ports.size(); ++port) {
    if (ports[port].fabric) continue;
    if (ports[port].name == name) {
      out = port;
      return true;
    }
    names.push_back(ports[port].name);
  }
  value.problem("no edge port " + printable(name), suggested_name(value, name, names, "an edge port of the node"));
  return false;
}

void ApplicationReader::read_prefix(const YamlValue& value, const std::optional<uint8_t>& ftag,
                                    std::optional<IpPrefix>& out) const {
  static constexpr char kAllowed[] = "an address or a prefix, as in 10.1.0.0/16 or 2001:db8::/32";
  std::string text;
  if (!value.read_text(text)) return;
  const size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  IpPrefix prefix;
  if (inet_pton(AF_INET, address.c_str(), prefix.address.data()) == 1)
    prefix.l3 = 4;
  else if (inet_pton(AF_INET6, address.c_str(), prefix.address.data()) == 1)
    prefix.l3 = 6;
  else
    return value.problem(kAllowed);
  const unsigned most = prefix.l3 == 4 ? 32 : 128;
  unsigned bits = most;
  if (slash != std::string::npos) {
    const char* end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data() + slash + 1, end, bits);
    if (error != std::errc{} || last != end || bits > most) return value.problem(kAllowed);
  }
  prefix.bits = static_cast<uint8_t>(bits);
  for (unsigned bit = bits; bit < most; ++bit)
    if (prefix.address[bit / 8] >> (7 - bit % 8) & 1) return value.problem("a prefix without bits behind its length");
  need(value, ftag, kMatchIp, "ip");
  out = prefix;
}

void ApplicationReader::read_limits(const YamlValue& value) {
  if (!value.present() || !value.expect_free_map("limits")) return;
  for (const YamlValue& entry : value.entries()) {
    unsigned id = kNoLimitId;
    const std::string& key = entry.key();
    const auto [last, error] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (error != std::errc{} || last != key.data() + key.size() || id >= kNoLimitId) {
      entry.problem_at_key("this number", "0 to 7: injection limit IDs");
      continue;
    }
    if (!entry.expect_map(config_keys::kApplicationLimit)) continue;
    entry["weight"].read_integer(policy_.limits[id].weight, 1, kWeightMax);
    entry["injection_limit"].read_size(policy_.limits[id].bytes, 0, kInjectionLimitMax);
  }
}

}  // namespace

ApplicationPolicy read_applications(const YamlValue& value, const Topology& topology, uint16_t node_index) {
  return ApplicationReader(topology, node_index).read(value);
}

}  // namespace heddle
