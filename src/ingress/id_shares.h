// SPDX-License-Identifier: Apache-2.0
// Flow IDs that the groups of an input port share (K11, A8): how many each has, and how many of its frames or flows
// wait for one. IDs that come free go to the waiting groups by turns (ingress/group_turns.h). While anybody waits, a
// group keeps no more than an equal part, so that an application of many flows leaves some to one of few; and a group
// in which somebody waits passes its own on. A value, owned by the input port's worker.
#pragma once

#include <cstdint>
#include <vector>

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
  }
  void waits_no_more(uint8_t group) {
    --waiting_;
    --of_group_[group].waiting;
    end(of_group_[group]);
  }

  uint32_t waiting() const { return waiting_; }  // of all groups
  uint32_t waiting(uint8_t group) const { return of_group_[group].waiting; }
  uint32_t held(uint8_t group) const { return of_group_[group].held; }
  // Has a flow of the group to leave its ID once it has had its turn?
  bool has_to_yield(uint8_t group) const { return waiting_ != 0 && yields(group); }
  // Has the group more than an equal part, while others wait?
  bool over_its_part(uint8_t group) const { return several_ && of_group_[group].held * active_ > held_; }

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

  uint32_t waiting_ = 0;  // of all groups
  bool several_;
  std::vector<Share> of_group_;
  uint32_t held_ = 0;
  uint32_t active_ = 0;  // groups that have IDs, or wait for some
};

}  // namespace heddle
