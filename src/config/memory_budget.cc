// SPDX-License-Identifier: Apache-2.0
#include "config/memory_budget.h"

#include <algorithm>
#include <bit>

#include "config/budget.h"
#include "flow/match_table.h"
#include "wire/ethernet.h"
#include "wire/packet.h"

namespace heddle {

namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;
constexpr uint64_t kLineBytes = 64;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kHugePageBytes = 2 * kMegabyte;
constexpr uint64_t kMbufBytes = 128;
constexpr uint64_t kObjectHeaderBytes = 64;         // rte_mempool's own, in front of each object
constexpr uint64_t kPoolBytes = 3 * kMegabyte / 2;  // a mempool without its objects: caches of all lcores there may be
constexpr uint64_t kDescriptorBytes = 256;          // in the ring and beside it
constexpr uint64_t kDeviceBytes = kMegabyte;        // a driver's own, without rings
constexpr uint64_t kProcessBytes = 8 * kMegabyte;   // DPDK's own, and what alignment takes

uint64_t rounded_up(uint64_t value, uint64_t step) { return (value + step - 1) / step * step; }

}  // namespace

uint32_t buffer_room_bytes(const ProcessConfig& process) {
  uint32_t most = 0;
  for (const TopologyNode& node : process.topology.nodes)
    for (const TopologyPort& port : node.ports) most = std::max(most, frame_bytes_max(port) + kVlanTagBytes);
  // Some drivers want room for the whole slot of their ring, a power of two.
  return most <= kBufferBytes ? kBufferBytes : std::bit_ceil(most + kPacketHeadroomBytes);
}

uint32_t control_room_bytes(const ProcessConfig& process) {
  constexpr uint32_t kRecordFrameBytes = 1152;
  uint32_t most = kRecordFrameBytes;
  for (const NodeProcess& node : process.nodes)
    for (const TopologyPort& port : process.topology.nodes[node.node_index].ports)
      if (port.fabric) most = std::max(most, frame_bytes_max(port));
  return most;
}

uint32_t control_buffers(const ProcessConfig& process) {
  constexpr uint32_t kPerPort = 128;
  size_t ports = 1;
  for (const NodeProcess& node : process.nodes) ports += node.ports.size();
  return static_cast<uint32_t>(ports) * kPerPort;
}

uint64_t pool_memory_bytes(uint32_t buffers, uint32_t room_bytes, bool huge_pages) {
  const uint64_t bytes = kObjectHeaderBytes + kMbufBytes + sizeof(Packet) + kPacketHeadroomBytes + room_bytes;
  // An odd number of cache lines: rte_mempool spreads objects over memory channels.
  const uint64_t object_bytes = ((bytes + kLineBytes - 1) / kLineBytes | 1) * kLineBytes;
  const uint64_t page_bytes = huge_pages ? kHugePageBytes : kPageBytes;
  const uint64_t in_a_page = page_bytes / object_bytes;
  const uint64_t objects_bytes = in_a_page == 0 ? buffers * rounded_up(object_bytes, page_bytes)
                                                : (buffers + in_a_page - 1) / in_a_page * page_bytes;
  const uint64_t ring_bytes = sizeof(void*) * std::bit_ceil(uint64_t{buffers} + 1);
  return objects_bytes + ring_bytes + kPoolBytes;
}

uint64_t match_memory_bytes(uint32_t entries) {
  constexpr uint64_t kKeyBytes = 16 + sizeof(MatchKey);  // with what rte_hash keeps beside it
  constexpr uint64_t kPlaceBytes = kLineBytes / 8;       // in a bucket
  constexpr uint64_t kFixedBytes = 32 * kLineBytes;      // heads of all three, and the heap's own
  const uint64_t keys = uint64_t{MatchTable::keys_for(entries)} + 1;
  return keys * kKeyBytes + std::bit_ceil(keys - 1) * kPlaceBytes + std::bit_ceil(keys) * sizeof(uint32_t) +
         kFixedBytes;
}

uint64_t memory_needed_megabytes(const ProcessConfig& process) {
  uint64_t devices = 0, workers = 0;
  for (const NodeProcess& node : process.nodes) {
    workers += node.workers;
    for (const PortDevice& port : node.ports) devices += port.device.empty() ? 0 : 1;
  }
  const uint64_t descriptors = uint64_t{process.receive_descriptors} + process.transmit_descriptors;
  const uint64_t bytes = pool_memory_bytes(process.buffers, buffer_room_bytes(process), process.huge_pages) +
                         pool_memory_bytes(control_buffers(process), control_room_bytes(process), process.huge_pages) +
                         workers * match_memory_bytes(process.match_entries) +
                         devices * (kDeviceBytes + descriptors * kDescriptorBytes) + kProcessBytes;
  return rounded_up(bytes, kMegabyte) / kMegabyte;
}

}  // namespace heddle
