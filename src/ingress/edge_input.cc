// SPDX-License-Identifier: Apache-2.0
#include "ingress/edge_input.h"

#include <bit>
#include <cstddef>
#include <cstring>

namespace heddle {

namespace {

constexpr uint8_t kMatchOfIp = kMatchIp | kMatchPorts | kMatchDscp;

// The part of a key that the class's pattern leaves in, from headers anywhere.
void add_pattern(MatchKey& key, const EdgeHeaders& headers, uint8_t match) {
  if (match & kMatchFlowLabel) key.flow_label = headers.flow_label;
  if (headers.l3 == 0 || (match & kMatchOfIp) == 0) return;
  key.l3 = headers.l3;
  if (match & kMatchDscp) key.dscp = static_cast<uint8_t>(headers.dscp << 2);
  if (match & kMatchIp) {
    std::memcpy(key.source_address, headers.address_source, 16);
    std::memcpy(key.destination_address, headers.address_destination, 16);
  }
  if (match & kMatchPorts) {
    key.protocol = headers.protocol;
    key.source_port = big_endian(headers.source_port);  // 0 unless ports_valid
    key.destination_port = big_endian(headers.destination_port);
  }
}

// All that the pattern leaves in, of a plain IPv4 frame; what it leaves out is 0.
MatchBlocks plain_mask(uint8_t match) {
  MatchKey mask{};
  const uint8_t l3 = (match & kMatchOfIp) != 0 ? 0xff : 0;
  const uint8_t ip = (match & kMatchIp) != 0 ? 0xff : 0, ports = (match & kMatchPorts) != 0 ? 0xff : 0;
  std::memset(mask.macs, 0xff, sizeof mask.macs);
  std::memset(mask.source_address, ip, 4);
  std::memset(mask.destination_address, ip, 4);
  mask.input_port = PortIndex::of(0xffff);  // all bits of it
  mask.vni = 0xffff;
  mask.source_port = mask.destination_port = static_cast<uint16_t>(ports << 8 | ports);
  mask.l3 = l3;
  mask.protocol = ports;
  mask.ftag = 0xff;
  mask.dscp = (match & kMatchDscp) != 0 ? 0xfc : 0;
  return std::bit_cast<MatchBlocks>(mask);
}

// The key of a plain IPv4 frame, from fixed offsets. Reads 16 bytes of it, then its addresses and ports.
MatchBlocks plain_blocks(const uint8_t* data, PortIndex port, uint16_t vlan, const PlainPattern& pattern) {
  const MatchBlocks& mask = pattern.mask;
  static_assert(offsetof(MatchKey, input_port) == 12 && offsetof(MatchKey, vni) == 14);
  static_assert(offsetof(MatchKey, source_address) == 16 && offsetof(MatchKey, destination_address) == 32);
  static_assert(offsetof(MatchKey, source_port) == 48 && offsetof(MatchKey, l3) == 56);
  const auto word = [data](unsigned offset) {
    int32_t value;
    std::memcpy(&value, data + offset, sizeof value);
    return value;
  };
  const __m128i macs = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
  static_assert(offsetof(MatchKey, protocol) == 57 && offsetof(MatchKey, dscp) == 59);
  __m128i rest = _mm_insert_epi64(_mm_cvtsi32_si128(word(34)), static_cast<int64_t>(pattern.fixed), 1);
  rest = _mm_insert_epi8(_mm_insert_epi8(rest, data[23], 57 % 16), data[15], 59 % 16);
  return {{_mm_and_si128(mask.blocks[0], _mm_insert_epi32(macs, port | vlan << 16, 3)),
           _mm_and_si128(mask.blocks[1], _mm_cvtsi32_si128(word(26))),
           _mm_and_si128(mask.blocks[2], _mm_cvtsi32_si128(word(30))), _mm_and_si128(mask.blocks[3], rest)}};
}

void start_key(MatchKey& key, const Packet& packet, PortIndex port) {
  key = {};
  std::memcpy(key.macs, packet.data, sizeof key.macs);
  key.input_port = port;
  key.vni = packet.vni;
  key.ftag = packet.ftag;
}

void set_class(Packet& packet, const EdgePortInput& port, const Classifier::Choice& choice, uint16_t vlan) {
  if (choice.refused) [[unlikely]]
    packet.flags |= kPacketClassRefused;
  packet.ftag = choice.ftag;
  packet.vni = vlan;
  packet.payload = packet.length;
  packet.source = port.address;
  packet.dies_ns = choice.life_ns;
}

}  // namespace

EdgeInput::EdgeInput(const Topology& topology, const ApplicationPolicy& applications, uint32_t match_entries,
                     uint32_t station_entries, const HashKey& key, std::pmr::memory_resource& tables)
    : stations_(station_entries, topology.settings.station_age_ns, key, tables),
      matches_(match_entries, key, tables),
      classes_(topology),
      applications_(applications) {
  for (const TrafficClass& traffic_class : topology.classes)
    plain_patterns_[traffic_class.ftag] = {plain_mask(traffic_class.match), 4 | uint64_t{traffic_class.ftag} << 16};
  for (const StaticStation& station : topology.stations)
    stations_.add_fixed(station.mac, station.vlan, station.address);
  for (const TopologyNode& node : topology.nodes)
    for (size_t port = 0; port < node.ports.size(); ++port)
      if (!node.ports[port].fabric)
        station_quotas_[uint32_t{node.address} << 16 | static_cast<uint32_t>(port)] = node.ports[port].stations_max;
}

DropReason EdgeInput::read(Packet& packet, const EdgePortInput& port, EdgeKey& key) const {
  const VlanMembership& vlans = port.settings->vlans;
  if (packet.length <= port.plain_bytes && (packet.flags & kPacketChecksumPartial) == 0 &&
      is_plain_ipv4(packet.data, packet.length)) {
    const Classifier::Choice& choice = port.classifier.of_untagged_ip(packet.data[15] >> 2);
    set_class(packet, port, choice, vlans.native);
    const MatchBlocks blocks = plain_blocks(packet.data, port.port, vlans.native, plain_patterns_[choice.ftag]);
    key.hash = matches_.hash(blocks);
    matches_.prefetch_hints(key.hash);
    blocks.store(key.match);
    return DropReason::none;
  }
  EdgeHeaders headers;
  const DropReason reason = parse_edge_frame(packet.data, packet.length, headers);
  if (reason != DropReason::none) return reason;
  if (headers.reserved && !port.settings->forward_reserved) return DropReason::reserved_address;
  const uint32_t tag_bytes = headers.tagged ? kVlanTagBytes : 0;
  if (packet.length > port.settings->mtu_bytes + kEthernetHeaderBytes + tag_bytes) return DropReason::too_long;

  const uint16_t tag_vlan = headers.tagged ? headers.tci & 0xfff : 0;  // VLAN 0 is a priority tag
  const uint16_t vlan = tag_vlan != 0 ? tag_vlan : vlans.native;
  if (vlan == 0 || !vlans.member(vlan)) return DropReason::vlan_not_allowed;

  const bool left = (packet.flags & kPacketChecksumPartial) != 0 ||
                    (port.complete_checksums && checksum_left_to_hardware(packet.data, packet.length, headers));
  if (left && !complete_checksum(packet.data, packet.length, headers)) return DropReason::checksum_impossible;
  if (left) packet.flags |= kPacketChecksumPartial;

  if (headers.tagged) remove_tag(packet);
  const Classifier::Choice& choice = port.classifier.classify(headers);
  set_class(packet, port, choice, vlan);
  packet.priority = headers.tagged ? static_cast<uint8_t>(headers.tci >> 12) : 0;
  start_key(key.match, packet, port.port);
  add_pattern(key.match, headers, choice.match);
  key.hash = matches_.hash(key.match);
  matches_.prefetch_hints(key.hash);
  return DropReason::none;
}

DropReason EdgeInput::refusal(const Packet& packet, const EdgePortInput& port, const Station* station,
                              Nanos now) const {
  const uint64_t from = load_mac(packet.data + 6);
  if (from == 0) return DropReason::source_multicast;  // plain frames were not asked
  if (stations_.holds(from, packet.vni, port.address, now)) return DropReason::station_held;
  if (station != nullptr && station->address == port.address) return DropReason::same_port;
  if (station == nullptr && !port.flood.allows(now)) return DropReason::flood_rate;
  return DropReason::none;
}

Learned EdgeInput::learn_remote(uint64_t mac, uint16_t vlan, FabricAddress source, Nanos now) {
  if (mac_is_group(mac) || mac == 0) return Learned::refused;
  const auto quota = station_quotas_.find(uint32_t{source.node} << 16 | source.port);
  if (quota == station_quotas_.end()) return Learned::refused;  // there is no such edge port
  return stations_.learn(mac, vlan, source, quota->second, now);
}

}  // namespace heddle
