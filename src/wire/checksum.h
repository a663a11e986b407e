// SPDX-License-Identifier: Apache-2.0
// TCP and UDP checksums that a sender left to its network hardware: frames from local virtual interfaces
// reach the switch that way, and no hardware follows that would complete them. `headers` must be what
// parse_edge_frame returned for these very bytes, with DropReason::none: the offsets are trusted, so call
// before a tag is removed. No ownership, no state; any thread.
#pragma once

#include <cstdint>

#include "wire/ethernet.h"

namespace heddle {

// One's complement sum of big-endian 16-bit words (RFC 1071), folded, not complemented, in host order; an odd
// last byte counts as the high half of a word.
uint16_t ones_complement_sum(const uint8_t* bytes, uint32_t count);

// True if the TCP or UDP checksum field holds the bare sum of the pseudo header, not complemented: what Linux
// leaves there for the hardware (CHECKSUM_PARTIAL). A right checksum has this value once in 65,536 frames,
// and completing it again then gives the same right value, so a wrong guess does no harm as long as the data
// are intact.
bool checksum_left_to_hardware(const uint8_t* data, uint32_t length, const EdgeHeaders& headers);

// Computes the whole checksum and writes it. False, and nothing written, if that is impossible: not TCP or
// UDP, a fragment, source-routed, or the frame's length is not what the IP header says (padding up to the
// least Ethernet length is fine).
bool complete_checksum(uint8_t* data, uint32_t length, const EdgeHeaders& headers);

}  // namespace heddle
