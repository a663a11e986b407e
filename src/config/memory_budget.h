// SPDX-License-Identifier: Apache-2.0
// How much of DPDK's memory a process takes: what `memory` must be at least. Follows the layout of DPDK 22.11; a test
// compares it with what the heap says.
#pragma once

#include <cstdint>

#include "config/node_config.h"

namespace heddle {

// Bytes that a buffer of a frame made here has room for: a full record frame has 1,058 bytes, a long hello is as long
// as the longest frame of its link (K1).
uint32_t control_room_bytes(const ProcessConfig& process);

// What every packet buffer of the process holds: the largest frame of any port, and never less than a credit stands
// for.
uint32_t buffer_room_bytes(const ProcessConfig& process);

// Buffers for frames made here: as many as may queue and be under way at each port.
uint32_t control_buffers(const ProcessConfig& process);

// Of so many packet buffers, each with room for so many bytes. Without huge pages no buffer crosses a page's end, if it
// can be helped: most take a whole page, or several.
uint64_t pool_memory_bytes(uint32_t buffers, uint32_t room_bytes, bool huge_pages);

// Of the keys of a worker's match table; its records are in the process's own memory, as all other tables.
uint64_t match_memory_bytes(uint32_t entries);

// Of all that the process makes there, in steps of a megabyte.
uint64_t memory_needed_megabytes(const ProcessConfig& process);

}  // namespace heddle
