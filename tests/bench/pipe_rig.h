// SPDX-License-Identifier: Apache-2.0
// Switches over the cheapest ports there can be: a ring of pointers each. What is counted then is the switch.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <vector>

#include "node/node.h"
#include "topology/virtual_channels.h"
#include "wire/ethernet.h"

namespace heddle::bench {

// Packets from a stack of free ones.
class StackPool : public PacketPool {
 public:
  explicit StackPool(uint32_t packets) : cells_(packets) {
    for (Cell& cell : cells_) free_.push_back(&cell.packet);
  }
  uint32_t allocate(Packet** packets, uint32_t count) override {
    uint32_t taken = 0;
    for (; taken < count && !free_.empty(); ++taken) {
      Packet* packet = packets[taken] = free_.back();
      free_.pop_back();
      *packet = Packet{};
      packet->data = reinterpret_cast<Cell*>(packet)->bytes + kPacketHeadroomBytes;
    }
    return taken;
  }
  void release(Packet** packets, uint32_t count) override { free_.insert(free_.end(), packets, packets + count); }
  uint32_t room_bytes() const override { return kBufferBytes; }
  size_t available() const { return free_.size(); }

 private:
  struct Cell {
    Packet packet;  // first: a Packet* is a Cell*
    uint8_t bytes[kPacketHeadroomBytes + kBufferBytes];
  };
  std::vector<Cell> cells_;
  std::vector<Packet*> free_;
};

// A queue of packets; what is sent goes to the peer's, or at a host's port back to the pool.
class PipeDevice : public Device {
 public:
  explicit PipeDevice(PacketPool& pool) : pool_(pool) {}
  void connect(PipeDevice& peer) { peer_ = &peer; }

  void push(Packet* packet) { ring_[tail_++ % ring_.size()] = packet; }
  uint32_t receive(Packet** packets, uint32_t count, Nanos) override {
    const auto at = static_cast<uint32_t>(head_ % ring_.size());
    const uint32_t taken = std::min(count, tail_ - head_);
    const uint32_t first = std::min(taken, static_cast<uint32_t>(ring_.size()) - at);
    std::copy_n(&ring_[at], first, packets);
    std::copy_n(ring_.data(), taken - first, packets + first);
    head_ += taken;
    return taken;
  }
  uint32_t transmit(Packet** packets, uint32_t count, Nanos) override {
    if (peer_ == nullptr) {
      delivered.store(delivered.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
      pool_.release(packets, count);
      return kBurst;
    }
    for (uint32_t i = 0; i < count; ++i) {
      Packet received{};
      received.data = packets[i]->data;
      received.length = packets[i]->length;
      *packets[i] = received;
      peer_->push(packets[i]);
    }
    return kBurst;
  }

  std::atomic<uint64_t> delivered = 0;  // written by one thread

 private:
  PacketPool& pool_;
  PipeDevice* peer_ = nullptr;
  std::array<Packet*, 4096> ring_{};
  uint32_t head_ = 0, tail_ = 0;
};

// What a line is made of.
struct RigShape {
  uint32_t switches = 1;
  uint32_t pairs = 1;  // of a host that sends and one that receives
  uint32_t workers = 1;
  uint32_t match_entries = 4096;
  uint32_t links = 1;  // between each two neighbours
  uint32_t flow_ids = FabricSettings{}.flow_ids;
  uint64_t receiver_bps = 0;  // of the ports to hosts that receive; 0 = whatever comes
  TrafficClass traffic_class{};
  ApplicationPolicy applications{};
};

// A line of switches; the first has hosts that send, the last hosts that receive, a line of one has both.
class PipeRig {
 public:
  PipeRig(PacketPool& pool, RigShape shape);
  Node& node(uint32_t index) { return *nodes_[index]; }
  PipeDevice& sender(uint32_t pair) { return *devices_.front()[pair]; }
  PipeDevice& receiver(uint32_t pair) const {
    return *devices_.back()[devices_.size() == 1 ? shape_.pairs + pair : pair];
  }
  uint32_t pairs() const { return shape_.pairs; }
  PacketPool& pool() { return pool_; }
  uint32_t switches() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& node(uint32_t index) const { return *nodes_[index]; }
  // The switch at the other end of a port to one.
  uint16_t neighbour(uint32_t index, PortIndex port) const {
    return topology_.nodes[index].ports[port].peer.node_index;
  }

 private:
  void add_switch(uint16_t index);
  void add_link(uint16_t left);
  void start(uint16_t index);

