// SPDX-License-Identifier: Apache-2.0
#include "wire/ethernet.h"

#include "heddle/frames.h"
#include "wire/fgfc.h"

namespace heddle {
namespace {

constexpr uint64_t kReservedFirst = 0x0180c2000000;
constexpr uint64_t kReservedLast = 0x0180c200000f;
constexpr uint32_t kTypeEnd = 14;
constexpr uint32_t kIpv4Bytes = 20;
constexpr uint32_t kIpv6Bytes = 40;
constexpr uint32_t kTcpBytes = 20;
constexpr uint32_t kUdpBytes = 8;
constexpr int kExtensionsMax = 8;  // E3: bounded; a packet with more is carried, but its ports are not looked for

enum Ipv6Extension : uint8_t {
  kHopByHop = 0,
  kRouting = 43,
  kFragment = 44,
  kAuthentication = 51,
  kDestinationOptions = 60,
};

bool is_tag_type(uint16_t type) {
  return type == kEtherTypeVlan || type == kEtherTypeServiceVlan || type == kEtherTypeOldStackedVlan;
}

DropReason parse_tcp(const uint8_t* l4, uint32_t bytes) {
  if (bytes < kTcpBytes) return DropReason::malformed_l4;
  const uint32_t header_bytes = (l4[12] >> 4) * 4u;
  return header_bytes < kTcpBytes || header_bytes > bytes ? DropReason::malformed_l4 : DropReason::none;
}

// A first fragment has less than its datagram's length, a whole packet may not.
DropReason parse_udp(const uint8_t* l4, uint32_t bytes, bool whole) {
  if (bytes < kUdpBytes) return DropReason::malformed_l4;
  const uint32_t datagram_bytes = load_be16(l4 + 4);
  return datagram_bytes < kUdpBytes || (whole && datagram_bytes > bytes) ? DropReason::malformed_l4 : DropReason::none;
}

// Of a whole packet or a first fragment: l4_offset, l4_bytes and protocol are set.
DropReason parse_l4(const uint8_t* data, EdgeHeaders& headers) {
  const uint8_t* l4 = data + headers.l4_offset;
  DropReason reason = DropReason::none;
  if (headers.protocol == kProtocolTcp) {
    reason = parse_tcp(l4, headers.l4_bytes);
  } else if (headers.protocol == kProtocolUdp) {
    reason = parse_udp(l4, headers.l4_bytes, !headers.fragment);
  } else {
    return DropReason::none;
  }
  if (reason != DropReason::none || headers.fragment) return reason;
  headers.ports_valid = true;
  headers.source_port = load_be16(l4);
  headers.destination_port = load_be16(l4 + 2);
  return DropReason::none;
}

DropReason parse_ipv4(const uint8_t* data, uint32_t length, EdgeHeaders& headers) {
  const uint8_t* ip = data + headers.l3_offset;
  const uint32_t room = length - headers.l3_offset;
  if (room < kIpv4Bytes || ip[0] >> 4 != 4) return DropReason::malformed_ip;
  const uint32_t header_bytes = (ip[0] & 0x0f) * 4u;
  const uint32_t total_bytes = load_be16(ip + 2);
  if (header_bytes < kIpv4Bytes || total_bytes < header_bytes || total_bytes > room) return DropReason::malformed_ip;

  headers.l3 = 4;
  headers.dscp = ip[1] >> 2;
  headers.protocol = ip[9];
  std::memcpy(headers.address_source, ip + 12, 4);
  std::memcpy(headers.address_destination, ip + 16, 4);
  headers.l4_offset = static_cast<uint16_t>(headers.l3_offset + header_bytes);
  headers.l4_bytes = static_cast<uint16_t>(total_bytes - header_bytes);
  const uint16_t fragment_word = load_be16(ip + 6);
  const bool later_fragment = (fragment_word & 0x1fff) != 0;
  headers.fragment = later_fragment || (fragment_word & 0x2000) != 0;
  return later_fragment ? DropReason::none : parse_l4(data, headers);
}

// What one extension header, of type headers.protocol, says of the packet; `at` holds at least its first 8
// bytes. Returns its length.
uint32_t read_extension(const uint8_t* at, EdgeHeaders& headers, bool& later_fragment) {
  switch (headers.protocol) {
    case kRouting:
      if (at[3] != 0) headers.source_routed = true;  // segments left
      break;
    case kAuthentication:
      return (at[1] + 2u) * 4;
    case kFragment: {
      const uint16_t word = load_be16(at + 2);
      later_fragment = (word & 0xfff8) != 0;
      headers.fragment = later_fragment || (word & 1) != 0;  // neither: an atomic fragment, a whole packet
      return 8;
    }
    default:
      break;
  }
  return (at[1] + 1u) * 8;
}

bool is_extension(uint8_t protocol) {
  return protocol == kHopByHop || protocol == kRouting || protocol == kFragment || protocol == kAuthentication ||
         protocol == kDestinationOptions;
}

DropReason parse_ipv6(const uint8_t* data, uint32_t length, EdgeHeaders& headers) {
  const uint8_t* ip = data + headers.l3_offset;
  const uint32_t room = length - headers.l3_offset;
  if (room < kIpv6Bytes || ip[0] >> 4 != 6) return DropReason::malformed_ip;
  uint32_t left = load_be16(ip + 4);
  if (left > room - kIpv6Bytes) return DropReason::malformed_ip;

  headers.l3 = 6;
  const uint32_t first_word = load_be32(ip);
  headers.dscp = static_cast<uint8_t>(first_word >> 22 & 0x3f);
  headers.flow_label = first_word & 0xfffff;
  headers.protocol = ip[6];
  std::memcpy(headers.address_source, ip + 8, 16);
  std::memcpy(headers.address_destination, ip + 24, 16);

  uint32_t offset = headers.l3_offset + kIpv6Bytes;
  bool later_fragment = false;
  for (int walked = 0; walked < kExtensionsMax && is_extension(headers.protocol); ++walked) {
    if (left < 8) return DropReason::malformed_ip;
    const uint8_t* extension = data + offset;
    const uint32_t bytes = read_extension(extension, headers, later_fragment);
    if (bytes > left) return DropReason::malformed_ip;
    headers.protocol = extension[0];
    offset += bytes;
    left -= bytes;
    if (headers.fragment) break;  // extension headers behind it are in the first fragment only
  }
  headers.l4_offset = static_cast<uint16_t>(offset);
  headers.l4_bytes = static_cast<uint16_t>(left);
  return later_fragment ? DropReason::none : parse_l4(data, headers);
}

}  // namespace

DropReason parse_edge_frame(const uint8_t* data, uint32_t length, EdgeHeaders& headers) {
  headers = EdgeHeaders{};
  if (length < kTypeEnd) return DropReason::runt;
  headers.destination_mac = load_mac(data);
  headers.source_mac = load_mac(data + 6);
  headers.ethertype = load_be16(data + 12);
  headers.l3_offset = kTypeEnd;
  headers.reserved = headers.destination_mac >= kReservedFirst && headers.destination_mac <= kReservedLast;
  if (mac_is_group(headers.source_mac) || headers.source_mac == 0) return DropReason::source_multicast;

  if (headers.ethertype == kEtherTypeVlan) {
    if (length < kTypeEnd + kVlanTagBytes) return DropReason::runt;
    headers.tagged = true;
    headers.tci = load_be16(data + 14);
    headers.ethertype = load_be16(data + 16);
    headers.l3_offset = kTypeEnd + kVlanTagBytes;
  }
  // A tag of another type counts as stacked even when it is the only one: behind it stands what we do not
  // read.
  if (is_tag_type(headers.ethertype)) return DropReason::stacked_tags;
  if (headers.ethertype == HEDDLE_ETHERTYPE) return DropReason::fabric_type_at_edge;
  if (headers.ethertype == kEtherTypeMacControl) return DropReason::mac_control_at_edge;
  const uint32_t tag_bytes = headers.l3_offset - kTypeEnd;
  if (is_fgfc(data + tag_bytes, length - tag_bytes)) return DropReason::fgfc_at_edge;
  if (headers.ethertype == kEtherTypeIpv4) return parse_ipv4(data, length, headers);
  if (headers.ethertype == kEtherTypeIpv6) return parse_ipv6(data, length, headers);
  return DropReason::none;
}

namespace {

constexpr uint32_t kUntaggedIp = kTypeEnd;
constexpr uint8_t kExperienced = 3;  // both bits of ECN; either one alone: the sender understands

// The IP version of an untagged frame whose header is whole; 0 of others.
uint8_t untagged_ip_version(const uint8_t* frame, uint32_t length) {
  if (length < kUntaggedIp + kIpv4Bytes) return 0;
  const uint16_t type = load_be16(frame + 12);
  if (type == kEtherTypeIpv4) return 4;
  return type == kEtherTypeIpv6 && length >= kUntaggedIp + kIpv6Bytes ? 6 : 0;
}

// DSCP and ECN as one byte, DSCP above.
uint8_t traffic_byte(const uint8_t* ip, uint8_t version) {
  return version == 4 ? ip[1] : static_cast<uint8_t>(load_be16(ip) >> 4);
}

void write_traffic_byte(uint8_t* ip, uint8_t version, uint8_t value) {
  const uint32_t before = load_be16(ip);
  if (version == 6) return store_be16(ip, static_cast<uint16_t>((before & 0xf00f) | value << 4));
  ip[1] = value;
  // RFC 1624: the header's checksum changes by as much as the word has.
  uint32_t sum = (~load_be16(ip + 10) & 0xffffu) + (~before & 0xffffu) + load_be16(ip);
  sum = (sum & 0xffff) + (sum >> 16);
  store_be16(ip + 10, static_cast<uint16_t>(~((sum & 0xffff) + (sum >> 16))));
}

}  // namespace

bool mark_congestion_experienced(uint8_t* frame, uint32_t length) {
  const uint8_t version = untagged_ip_version(frame, length);
  if (version == 0) return false;
  const uint8_t before = traffic_byte(frame + kUntaggedIp, version);
  const uint8_t bits = before & kExperienced;
  if (bits == 0 || bits == kExperienced) return false;
  write_traffic_byte(frame + kUntaggedIp, version, before | kExperienced);
  return true;
}

void write_dscp(uint8_t* frame, uint32_t length, uint8_t dscp) {
  const uint8_t version = untagged_ip_version(frame, length);
  if (version == 0) return;
  const uint8_t before = traffic_byte(frame + kUntaggedIp, version);
  if (before >> 2 == dscp) return;
  write_traffic_byte(frame + kUntaggedIp, version, static_cast<uint8_t>(dscp << 2 | (before & kExperienced)));
}

}  // namespace heddle
