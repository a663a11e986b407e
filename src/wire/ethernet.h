// SPDX-License-Identifier: Apache-2.0
// What an edge port reads of a host's frame (E3), and the 802.1Q tag put on and taken off.
// Input is untrusted: nothing here reads at or past data + length (at most 65,535), and the first
// contradiction found is returned as the frame's drop reason. Offsets are bytes from the first byte of the
// frame as it was parsed, so they are stale once a tag has been removed or inserted. No ownership, no state;
// any thread.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <cstring>

#include "wire/byte_order.h"
#include "wire/drop_reason.h"
#include "wire/packet.h"

namespace heddle {

constexpr bool mac_is_group(uint64_t mac) { return (mac >> 40 & 1) != 0; }

constexpr uint16_t kEtherTypeIpv4 = 0x0800;
constexpr uint16_t kEtherTypeArp = 0x0806;
constexpr uint16_t kEtherTypeVlan = 0x8100;
constexpr uint16_t kEtherTypeIpv6 = 0x86dd;
constexpr uint16_t kEtherTypeMacControl = 0x8808;  // PAUSE and PFC
constexpr uint16_t kEtherTypeServiceVlan = 0x88a8;
constexpr uint16_t kEtherTypeOldStackedVlan = 0x9100;

constexpr uint8_t kProtocolTcp = 6;
constexpr uint8_t kProtocolUdp = 17;

constexpr uint32_t kVlanTagBytes = 4;

// What parse_edge_frame found. Fields that do not apply to the frame are zero.
struct EdgeHeaders {
  uint64_t source_mac;
  uint64_t destination_mac;
  uint32_t flow_label;  // IPv6, 20 bits
  uint16_t ethertype;   // behind the tag if there is one; below 0x600 it is an 802.3 length
  uint16_t tci;         // of the tag: PCP, DEI, VLAN
  uint16_t source_port;
  uint16_t destination_port;
  uint16_t l3_offset;  // first byte behind the EtherType
  uint16_t l4_offset;  // behind the IP header and the extension headers that were walked; 0 if l3 is 0
  uint16_t l4_bytes;   // of the IP packet from l4_offset on; link padding is not in it
  uint8_t l3;          // 0 = not IP, 4, 6
  uint8_t dscp;
  uint8_t protocol;  // of fragments: of the part that was fragmented, so the same in all of them
  bool tagged;
  bool ports_valid;  // TCP or UDP and not a fragment: all fragments of a datagram share a flow
  bool fragment;
  bool source_routed;          // IPv6 with a routing header under way: the pseudo header needs another destination
  bool reserved;               // destination is 01:80:c2:00:00:00 to :0f (E1); the caller decides
  uint8_t address_source[16];  // IPv4 in the first 4 bytes, the rest zero
  uint8_t address_destination[16];

  bool group() const { return mac_is_group(destination_mac); }
};

// Fills all of `headers`; DropReason::none if the frame may go on. With another reason only the fields read
// up to the contradiction are set. Reasons: runt, stacked_tags, source_multicast, fabric_type_at_edge,
// mac_control_at_edge, malformed_ip, malformed_l4. Padding behind an IP packet is not a contradiction.
DropReason parse_edge_frame(const uint8_t* data, uint32_t length, EdgeHeaders& headers);

// Untagged IPv4 without options, whole, with sound TCP or UDP, from one station to another: most of what hosts send,
// and nothing in it needs a second look. parse_edge_frame() allows every such frame that does not come from MAC 0; its
// headers stand at fixed offsets.
inline bool is_plain_ipv4(const uint8_t* data, uint32_t length) {
  constexpr uint32_t kIp = 14, kL4 = 34, kIpBytes = kL4 - kIp;
  if (length < kL4 + 8) return false;
  // No group address, EtherType IPv4, version 4 with 20 bytes of header, no fragment.
  const __m256i mask = _mm256_setr_epi8(1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -1, -1, -1, 0,  //
                                        0, 0, 0, 0, 0x3f, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i wanted = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x00, 0x45, 0,  //
                                          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m256i head = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(data));
  const __m256i other = _mm256_xor_si256(_mm256_and_si256(head, mask), wanted);
  const uint32_t total = load_be16(data + kIp + 2);
  if (_mm256_testz_si256(other, other) == 0 || total > length - kIp) return false;
  if (data[kIp + 9] == kProtocolUdp) {
    const uint32_t datagram = load_be16(data + kL4 + 4);
    return datagram >= 8 && kIpBytes + datagram <= total;
  }
  if (data[kIp + 9] != kProtocolTcp || total < kIpBytes + 20) return false;
  const uint32_t header = (data[kL4 + 12] >> 4) * 4u;
  return header >= 20 && kIpBytes + header <= total;
}

// The frame must have a tag: what parse_edge_frame returned as `tagged`. `payload` is left alone.
inline void remove_tag(Packet& packet) {
  uint8_t addresses[12];
  std::memcpy(addresses, packet.data, sizeof(addresses));
  packet.data += kVlanTagBytes;
  packet.length = static_cast<uint16_t>(packet.length - kVlanTagBytes);
  std::memcpy(packet.data, addresses, sizeof(addresses));
}

// C10: marks the congestion of an untagged frame's way (RFC 3168) if it is IPv4 or IPv6 and its sender understands
// that. False, and nothing written, if it is not, or marked already.
bool mark_congestion_experienced(uint8_t* frame, uint32_t length);

// E2: another DSCP (0 to 63) in an untagged frame of IPv4 or IPv6; of others nothing is written.
void write_dscp(uint8_t* frame, uint32_t length, uint8_t dscp);

// The frame needs kVlanTagBytes of headroom and must not have a tag already.
inline void insert_tag(Packet& packet, uint16_t tci) {
  uint8_t addresses[12];
  std::memcpy(addresses, packet.data, sizeof(addresses));
  packet.data -= kVlanTagBytes;
  packet.length = static_cast<uint16_t>(packet.length + kVlanTagBytes);
  std::memcpy(packet.data, addresses, sizeof(addresses));
  store_be16(packet.data + 12, kEtherTypeVlan);
  store_be16(packet.data + 14, tci);
}

// The tag that a host's port shows: the packet's VLAN and priority.
inline void tag_for_host(Packet& packet) {
  insert_tag(packet, static_cast<uint16_t>(packet.priority << 12 | packet.vni));
}

}  // namespace heddle
