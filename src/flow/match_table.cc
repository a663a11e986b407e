// SPDX-License-Identifier: Apache-2.0
#include "flow/match_table.h"

#include <rte_hash.h>
#include <rte_memory.h>

#include <atomic>
#include <new>
#include <string>

namespace heddle {

namespace {

rte_hash* make_keys(uint32_t entries) {
  static std::atomic<uint32_t> made = 0;  // it wants a name of its own
  const std::string name = "matches-" + std::to_string(made++);
  const rte_hash_parameters parameters{.name = name.c_str(),
                                       .entries = MatchTable::keys_for(entries),
                                       .reserved = 0,
                                       .key_len = sizeof(MatchKey),
                                       .hash_func = nullptr,  // it is always given ours, which is keyed (K12)
                                       .hash_func_init_val = 0,
                                       .socket_id = SOCKET_ID_ANY,
                                       .extra_flag = 0};
  rte_hash* keys = rte_hash_create(&parameters);
  if (keys == nullptr) throw std::bad_alloc();
  return keys;
}

}  // namespace

void MatchTable::Free::operator()(rte_hash* keys) const { rte_hash_free(keys); }

MatchTable::MatchTable(uint32_t entries, const HashKey& key, std::pmr::memory_resource& memory)
    : key_(key),
      capacity_(entries),
      keys_(make_keys(entries)),
      records_(static_cast<size_t>(rte_hash_max_key_id(keys_.get())) + 1, &memory),
      hints_(std::bit_ceil((2 * uint64_t{entries} + kTagWays - 1) / kTagWays), &memory),
      hint_mask_(static_cast<uint32_t>(hints_.size()) - 1) {}

uint32_t MatchTable::find(const MatchKey& key, uint32_t hash) const {
  const uint32_t likely = prefetch_likely(hash);
  if (likely != kNotFound && same(records_[likely].key, key)) return likely;
  const int32_t position = rte_hash_lookup_with_hash(keys_.get(), &key, hash);
  return position < 0 ? kNotFound : static_cast<uint32_t>(position);
}

// Where the first hint of its hash did not lead.
uint32_t MatchTable::find_behind(const MatchKey& key, uint32_t hash) const {
  const Hints& hints = hints_[hash & hint_mask_];
  for (uint32_t ways = hints.tags.matching(TagWays::tag_of(hash)); ways != 0; ways &= ways - 1) {
    const uint32_t index = hints.indices[TagWays::first_of(ways)];
    if (same(records_[index].key, key)) return index;
  }
  return kNotFound;
}

void MatchTable::remember(uint32_t hash, uint32_t index) {
  Hints& hints = hints_[hash & hint_mask_];
  const uint32_t way = hints.next++ % kTagWays;
  hints.tags.tags[way] = TagWays::tag_of(hash);
  hints.indices[way] = index;
}

uint32_t MatchTable::insert(const MatchKey& key, uint32_t hash) {
  const int32_t position = rte_hash_add_key_with_hash(keys_.get(), &key, hash);
  if (position < 0) {
    ++refused_;
    return kNotFound;
  }
  const auto index = static_cast<uint32_t>(position);
  if (records_[index].entry.used()) return index;
  records_[index] = {.key = key, .entry = {}};
  MatchEntry& entry = records_[index].entry;
  entry.lost_reason = DropReason::none;
  entry.ftag = key.ftag;
  entry.flags = kMatchUsed;
  ++used_;
  return index;
}

// The record is cleared: no frame has a key of zeros, for its VLAN is none.
void MatchTable::remove(uint32_t index) {
  const MatchKey key = key_at(index);
  rte_hash_del_key_with_hash(keys_.get(), &key, hash(key));
  records_[index] = {};
  --used_;
}

}  // namespace heddle
