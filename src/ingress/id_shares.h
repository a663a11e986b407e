// SPDX-License-Identifier: Apache-2.0
// Flow IDs that the groups of an input port share (K11, A8): how many each has, and how many of its frames or flows
// wait for one. IDs that come free go to the waiting groups by turns. While anybody waits, a group keeps no more than
// an equal part, so that an application of many flows leaves some to one of few; and a group in which somebody waits
// passes its own on. A value, owned by the input port's worker.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "topology/application_policy.h"

namespace heddle {

class IdShares {
 public:
  explicit IdShares(uint32_t groups) : several_(groups > 1), of_group_(groups) {}

  // Where there is one group it is not counted what it has.
  void took(uint8_t group) {
    if (!several_) return;
    begin(of_group_[group]);
    ++of_group_[group].held;
    ++held_;
  }
  void gave(uint8_t group) {
    if (!several_) return;
    --of_group_[group].held;
    --held_;
    end(of_group_[group]);
  }
  void waits(uint8_t group) {
    begin(of_group_[group]);
    ++of_group_[group].waiting;
    ++waiting_;
    groups_[group / 64] |= uint64_t{1} << group % 64;
  }
  void waits_no_more(uint8_t group) {
    --waiting_;
    if (--of_group_[group].waiting == 0) groups_[group / 64] &= ~(uint64_t{1} << group % 64);
    end(of_group_[group]);
  }

  uint32_t waiting() const { return waiting_; }  // of all groups
  uint32_t waiting(uint8_t group) const { return of_group_[group].waiting; }
  uint32_t held(uint8_t group) const { return of_group_[group].held; }
  // Has a flow of the group to leave its ID once it has had its turn?
  bool has_to_yield(uint8_t group) const { return waiting_ != 0 && yields(group); }
  // Has the group more than an equal part, while others wait?
  bool over_its_part(uint8_t group) const { return several_ && of_group_[group].held * active_ > held_; }
  // Whose turn it is, of the groups in which somebody waits; there is one. The next one's is it from then on.
  uint8_t next_turn() {
    const uint8_t group = first_from(turn_);
    turn_ = static_cast<uint8_t>((group + 1) % kGroups);
    return group;
  }
  // It found nothing: the next turn is its own again.
  void keep_turn(uint8_t group) { turn_ = group; }

 private:
  struct Share {
    uint32_t held = 0, waiting = 0;
  };

  [[gnu::noinline]] bool yields(uint8_t group) const {
    const Share& own = of_group_[group];
    return own.waiting != 0 || own.held * active_ > held_;
  }
  void begin(const Share& share) { active_ += (share.held | share.waiting) == 0; }
  void end(const Share& share) { active_ -= (share.held | share.waiting) == 0; }
  uint8_t first_from(uint8_t group) const {
    const uint64_t later = groups_[group / 64] & ~uint64_t{0} << group % 64;
    if (later != 0) return static_cast<uint8_t>(group / 64 * 64 + std::countr_zero(later));
    const unsigned other = 1 - group / 64;
    const unsigned half = groups_[other] != 0 ? other : 1 - other;
    return static_cast<uint8_t>(half * 64 + static_cast<unsigned>(std::countr_zero(groups_[half])));
  }

  uint32_t waiting_ = 0;  // of all groups
  bool several_;
  uint8_t turn_ = 0;
  std::vector<Share> of_group_;
  std::array<uint64_t, kGroups / 64> groups_{};  // bit n: somebody waits in group n
  uint32_t held_ = 0;
  uint32_t active_ = 0;  // groups that have IDs, or wait for some
};

}  // namespace heddle
