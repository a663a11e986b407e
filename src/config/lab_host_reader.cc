// SPDX-License-Identifier: Apache-2.0
#include "config/lab_host_reader.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <utility>

#include "config/config_keys.h"
#include "config/units.h"

namespace heddle {

namespace {

constexpr size_t kInterfaceNameBytes = 15;  // in the kernel

constexpr uint32_t kIpv6MtuMin = 1280;  // RFC 8200; with less the kernel takes no address

// A host has the first one from its beginning, and settings for all interfaces have the names of the others.
constexpr auto kKernelNames = std::to_array<std::string_view>({"lo", "all", "default"});

// An address with prefix length, as in 10.0.0.1/24.
bool is_cidr(std::string_view text, int family, uint64_t prefix_max) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const auto prefix = parse_integer(text.substr(slash + 1));
  uint8_t address[16];
  const std::string address_text(text.substr(0, slash));
  return prefix && *prefix >= 1 && *prefix <= prefix_max && inet_pton(family, address_text.c_str(), address) == 1;
}

}  // namespace

void LabHostReader::read_kind(const YamlValue& value) {
  value.expect_map(config_keys::kLabHostKind);
  read_exec(value["exec"], kind_exec_);
  value["hostd"].read_bool(kind_hostd_);
}

void LabHostReader::add(const YamlValue& value) {
  if (!is_name(value.key(), kNodeNameBytes)) {
    value.problem_at_key("this name", "letters, digits, - and _, at most 31");
  }
  if (value.key() == kSwitchNamespace) {
    value.problem_at_key("this name", "other names: the namespace of the switches has it");
  }
  value.expect_map(config_keys::kLabHost);
  const auto [known, is_new] = indices_.emplace(value.key(), sources_.size());
  if (is_new) sources_.push_back({{value.key(), {}, kind_exec_, kind_hostd_}, {}, {}});
  Source& source = sources_[known->second];
  source.value = value;
  value["hostd"].read_bool(source.host.hostd);
  if (!value.has("exec")) return;
  source.host.exec.clear();
  read_exec(value["exec"], source.host.exec);
}

void LabHostReader::add_planned(const std::string& name, const YamlValue& plan) {
  indices_.emplace(name, sources_.size());
  sources_.push_back({{name, {}, kind_exec_, kind_hostd_}, plan, {}});
}

void LabHostReader::read_exec(const YamlValue& value, std::vector<std::string>& exec) const {
  constexpr size_t kCommandBytes = 4096;
  if (!value.expect_list("commands")) return;
  for (const YamlValue& item : value.items()) {
    std::string command;
    if (item.read_text(command, kCommandBytes)) exec.push_back(std::move(command));
  }
}

void LabHostReader::plug(const YamlValue& end_value, const PortReference& end, LinkEnd port) {
  Source& source = sources_[indices_.find(end.node)->second];
  for (size_t i = 0; i < source.plugs.size(); ++i) {
    if (source.host.interfaces[i].name != end.port) continue;
    return end_value.problem(end.node + ":" + end.port + ", which is in " + source.plugs[i].path(),
                             "one link for each interface");
  }
  if (std::find(kKernelNames.begin(), kKernelNames.end(), end.port) != kKernelNames.end()) {
    end_value.problem(end.node + ":" + end.port, "other names of interfaces: the kernel has " + joined(kKernelNames));
  }
  LabInterface interface;
  interface.name = end.port;
  interface.node_index = port.node_index;
  interface.port = port.port;
  source.host.interfaces.push_back(std::move(interface));
  source.plugs.push_back(end_value);
}

std::vector<LabHost> LabHostReader::finish(const TopologyBuilder& builder) {
  static constexpr auto kAddresses = std::to_array<std::string_view>({"auto", "none"});
  size_t choice = 0;
  root_["addresses"].read_choice(choice, kAddresses);
  automatic_ = choice == 0;
  std::vector<LabHost> hosts;
  for (Source& source : sources_) {
    if (source.host.interfaces.empty()) {
      source.value.problem_at_key("a host without link", "1 or more links");
    }
    read_interfaces(source, builder);
    hosts.push_back(std::move(source.host));
  }
  return hosts;
}

