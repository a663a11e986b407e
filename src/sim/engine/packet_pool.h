// SPDX-License-Identifier: Apache-2.0
// Packets of the simulator: plain memory, one pool for the whole fabric. Knows who owns each packet, so that a buffer
// with two owners or none is found at once. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "wire/packet.h"

namespace heddle::sim {

using OwnerId = uint32_t;
constexpr OwnerId kFreeOwner = 0;
constexpr OwnerId kLinkOwner = 1;   // on a link
constexpr OwnerId kHostsOwner = 2;  // in a host's hands
constexpr OwnerId kFirstNodeOwner = 3;
constexpr uint32_t kUnlimited = ~0u;

// What the simulator keeps beside a packet, where no switch sees it.
struct PacketTag {
  OwnerId owner = kFreeOwner;
  uint32_t ghost = ~0u;         // index of the checker's record while the frame is on a link
  bool flooded = false;         // on the last link to a host: it came by the tree
  uint32_t* counted = nullptr;  // packets of a limited pool, while they are in its node
  bool doomed = false;          // forged so that no switch may forward it
  bool partial = false;         // from a host: its port says that the checksum is left to the hardware
};

class PoolError : public std::exception {
 public:
  explicit PoolError(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

class SimPool : public PacketPool {
 public:
  // `checked`: released packets are poisoned and looked at again when they are taken.
  SimPool(uint32_t room_bytes, bool checked);

  uint32_t allocate(Packet** packets, uint32_t count) override { return allocate_for(kLinkOwner, packets, count); }
  void release(Packet** packets, uint32_t count) override;
  uint32_t room_bytes() const override { return room_bytes_; }

  uint32_t allocate_for(OwnerId owner, Packet** packets, uint32_t count);
  // From one owner to another; throws PoolError if `from` doesn't own it.
  void hand_over(Packet& packet, OwnerId from, OwnerId to);
  static PacketTag& tag(Packet& packet) { return reinterpret_cast<Cell*>(&packet)->tag; }
  int64_t held(OwnerId owner) const { return owner < held_.size() ? held_[owner] : 0; }
  int64_t outstanding() const { return outstanding_; }

 private:
  struct Cell {
    Packet packet;  // first: a Packet* is a Cell*
    PacketTag tag;
  };
  static constexpr uint32_t kCellsPerSlab = 256;
  static constexpr uint8_t kPoison = 0xdb;
  static constexpr uint32_t kPoisonBytes = 192;  // from the start of the headroom

  uint8_t* bytes_of(Cell* cell) const { return reinterpret_cast<uint8_t*>(cell + 1); }
  void add_slab();
  void poison(Cell* cell) const;
  void check_poison(Cell* cell) const;
  int64_t& count_of(OwnerId owner);

  const uint32_t room_bytes_;
  const bool checked_;
  const size_t cell_bytes_;
  struct AlignedFree {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  std::vector<std::unique_ptr<uint8_t, AlignedFree>> slabs_;
  std::vector<Cell*> free_;
  std::vector<int64_t> held_;
  int64_t outstanding_ = 0;
};

// What one node sees of the pool. It gives out packets while the node holds fewer than `limit` in all.
class NodePool : public PacketPool {
 public:
  NodePool(SimPool& pool, OwnerId owner, uint32_t limit) : pool_(pool), owner_(owner), limit_(limit) {}
  uint32_t allocate(Packet** packets, uint32_t count) override;
  void release(Packet** packets, uint32_t count) override;
  uint32_t room_bytes() const override { return pool_.room_bytes(); }
  OwnerId owner() const { return owner_; }
  void set_limit(uint32_t limit) { limit_ = limit; }

 private:
  SimPool& pool_;
  OwnerId owner_;
  uint32_t limit_;
};

// The same for frames that the node makes itself: at most `limit` of them, whatever else it holds.
class ControlPool : public PacketPool {
 public:
  ControlPool(SimPool& pool, OwnerId owner, uint32_t limit) : pool_(pool), owner_(owner), limit_(limit) {}
  uint32_t allocate(Packet** packets, uint32_t count) override;
  void release(Packet** packets, uint32_t count) override { pool_.release(packets, count); }
  uint32_t room_bytes() const override { return pool_.room_bytes(); }

 private:
  SimPool& pool_;
  OwnerId owner_;
  uint32_t limit_;
  uint32_t made_ = 0;
};

}  // namespace heddle::sim
