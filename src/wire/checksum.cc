// SPDX-License-Identifier: Apache-2.0
#include "wire/checksum.h"

namespace heddle {
namespace {

constexpr uint32_t kTcpChecksumOffset = 16;
constexpr uint32_t kUdpChecksumOffset = 6;
constexpr uint32_t kLeastFrameBytes = 60;

// Sums are of words as they lie in memory: one's complement addition does not mind the byte order as long as
// every addend and the result have the same (RFC 1071).
uint64_t add_bytes(const uint8_t* bytes, uint32_t count, uint64_t sum) {
  for (; count >= 4; bytes += 4, count -= 4) {
    uint32_t word;
    std::memcpy(&word, bytes, sizeof(word));
    sum += word;
  }
  if (count > 0) {
    uint32_t rest = 0;
    std::memcpy(&rest, bytes, count);
    sum += rest;
  }
  return sum;
}

uint16_t fold(uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<uint16_t>(sum);
}

// Where the checksum stands and what it covers.
struct Cover {
  uint32_t field_offset;  // from the first byte of the frame
  uint32_t bytes;         // from l4_offset on
};

// False if there is no checksum of ours to speak of: not TCP or UDP, a fragment, source-routed, or bytes are
// missing.
bool find_cover(const uint8_t* data, uint32_t length, const EdgeHeaders& headers, Cover& cover) {
  if (!headers.ports_valid || headers.source_routed) return false;  // ports_valid: TCP or UDP, not a fragment
  const uint32_t packet_end = uint32_t{headers.l4_offset} + headers.l4_bytes;
  const uint32_t least = kLeastFrameBytes + (headers.tagged ? kVlanTagBytes : 0);
  if (length < packet_end) return false;
  if (length > packet_end && length > least) return false;  // not padding: the IP header's length is not to be trusted
  if (headers.protocol == kProtocolTcp) {
    cover = {headers.l4_offset + kTcpChecksumOffset, headers.l4_bytes};
  } else {
    cover = {headers.l4_offset + kUdpChecksumOffset, load_be16(data + headers.l4_offset + 4)};
  }
  return true;
}

uint64_t pseudo_header_sum(const EdgeHeaders& headers, uint32_t bytes) {
  const uint32_t address_bytes = headers.l3 == 4 ? 4 : 16;
  uint64_t sum = add_bytes(headers.address_source, address_bytes, 0);
  sum = add_bytes(headers.address_destination, address_bytes, sum);
  return sum + big_endian(bytes) + big_endian(uint32_t{headers.protocol});
}

uint16_t load_word(const uint8_t* bytes) {
  uint16_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

}  // namespace

uint16_t ones_complement_sum(const uint8_t* bytes, uint32_t count) {
  return big_endian(fold(add_bytes(bytes, count, 0)));
}

bool checksum_left_to_hardware(const uint8_t* data, uint32_t length, const EdgeHeaders& headers) {
  Cover cover;
  if (!find_cover(data, length, headers, cover)) return false;
  return load_word(data + cover.field_offset) == fold(pseudo_header_sum(headers, cover.bytes));
}

bool complete_checksum(uint8_t* data, uint32_t length, const EdgeHeaders& headers) {
  Cover cover;
  if (!find_cover(data, length, headers, cover)) return false;
  uint8_t* field = data + cover.field_offset;
  std::memset(field, 0, 2);
  const uint64_t sum = add_bytes(data + headers.l4_offset, cover.bytes, pseudo_header_sum(headers, cover.bytes));
  uint16_t checksum = static_cast<uint16_t>(~fold(sum));
  if (checksum == 0 && headers.protocol == kProtocolUdp) checksum = 0xffff;  // 0 would mean: no checksum
  std::memcpy(field, &checksum, sizeof(checksum));
  return true;
}

}  // namespace heddle