  PacketPool& pool_;
  const RigShape shape_;
  Topology topology_;
  std::vector<std::vector<std::unique_ptr<PipeDevice>>> devices_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

inline PipeRig::PipeRig(PacketPool& pool, RigShape shape) : pool_(pool), shape_(std::move(shape)) {
  topology_.name = "line";
  topology_.classes.push_back(shape_.traffic_class);
  topology_.settings.flow_ids = shape_.flow_ids;
  const auto last = static_cast<uint16_t>(shape_.switches - 1);
  for (uint16_t index = 0; index <= last; ++index) add_switch(index);
  for (uint16_t left = 0; left < last; ++left)
    for (uint32_t link = 0; link < shape_.links; ++link) add_link(left);
  settle_lossless_channels(topology_, lossless_channels_needed(topology_));
  for (uint16_t index = 0; index <= last; ++index) start(index);
  for (const TopologyLink& link : topology_.links) {
    PipeDevice& a = *devices_[link.ends[0].node_index][link.ends[0].port];
    PipeDevice& b = *devices_[link.ends[1].node_index][link.ends[1].port];
    a.connect(b);
    b.connect(a);
  }
}

// With its ports to hosts.
inline void PipeRig::add_switch(uint16_t index) {
  TopologyNode node;
  node.name = "n" + std::to_string(index);
  node.address = static_cast<uint16_t>(index + 1);
  const uint32_t senders = index == 0 ? shape_.pairs : 0;
  const uint32_t receivers = index + 1u == shape_.switches ? shape_.pairs : 0;
  for (uint32_t edge = 0; edge < senders + receivers; ++edge) {
    TopologyPort port;
    port.name = "e" + std::to_string(edge);
    port.mtu_bytes = 1500;
    port.flood_frames_per_second = 0;
    port.stations_max = 1u << 20;
    port.rate_bps = edge < senders ? 0 : shape_.receiver_bps;
    node.ports.push_back(port);
  }
  topology_.nodes.push_back(node);
}

// From a switch to the next one.
inline void PipeRig::add_link(uint16_t left) {
  TopologyLink link;
  for (uint16_t side = 0; side < 2; ++side) {
    const auto at = static_cast<uint16_t>(left + side);
    link.ends[side] = {at, PortIndex::of(topology_.nodes[at].ports.size())};
    TopologyPort port;
    port.name = "f" + std::to_string(topology_.nodes[at].ports.size());
    port.fabric = true;
    port.mtu_bytes = 1600;
    topology_.nodes[at].ports.push_back(port);
  }
  for (unsigned side = 0; side < 2; ++side)
    topology_.nodes[link.ends[side].node_index].ports.back().peer = {link.ends[1 - side].node_index,
                                                                     link.ends[1 - side].port};
  topology_.links.push_back(link);
}

inline void PipeRig::start(uint16_t index) {
  NodeOptions options{};
  options.topology = &topology_;
  options.node_index = index;
  options.applications = &shape_.applications;
  options.workers = shape_.workers;
  options.match_entries = shape_.match_entries;
  options.station_entries = std::max(4096u, shape_.match_entries);
  devices_.emplace_back();
  for (size_t port = 0; port < topology_.nodes[index].ports.size(); ++port) {
    devices_.back().push_back(std::make_unique<PipeDevice>(pool_));
    options.devices.push_back(devices_.back().back().get());
  }
  options.complete_checksums.assign(options.devices.size(), false);
  options.pool = &pool_;
  options.control_pool = &pool_;
  options.seed = index + 1u;
  nodes_.push_back(std::make_unique<Node>(options));
}

constexpr uint64_t kSender = 0x020000000100, kReceiver = 0x020000000200;  // and so on, by pair

// UDP of flow `flow`, from the sender of pair `from` to the receiver of pair `to`; the group is the low bits of the
// source's address.
inline void write_frame(Packet& packet, uint32_t from, uint32_t to, uint32_t flow, uint32_t size, uint32_t group = 0) {
  packet.length = static_cast<uint16_t>(size);
  std::memset(packet.data, 0, size);
  store_mac(packet.data, kReceiver + to);
  store_mac(packet.data + 6, kSender + from);
  store_be16(packet.data + 12, kEtherTypeIpv4);
  uint8_t* ip = packet.data + 14;
  ip[0] = 0x45;
  store_be16(ip + 2, static_cast<uint16_t>(size - 14));
  ip[8] = 64;
  ip[9] = kProtocolUdp;
  store_be32(ip + 12, 0x0a000000u + ((1 + (flow >> 10)) << 6) + group);
  store_be32(ip + 16, 0x0a000002u);
  store_be16(ip + 20, static_cast<uint16_t>(1024 + (flow & 1023)));
  store_be16(ip + 22, 9);
  store_be16(ip + 24, static_cast<uint16_t>(size - 34));
}

// A broadcast frame by which the switches learn where `mac` is.
inline void announce(PipeRig& rig, PipeDevice& host, uint64_t mac) {
  Packet* packet = nullptr;
  rig.pool().allocate(&packet, 1);
  write_frame(*packet, 0, 0, 0, 60);
  store_mac(packet->data, 0xffffffffffff);
  store_mac(packet->data + 6, mac);
  host.push(packet);
}

}  // namespace heddle::bench
