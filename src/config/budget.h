// SPDX-License-Identifier: Apache-2.0
// What a configuration needs of buffers, rings and frame room (C9). Pure functions; the loaders refuse what
// does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/node_config.h"
#include "topology/topology.h"

namespace heddle {

constexpr uint32_t kDescriptorReserve = 64;  // receive descriptors for ACK and control frames, which take no credits
constexpr uint32_t kPoolCacheBuffers = 384;  // per thread: a mempool cache of 256 keeps up to half as much again
constexpr uint32_t kThreadsMax = 127;        // DPDK knows 128 lcores; one of them is the control thread's
constexpr uint16_t kEdgeMtuMin = 576;
constexpr uint16_t kEdgeMtuMax = 9600;
constexpr uint16_t kLinkMtuMax = 16000;
// An AF_XDP frame lies in one page together with the kernel's headroom, the mbuf and our packet data.
constexpr uint32_t kAfXdpFrameBytesMax = 3496;
// AF_PACKET puts its own header in front of each frame in the ring; `framesz` of the device string counts
// both.
constexpr uint32_t kAfPacketHeaderBytes = 80;
constexpr uint32_t kAfPacketFrameSize = 2048;  // framesz where the device string gives none
constexpr uint32_t kAfPacketBlockSize = 4096;  // blocksz, as well

// Bytes of layer 3 that a fabric link carries for frames of this edge MTU: the header stands in front of the
// whole frame.
uint32_t fabric_mtu_bytes(uint32_t edge_mtu_bytes);

// The largest frame on a port: MTU, Ethernet header and, on edge ports, a tag.
uint32_t frame_bytes_max(const TopologyPort& port);

// Devices of DPDK that one process can have: RTE_MAX_ETHPORTS of Debian's build. Packet sockets are none.
constexpr uint32_t kDpdkDevicesMax = 32;

// The largest frame that a device of this string can take, as far as the string tells.
uint32_t device_frame_bytes_max(std::string_view device);

// Buffers that a fabric port grants to its neighbour in all virtual channels together (C9).
uint32_t link_buffers(const Topology& topology);

// Frames that a fabric port may keep until its neighbour has them (K6).
uint32_t retry_frames(const Topology& topology);

// Frames that a neighbour may have sent to a fabric port and nobody has read yet: its receive ring holds them (C9).
uint32_t ring_frames_needed(const Topology& topology);

// Some drivers take the size of their ring from the device string, not from the queue's set-up: the string with that
// argument, for `receive_descriptors`, where it gives none itself.
std::string device_with_ring(const std::string& device, uint32_t receive_descriptors);

// Frames that the receive ring of such a device holds; of others `receive_descriptors`.
uint32_t device_ring_frames(std::string_view device, uint32_t receive_descriptors);

// Buffers that can be in use at once: what every port may hold by its credits, or by its drop mark, its room at the
// outputs and its frames that wait for a flow ID; copies of floods; both rings of every device; caches of every thread.
uint64_t buffers_needed(const ProcessConfig& process);

}  // namespace heddle
