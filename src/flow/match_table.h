// SPDX-License-Identifier: Apache-2.0
// Match table (F4): which flow of which edge port a frame belongs to. One per worker, the port is part of the key.
// An entry outlives the flow ID it had: whether `flow` is still its own is seen in the input flow, which names its
// match.
#pragma once

#include <vector>

#include "flow/keyed_table.h"
#include "wire/types.h"

namespace heddle {

// Fields that the class's pattern leaves out (F1) are zero. Compared byte by byte: no padding.
struct MatchKey {
  uint8_t source_address[16];
  uint8_t destination_address[16];
  uint64_t source_mac;       // 48 bits; above them the class (ftag)
  uint64_t destination_mac;  // 48 bits; above them layer 3 (0, 4, 6) and the IP protocol
  FabricAddress destination;
  uint32_t flow_label;
  PortIndex input_port;
  uint16_t vni;
  uint16_t source_port, destination_port;  // TCP, UDP
};
static_assert(sizeof(MatchKey) == 64 && alignof(MatchKey) == 8);

struct MatchEntry {
  FabricAddress destination;
  uint32_t hash;
  uint32_t station_version;  // of the station table when the entry was last compared with it
  uint32_t bytes;            // let in so far; wraps
  Nanos flooded_ns;          // a flooded pair: its last flood; a flow: until when it is held after floods (E1)
  FlowId flow;               // last one it had
  uint16_t waiting;          // its frames in the port's queue for a flow ID (F10)
  PortIndex input_port;
  uint8_t ftag;
  bool used;
};
static_assert(sizeof(MatchEntry) == 32);

class MatchTable {
 public:
  MatchTable(uint32_t entries, const HashKey& key);

  uint32_t hash(const MatchKey& key) const { return keyed_hash<sizeof(MatchKey)>(&key, key_); }
  uint32_t find(const MatchKey& key, uint32_t hash) const { return table_.find(&key, hash); }
  // A new entry, with `destination`, port and hash filled in. When the table is full an entry that `idle(index)` allows
  // is evicted; a bounded number is looked at. kNotFound if there is none.
  template <typename Idle>
  uint32_t add(const MatchKey& key, uint32_t hash, Idle idle);
  MatchEntry& operator[](uint32_t index) { return entries_[index]; }
  const MatchEntry& operator[](uint32_t index) const { return entries_[index]; }
  uint32_t used() const { return used_; }
  uint32_t capacity() const { return table_.capacity(); }
  const MatchKey& key_at(uint32_t index) const { return *static_cast<const MatchKey*>(table_.key_at(index)); }

 private:
  static constexpr uint32_t kEvictionLooks = 64;
  uint32_t insert(const MatchKey& key, uint32_t hash);
  void remove(uint32_t index);

  HashKey key_;
  KeyedTable table_;
  std::vector<MatchEntry> entries_;
  uint32_t used_ = 0;
  uint32_t hand_ = 0;
};

template <typename Idle>
uint32_t MatchTable::add(const MatchKey& key, uint32_t hash, Idle idle) {
  for (uint32_t looks = 0; used_ == capacity(); ++looks) {
    if (looks == kEvictionLooks) return kNotFound;
    const uint32_t candidate = hand_;
    hand_ = hand_ + 1 == capacity() ? 0 : hand_ + 1;
    if (entries_[candidate].used && entries_[candidate].waiting == 0 && idle(candidate)) remove(candidate);
  }
  return insert(key, hash);
}

}  // namespace heddle
