// SPDX-License-Identifier: Apache-2.0
// Exact-match table from a number to a record, which has an index below capacity() as long as it is there. One worker
// reads and writes it.
//
// Buckets of one cache line hold tags (bits of the hash) and indices of eight records, 16 to 32 bytes for each of the
// capacity. At most half the places are used, so a key is nearly always in its first bucket; others follow in the next
// ones, up to kProbes (K12: bounded, and the hash is keyed, so nobody can aim). Key and value stand together, so that
// both are fetched at once.
#pragma once

#include <bit>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "flow/keyed_hash.h"
#include "flow/tag_ways.h"

namespace heddle {

constexpr uint32_t kNotFound = ~0u;

template <typename Value>
class KeyedTable {
 public:
  using Key = uint64_t;
  explicit KeyedTable(uint32_t capacity, std::pmr::memory_resource& memory = *std::pmr::get_default_resource())
      : buckets_(std::bit_ceil((2 * uint64_t{capacity} + kTagWays - 1) / kTagWays), &memory),
        records_(capacity, &memory),
        bucket_mask_(buckets_.size() - 1) {
    for (uint32_t index = 0; index < capacity; ++index) link_free(index, index + 1);
  }

  uint32_t capacity() const { return static_cast<uint32_t>(records_.size()); }
  uint32_t find(Key key, uint32_t hash) const {
    uint64_t at = first_bucket(hash);
    for (uint32_t probe = 0; probe < kProbes; ++probe, at = next_bucket(at)) {
      const Bucket& bucket = buckets_[at];
      for (uint32_t ways = bucket.tags.matching(TagWays::tag_of(hash)); ways != 0; ways &= ways - 1) {
        const uint32_t index = bucket.indices[TagWays::first_of(ways)];
        if (records_[index].key == key) return index;
      }
      if (bucket.passed == 0) return kNotFound;
    }
    return kNotFound;
  }
  // With an empty value. kNotFound when all indices are taken, or all places that the key could have. The key must not
  // be there yet.
  uint32_t add(Key key, uint32_t hash);
  // The key must be there.
  void remove(Key key, uint32_t hash);
  // Of an index that is in use; the value also later, as it was.
  Key key_at(uint32_t index) const { return records_[index].key; }
  Value& operator[](uint32_t index) { return records_[index].value; }
  const Value& operator[](uint32_t index) const { return records_[index].value; }

 private:
  static constexpr uint32_t kProbes = 4;
  struct alignas(64) Bucket {
    TagWays tags;
    uint32_t indices[kTagWays];
    uint32_t passed;  // keys that stand behind this bucket because it was full
  };
  static_assert(sizeof(Bucket) == 64);
  struct Record {
    Key key;
    Value value;
  };

  uint64_t first_bucket(uint32_t hash) const { return hash & bucket_mask_; }
  uint64_t next_bucket(uint64_t at) const { return (at + 1) & bucket_mask_; }

  // Those not in use are linked through their keys.
  void link_free(uint32_t index, uint32_t next) { records_[index].key = next; }
  uint32_t next_free(uint32_t index) const { return static_cast<uint32_t>(records_[index].key); }

  std::pmr::vector<Bucket> buckets_;
  std::pmr::vector<Record> records_;  // by index
  uint64_t bucket_mask_;
  uint32_t first_free_ = 0;  // capacity() = none
};

template <typename Value>
uint32_t KeyedTable<Value>::add(Key key, uint32_t hash) {
  const uint32_t index = first_free_;
  if (index == capacity()) return kNotFound;
  uint64_t at = first_bucket(hash);
  for (uint32_t probe = 0; probe < kProbes; ++probe, at = next_bucket(at)) {
    const uint32_t free = buckets_[at].tags.matching(0);
    if (free == 0) continue;
    const uint32_t way = TagWays::first_of(free);
    buckets_[at].tags.tags[way] = TagWays::tag_of(hash);
    buckets_[at].indices[way] = index;
    uint64_t full = first_bucket(hash);
    for (; full != at; full = next_bucket(full)) ++buckets_[full].passed;
    first_free_ = next_free(index);
    records_[index] = {key, {}};
    return index;
  }
  return kNotFound;
}

template <typename Value>
void KeyedTable<Value>::remove(Key key, uint32_t hash) {
  const uint32_t index = find(key, hash);
  uint64_t at = first_bucket(hash);
  for (;; at = next_bucket(at)) {
    Bucket& bucket = buckets_[at];
    for (uint32_t ways = bucket.tags.matching(TagWays::tag_of(hash)); ways != 0; ways &= ways - 1) {
      if (bucket.indices[TagWays::first_of(ways)] != index) continue;
      bucket.tags.tags[TagWays::first_of(ways)] = 0;
      link_free(index, first_free_);
      first_free_ = index;
      return;
    }
    --bucket.passed;
  }
}

}  // namespace heddle
