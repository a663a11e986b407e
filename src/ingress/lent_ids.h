// SPDX-License-Identifier: Apache-2.0
// LentIds: output flow IDs of another worker's port that an input port has been granted and keeps for its next flows:
// else every short flow would ask for one and wait (K11). Each is of the virtual channel that it was granted for. The
// one that was used last comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "wire/types.h"

namespace heddle {

class LentIds {
 public:
  explicit LentIds(uint32_t channels) : channels_(channels) {}

  // In each channel so many may be kept; none before.
  void make_room(uint32_t count) {
    for (Channel& kept : channels_) kept.ids.resize(count);
  }
  uint32_t held() const { return held_; }  // with those that flows have
  void came() { ++held_; }
  void went_home() { --held_; }
  uint32_t count() const { return count_; }  // of all channels
  uint32_t count(uint8_t channel) const { return channels_[channel].count; }
  void put(uint8_t channel, FlowId id) {
    Channel& kept = channels_[channel];
    kept.ids[kept.count++] = id;
    ++count_;
  }
  // kNoFlow if there is none.
  FlowId take(uint8_t channel) {
    Channel& kept = channels_[channel];
    if (kept.count == 0) return kNoFlow;
    --count_;
    kept.least = std::min(kept.least, --kept.count);
    return kept.ids[kept.count];
  }
  // How many have not been needed since mark().
  uint32_t spare(uint8_t channel) const { return channels_[channel].least; }
  void mark() {
    for (Channel& kept : channels_) kept.least = kept.count;
  }

 private:
  struct Channel {
    std::vector<FlowId> ids;
    uint32_t count = 0;
    uint32_t least = 0;  // since mark()
  };

  std::vector<Channel> channels_;
  uint32_t count_ = 0;
  uint32_t held_ = 0;
};

}  // namespace heddle
