// SPDX-License-Identifier: Apache-2.0
#include "ingress/edge_input.h"

#include <cstring>

namespace heddle {

EdgeInput::EdgeInput(const Topology& topology, uint32_t match_entries, uint32_t station_entries, const HashKey& key)
    : stations_(station_entries, topology.settings.station_age_ns, key),
      matches_(match_entries, key),
      classifier_(topology.classes) {
  for (const StaticStation& station : topology.stations)
    stations_.add_fixed(station.mac, station.vlan, station.address);
  for (const TopologyNode& node : topology.nodes)
    for (size_t port = 0; port < node.ports.size(); ++port)
      if (!node.ports[port].fabric)
        station_quotas_[uint32_t{node.address} << 16 | static_cast<uint32_t>(port)] = node.ports[port].stations_max;
}

DropReason EdgeInput::admit(Packet& packet, const EdgePortInput& port, Frame& frame) const {
  EdgeHeaders& headers = frame.headers;
  const DropReason reason = parse_edge_frame(packet.data, packet.length, headers);
  if (reason != DropReason::none) return reason;
  if (headers.reserved && !port.settings->forward_reserved) return DropReason::reserved_address;
  const uint32_t tag_bytes = headers.tagged ? kVlanTagBytes : 0;
  if (packet.length > port.settings->mtu_bytes + kEthernetHeaderBytes + tag_bytes) return DropReason::too_long;

  const VlanMembership& vlans = port.settings->vlans;
  const uint16_t tag_vlan = headers.tagged ? headers.tci & 0xfff : 0;  // VLAN 0 is a priority tag
  frame.vlan = tag_vlan != 0 ? tag_vlan : vlans.native;
  if (frame.vlan == 0 || !vlans.member(frame.vlan)) return DropReason::vlan_not_allowed;

  const bool left = (packet.flags & kPacketChecksumPartial) != 0 ||
                    (port.complete_checksums && checksum_left_to_hardware(packet.data, packet.length, headers));
  if (left && !complete_checksum(packet.data, packet.length, headers)) return DropReason::checksum_impossible;
  if (left) packet.flags |= kPacketChecksumPartial;

  if (headers.tagged) remove_tag(packet);
  frame.traffic_class = &classifier_.classify(headers);
  packet.ftag = frame.traffic_class->ftag;
  packet.vc = 0;
  packet.vni = frame.vlan;
  packet.priority = headers.tagged ? static_cast<uint8_t>(headers.tci >> 12) : 0;
  packet.payload = packet.length;
  packet.header_flags = 0;
  return DropReason::none;
}

MatchKey EdgeInput::key_of(const Frame& frame, PortIndex port, FabricAddress destination) const {
  const EdgeHeaders& headers = frame.headers;
  const uint8_t match = frame.traffic_class->match;
  MatchKey key{};
  key.destination = destination;
  key.input_port = port;
  key.vni = frame.vlan;
  key.source_mac = uint64_t{frame.traffic_class->ftag} << 48;
  if (match & kMatchMac) {
    key.source_mac |= headers.source_mac;
    key.destination_mac = headers.destination_mac;
  }
  if ((match & kMatchIp) && headers.l3 != 0) {
    std::memcpy(key.source_address, headers.address_source, 16);
    std::memcpy(key.destination_address, headers.address_destination, 16);
    key.destination_mac |= uint64_t{headers.l3} << 56;
  }
  if ((match & kMatchPorts) && headers.l3 != 0) {
    key.destination_mac |= uint64_t{headers.l3} << 56 | uint64_t{headers.protocol} << 48;
    if (headers.ports_valid) {
      key.source_port = headers.source_port;
      key.destination_port = headers.destination_port;
    }
  }
  if (match & kMatchFlowLabel) key.flow_label = headers.flow_label;
  return key;
}

void EdgeInput::note_flooded(uint32_t match, Nanos now) { matches_[match].flooded_ns = now; }

// A pair that was flooded may still have frames on the tree: its first flow waits until those have died (E1).
Nanos EdgeInput::held_until(const Frame& frame, PortIndex port, Nanos now) const {
  const MatchKey key = key_of(frame, port, kFloodAddress);
  const uint32_t flooded = matches_.find(key, matches_.hash(key));
  if (flooded == kNotFound) return 0;
  const Nanos until = matches_[flooded].flooded_ns + frame.traffic_class->life_ns;
  return until > now ? until : 0;
}

Learned EdgeInput::learn_remote(uint64_t mac, uint16_t vlan, FabricAddress source, Nanos now) {
  if (mac_is_group(mac) || mac == 0) return Learned::refused;
  const auto quota = station_quotas_.find(uint32_t{source.node} << 16 | source.port);
  if (quota == station_quotas_.end()) return Learned::refused;  // there is no such edge port
  return stations_.learn(mac, vlan, source, quota->second, now);
}

}  // namespace heddle
