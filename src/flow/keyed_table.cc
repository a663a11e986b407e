// SPDX-License-Identifier: Apache-2.0
#include "flow/keyed_table.h"

#include <rte_errno.h>
#include <rte_hash.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace heddle {

KeyedTable::KeyedTable(uint32_t capacity, uint32_t key_bytes) : capacity_(capacity) {
  static std::atomic<uint32_t> tables{0};  // rte_hash wants a name no other table of the process has
  char name[RTE_HASH_NAMESIZE];
  std::snprintf(name, sizeof name, "heddle%u", tables.fetch_add(1));
  rte_hash_parameters parameters{};
  parameters.name = name;
  parameters.entries = capacity;
  parameters.key_len = key_bytes;
  parameters.socket_id = -1;
  parameters.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE;  // an insert fails only when all entries are taken
  table_ = rte_hash_create(&parameters);
  if (table_ == nullptr)
    throw std::runtime_error("table of " + std::to_string(capacity) + " entries: " + rte_strerror(rte_errno));
}

KeyedTable::~KeyedTable() { rte_hash_free(table_); }

uint32_t KeyedTable::find(const void* key, uint32_t hash) const {
  const int32_t index = rte_hash_lookup_with_hash(table_, key, hash);
  return index < 0 ? kNotFound : static_cast<uint32_t>(index);
}

// In passes, so that the memory of one key is fetched while another is compared.
void KeyedTable::find(const void* const* keys, const uint32_t* hashes, uint32_t count, uint32_t* indices) const {
  static_assert(kNotFound == static_cast<uint32_t>(-1));
  int32_t found[RTE_HASH_LOOKUP_BULK_MAX];
  if (count == 0) return;
  rte_hash_lookup_with_hash_bulk(table_, const_cast<const void**>(keys), const_cast<hash_sig_t*>(hashes), count, found);
  for (uint32_t i = 0; i < count; ++i) indices[i] = found[i] < 0 ? kNotFound : static_cast<uint32_t>(found[i]);
}

uint32_t KeyedTable::add(const void* key, uint32_t hash) {
  const int32_t index = rte_hash_add_key_with_hash(table_, key, hash);
  return index < 0 ? kNotFound : static_cast<uint32_t>(index);
}

void KeyedTable::remove(const void* key, uint32_t hash) { rte_hash_del_key_with_hash(table_, key, hash); }

const void* KeyedTable::key_at(uint32_t index) const {
  void* key = nullptr;
  rte_hash_get_key_with_position(table_, static_cast<int32_t>(index), &key);
  return key;
}

}  // namespace heddle
