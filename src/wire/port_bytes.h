// SPDX-License-Identifier: Apache-2.0
// What frames count as where they are shared out by bytes (A10, X5): what they take of the port that they leave by,
// which is more than the bytes of the original frame.
#pragma once

#include <algorithm>

#include "wire/packet.h"

namespace heddle {

struct PortBytes {
  uint32_t overhead;  // of each frame: what the port adds to it, on the wire
  uint32_t largest;   // of the largest frame, with that
  uint32_t turn_max;  // of one turn of an input: the others' frames live on meanwhile (K8)

  uint32_t of(const Packet& packet) const { return packet.payload + overhead; }
};

// Deficit round robin: what one whose turn begins may take, `share` in bytes, less what it took too much before, of
// which no more than a share is remembered; of what it left before, no more than `saved` counts. Above 0.
inline int32_t begin_share(int32_t left_bytes, int32_t share, int32_t saved = 0) {
  return std::clamp(left_bytes, 1 - share, saved) + share;
}

}  // namespace heddle
