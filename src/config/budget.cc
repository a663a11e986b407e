// SPDX-License-Identifier: Apache-2.0
#include "config/budget.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "config/device_string.h"
#include "config/units.h"
#include "heddle/frames.h"
#include "node/node.h"
#include "topology/lanes.h"

namespace heddle {

namespace {
constexpr uint32_t kMemifRingLog2Max = 14;
}  // namespace

uint32_t fabric_mtu_bytes(uint32_t edge_mtu_bytes) {
  return edge_mtu_bytes + kEthernetHeaderBytes + HEDDLE_DATA_OVERHEAD_BYTES - kEthernetHeaderBytes;
}

uint32_t frame_bytes_max(const TopologyPort& port) {
  constexpr uint32_t kTagBytes = 4;
  return port.mtu_bytes + kEthernetHeaderBytes + (port.fabric ? 0 : kTagBytes);
}

uint32_t device_frame_bytes_max(std::string_view device) {
  if (device_uses(device, "net_af_xdp")) return kAfXdpFrameBytesMax;
  if (device_uses(device, "net_af_packet")) {
    const uint64_t slot = parse_integer(device_argument(device, "framesz")).value_or(kAfPacketFrameSize);
    constexpr uint64_t kLargest = std::numeric_limits<uint16_t>::max();
    return static_cast<uint32_t>(std::clamp<uint64_t>(slot, kAfPacketHeaderBytes, kLargest) - kAfPacketHeaderBytes);
  }
  return std::numeric_limits<uint32_t>::max();  // the driver tells when the device is opened
}

uint32_t link_buffers(const Topology& topology) {
  const FabricSettings& settings = topology.settings;
  return settings.link_credits + (topology.any_lossless() ? topology.lossless_channels * settings.lossless_credits : 0);
}

uint32_t retry_frames(const Topology& topology) {
  return Lanes(topology).any_retry() ? topology.lossless_channels * topology.settings.lossless_credits : 0;
}

uint32_t ring_frames_needed(const Topology& topology) { return link_buffers(topology) + kDescriptorReserve; }

std::string device_with_ring(const std::string& device, uint32_t receive_descriptors) {
  if (device_uses(device, "net_af_packet") && device_argument(device, "framecnt").empty()) {
    const auto argument = [&](std::string_view name, uint64_t otherwise) {
      return std::max<uint64_t>(1, parse_integer(device_argument(device, name)).value_or(otherwise));
    };
    const uint64_t block = argument("blocksz", kAfPacketBlockSize), slot = argument("framesz", kAfPacketFrameSize);
    const uint64_t in_a_block = std::max<uint64_t>(1, block / slot);  // the kernel wants whole blocks
    const uint64_t frames = (receive_descriptors + in_a_block - 1) / in_a_block * in_a_block;
    return device + ",framecnt=" + std::to_string(frames);
  }
  if (device_uses(device, "net_memif") && device_argument(device, "rsize").empty()) {
    const auto log2 = static_cast<uint32_t>(std::bit_width(std::bit_ceil(receive_descriptors)) - 1);
    return device + ",rsize=" + std::to_string(std::min(log2, kMemifRingLog2Max));
  }
  return device;
}

uint32_t device_ring_frames(std::string_view device, uint32_t receive_descriptors) {
  constexpr uint64_t kLargest = std::numeric_limits<uint32_t>::max();
  if (device_uses(device, "net_af_packet")) {
    const uint64_t frames = parse_integer(device_argument(device, "framecnt")).value_or(receive_descriptors);
    return static_cast<uint32_t>(std::min(frames, kLargest));
  }
  if (device_uses(device, "net_memif")) {
    const auto log2 = parse_integer(device_argument(device, "rsize"));
    return log2 && *log2 <= kMemifRingLog2Max ? uint32_t{1} << *log2 : receive_descriptors;
  }
  return receive_descriptors;
}

uint64_t buffers_needed(const ProcessConfig& process) {
  const FabricSettings& settings = process.topology.settings;
  uint64_t buffers = uint64_t{kPoolCacheBuffers} * process.threads;
  for (const NodeProcess& node : process.nodes) {
    const std::vector<TopologyPort>& ports = process.topology.nodes[node.node_index].ports;
    const NodeOptions sizes{};
    const uint64_t queues = settings.input_drop_mark_packets * (process.topology.any_lossless() ? 2u : 1u);
    const uint64_t room =
        uint64_t{crossing_room(settings, node.workers > 1)} * ports.size() * Lanes::needed(process.topology);
    const uint64_t edge_buffers = queues + room + sizes.waiting_max;
    buffers += uint64_t{node.workers} * sizes.copies_max;
    for (const PortDevice& device : node.ports) {
      const bool fabric = ports[device.port].fabric;
      buffers += fabric ? link_buffers(process.topology) + retry_frames(process.topology) : edge_buffers;
      const bool in_process = fabric && device.device.empty();
      buffers += in_process ? retry_frames(process.topology)  // copies on their way
                            : process.receive_descriptors + process.transmit_descriptors;
    }
  }
  return buffers;
}

}  // namespace heddle
