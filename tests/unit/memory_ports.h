// SPDX-License-Identifier: Apache-2.0
// Ports in memory for tests, and what they are of: plain links without faults, frames by hand.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "node/port.h"
#include "topology/topology.h"
#include "wire/fabric_frame.h"

namespace heddle::test {

class HeapPool : public PacketPool {
 public:
  uint32_t allocate(Packet** packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) packets[i] = fresh();
    out_ += count;
    return count;
  }
  void release(Packet** packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) destroy(packets[i]);
    out_ -= count;
  }
  uint32_t room_bytes() const override { return kRoomBytes; }
  int64_t out() const { return out_; }

 protected:
  static Packet* fresh() {
    auto* cell = new Cell;
    cell->packet = {};
    cell->packet.data = cell->bytes + kPacketHeadroomBytes;
    return &cell->packet;
  }
  static void destroy(Packet* packet) { delete reinterpret_cast<Cell*>(packet); }

 private:
  static constexpr uint32_t kRoomBytes = 9600 + 64;
  struct Cell {
    Packet packet;
    uint8_t bytes[kPacketHeadroomBytes + kRoomBytes];
  };
  int64_t out_ = 0;
};

using Frame = std::vector<uint8_t>;

// One end of a link, or of a host's cable: what the other side has sent waits in `incoming`.
class MemoryDevice : public Device {
 public:
  explicit MemoryDevice(HeapPool& pool) : pool_(pool) {}
  void connect(MemoryDevice& other) { peer_ = &other; }
  uint32_t receive(Packet** packets, uint32_t count, Nanos) override {
    uint32_t taken = 0;
    for (; taken < count && !incoming.empty(); ++taken) {
      pool_.allocate(&packets[taken], 1);
      std::memcpy(packets[taken]->data, incoming.front().data(), incoming.front().size());
      packets[taken]->length = static_cast<uint16_t>(incoming.front().size());
      incoming.pop_front();
    }
    return taken;
  }
  uint32_t transmit(Packet** packets, uint32_t count, Nanos) override {
    EXPECT_LE(count, told_) << "more than there is room for";
    for (uint32_t i = 0; i < count; ++i) {
      Frame frame(packets[i]->data, packets[i]->data + packets[i]->length);
      if (peer_ == nullptr)
        delivered.push_back(frame);
      else if (carries)
        peer_->incoming.push_back(frame);
    }
    pool_.release(packets, count);
    if (fills) accepts -= std::min(accepts, count);
    return told_ = accepts;
  }

  std::deque<Frame> incoming;
  std::vector<Frame> delivered;  // what a host at this port has received
  bool carries = true;           // false: the cable towards the peer is cut
  uint32_t accepts = kBurst;     // the room that it has
  bool fills = false;            // what is sent takes of it

 private:
  HeapPool& pool_;
  MemoryDevice* peer_ = nullptr;
  uint32_t told_ = 0;  // room
};

// Adds a node with `edge_ports` edge ports, called e0, e1...; links add fabric ports behind them.
inline uint16_t add_node(Topology& topology, uint16_t address, uint32_t edge_ports) {
  TopologyNode node;
  node.name = "n" + std::to_string(address);
  node.address = address;
  for (uint32_t i = 0; i < edge_ports; ++i) {
    TopologyPort port;
    port.name = "e" + std::to_string(i);
    port.mtu_bytes = topology.edge_mtu_bytes;
    node.ports.push_back(port);
  }
  topology.nodes.push_back(node);
  return static_cast<uint16_t>(topology.nodes.size() - 1);
}

inline void add_link(Topology& topology, uint16_t a, uint16_t b) {
  TopologyLink link;
  const uint16_t ends[2] = {a, b};
  for (int i = 0; i < 2; ++i) {
    auto& ports = topology.nodes[ends[i]].ports;
    TopologyPort port;
    port.name = "f" + std::to_string(ports.size());
    port.fabric = true;
    port.mtu_bytes = 1600;
    link.ends[i] = {ends[i], PortIndex::of(ports.size())};
    ports.push_back(port);
  }
  for (int i = 0; i < 2; ++i) topology.nodes[ends[i]].ports.back().peer = {ends[1 - i], link.ends[1 - i].port};
  topology.links.push_back(link);
}

//      1
//     / \        four nodes in a ring; ports in the order in which the links are added
//    2   3
//     \ /
//      4
inline Topology ring() {
  Topology topology;
  for (uint16_t address = 1; address <= 4; ++address) add_node(topology, address, 0);
  add_link(topology, 0, 1);  // n1 f0 - n2 f0
  add_link(topology, 0, 2);  // n1 f1 - n3 f0
  add_link(topology, 1, 3);  // n2 f1 - n4 f0
  add_link(topology, 2, 3);  // n3 f1 - n4 f1
  return topology;
}

// A frame from station `source` to `destination`, of `length` bytes, that carries `number`.
inline Frame frame(uint8_t destination, uint8_t source, uint32_t number, size_t length = 100) {
  Frame bytes(length);
  const uint8_t addresses[14] = {2, 0, 0, 0, 0, destination, 2, 0, 0, 0, 0, source, 0x12, 0x34};
  std::memcpy(bytes.data(), addresses, sizeof addresses);
  std::memcpy(bytes.data() + 14, &number, sizeof number);
  return bytes;
}

inline Frame broadcast(uint8_t source, uint32_t number) {
  Frame bytes = frame(0, source, number);
  std::memset(bytes.data(), 0xff, 6);
  return bytes;
}

inline uint32_t number_of(const Frame& bytes) {
  uint32_t number;
  std::memcpy(&number, bytes.data() + 14, sizeof number);
  return number;
}

// What a data frame says that comes to a fabric port.
struct DataHeader {
  FabricAddress destination;
  uint8_t ftag = 0, vc = kLossyChannel;
  FlowId flow = kNoFlow;
  uint32_t position = 0;
  uint32_t after = 0;    // frames before it
  bool in_turn = false;  // in the retry channel (K6)
  uint16_t via = 0;      // R4
  FabricAddress source{1, 0};
};

// Such a frame, right but for what the header says.
inline Frame forged(const Port& port, const Frame& original, const DataHeader& header) {
  Frame bytes(HEDDLE_DATA_OVERHEAD_BYTES + original.size());
  std::copy(original.begin(), original.end(), bytes.begin() + HEDDLE_DATA_OVERHEAD_BYTES);
  Packet packet{};
  packet.data = bytes.data() + HEDDLE_DATA_OVERHEAD_BYTES;
  packet.length = static_cast<uint16_t>(original.size());
  packet.destination = header.destination;
  packet.source = header.source;
  packet.vni = 1;
  packet.hop_limit = 8;
  packet.ftag = header.ftag;
  packet.via = header.via;
  prepend_fabric_header(packet);
  stamp_data_frame(packet,
                   {.session_tag = port.session.tag(),
                    .vc = header.vc,
                    .channel = header.in_turn ? uint8_t{HEDDLE_RETRY_CHANNEL} : uint8_t{0},
                    .flags = header.in_turn ? uint8_t{HEDDLE_DATA_LOSSLESS} : uint8_t{0},
                    .sequence = (header.in_turn ? port.retry.taken() : port.input.last_sequence) + 1 + header.after,
                    .flow = header.flow,
                    .data_flow = header.position,
                    .life_units = 100,
                    .start = data_frame_start(port.mac)});
  return bytes;
}

}  // namespace heddle::test
