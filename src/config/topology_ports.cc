// SPDX-License-Identifier: Apache-2.0
// What a topology file says of an edge port.
#include <algorithm>

#include "config/budget.h"
#include "config/config_keys.h"
#include "config/settings_reader.h"
#include "config/topology_builder.h"
#include "config/units.h"

namespace heddle {

namespace {
constexpr uint64_t kPolicedRateMinBps = 1'000'000;
}  // namespace

void TopologyBuilder::read_port(uint16_t node_index, PortIndex port, const YamlValue& value) {
  TopologyPort& result = topology_.nodes[node_index].ports[port];
  sources_[node_index].ports[port] = value;
  value.expect_map(config_keys::kPort);
  read_vlans(value, result.vlans);
  value["rate"].read_rate(result.rate_bps, kRateMinBps, kRateMaxBps);
  value["overhead"].read_integer(result.overhead_bytes, 0, kOverheadMaxBytes);
  value["mtu"].read_integer(result.mtu_bytes, kEdgeMtuMin, topology_.edge_mtu_bytes);
  value["forward_reserved"].read_bool(result.forward_reserved);
  value["flood_rate"].read_integer(result.flood_frames_per_second, 0, 10'000'000);
  value["stations_max"].read_integer(result.stations_max, 1, 1'000'000);
  static constexpr auto kFlowControls = std::to_array<std::string_view>({"off", "pause", "pfc"});
  size_t flow_control = 0;
  if (value["flow_control"].read_choice(flow_control, kFlowControls))
    result.flow_control = static_cast<HostFlowControl>(flow_control);
  read_port_classes(value, result);
  check_pause(value, result);
  read_policer(value, result);
}

void TopologyBuilder::read_port_classes(const YamlValue& value, TopologyPort& port) const {
  const std::vector<TrafficClass>& classes = topology_.classes;
  const YamlValue usual_name = value["class"];
  if (const TrafficClass* usual = find_class(usual_name, classes))
    port.default_class = static_cast<uint8_t>(usual - classes.data());
  else if (usual_name.present())
    return;
  const YamlValue allowed = value["classes"];
  if (!allowed.present() || !allowed.expect_list("classes")) return;
  if (allowed.items().empty()) allowed.problem("an empty list", "1 or more classes");
  uint16_t positions = 0;
  for (const YamlValue& item : allowed.items()) {
    const TrafficClass* one = find_class(item, classes);
    const auto bit = static_cast<uint16_t>(one == nullptr ? 0 : 1u << (one - classes.data()));
    if (positions & bit) item.problem("the class a second time", "each once");
    positions |= bit;
  }
  if (positions == 0) return;
  port.allowed_classes = positions;
  const size_t usual = usual_class(classes, port);
  if (positions >> usual & 1) return;
  (usual_name.present() ? usual_name : allowed)
      .problem("classes without " + classes[usual].name + ", which frames have that name none",
               "that class among them, or one of them as `class` of the port");
}

// PFC stops the priorities of a class: not frames that are of it though they name another one, or none (C9).
void TopologyBuilder::check_pause(const YamlValue& value, const TopologyPort& port) const {
  const TrafficClass& usual = topology_.classes[usual_class(topology_.classes, port)];
  const bool by_default = value["class"].present() && (usual.pcp_set & 1) == 0;
  if (!usual.lossless || port.flow_control != HostFlowControl::pfc || !(by_default || value["classes"].present()))
    return;
  value[by_default ? "class" : "classes"].problem_at_key(
      usual.name + ", which is lossless, for frames of other priorities, whom PFC does not stop",
      "`flow_control: pause` beside it, or a default class that is not lossless");
}

void TopologyBuilder::read_policer(const YamlValue& value, TopologyPort& port) const {
  const YamlValue burst = value["police_burst"];
  value["police"].read_rate(port.police_bps, kPolicedRateMinBps, kRateMaxBps);
  if (port.police_bps == 0) {
    if (burst.present()) burst.problem_at_key("a burst without a rate", "`police` beside it");
    return;
  }
  // A millisecond of it, or what a TCP sender sends at once.
  port.police_burst_bytes = static_cast<uint32_t>(std::clamp<uint64_t>(port.police_bps / 8000, 64 * 1024, 64 << 20));
  uint64_t given_bytes = 0;
  if (burst.read_size(given_bytes, 16 * 1024, 64 * 1024 * 1024))
    port.police_burst_bytes = static_cast<uint32_t>(given_bytes);
}

void TopologyBuilder::read_vlans(const YamlValue& value, VlanMembership& vlans) const {
  const YamlValue vlan = value["vlan"];
  const YamlValue trunk = value["trunk"];
  const YamlValue native = value["native"];
  if (vlan.present() && trunk.present()) {
    vlan.problem_at_key("both vlan and trunk", "one of them");
    return;
  }
  vlan.read_integer(vlans.native, 1, kVlanMax);
  if (trunk.present()) {
    native.read_integer(vlans.native, 0, kVlanMax);
    read_trunk(trunk, vlans);
  } else if (native.present()) {
    native.problem_at_key("native without trunk", "native on trunk ports, vlan on others");
  }
}

void TopologyBuilder::read_trunk(const YamlValue& value, VlanMembership& vlans) const {
  vlans.trunk = true;
  if (!value.expect_list("VLANs")) return;
  if (value.items().empty()) value.problem("an empty list", "1 or more VLANs");
  for (const YamlValue& item : value.items()) {
    uint16_t number = 0;
    if (!item.read_integer(number, 1, kVlanMax)) continue;
    if (number == vlans.native) item.problem(std::to_string(number) + ", the native VLAN", "other VLANs");
    if (vlans.tagged.test(number)) item.problem(std::to_string(number) + " a second time", "each VLAN once");
    vlans.tagged.set(number);
  }
}

}  // namespace heddle
