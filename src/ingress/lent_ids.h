// SPDX-License-Identifier: Apache-2.0
// LentIds: output flow IDs of another worker's port that an input port has been granted and keeps for its next flows:
// else every short flow would ask for one and wait (K11). The one that was used last comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "wire/types.h"

namespace heddle {

class LentIds {
 public:
  void make_room(uint32_t count) { ids_.resize(count); }
  uint32_t held() const { return held_; }  // with those that flows have
  void came() { ++held_; }
  void went_home() { --held_; }
  uint32_t count() const { return count_; }
  void put(FlowId id) { ids_[count_++] = id; }
  // kNoFlow if there is none.
  FlowId take() {
    if (count_ == 0) return kNoFlow;
    least_ = std::min(least_, --count_);
    return ids_[count_];
  }
  // How many have not been needed since mark().
  uint32_t spare() const { return least_; }
  void mark() { least_ = count(); }

 private:
  std::vector<FlowId> ids_;
  uint32_t count_ = 0;
  uint32_t held_ = 0;
  uint32_t least_ = 0;  // since mark()
};

}  // namespace heddle