void LabHostReader::read_interfaces(Source& source, const TopologyBuilder& builder) {
  std::vector<LabInterface>& interfaces = source.host.interfaces;
  const YamlValue own = source.value["interfaces"];
  if (!own.expect_free_map("interfaces")) return;
  std::vector<std::string_view> names;
  for (const LabInterface& interface : interfaces) names.push_back(interface.name);
  for (const YamlValue& entry : own.entries()) {
    entry.expect_map(config_keys::kLabInterface);
    if (std::find(names.begin(), names.end(), entry.key()) != names.end()) continue;
    entry.problem_at_key("an interface without link", joined(names));
  }
  const bool lone = interfaces.size() == 1 && !own.present();
  for (std::string_view key : config_keys::kLabInterface) {
    if (lone || !source.value.has(key)) continue;
    source.value[key].problem_at_key("the key beside several interfaces", "the key in each of interfaces");
  }
  for (size_t i = 0; i < interfaces.size(); ++i) {
    const YamlValue value = lone ? source.value : own[interfaces[i].name];
    read_interface(value, source.plugs[i], builder, interfaces[i]);
  }
}

void LabHostReader::read_interface(const YamlValue& value, const YamlValue& plug, const TopologyBuilder& builder,
                                   LabInterface& interface) {
  const LinkEnd end{interface.node_index, interface.port};
  const TopologyPort& port = builder.topology().nodes[end.node_index].ports[end.port];
  read_addresses(value, plug, port.mtu_bytes >= kIpv6MtuMin, interface);
  const YamlValue mac = value["mac"];
  if (mac.read_mac(interface.mac)) check_unique(mac, std::string(mac.text()));
  const YamlValue vlan = value["vlan"];
  if (!vlan.read_integer(interface.vlan, 1, kVlanMax)) return;
  if (!port.vlans.tagged.test(interface.vlan)) {
    vlan.problem("a VLAN in the trunk of " + builder.port_text(end));
  }
  const std::string vlan_interface = vlan_interface_name(interface);
  if (vlan_interface.size() > kInterfaceNameBytes) {
    vlan.problem(vlan_interface + " for its interface", "names of at most 15 bytes");
  }
}

void LabHostReader::read_addresses(const YamlValue& value, const YamlValue& plug, bool has_ipv6,
                                   LabInterface& interface) {
  constexpr uint32_t kAutomaticMax = 254;  // in 10.0.0.0/24
  const uint32_t number = ++interfaces_met_;
  const YamlValue ipv4 = value["ipv4"];
  const YamlValue ipv6 = value["ipv6"];
  const bool all_given = ipv4.present() && ipv6.present();
  if (automatic_ && !all_given && number > kAutomaticMax) {
    if (!std::exchange(too_many_told_, true)) plug.problem("an interface too many", "254 with automatic addresses");
  } else if (automatic_) {
    interface.address_v4 = "10.0.0." + std::to_string(number) + "/24";
    if (has_ipv6) interface.address_v6 = "fd00::" + std::to_string(number) + "/64";
  }
  if (ipv4.present() && !is_cidr(ipv4.text(), AF_INET, 32)) {
    ipv4.problem("an IPv4 address with prefix length, as in 10.0.0.1/24");
  } else if (ipv4.present()) {
    interface.address_v4 = ipv4.text();
  }
  if (ipv6.present() && !is_cidr(ipv6.text(), AF_INET6, 128)) {
    ipv6.problem("an IPv6 address with prefix length, as in fd00::1/64");
  } else if (ipv6.present() && !has_ipv6) {
    ipv6.problem("IPv6 with an MTU of 1280 or more");
  } else if (ipv6.present()) {
    interface.address_v6 = ipv6.text();
  }
  // An automatic address has no place of its own in the file; the link stands for it.
  check_unique(ipv4.present() ? ipv4 : plug, interface.address_v4);
  check_unique(ipv6.present() ? ipv6 : plug, interface.address_v6);
}

void LabHostReader::check_unique(const YamlValue& at, const std::string& text) {
  const std::string address = text.substr(0, text.find('/'));
  if (address.empty()) return;
  const auto [first, is_new] = taken_.emplace(address, at.path());
  if (!is_new) at.problem(address + ", which is at " + first->second, "each address once");
}

}  // namespace heddle
