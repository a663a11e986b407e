// SPDX-License-Identifier: Apache-2.0
// Ids and units that every part shares. Units stand last in names: bytes, packets, ns.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "wire/id.h"

namespace heddle {

using Nanos = uint64_t;  // of a monotonic clock that the driver owns (decision 1)

constexpr Nanos kMicrosecond = 1000;
constexpr Nanos kMillisecond = 1000 * kMicrosecond;
constexpr Nanos kSecond = 1000 * kMillisecond;
constexpr Nanos kNever = ~Nanos{0};

using PortIndex = Id<struct PortKind, uint16_t>;      // of a port in its node, in the order of the topology file
using FlowId = Id<struct FlowKind, uint16_t>;         // link-local (F2); 0 = no flow
using Epoch = Id<struct EpochKind, uint32_t>;         // counts the sessions of a port; 0 = none yet
using LaneIndex = Id<struct LaneKind, uint8_t>;       // class and virtual channel (topology/lanes.h)
using VoqIndex = Id<struct VoqKind, uint16_t>;        // lane and output port, of an input port (X1)
using WorkerIndex = Id<struct WorkerKind, uint32_t>;  // of a worker in its node

constexpr PortIndex kNoPort = 0xff;  // a byte can keep it
constexpr FlowId kNoFlow = 0;
constexpr unsigned kPortsMax = 64;  // per node: port sets are 64-bit masks
using PortSet = uint64_t;
constexpr uint8_t kVirtualChannels = 8;  // per link (topology/virtual_channels.h)
using ChannelSet = uint8_t;              // bit c: channel c
constexpr size_t kFtags = 16;            // traffic classes of a fabric (E2), by the lower bits of their tag

// A place where frames leave the fabric: an edge port of a node.
struct FabricAddress {
  uint16_t node = 0;
  PortIndex port = 0;
  bool operator==(const FabricAddress& other) const {  // as a word
    return std::bit_cast<uint32_t>(*this) == std::bit_cast<uint32_t>(other);
  }
};

// A flow of an input port, in one of the port's sessions. Made, kept and compared as one word: it is asked for every
// packet, and what is written in pieces can't be read at once.
struct InputFlowRef {
  Epoch epoch;
  PortIndex port;
  FlowId flow;
  static InputFlowRef of(Epoch epoch, PortIndex port, FlowId flow) {
    return std::bit_cast<InputFlowRef>(epoch | uint64_t{port} << 32 | uint64_t{flow} << 48);
  }
  // Of the same port and session; this one names no flow.
  InputFlowRef with(FlowId id) const {
    return std::bit_cast<InputFlowRef>(std::bit_cast<uint64_t>(*this) | uint64_t{id} << 48);
  }
  // Of that port and session?
  bool is_of(const InputFlowRef& other) const {
    return (std::bit_cast<uint64_t>(*this) ^ std::bit_cast<uint64_t>(other)) << 16 == 0;
  }
  bool operator==(const InputFlowRef& other) const {
    return std::bit_cast<uint64_t>(*this) == std::bit_cast<uint64_t>(other);
  }
};
static_assert(std::endian::native == std::endian::little && sizeof(InputFlowRef) == 8);

// Serial number arithmetic modulo 2^32 (decision 5): true if a is before b, for distances below 2^31.
constexpr bool serial_before(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }
// How far it is from one to another; below 0 if that one comes before.
constexpr int32_t serial_distance(uint32_t from, uint32_t to) { return static_cast<int32_t>(to - from); }

}  // namespace heddle
