// SPDX-License-Identifier: Apache-2.0
// Groups of applications in which somebody waits, and whose turn it is (A8). A value.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "topology/application_policy.h"

namespace heddle {

class GroupTurns {
 public:
  // Somebody waits in the group. Nobody does any more.
  void enter(uint8_t group) { groups_[group / 64] |= uint64_t{1} << group % 64; }
  void leave(uint8_t group) { groups_[group / 64] &= ~(uint64_t{1} << group % 64); }
  // Whose turn it is; there is one. The next one's it is from then on.
  uint8_t next() {
    const uint8_t group = first_from(turn_);
    turn_ = static_cast<uint8_t>((group + 1) % kGroups);
    return group;
  }
  // It found nothing: the next turn is its own again.
  void keep(uint8_t group) { turn_ = group; }

 private:
  uint8_t first_from(uint8_t group) const {
    const uint64_t later = groups_[group / 64] & ~uint64_t{0} << group % 64;
    if (later != 0) return static_cast<uint8_t>(group / 64 * 64 + std::countr_zero(later));
    const unsigned other = 1 - group / 64;
    const unsigned half = groups_[other] != 0 ? other : 1 - other;
    return static_cast<uint8_t>(half * 64 + static_cast<unsigned>(std::countr_zero(groups_[half])));
  }

  std::array<uint64_t, kGroups / 64> groups_{};  // bit n: somebody waits in group n
  uint8_t turn_ = 0;
};

}  // namespace heddle
