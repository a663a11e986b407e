// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/sim_frame.h"

#include <cstring>

#include "heddle/frames.h"

namespace heddle::sim {

namespace {

constexpr uint16_t kMagic = 0x5eed;

void put16(uint8_t* at, uint64_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}
void put32(uint8_t* at, uint64_t value) {
  put16(at, value >> 16);
  put16(at + 2, value);
}
uint16_t get16(const uint8_t* at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }
uint32_t get32(const uint8_t* at) { return uint32_t{get16(at)} << 16 | get16(at + 2); }
void put_mac(uint8_t* at, uint64_t mac) {
  put16(at, mac >> 32);
  put32(at + 2, mac);
}

uint64_t mix(uint64_t word) {
  word = (word ^ word >> 31) * 0x9e3779b97f4a7c15u;
  return word ^ word >> 29;
}

// One's complement sum over a range, an odd last byte as a high half.
uint64_t sum16(const uint8_t* bytes, uint32_t count, uint64_t sum) {
  for (uint32_t i = 0; i + 1 < count; i += 2) sum += get16(bytes + i);
  if (count % 2 != 0) sum += uint64_t{bytes[count - 1]} << 8;
  return sum;
}
uint16_t fold(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

uint64_t pseudo_header_sum(const uint8_t* ip, bool v6, uint32_t udp_bytes) {
  return v6 ? sum16(ip + 8, 32, 17 + udp_bytes) : sum16(ip + 12, 8, 17 + udp_bytes);
}

uint32_t write_ipv4(uint8_t* ip, const HostFlow& flow, uint8_t dscp, uint16_t bytes, uint16_t from, uint16_t to) {
  std::memset(ip, 0, 20);
  ip[0] = 0x45;
  ip[1] = static_cast<uint8_t>(dscp << 2 | (flow.ecn ? 2 : 0));
  put16(ip + 2, bytes);
  ip[8] = 64;
  ip[9] = 17;
  put32(ip + 12, 0x0a000001u + from);
  put32(ip + 16, 0x0a000001u + to);
  put16(ip + 10, static_cast<uint16_t>(~fold(sum16(ip, 20, 0))));
  return 20;
}

uint32_t write_ipv6(uint8_t* ip, const HostFlow& flow, uint8_t dscp, uint16_t bytes, uint16_t from, uint16_t to) {
  std::memset(ip, 0, 40);
  put32(ip, 0x60000000u | uint32_t{dscp} << 22 | (flow.ecn ? 2u : 0u) << 20 | flow.id);
  put16(ip + 4, bytes - 40u);
  ip[6] = 17;
  ip[7] = 64;
  ip[8] = ip[24] = 0xfd;
  put16(ip + 22, from + 1u);
  put16(ip + 38, to + 1u);
  return 40;
}

// Everything before the content; returns its length. The checksum comes later, over the content.
uint32_t write_headers(uint8_t* bytes, const HostFlow& flow, FramePriority priority, const StationAddress& from,
                       const StationAddress& to, bool tagged, uint16_t length) {
  put_mac(bytes, to.mac);
  put_mac(bytes + 6, from.mac);
  uint32_t at = 12;
  if (tagged) {
    put16(bytes + at, 0x8100);
    put16(bytes + at + 2, static_cast<uint16_t>(priority.pcp << 13 | flow.vlan));
    at += 4;
  }
  const auto l3_bytes = static_cast<uint16_t>(length - 14);
  if (flow.kind == FrameKind::ethernet) {
    put16(bytes + at, kSimEtherType);
    return at + 2;
  }
  const bool v6 = flow.kind == FrameKind::ipv6;
  put16(bytes + at, v6 ? 0x86dd : 0x0800);
  uint8_t* ip = bytes + at + 2;
  const uint32_t ip_bytes = v6 ? write_ipv6(ip, flow, priority.dscp, l3_bytes, from.host, to.host)
                               : write_ipv4(ip, flow, priority.dscp, l3_bytes, from.host, to.host);
  uint8_t* udp = ip + ip_bytes;
  put16(udp, 10000u + flow.id);
  put16(udp + 2, 20000u + flow.id % 1000);
  put16(udp + 4, l3_bytes - ip_bytes);
  put16(udp + 6, 0);
  return at + 2 + ip_bytes + 8;
}

uint32_t l3_header_bytes(const HostFlow& flow) { return flow.kind == FrameKind::ipv6 ? 40 : 20; }

uint16_t udp_checksum(const uint8_t* ip, const HostFlow& flow, uint32_t l3_bytes) {
  const uint32_t ip_bytes = l3_header_bytes(flow);
  const uint32_t udp_bytes = l3_bytes - ip_bytes;
  const uint64_t pseudo = pseudo_header_sum(ip, flow.kind == FrameKind::ipv6, udp_bytes);
  const auto sum = static_cast<uint16_t>(~fold(sum16(ip + ip_bytes, udp_bytes, pseudo)));
  return sum == 0 ? 0xffff : sum;
}

uint64_t content_seed(const HostFlow& flow, uint32_t sequence) { return mix(uint64_t{flow.id} << 32 | sequence); }

void fill(uint8_t* at, uint32_t count, uint64_t seed) {
  for (; count >= 8; count -= 8, at += 8, seed += 0x0101010101010101u) std::memcpy(at, &seed, 8);
  std::memcpy(at, &seed, count);
}

bool filled(const uint8_t* at, uint32_t count, uint64_t seed) {
  for (; count >= 8; count -= 8, at += 8, seed += 0x0101010101010101u)
    if (std::memcmp(at, &seed, 8) != 0) return false;
  return std::memcmp(at, &seed, count) == 0;
}

uint32_t trailer_check(const uint8_t* trailer, uint32_t length) {
  uint64_t low;
  std::memcpy(&low, trailer, 8);
  return static_cast<uint32_t>(mix(mix(low) + (uint64_t{get32(trailer + 8)} << 16) + get16(trailer + 12) + length) >>
                               16);
}

}  // namespace

// Trailer: magic 2, flow 2, sequence 4, time 4, length 2, check 4.
uint32_t write_frame(uint8_t* bytes, const HostFlow& flow, const StationAddress& from, const StationAddress& to,
                     bool tagged, uint16_t length, uint32_t sequence, Nanos now, bool pattern) {
  const uint32_t total = length + (tagged ? 4u : 0u);
  const uint32_t content = write_headers(bytes, flow, flow.priority, from, to, tagged, length);
  uint8_t* trailer = bytes + total - kTrailerBytes;
  if (pattern) fill(bytes + content, total - kTrailerBytes - content, content_seed(flow, sequence));
  put16(trailer, kMagic);
  put16(trailer + 2, flow.id);
  put32(trailer + 4, sequence);
  put32(trailer + 8, now);
  put16(trailer + 12, length);
  put32(trailer + 14, trailer_check(trailer, length));
  if (flow.kind == FrameKind::ethernet || flow.checksum == ChecksumKind::none) return total;
  uint8_t* ip = bytes + (tagged ? 18 : 14);
  uint8_t* check = ip + l3_header_bytes(flow) + 6;
  const uint32_t l3_bytes = length - 14u;
  if (flow.checksum == ChecksumKind::full)
    put16(check, udp_checksum(ip, flow, l3_bytes));
  else
    put16(check, fold(pseudo_header_sum(ip, flow.kind == FrameKind::ipv6, l3_bytes - l3_header_bytes(flow))));
  return total;
}

bool read_trailer(const uint8_t* bytes, uint32_t length, Trailer& trailer) {
  if (length < kLeastLength) return false;
  const uint8_t* at = bytes + length - kTrailerBytes;
  if (get16(at) != kMagic || get32(at + 14) != trailer_check(at, get16(at + 12))) return false;
  trailer = {get16(at + 2), get32(at + 4), get32(at + 8)};
  return true;
}

bool is_marked(const uint8_t* bytes, uint32_t length, const HostFlow& flow, bool tagged) {
  const uint32_t at = tagged ? 19 : 15;
  if (!flow.ecn || flow.kind == FrameKind::ethernet || length <= at) return false;
  return (flow.kind == FrameKind::ipv4 ? bytes[at] & 3 : bytes[at] >> 4 & 3) == 3;
}

// As a sender would have written it.
void mark_headers(uint8_t* ip, FrameKind kind) {
  ip[1] |= kind == FrameKind::ipv4 ? 3 : 0x30;
  if (kind != FrameKind::ipv4) return;
  put16(ip + 10, 0);
  put16(ip + 10, static_cast<uint16_t>(~fold(sum16(ip, 20, 0))));
}

const char* compare_frame(const uint8_t* bytes, uint32_t length, const HostFlow& flow, FramePriority priority,
                          const StationAddress& from, const StationAddress& to, bool tagged, const Trailer& trailer) {
  const uint32_t tag_bytes = tagged ? 4 : 0;
  const uint16_t untagged = get16(bytes + length - kTrailerBytes + 12);
  if (untagged + tag_bytes != length) return "its length has changed";
  uint8_t headers[14 + 4 + 40 + 8];
  const uint32_t content = write_headers(headers, flow, priority, from, to, tagged, untagged);
  const uint32_t ip_at = 14 + tag_bytes;
  if (is_marked(bytes, length, flow, tagged)) mark_headers(headers + ip_at, flow.kind);
  uint32_t compared = content;
  if (flow.kind != FrameKind::ethernet) {
    const uint16_t check = get16(bytes + content - 2);
    compared -= 2;
    if (flow.checksum == ChecksumKind::partial || (check != 0 && flow.checksum == ChecksumKind::none)) {
      uint8_t copy[2048];
      std::memcpy(copy, bytes + ip_at, untagged - 14u);
      put16(copy + l3_header_bytes(flow) + 6, 0);
      if (check != udp_checksum(copy, flow, untagged - 14u)) return "its UDP checksum is wrong";
    }
  }
  if (tagged && (get16(bytes + 14) & 0xfff) != flow.vlan) return "its tag names another VLAN";
  if (std::memcmp(bytes, headers, compared) != 0) return "its headers have changed";
  const uint32_t content_bytes = length - kTrailerBytes - content;
  if (!filled(bytes + content, content_bytes, content_seed(flow, trailer.sequence))) return "its content has changed";
  return nullptr;
}

bool read_wire_link(const uint8_t* bytes, uint32_t length, WireLink& link) {
  if (length < HEDDLE_ETHERNET_BYTES + sizeof(heddle_link_header) || get16(bytes + 12) != HEDDLE_ETHERTYPE)
    return false;
  link = {bytes[15], bytes[16], bytes[17], get32(bytes + 18), get32(bytes + 22)};
  return true;
}

bool read_wire_data(const uint8_t* bytes, uint32_t length, WireData& data) {
  WireLink link;
  if (!read_wire_link(bytes, length, link) || link.kind != HEDDLE_DATA || length < HEDDLE_DATA_OVERHEAD_BYTES)
    return false;
  const uint8_t* header = bytes + HEDDLE_ETHERNET_BYTES;
  data = {.again = (link.flags & HEDDLE_DATA_RETRY) != 0,
          .in_turn = link.channel != 0,
          .tag = link.tag,
          .sequence = link.sequence,
          .flow_id = get16(header + 16),
          .data_flow = get32(header + 20),
          .destination_node = get16(header + 24),
          .destination_port = get16(header + 26),
          .vni = get16(header + 32),
          .length = get16(header + 38)};
  return data.length + uint32_t{HEDDLE_DATA_OVERHEAD_BYTES} <= length;
}

}  // namespace heddle::sim
