// SPDX-License-Identifier: Apache-2.0
#include "flow/match_table.h"

namespace heddle {

MatchTable::MatchTable(uint32_t entries, const HashKey& key) : key_(key), table_(entries), entries_(entries) {}

uint32_t MatchTable::insert(const MatchKey& key, uint32_t hash) {
  const uint32_t index = table_.add(key, hash);
  if (index == kNotFound) return kNotFound;
  entries_[index] = {};
  entries_[index].input_port = key.input_port;
  entries_[index].ftag = key.ftag;
  entries_[index].hash = hash;
  entries_[index].used = true;
  ++used_;
  return index;
}

void MatchTable::remove(uint32_t index) {
  const MatchKey key = key_at(index);
  table_.remove(key, entries_[index].hash);
  entries_[index].used = false;
  --used_;
  ++evictions_;
}

}  // namespace heddle
