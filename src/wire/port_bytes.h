// SPDX-License-Identifier: Apache-2.0
// What frames count as where they are shared out by bytes (A10, X5): what they take of the port that they leave by,
// which is more than the bytes of the original frame.
#pragma once

#include "wire/packet.h"

namespace heddle {

struct PortBytes {
  uint32_t overhead;  // of each frame: what the port adds to it, on the wire
  uint32_t largest;   // of the largest frame, with that

  uint32_t of(const Packet& packet) const { return packet.payload + overhead; }
};

}  // namespace heddle
