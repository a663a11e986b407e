// SPDX-License-Identifier: Apache-2.0
#include "topology/topology.h"

#include <string_view>

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

void mix_port(Mixer& mixer, const TopologyPort& port) {
  mixer.add(port.name);
  mixer.add(uint64_t{port.fabric});
  mixer.add(port.rate_bps);
  mixer.add(port.mtu_bytes);
  mixer.add(port.peer.node_index);
  mixer.add(port.peer.port);
  mixer.add(port.vlans.native);
  mixer.add(uint64_t{port.vlans.trunk});
  mixer.add(uint64_t{port.vlans.tagged.count()});
  for (unsigned vlan = 0; vlan <= kVlanMax && port.vlans.tagged.any(); ++vlan) {
    if (port.vlans.tagged.test(vlan)) mixer.add(uint64_t{vlan});
  }
  mixer.add(uint64_t{port.forward_reserved});
  mixer.add(port.flood_frames_per_second);
  mixer.add(port.stations_max);
  mixer.add(uint64_t{static_cast<uint8_t>(port.flow_control)});
}

void mix_class(Mixer& mixer, const TrafficClass& traffic_class) {
  mixer.add(traffic_class.name);
  mixer.add(traffic_class.ftag);
  mixer.add(traffic_class.match);
  mixer.add(uint64_t{traffic_class.flow_channels});
  mixer.add(uint64_t{traffic_class.lossless});
  mixer.add(uint64_t{traffic_class.ecn});
  mixer.add(uint64_t{traffic_class.link_retry});
  mixer.add(uint64_t{traffic_class.flow_credits});
  mixer.add(uint64_t{traffic_class.congestion_control});
  mixer.add(traffic_class.pcp_set);
  mixer.add(traffic_class.dscp_set);
  mixer.add(traffic_class.life_ns);
  mixer.add(traffic_class.flow_queue_bytes);
}

void mix_settings(Mixer& mixer, const FabricSettings& settings) {
  mixer.add(settings.hello_interval_ns);
  mixer.add(settings.hellos_missed);
  mixer.add(settings.probe_base_ns);
  mixer.add(settings.credit_interval_ns);
  mixer.add(settings.station_age_ns);
  mixer.add(settings.flow_ids);
  mixer.add(settings.link_credits);
  mixer.add(settings.lossless_credits);
  mixer.add(settings.input_drop_mark_packets);
  mixer.add(settings.output_room_buffers);
  mixer.add(settings.orphans_max);
  mixer.add(settings.pause_watchdog_ns);
  mixer.add(settings.ack_records_max);
  mixer.add(settings.ack_idle_ns);
  mixer.add(settings.ack_busy_ns);
  mixer.add(settings.ack_hard_ns);
}

}  // namespace

uint64_t Topology::hash() const {
  Mixer mixer;
  mixer.add(name);
  mixer.add(edge_mtu_bytes);
  mixer.add(uint64_t{nodes.size()});
  for (const TopologyNode& node : nodes) {
    mixer.add(node.name);
    mixer.add(node.address);
    mixer.add(uint64_t{node.ports.size()});
    for (const TopologyPort& port : node.ports) mix_port(mixer, port);
  }
  mixer.add(uint64_t{links.size()});
  for (const TopologyLink& link : links) {
    for (const LinkEnd& end : link.ends) {
      mixer.add(end.node_index);
      mixer.add(end.port);
    }
  }
  mixer.add(uint64_t{classes.size()});
  for (const TrafficClass& traffic_class : classes) mix_class(mixer, traffic_class);
  mixer.add(uint64_t{stations.size()});
  for (const StaticStation& station : stations) {
    mixer.add(station.mac);
    mixer.add(station.vlan);
    mixer.add(station.address.node);
    mixer.add(station.address.port);
  }
  mix_settings(mixer, settings);
  return mixer.result();
}

int Topology::find_node(const std::string& node_name) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == node_name) return static_cast<int>(i);
  }
  return -1;
}

int Topology::node_of_address(uint16_t address) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].address == address) return static_cast<int>(i);
  }
  return -1;
}

int Topology::find_port(uint16_t node_index, const std::string& port_name) const {
  if (node_index >= nodes.size()) return -1;
  const std::vector<TopologyPort>& ports = nodes[node_index].ports;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == port_name) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace heddle
