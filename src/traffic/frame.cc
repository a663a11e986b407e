// SPDX-License-Identifier: Apache-2.0
#include "traffic/frame.h"

#include <algorithm>
#include <utility>

#include "wire/random.h"

namespace heddle::traffic {

namespace {

constexpr uint32_t kIpBytes = 20;
constexpr uint16_t kEtherTypeExperimental = 0x88b6;  // the second of the two; the first is the fabric's
constexpr uint8_t kSideA = 0xaa, kSideB = 0xbb;

void store_be16(uint8_t* at, uint32_t value) {
  at[0] = static_cast<uint8_t>(value >> 8);
  at[1] = static_cast<uint8_t>(value);
}

void store_be32(uint8_t* at, uint32_t value) {
  store_be16(at, value >> 16);
  store_be16(at + 2, value & 0xffff);
}

void store_mac(uint8_t* at, uint8_t side, uint32_t station) {
  at[0] = 0x02;
  at[1] = side;
  store_be32(at + 2, station);
}

uint16_t ip_checksum(const uint8_t* header) {
  uint32_t sum = 0;
  for (uint32_t at = 0; at < kIpBytes; at += 2) sum += detail::load_be16(header + at);
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

std::pair<uint8_t, uint8_t> sides(Direction direction) {
  return direction == Direction::forth ? std::pair{kSideA, kSideB} : std::pair{kSideB, kSideA};
}

std::array<uint8_t, kFrameBytesMax> make_pattern() {
  std::array<uint8_t, kFrameBytesMax> bytes{};
  Random random(1);
  std::generate(bytes.begin(), bytes.end(), [&random] { return static_cast<uint8_t>(random.next()); });
  return bytes;
}

}  // namespace

const std::array<uint8_t, kFrameBytesMax> detail::kPattern = make_pattern();

FrameTemplate make_template(Direction direction, uint32_t flow, uint32_t station, uint16_t frame_bytes) {
  FrameTemplate made{};
  uint8_t* at = made.bytes.data();
  const auto [from, to] = sides(direction);
  store_mac(at, to, station);
  store_mac(at + 6, from, station);
  store_be16(at + detail::kEtherType, detail::kEtherTypeIpv4);
  uint8_t* ip = at + 14;
  ip[0] = 0x45;
  store_be16(ip + 2, frame_bytes - 14u);
  ip[8] = 64;  // TTL
  ip[9] = 17;  // UDP
  const uint32_t source = (direction == Direction::forth ? detail::kForthAddress : detail::kBackAddress) | flow;
  store_be32(ip + 12, source);
  store_be32(ip + 16, source ^ kFlowsMax);
  store_be16(ip + 10, ip_checksum(ip));
  uint8_t* udp = ip + kIpBytes;
  store_be16(udp, 1024 + flow % 64512);
  store_be16(udp + 2, detail::udp_port(direction));
  store_be16(udp + 4, frame_bytes - 14u - kIpBytes);
  write_pattern(at, kTemplateBytes);
  return made;
}

FrameTemplate make_announcement(Direction direction, uint32_t station) {
  FrameTemplate made{};
  uint8_t* at = made.bytes.data();
  std::memset(at, 0xff, 6);
  store_mac(at + 6, sides(direction).second, station);
  store_be16(at + detail::kEtherType, kEtherTypeExperimental);
  return made;
}

void write_pattern(uint8_t* frame, uint32_t bytes) {
  if (bytes > kFrameBytesMin)
    std::memcpy(frame + kFrameBytesMin, detail::kPattern.data() + kFrameBytesMin, bytes - kFrameBytesMin);
}

}  // namespace heddle::traffic
