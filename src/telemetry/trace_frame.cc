// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_frame.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "config/units.h"
#include "telemetry/request_fields.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

namespace heddle {

namespace {

constexpr uint16_t kEtherTypeLoopback = 0x9000;  // of a frame that is nothing else
constexpr uint32_t kFrameBytesMin = 60;
constexpr uint8_t kProtocolNone = 59;  // no next header: neither TCP nor UDP follows
constexpr size_t kIpv4Bytes = 20, kIpv6Bytes = 40, kTcpBytes = 20, kUdpBytes = 8;

struct Address {
  std::array<uint8_t, 16> bytes{};
  bool v6 = false;
};

uint64_t read_mac(const Json& fields, const char* key) {
  const auto mac = parse_mac(read_text(fields, key).value_or(""));
  if (!mac) throw Refused(std::string(key) + " must be a MAC address, as in 02:00:00:00:00:0a");
  return *mac;
}

std::optional<Address> read_address(const Json& fields, const char* key) {
  const auto text = read_text(fields, key);
  if (!text) return std::nullopt;
  Address address;
  if (inet_pton(AF_INET, text->c_str(), address.bytes.data()) == 1) return address;
  address.v6 = true;
  if (inet_pton(AF_INET6, text->c_str(), address.bytes.data()) == 1) return address;
  throw Refused(std::string(key) + " must be an IP address");
}

uint8_t read_protocol(const Json& fields) {
  const auto text = read_text(fields, "protocol");
  if (text == "tcp") return kProtocolTcp;
  if (text == "udp") return kProtocolUdp;
  if (text) throw Refused("protocol must be tcp or udp");
  return kProtocolNone;
}

std::vector<uint8_t> from_hex(const std::string& text) {
  std::vector<uint8_t> digits;
  for (const char c : text) {
    if (c == ' ' || c == ':') continue;
    const char* at = std::char_traits<char>::find("0123456789abcdef", 16, static_cast<char>(std::tolower(c)));
    if (at == nullptr) throw Refused("hex must be hexadecimal digits");
    digits.push_back(static_cast<uint8_t>(at - "0123456789abcdef"));
  }
  if (digits.empty() || digits.size() % 2 != 0 || digits.size() / 2 > kTraceFrameBytesMax)
    throw Refused("hex must have two digits a byte, for 1 to " + std::to_string(kTraceFrameBytesMax) + " bytes");
  std::vector<uint8_t> frame;
  for (size_t i = 0; i < digits.size(); i += 2) frame.push_back(static_cast<uint8_t>(digits[i] << 4 | digits[i + 1]));
  return frame;
}

void append16(std::vector<uint8_t>& frame, uint16_t value) {
  frame.push_back(static_cast<uint8_t>(value >> 8));
  frame.push_back(static_cast<uint8_t>(value));
}

// Header and what follows, as long as the frame will be: `total` bytes from here on.
void append_ipv4(std::vector<uint8_t>& frame, const Address& from, const Address& to, uint8_t dscp, uint8_t protocol,
                 size_t total) {
  const size_t begin = frame.size();
  frame.insert(frame.end(), {0x45, static_cast<uint8_t>(dscp << 2)});
  append16(frame, static_cast<uint16_t>(total));
  frame.insert(frame.end(), {0, 0, 0, 0, 64, protocol, 0, 0});
  frame.insert(frame.end(), from.bytes.begin(), from.bytes.begin() + 4);
  frame.insert(frame.end(), to.bytes.begin(), to.bytes.begin() + 4);
  store_be16(&frame[begin + 10], static_cast<uint16_t>(~ones_complement_sum(&frame[begin], kIpv4Bytes)));
}

void append_ipv6(std::vector<uint8_t>& frame, const Address& from, const Address& to, uint8_t dscp, uint8_t protocol,
                 size_t total) {
  frame.insert(frame.end(), {static_cast<uint8_t>(0x60 | dscp >> 2), static_cast<uint8_t>(dscp << 6), 0, 0});
  append16(frame, static_cast<uint16_t>(total - kIpv6Bytes));
  frame.insert(frame.end(), {protocol, 64});
  frame.insert(frame.end(), from.bytes.begin(), from.bytes.end());
  frame.insert(frame.end(), to.bytes.begin(), to.bytes.end());
}

void append_ports(std::vector<uint8_t>& frame, uint8_t protocol, uint16_t from, uint16_t to, size_t bytes) {
  append16(frame, from);
  append16(frame, to);
  if (protocol == kProtocolUdp) {
    append16(frame, static_cast<uint16_t>(bytes));
    append16(frame, 0);  // no checksum
  } else {
    frame.insert(frame.end(), {0, 0, 0, 0, 0, 0, 0, 0, kTcpBytes / 4 << 4, 0, 0, 0, 0, 0, 0, 0});
  }
}

}  // namespace

std::vector<uint8_t> make_trace_frame(const Json& fields) {
  if (!fields.is_object()) throw Refused("frame must be an object");
  if (const auto hex = read_text(fields, "hex")) return from_hex(*hex);
  const uint64_t to = read_mac(fields, "to"), from = read_mac(fields, "from");
  const auto ip_from = read_address(fields, "ip_from"), ip_to = read_address(fields, "ip_to");
  if (ip_from.has_value() != ip_to.has_value() || (ip_from && ip_from->v6 != ip_to->v6))
    throw Refused("ip_from and ip_to must be addresses of one kind");
  const uint8_t protocol = read_protocol(fields);
  if (protocol != kProtocolNone && !ip_from) throw Refused("protocol needs ip_from and ip_to");
  const auto dscp = static_cast<uint8_t>(read_number(fields, "dscp", 63).value_or(0));
  const auto vlan = read_number(fields, "vlan", kVlanMax), pcp = read_number(fields, "pcp", 7);
  const auto port_from = static_cast<uint16_t>(read_number(fields, "port_from", 65535).value_or(0));
  const auto port_to = static_cast<uint16_t>(read_number(fields, "port_to", 65535).value_or(0));

  std::vector<uint8_t> frame(12);
  store_mac(&frame[0], to);
  store_mac(&frame[6], from);
  if (vlan || pcp) {
    append16(frame, kEtherTypeVlan);
    append16(frame, static_cast<uint16_t>(pcp.value_or(0) << 13 | vlan.value_or(0)));
  }
  append16(frame, !ip_from ? kEtherTypeLoopback : ip_from->v6 ? kEtherTypeIpv6 : kEtherTypeIpv4);
  const size_t ip_bytes = !ip_from ? 0 : ip_from->v6 ? kIpv6Bytes : kIpv4Bytes;
  const size_t l4_bytes = protocol == kProtocolTcp ? kTcpBytes : protocol == kProtocolUdp ? kUdpBytes : 0;
  const size_t wanted = read_number(fields, "bytes", kTraceFrameBytesMax).value_or(kFrameBytesMin);
  const size_t length = std::max(wanted, frame.size() + ip_bytes + l4_bytes);
  const size_t total = length - frame.size();
  if (ip_from) (ip_from->v6 ? append_ipv6 : append_ipv4)(frame, *ip_from, *ip_to, dscp, protocol, total);
  if (l4_bytes != 0) append_ports(frame, protocol, port_from, port_to, total - ip_bytes);
  frame.resize(length);
  return frame;
}

}  // namespace heddle
