// SPDX-License-Identifier: Apache-2.0
// PAUSE and PFC frames between an edge port and its host (IEEE 802.3 annexes 31B and 31D).
#pragma once

#include <array>
#include <cstdint>

#include "wire/packet.h"

namespace heddle {

constexpr unsigned kPriorities = 8;

struct PauseFrame {
  bool by_priority = false;                    // PFC; else PAUSE, of which quanta[0] says all
  uint8_t enabled = 0;                         // PFC: bit p: quanta[p] counts
  std::array<uint16_t, kPriorities> quanta{};  // how long, in 512 bit times; 0 = go on
};

// False if the frame is neither of the two, or too short for what it says.
bool read_pause(const uint8_t* bytes, uint32_t length, PauseFrame& frame);
// At packet.data, which has room for 60 bytes.
void write_pause(Packet& packet, const PauseFrame& frame, uint64_t source_mac);

// How long a time in quanta is at that rate.
constexpr Nanos pause_ns(uint32_t quanta, uint64_t rate_bps) {
  constexpr double kQuantumBits = 512;
  return static_cast<Nanos>(quanta * kQuantumBits * 1e9 / static_cast<double>(rate_bps));
}

}  // namespace heddle
