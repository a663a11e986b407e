// SPDX-License-Identifier: Apache-2.0
#include "topology/topology_hash.h"

#include <string_view>

#include "topology/fields.h"

namespace heddle {

namespace {

// Feeds numbers and texts one after another into 64 bits. Takes values, never memory, so that neither byte
// order nor padding shows; texts carry their length, so that "ab","c" and "a","bc" differ.
class Mixer {
 public:
  void add(uint64_t value) {
    state_ += 0x9e3779b97f4a7c15ull + value;
    state_ = (state_ ^ (state_ >> 30)) * 0xbf58476d1ce4e5b9ull;
    state_ = (state_ ^ (state_ >> 27)) * 0x94d049bb133111ebull;
    state_ ^= state_ >> 31;
  }
  void add(std::string_view text) {
    add(uint64_t{text.size()});
    for (char c : text) add(uint64_t{static_cast<unsigned char>(c)});
  }
  uint64_t result() const { return state_; }

 private:
  uint64_t state_ = 0x686564646c65ull;  // "heddle"
};

template <typename Owner>
void mix_fields(Mixer& mixer, const Owner& owner) {
  for_each_field<Owner>([&](const auto& field) {
    const auto& value = owner.*field.member;
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
      mixer.add(static_cast<uint64_t>(value));
    else
      mixer.add(value);
  });
}

// Structs without a list of fields are taken apart whole: one more member, and this does not compile.
void mix_vlans(Mixer& mixer, const VlanMembership& vlans) {
  const auto& [native, tagged, trunk] = vlans;
  mixer.add(native);
  mixer.add(trunk);
  mixer.add(tagged.count());
  for (unsigned vlan = 0; vlan <= kVlanMax && tagged.any(); ++vlan) {
    if (tagged.test(vlan)) mixer.add(vlan);
  }
}

void mix_port(Mixer& mixer, const TopologyPort& port) {
  const auto& [name, fabric, rate_bps, overhead_bytes, mtu_bytes, peer, cost, vlans, forward_reserved,
               flood_frames_per_second, stations_max, flow_control, default_class, allowed_classes, police_bps,
               police_burst_bytes] = port;
  mixer.add(name);
  mixer.add(fabric);
  mixer.add(rate_bps);
  if (overhead_bytes != kWireExtraBytes) mixer.add(overhead_bytes);  // versions that did not know it agree
  mixer.add(mtu_bytes);
  mixer.add(peer.node_index);
  mixer.add(peer.port);
  mixer.add(cost);
  mix_vlans(mixer, vlans);
  mixer.add(forward_reserved);
  mixer.add(flood_frames_per_second);
  mixer.add(stations_max);
  mixer.add(static_cast<uint8_t>(flow_control));
  mixer.add(default_class);
  mixer.add(allowed_classes);
  mixer.add(police_bps);
  mixer.add(police_burst_bytes);
}

void mix_node(Mixer& mixer, const TopologyNode& node) {
  const auto& [name, address, ports] = node;
  mixer.add(name);
  mixer.add(address);
  mixer.add(ports.size());
  for (const TopologyPort& port : ports) mix_port(mixer, port);
}

void mix_link(Mixer& mixer, const TopologyLink& link) {
  for (const auto& [node_index, port] : link.ends) {
    mixer.add(node_index);
    mixer.add(port);
  }
}

void mix_station(Mixer& mixer, const StaticStation& station) {
  const auto& [mac, vlan, address] = station;
  mixer.add(mac);
  mixer.add(vlan);
  mixer.add(address.node);
  mixer.add(address.port);
}

}  // namespace

uint64_t topology_hash(const Topology& topology) {
  // The channels and what longer ways may cost follow from the rest.
  const auto& [name, edge_mtu_bytes, nodes, links, classes, stations, settings, lossless_channels, lossless_detours,
               longer_way_cost_most] = topology;
  Mixer mixer;
  mixer.add(name);
  mixer.add(edge_mtu_bytes);
  mixer.add(nodes.size());
  for (const TopologyNode& node : nodes) mix_node(mixer, node);
  mixer.add(links.size());
  for (const TopologyLink& link : links) mix_link(mixer, link);
  mixer.add(classes.size());
  for (const TrafficClass& traffic_class : classes) mix_fields(mixer, traffic_class);
  mixer.add(stations.size());
  for (const StaticStation& station : stations) mix_station(mixer, station);
  mix_fields(mixer, settings);
  return mixer.result();
}

}  // namespace heddle
