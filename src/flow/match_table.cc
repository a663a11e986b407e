// SPDX-License-Identifier: Apache-2.0
#include "flow/match_table.h"

namespace heddle {

MatchTable::MatchTable(uint32_t entries, const HashKey& key, std::pmr::memory_resource& memory)
    : key_(key), table_(entries, memory) {}

uint32_t MatchTable::insert(const MatchKey& key, uint32_t hash) {
  const uint32_t index = table_.add(key, hash);
  if (index == kNotFound) return kNotFound;
  MatchEntry& entry = table_[index];
  entry.lost_reason = DropReason::none;
  entry.ftag = key.ftag;
  entry.flags = kMatchUsed;
  ++used_;
  return index;
}

void MatchTable::remove(uint32_t index) {
  const MatchKey key = key_at(index);
  table_.remove(key, hash(key));
  table_[index].flags = 0;
  --used_;
  ++evictions_;
}

}  // namespace heddle
