// SPDX-License-Identifier: Apache-2.0
// What the switch knows about one frame (decision 3): one cache line, in front of or beside the bytes it describes.
// A Packet has exactly one owner at any time: a queue, a ring, a burst array or the pool it came from; one that is kept
// for link retry (K6) its keeper besides, to whom `next` belongs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/types.h"

namespace heddle {

constexpr uint8_t kHopLimit = 32;  // links a host's frame may cross

enum PacketFlag : uint8_t {
  kPacketFabric = 0x01,  // carries a fabric header that has been read into this Packet
  kPacketCopy = 0x02,    // made by replication: counts against the copy budget
  kPacketChecksumPartial =
      0x04,                    // the sender left the L4 checksum to the hardware; set by the port or found by the check
  kPacketRecords = 0x08,       // made here, an open record frame: finished when it is handed to the device
  kPacketInTurn = 0x10,        // came in the retry channel of its link (K6)
  kPacketAtOnce = 0x20,        // crossed to another worker without a flow, to be delivered at once
  kPacketClassRefused = 0x40,  // named a class that is not for the port's hosts (E2); until it is counted
};

// Who writes a field stands behind it. A device or a pool begins all of them, as zero but data and length; a copy has
// them all (copy_frame()). From ftag on they come in with the frame: of one from the fabric by FabricReceive, which
// reads its header, of a host's by EdgeInput, and by EdgeReceive and DeliveryAtOnce, which know its match and call
// start_way(); behind those stands who writes them later. Readers: until it crosses the stages of the input's worker,
// from there on those of the output's, and telemetry in either's thread; a device reads data and length alone.
struct alignas(64) Packet {
  uint8_t* data;       // first byte of the frame as it stands now. EdgeInput, StampingAtOnce, FabricTransmit; where it
                       // leaves for a host EdgeTransmit, DeliveryAtOnce and HostFrames
  Packet* next;        // queue link; nullptr outside queues. PacketQueue
  Nanos dies_ns;       // K8: then its life is over; of a host's frame that has not crossed, how long it will be.
                       // Receive, FabricReceive; EdgeInput, Bridging; begin_life() as it crosses
  InputFlowRef input;  // where it came in: port, session of the port (decision 2), flow ID there. Receive,
                       // FabricReceive; Admission; ControlFrames and RetryFrames, of no port; Bridging, of no flow
  uint16_t via;        // address of a node to go to first, on a longer way (R4); 0 = none. FabricReceive, Admission
  uint16_t unused;     // for what a mechanism to come has to say of a frame
  uint16_t length;     // bytes at data. As that; and who makes a frame here
  LaneIndex lane;      // of the output that it crosses to (topology/lanes.h). Voq::take_lane()
  uint8_t flags;       // PacketFlag. Device, EdgeInput, EdgeReceive, FabricReceive, Bridging, DeliveryAtOnce;
                       // ControlFrames, and who makes a frame here that is none of records
  // From here on in the order of a data frame's header, which is read as a whole (wire/fabric_frame.h).
  FlowId output_flow;  // reserved at the output before it crosses (F6). Admission; Fifos, Bridging, DeliveryAtOnce
  uint8_t ftag;
  uint8_t vc;         // virtual channel that it came in; 0 from hosts
  uint32_t position;  // data_flow of the header it came with. EdgeFlows, its match while it waits for a flow ID
  FabricAddress destination;
  FabricAddress source;
  uint16_t vni;       // bridged: the VLAN
  uint16_t cost;      // buffers it holds; where a header has the life
  uint8_t hop_limit;  // Stamping
  uint8_t priority;   // PCP << 1 | DEI; high half: the sender's round trip code (flow/congestion_level.h). HostFrames
  uint16_t payload;   // bytes of the original frame: what positions, extents and limits count. StampingAtOnce,
                      // FabricTransmit, again
};

static_assert(sizeof(Packet) == 64, "a Packet is one cache line");

// Where packets come from and go to. One virtual call per burst, never per packet.
// allocate: fills `packets` with up to `count`, each with data at its start, length 0, all metadata zero; returns how
// many there were. At least kPacketHeadroomBytes can be prepended. release: takes them back, from any thread, also
// those of another pool of the same kind.
class PacketPool {
 public:
  virtual ~PacketPool() = default;
  virtual uint32_t allocate(Packet** packets, uint32_t count) = 0;
  virtual void release(Packet** packets, uint32_t count) = 0;
  // One more owner of the packet, who releases it too; none of them may change it while a device may read it but to
  // restamp its header. False if this kind of pool has no such thing.
  virtual bool add_owner(Packet*) { return false; }
  virtual uint32_t room_bytes() const = 0;  // bytes a fresh packet can hold at data
};

constexpr uint32_t kPacketHeadroomBytes = 128;
constexpr uint32_t kBufferBytes = 2048;  // one buffer: what a credit stands for (C9)
constexpr uint32_t kBurst = 32;

// Buffers that so many bytes of a frame take.
constexpr uint16_t buffers_for(uint32_t bytes) {
  return static_cast<uint16_t>((bytes + kBufferBytes - 1) / kBufferBytes);
}

// Into a fresh packet, which keeps its own bytes.
inline void copy_frame(Packet& copy, const Packet& packet) {
  uint8_t* bytes = copy.data;
  copy = packet;
  copy.data = bytes;
  copy.next = nullptr;
  std::memcpy(bytes, packet.data, packet.length);
}

// What a frame still has of its life (K8). Two workers of a node read the clock apart, so a moment more or less.
inline Nanos life_left(const Packet& packet, Nanos now) { return packet.dies_ns > now ? packet.dies_ns - now : 0; }

// Of a host's frame it counts from when it leaves the queue of its ingress edge (K8).
inline void begin_life(Packet& packet, Nanos now) { packet.dies_ns += now; }

inline bool life_over(const Packet& packet, Nanos now) { return packet.dies_ns <= now; }

// A singly linked queue of packets; owns what it holds.
struct PacketQueue {
  Packet* head = nullptr;
  Packet* tail = nullptr;

  bool empty() const { return head == nullptr; }
  void push(Packet* packet) {
    packet->next = nullptr;
    (head == nullptr ? head : tail->next) = packet;
    tail = packet;
  }
  Packet* pop() {
    Packet* packet = head;
    head = packet->next;
    packet->next = nullptr;
    return packet;
  }
};

}  // namespace heddle
