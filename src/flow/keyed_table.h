// SPDX-License-Identifier: Apache-2.0
// Exact-match table from a fixed-size key to an index: rte_hash with our keyed hash (K12). The caller keeps its values
// in an array of capacity() by that index. One worker reads and writes it.
#pragma once

#include <cstdint>

#include "flow/keyed_hash.h"

struct rte_hash;

namespace heddle {

constexpr uint32_t kNotFound = ~0u;

class KeyedTable {
 public:
  // Throws std::runtime_error if the memory can't be had.
  KeyedTable(uint32_t capacity, uint32_t key_bytes);
  ~KeyedTable();
  KeyedTable(const KeyedTable&) = delete;
  KeyedTable& operator=(const KeyedTable&) = delete;

  uint32_t capacity() const { return capacity_; }
  uint32_t find(const void* key, uint32_t hash) const;
  void find(const void* const* keys, const uint32_t* hashes, uint32_t count, uint32_t* indices) const;  // up to 64
  uint32_t add(const void* key, uint32_t hash);  // kNotFound when full; a key that is there keeps its index
  void remove(const void* key, uint32_t hash);
  const void* key_at(uint32_t index) const;  // of an index that is in use

 private:
  rte_hash* table_;
  uint32_t capacity_;
};

}  // namespace heddle
