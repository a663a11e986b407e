// SPDX-License-Identifier: Apache-2.0
// Match table (F4): which flow of which edge port a frame belongs to. One per worker, the port is part of the key.
// An entry outlives the flow ID it had: whether `flow` is still its own is seen in the input flow, which names its
// match.
//
// Whose key is there is rte_hash's to say: it alone adds and removes keys, and the position that it gives a key is the
// entry's index. In front of it stand the records {key, entry} by index, and hints, which hash leads to which index. A
// hint is never trusted: the record's key is compared, and one that has been removed is no frame's. So nothing is to be
// kept in step, and rte_hash is asked only of a key that no hint leads to, once: it adds what it does not find.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <vector>

#include "flow/keyed_hash.h"
#include "flow/keyed_table.h"
#include "flow/tag_ways.h"
#include "wire/drop_reason.h"
#include "wire/types.h"

struct rte_hash;

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
  uint8_t dscp;  // as in IPv4: in the upper six bits
  uint8_t zero[4];
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
  // Its host is told how much of it it may send (G1), or of all of its group: none of its frames passes flows by, and
  // it is neither near nor beside.
  kMatchPaused = 0x08,
  kMatchOfGroup = 0x10,
};
constexpr uint8_t kMatchHeld = kMatchPaused | kMatchOfGroup;

struct MatchEntry {
  Nanos flooded_ns;           // when frames of it were last flooded (E1); 0 once those have died
  FabricAddress destination;  // HEDDLE_FLOOD_NODE while unknown
  uint32_t lost_bytes;        // of `bytes`, dropped here or lost further on; wraps
  uint32_t station_version;   // of the station table when the entry was last compared with it
  uint32_t bytes;             // let in so far; wraps
  FlowId flow;                // last one it had
  uint16_t waiting;           // its frames in the port's queue for a flow ID (F10)
  DropReason lost_reason;     // why the last of them were; none = further on, where it is counted
  uint8_t group;              // of the applications of its port (A1)
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
  // At least kEntriesMin. The keys' memory is DPDK's, whose EAL runs; that of records and hints is `memory`. Throws
  // std::bad_alloc if there is not enough of either.
  static constexpr uint32_t kEntriesMin = 8;
  // Keys that rte_hash is made for, so that it has a place for nearly each of `entries`, and one more while another
  // goes: it has as many places as the next power of two, and a quarter of them are to be left over.
  static constexpr uint32_t keys_for(uint32_t entries) {
    const uint32_t places = std::bit_ceil(entries);
    return uint64_t{entries} * 4 <= uint64_t{places} * 3 ? entries + 1 : places + 1;
  }
  MatchTable(uint32_t entries, const HashKey& key,
             std::pmr::memory_resource& memory = *std::pmr::get_default_resource());

  uint32_t hash(const MatchBlocks& key) const { return keyed_hash(key.blocks, key_); }
  uint32_t hash(const MatchKey& key) const { return hash(std::bit_cast<MatchBlocks>(key)); }
  // kNotFound if it is not there.
  uint32_t find(const MatchKey& key, uint32_t hash) const;
  // In steps, for keys in bursts: the hints are fetched; then the record that it is likely to be, if there is one; then
  // that is compared, and those that other hints lead to. kNotFound where none of them is the one: add() knows.
  void prefetch_hints(uint32_t hash) const { __builtin_prefetch(&hints_[hash & hint_mask_]); }
  uint32_t prefetch_likely(uint32_t hash) const {
    const Hints& hints = hints_[hash & hint_mask_];
    const uint32_t ways = hints.tags.matching(TagWays::tag_of(hash));
    if (ways == 0) return kNotFound;
    const uint32_t index = hints.indices[TagWays::first_of(ways)];
    __builtin_prefetch(&records_[index]);
    __builtin_prefetch(&records_[index].entry);
    return index;
  }
  uint32_t find_likely(const MatchKey& key, uint32_t hash, uint32_t likely) const {
    return likely == kNotFound || same(records_[likely].key, key) ? likely : find_behind(key, hash);
  }
  // A key's entry: the one that is there, or a new one, with its class filled in. When that is one too many, another
  // that `flows.idle(index)` allows is evicted; a bounded number is looked at. kNotFound if there is none, or rte_hash
  // has no place for the key (K12), and that is counted.
  template <typename Flows>
  uint32_t add(const MatchKey& key, uint32_t hash, const Flows& flows);
  // Whether it would find room, as far as can be told beforehand.
  template <typename Flows>
  bool has_room(const Flows& flows) const {
    uint32_t at = hand_;
    return used_ < capacity_ || next_idle(at, kNotFound, flows) != kNotFound;
  }
  MatchEntry& operator[](uint32_t index) { return records_[index].entry; }
  const MatchEntry& operator[](uint32_t index) const { return records_[index].entry; }
  const MatchKey& key_at(uint32_t index) const { return records_[index].key; }  // of an entry that is used
  uint32_t indices() const { return static_cast<uint32_t>(records_.size()); }   // all are below that; never changes
  uint32_t capacity() const { return capacity_; }
  uint32_t used() const { return used_; }
  uint64_t refused() const { return refused_; }
  // An index that was found before may be another's then.
  uint32_t evictions() const { return evictions_; }

