// SPDX-License-Identifier: Apache-2.0
#include "wire/pause.h"

#include <cstring>

#include "wire/byte_order.h"

namespace heddle {

namespace {
constexpr uint16_t kMacControlType = 0x8808;
constexpr uint16_t kPauseOpcode = 0x0001, kPfcOpcode = 0x0101;
constexpr uint32_t kOpcodeAt = 14, kTimesAt = 16;
constexpr uint32_t kFrameBytes = 60;
}  // namespace

bool read_pause(const uint8_t* bytes, uint32_t length, PauseFrame& frame) {
  if (length < kTimesAt + 2 || load_be16(bytes + 12) != kMacControlType) return false;
  const uint16_t opcode = load_be16(bytes + kOpcodeAt);
  frame = {};
  if (opcode == kPauseOpcode) {
    frame.quanta[0] = load_be16(bytes + kTimesAt);
    return true;
  }
  if (opcode != kPfcOpcode || length < kTimesAt + 2 + 2 * kPriorities) return false;
  frame.by_priority = true;
  frame.enabled = bytes[kTimesAt + 1];
  for (unsigned p = 0; p < kPriorities; ++p) frame.quanta[p] = load_be16(bytes + kTimesAt + 2 + 2 * p);
  return true;
}

void write_pause(Packet& packet, const PauseFrame& frame, uint64_t source_mac) {
  constexpr uint8_t kDestination[6] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01};
  uint8_t* bytes = packet.data;
  std::memset(bytes, 0, kFrameBytes);
  std::memcpy(bytes, kDestination, sizeof kDestination);
  store_mac(bytes + 6, source_mac);
  store_be16(bytes + 12, kMacControlType);
  store_be16(bytes + kOpcodeAt, frame.by_priority ? kPfcOpcode : kPauseOpcode);
  if (frame.by_priority) {
    bytes[kTimesAt + 1] = frame.enabled;
    for (unsigned p = 0; p < kPriorities; ++p) store_be16(bytes + kTimesAt + 2 + 2 * p, frame.quanta[p]);
  } else {
    store_be16(bytes + kTimesAt, frame.quanta[0]);
  }
  packet.length = kFrameBytes;
}

}  // namespace heddle
