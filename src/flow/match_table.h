// SPDX-License-Identifier: Apache-2.0
// Match table (F4): which flow of which edge port a frame belongs to. One per worker, the port is part of the key.
// An entry outlives the flow ID it had: whether `flow` is still its own is seen in the input flow, which names its
// match.
#pragma once

#include <bit>

#include "flow/keyed_table.h"
#include "wire/drop_reason.h"
#include "wire/types.h"

namespace heddle {

// Fields that the class's pattern leaves out (F1) are zero; the stations always count. Compared byte by byte: no
// padding. 16 bytes each: stations and where they are, IP addresses twice, the rest.
struct MatchKey {
  uint8_t macs[12];  // destination, source, as in the frame
  PortIndex input_port;
  uint16_t vni;
  uint8_t source_address[16];
  uint8_t destination_address[16];
  uint16_t source_port, destination_port;  // TCP, UDP; as in the frame
  uint32_t flow_label;
  uint8_t l3;  // 0, 4, 6
  uint8_t protocol;
  uint8_t ftag;
  uint8_t zero[5];
};
static_assert(sizeof(MatchKey) == 64 && alignof(MatchKey) == 4);

// The same in registers: written piece by piece a key can't be read at once before all pieces have left the store
// buffer.
struct MatchBlocks {
  __m128i blocks[4];
  void store(MatchKey& key) const { std::memcpy(&key, blocks, sizeof(key)); }
};
static_assert(sizeof(MatchBlocks) == sizeof(MatchKey));

enum MatchFlag : uint8_t {
  kMatchUsed = 0x01,
  kMatchNear = 0x02,    // its destination is an edge port of the same worker
  kMatchBeside = 0x04,  // of another worker of the node
};

struct MatchEntry {
  Nanos flooded_ns;           // when frames of it were last flooded (E1); 0 once those have died
  FabricAddress destination;  // HEDDLE_FLOOD_NODE while unknown
  uint32_t lost_bytes;        // of `bytes`, dropped here or lost further on; wraps
  uint32_t station_version;   // of the station table when the entry was last compared with it
  uint32_t bytes;             // let in so far; wraps
  FlowId flow;                // last one it had
  uint16_t waiting;           // its frames in the port's queue for a flow ID (F10)
  DropReason lost_reason;     // why the last of them were; none = further on, where it is counted
  uint8_t unused;
  uint8_t ftag;
  uint8_t flags;  // MatchFlag

  bool used() const { return flags & kMatchUsed; }
  void lose(uint32_t lost, DropReason reason) {
    lost_bytes += lost;
    lost_reason = reason;
  }
};
static_assert(sizeof(MatchEntry) == 32);

class MatchTable {
 public:
  MatchTable(uint32_t entries, const HashKey& key,
             std::pmr::memory_resource& memory = *std::pmr::get_default_resource());

  uint32_t hash(const MatchBlocks& key) const { return keyed_hash(key.blocks, key_); }
  uint32_t hash(const MatchKey& key) const { return hash(std::bit_cast<MatchBlocks>(key)); }
  uint32_t find(const MatchKey& key, uint32_t hash) const { return table_.find(key, hash); }
  void prefetch_bucket(uint32_t hash) const { table_.prefetch_bucket(hash); }
  uint32_t prefetch_likely(uint32_t hash) const { return table_.prefetch_likely(hash); }
  uint32_t find_likely(const MatchKey& key, uint32_t hash, uint32_t likely) const {
    return table_.find_likely(key, hash, likely);
  }
  // A new entry, with port, class and hash filled in. When the table is full an entry that `flows.idle(index)` allows
  // is evicted; a bounded number is looked at. kNotFound if there is none.
  template <typename Flows>
  uint32_t add(const MatchKey& key, uint32_t hash, const Flows& flows);
  MatchEntry& operator[](uint32_t index) { return table_[index]; }
  const MatchEntry& operator[](uint32_t index) const { return table_[index]; }
  uint32_t used() const { return used_; }
  // Grows when an entry is removed: an index that was found before may be another's.
  uint32_t evictions() const { return evictions_; }
  uint32_t capacity() const { return table_.capacity(); }
  const MatchKey& key_at(uint32_t index) const { return table_.key_at(index); }

 private:
  static constexpr uint32_t kEvictionLooks = 64;
  uint32_t insert(const MatchKey& key, uint32_t hash);
  void remove(uint32_t index);

  HashKey key_;
  KeyedTable<MatchKey, MatchEntry> table_;
  uint32_t used_ = 0;
  uint32_t evictions_ = 0;
  uint32_t hand_ = 0;
};

template <typename Flows>
uint32_t MatchTable::add(const MatchKey& key, uint32_t hash, const Flows& flows) {
  for (uint32_t looks = 0; used_ == capacity(); ++looks) {
    if (looks == kEvictionLooks) return kNotFound;
    const uint32_t candidate = hand_;
    hand_ = hand_ + 1 == capacity() ? 0 : hand_ + 1;
    if (table_[candidate].used() && table_[candidate].waiting == 0 && flows.idle(candidate)) remove(candidate);
  }
  return insert(key, hash);
}

}  // namespace heddle