 private:
  static constexpr uint32_t kEvictionLooks = 64;
  // 96 bytes: in two cache lines wherever it stands.
  struct alignas(32) Record {
    MatchKey key;
    MatchEntry entry;
  };
  // Of the keys whose hashes end alike, the eight that were added last, or found without a hint: twice as many hints as
  // entries. With two in a place, three flows that take turns there never find theirs; eight fill a cache line.
  struct alignas(64) Hints {
    TagWays tags;
    uint32_t indices[kTagWays];
    uint32_t next;  // the way that is given to another key next
  };
  struct Free {
    void operator()(rte_hash* keys) const;
  };

  static bool same(const MatchKey& a, const MatchKey& b) {
    const auto half = [](const MatchKey& key, size_t which) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&key) + which);
    };
    const __m256i different = _mm256_or_si256(_mm256_xor_si256(half(a, 0), half(b, 0)),  //
                                              _mm256_xor_si256(half(a, 1), half(b, 1)));
    return _mm256_testz_si256(different, different) != 0;
  }
  [[gnu::noinline]] uint32_t find_behind(const MatchKey& key, uint32_t hash) const;
  void remember(uint32_t hash, uint32_t index);
  template <typename Flows>
  [[gnu::always_inline]] uint32_t next_idle(uint32_t& at, uint32_t but, const Flows& flows) const;
  uint32_t insert(const MatchKey& key, uint32_t hash);
  void remove(uint32_t index);

  HashKey key_;
  uint32_t capacity_;
  std::unique_ptr<rte_hash, Free> keys_;
  std::pmr::vector<Record> records_;  // by index
  std::pmr::vector<Hints> hints_;     // by the hash's last bits
  uint32_t hint_mask_;
  uint32_t used_ = 0;
  uint32_t evictions_ = 0;
  uint64_t refused_ = 0;
  uint32_t hand_ = 0;
};

template <typename Flows>
uint32_t MatchTable::add(const MatchKey& key, uint32_t hash, const Flows& flows) {
  const uint32_t likely = prefetch_likely(hash);  // of a frame of the same burst, perhaps
  if (likely != kNotFound && same(records_[likely].key, key)) return likely;
  const uint32_t index = insert(key, hash);
  if (index == kNotFound) return kNotFound;
  if (used_ > capacity_) {
    const uint32_t idle = next_idle(hand_, index, flows);
    if (idle == kNotFound) {
      remove(index);
      return kNotFound;
    }
    remove(idle);
    ++evictions_;
  }
  remember(hash, index);
  return index;
}

// The first one from `at` on that may be evicted and is not `but`, of kEvictionLooks; `at` stands behind those then.
template <typename Flows>
inline uint32_t MatchTable::next_idle(uint32_t& at, uint32_t but, const Flows& flows) const {
  for (uint32_t looks = 0; looks < kEvictionLooks; ++looks) {
    const uint32_t candidate = at;
    at = at + 1 == indices() ? 0 : at + 1;
    const MatchEntry& entry = records_[candidate].entry;
    const bool stays = (entry.flags & (kMatchUsed | kMatchPaused)) != kMatchUsed;
    if (candidate != but && !stays && entry.waiting == 0 && flows.idle(candidate)) return candidate;
  }
  return kNotFound;
}

}  // namespace heddle
