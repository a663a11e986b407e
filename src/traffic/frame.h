// SPDX-License-Identifier: Apache-2.0
// Test frames: IPv4/UDP with a number per flow, a time stamp and a check, behind them a pattern up to the frame's end.
//
//   0  Ethernet   14 bytes   02:aa:SSSS to 02:bb:SSSS, S the station
//  14  IPv4       20         10.0.0.0 + flow to 10.128.0.0 + flow
//  34  UDP         8         the destination port tells the direction; no checksum
//  42  check       2         of what follows, up to the pattern
//  44  flow        4
//  48  number      4         counts the frames of the flow, from 0; wraps
//  52  stamp       8         TSC when it was made
//  60  pattern               the same in all frames
//
// Numbers of the test are in host order: both ends are one process.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace heddle::traffic {

inline constexpr uint16_t kFrameBytesMin = 60;
inline constexpr uint16_t kFrameBytesMax = 9614;
inline constexpr uint32_t kTemplateBytes = 64;  // headers, test fields and the pattern's first bytes: one cache line
inline constexpr uint16_t kAnnouncementBytes = 60;
inline constexpr uint32_t kFlowsMax = 1u << 23;  // what the addresses can tell apart

// From the first port to the second, or back.
enum class Direction : uint8_t { forth, back };

struct FrameFields {
  uint32_t flow;
  uint32_t number;
  uint64_t stamp;
};

enum class Verdict : uint8_t {
  good,
  foreign,  // not a test frame of this direction
  corrupt,
};

struct alignas(kTemplateBytes) FrameTemplate {
  std::array<uint8_t, kTemplateBytes> bytes;
};

FrameTemplate make_template(Direction direction, uint32_t flow, uint32_t station, uint16_t frame_bytes);
// A broadcast from the station's place at the receiving end of `direction`; kAnnouncementBytes long.
FrameTemplate make_announcement(Direction direction, uint32_t station);
// Writes the pattern where a frame of `bytes` has it.
void write_pattern(uint8_t* frame, uint32_t bytes);

namespace detail {
extern const std::array<uint8_t, kFrameBytesMax>
    kPattern;  // of whole frames; what stands before its place is of no use
inline constexpr uint32_t kEtherType = 12, kIpLength = 16, kIpAddresses = 26, kUdpDestination = 36, kCheck = 42,
                          kFields = 44;
inline constexpr uint16_t kEtherTypeIpv4 = 0x0800;
inline constexpr uint16_t kPortForth = 4740;  // the port back is the next one
inline constexpr uint32_t kForthAddress = 10u << 24, kBackAddress = kForthAddress | kFlowsMax;
static_assert(sizeof(FrameFields) == kFrameBytesMin - kFields);

inline uint16_t load_be16(const uint8_t* at) { return static_cast<uint16_t>(at[0] << 8 | at[1]); }
inline uint32_t load_be32(const uint8_t* at) {
  uint32_t word;
  std::memcpy(&word, at, sizeof(word));
  return __builtin_bswap32(word);
}
inline uint16_t udp_port(Direction direction) { return kPortForth + static_cast<uint16_t>(direction); }

inline uint16_t check_of(const FrameFields& fields) {
  const uint64_t mixed = (uint64_t{fields.flow} << 32 | fields.number) * 0x9e3779b97f4a7c15u ^ fields.stamp;
  return static_cast<uint16_t>(mixed * 0xff51afd7ed558ccdu >> 48);
}
}  // namespace detail

// Makes the frame's first kTemplateBytes.
inline void write_frame(uint8_t* frame, const FrameTemplate& from, const FrameFields& fields) {
  std::memcpy(frame, from.bytes.data(), kTemplateBytes);
  const uint16_t check = detail::check_of(fields);
  std::memcpy(frame + detail::kCheck, &check, sizeof(check));
  std::memcpy(frame + detail::kFields, &fields, sizeof(fields));
}

// Looks at all but MAC addresses, which the device under test may exchange, and the pattern.
inline Verdict read_frame(const uint8_t* frame, uint32_t bytes, Direction direction, FrameFields& fields) {
  using namespace detail;
  if (bytes < kFrameBytesMin || load_be16(frame + kEtherType) != kEtherTypeIpv4 ||
      load_be16(frame + kUdpDestination) != udp_port(direction))
    return Verdict::foreign;
  std::memcpy(&fields, frame + kFields, sizeof(fields));
  uint16_t check;
  std::memcpy(&check, frame + kCheck, sizeof(check));
  const uint32_t source = (direction == Direction::forth ? kForthAddress : kBackAddress) | fields.flow;
  const bool intact = check == check_of(fields) && fields.flow < kFlowsMax &&
                      load_be32(frame + kIpAddresses) == source &&
                      load_be32(frame + kIpAddresses + 4) == (source ^ kFlowsMax) &&
                      load_be16(frame + kIpLength) + kEtherType + 2u == bytes;
  return intact ? Verdict::good : Verdict::corrupt;
}

inline bool pattern_intact(const uint8_t* frame, uint32_t bytes) {
  const uint8_t* pattern = detail::kPattern.data();
  // Small frames are told by one comparison.
  if (bytes == kTemplateBytes)
    return std::memcmp(frame + kFrameBytesMin, pattern + kFrameBytesMin, kTemplateBytes - kFrameBytesMin) == 0;
  return bytes <= kFrameBytesMax &&
         (bytes <= kFrameBytesMin ||
          std::memcmp(frame + kFrameBytesMin, pattern + kFrameBytesMin, bytes - kFrameBytesMin) == 0);
}

}  // namespace heddle::traffic
