// SPDX-License-Identifier: Apache-2.0
// Some of the nodes of a topology, by index. Allocates in its constructor.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "wire/types.h"

namespace heddle {

class NodeSet {
 public:
  explicit NodeSet(size_t nodes) : words_((nodes + 63) / 64) {}

  void insert(uint16_t node) { words_[node / 64] |= uint64_t{1} << node % 64; }
  void erase(uint16_t node) { words_[node / 64] &= ~(uint64_t{1} << node % 64); }
  void clear() { std::fill(words_.begin(), words_.end(), 0); }
  // In their order, as long as `visit` returns true. It may erase the one that it is called with.
  template <typename Visit>
  bool each(Visit visit) const {
    for (size_t at = 0; at < words_.size(); ++at)
      for (uint64_t rest = words_[at]; rest != 0; rest &= rest - 1)
        if (!visit(static_cast<uint16_t>(at * 64 + static_cast<size_t>(std::countr_zero(rest))))) return false;
    return true;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace heddle
