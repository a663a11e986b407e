// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/packet_pool.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

namespace heddle::sim {

SimPool::SimPool(uint32_t room_bytes, bool checked)
    : room_bytes_(room_bytes),
      checked_(checked),
      cell_bytes_((sizeof(Cell) + kPacketHeadroomBytes + room_bytes + 63) / 64 * 64) {}

void SimPool::add_slab() {
  auto* memory = static_cast<uint8_t*>(std::aligned_alloc(64, cell_bytes_ * kCellsPerSlab));
  if (memory == nullptr) throw std::bad_alloc();
  slabs_.emplace_back(memory);
  for (uint32_t i = kCellsPerSlab; i > 0; --i) {
    auto* cell = new (memory + (i - 1) * cell_bytes_) Cell{};
    if (checked_) poison(cell);
    free_.push_back(cell);
  }
}

int64_t& SimPool::count_of(OwnerId owner) {
  if (owner >= held_.size()) held_.resize(owner + size_t{1});
  return held_[owner];
}

void SimPool::poison(Cell* cell) const {
  std::memset(bytes_of(cell), kPoison, kPoisonBytes);
  cell->packet.next = nullptr;
  cell->packet.data = nullptr;
}

void SimPool::check_poison(Cell* cell) const {
  const uint8_t* bytes = bytes_of(cell);
  const bool intact = std::all_of(bytes, bytes + kPoisonBytes, [](uint8_t byte) { return byte == kPoison; });
  if (!intact || cell->packet.next != nullptr || cell->packet.data != nullptr)
    throw PoolError("a packet was written to after its release");
}

uint32_t SimPool::allocate_for(OwnerId owner, Packet** packets, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (free_.empty()) add_slab();
    Cell* cell = free_.back();
    free_.pop_back();
    if (checked_) check_poison(cell);
    cell->packet = {};
    cell->packet.data = bytes_of(cell) + kPacketHeadroomBytes;
    cell->tag = {};
    cell->tag.owner = owner;
    packets[i] = &cell->packet;
  }
  count_of(owner) += count;
  outstanding_ += count;
  return count;
}

void SimPool::release(Packet** packets, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    auto* cell = reinterpret_cast<Cell*>(packets[i]);
    if (cell->tag.owner == kFreeOwner) throw PoolError("a packet was released twice");
    --count_of(cell->tag.owner);
    --outstanding_;
    if (cell->tag.counted != nullptr) --*cell->tag.counted;
    cell->tag.counted = nullptr;
    cell->tag.owner = kFreeOwner;
    if (checked_) poison(cell);
    free_.push_back(cell);
  }
}

void SimPool::hand_over(Packet& packet, OwnerId from, OwnerId to) {
  PacketTag& owned = tag(packet);
  if (owned.owner != from)
    throw PoolError("a packet of owner " + std::to_string(owned.owner) + " was handed over by " + std::to_string(from));
  --count_of(from);
  ++count_of(to);
  if (owned.counted != nullptr) --*owned.counted;
  owned.counted = nullptr;
  owned.owner = to;
}

uint32_t NodePool::allocate(Packet** packets, uint32_t count) {
  const int64_t room = int64_t{limit_} - pool_.held(owner_);
  if (room <= 0) return 0;
  return pool_.allocate_for(owner_, packets, static_cast<uint32_t>(std::min<int64_t>(room, count)));
}

uint32_t ControlPool::allocate(Packet** packets, uint32_t count) {
  count = std::min(count, limit_ - made_);
  count = pool_.allocate_for(owner_, packets, count);
  if (limit_ == kUnlimited) return count;
  for (uint32_t i = 0; i < count; ++i) SimPool::tag(*packets[i]).counted = &made_;
  made_ += count;
  return count;
}

void NodePool::release(Packet** packets, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    const OwnerId owner = SimPool::tag(*packets[i]).owner;
    if (owner != owner_)
      throw PoolError("node owner " + std::to_string(owner_) + " released a packet of owner " + std::to_string(owner));
  }
  pool_.release(packets, count);
}

}  // namespace heddle::sim
