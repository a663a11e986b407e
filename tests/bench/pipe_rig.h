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
      return count;
    }
    for (uint32_t i = 0; i < count; ++i) {
      Packet received{};
      received.data = packets[i]->data;
      received.length = packets[i]->length;
      *packets[i] = received;
      peer_->push(packets[i]);
    }
    return count;
  }

  std::atomic<uint64_t> delivered = 0;  // written by one thread

 private:
  PacketPool& pool_;
  PipeDevice* peer_ = nullptr;
  std::array<Packet*, 4096> ring_{};
  uint32_t head_ = 0, tail_ = 0;
};

// A line of switches; the first has hosts that send, the last hosts that receive, a line of one has both.
class PipeRig {
 public:
  PipeRig(PacketPool& pool, uint32_t switches, uint32_t pairs, uint32_t workers, uint32_t match_entries,
          const ApplicationPolicy& applications = kNoApplications);
  Node& node(uint32_t index) { return *nodes_[index]; }
  PipeDevice& sender(uint32_t pair) { return *devices_.front()[pair]; }
  PipeDevice& receiver(uint32_t pair) const { return *devices_.back()[devices_.size() == 1 ? pairs_ + pair : pair]; }
  uint32_t pairs() const { return pairs_; }
  PacketPool& pool() { return pool_; }
  uint32_t switches() const { return static_cast<uint32_t>(nodes_.size()); }
  const Node& node(uint32_t index) const { return *nodes_[index]; }

 private:
  PacketPool& pool_;
  uint32_t pairs_;
  Topology topology_;
  std::vector<std::vector<std::unique_ptr<PipeDevice>>> devices_;
  std::vector<std::unique_ptr<Node>> nodes_;
};

inline PipeRig::PipeRig(PacketPool& pool, uint32_t switches, uint32_t pairs, uint32_t workers, uint32_t match_entries,
                        const ApplicationPolicy& applications)
    : pool_(pool), pairs_(pairs) {
  topology_.name = "line";
  topology_.classes.emplace_back();
  for (uint16_t index = 0; index < switches; ++index) {
    TopologyNode node;
    node.name = "n" + std::to_string(index);
    node.address = static_cast<uint16_t>(index + 1);
    const bool end = index == 0 || index + 1u == switches;
    for (uint32_t edge = 0; edge < (end ? (switches == 1 ? 2 * pairs : pairs) : 0); ++edge) {
      TopologyPort port;
      port.name = "e" + std::to_string(edge);
      port.mtu_bytes = 1500;
      port.flood_frames_per_second = 0;
      port.stations_max = 1u << 20;
      node.ports.push_back(port);
    }
    topology_.nodes.push_back(node);
  }
  for (uint16_t index = 0; index + 1u < switches; ++index) {
    TopologyLink link;
    for (uint16_t side = 0; side < 2; ++side) {
      const auto at = static_cast<uint16_t>(index + side);
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
  for (uint16_t index = 0; index < switches; ++index) {
    NodeOptions options{};
    options.topology = &topology_;
    options.node_index = index;
    options.applications = &applications;
    options.workers = workers;
    options.match_entries = match_entries;
    options.station_entries = std::max(4096u, match_entries);
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
  for (const TopologyLink& link : topology_.links) {
    PipeDevice& a = *devices_[link.ends[0].node_index][link.ends[0].port];
    PipeDevice& b = *devices_[link.ends[1].node_index][link.ends[1].port];
    a.connect(b);
    b.connect(a);
  }
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
