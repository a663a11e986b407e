// SPDX-License-Identifier: Apache-2.0
// Frames of an edge port that wait for a flow ID of its own (F10), a queue for each group, and how many of these IDs
// each group has (A8). Owns the frames.
#pragma once

#include <vector>

#include "ingress/group_turns.h"
#include "ingress/id_shares.h"
#include "wire/packet.h"

namespace heddle {

class WaitingFrames {
 public:
  explicit WaitingFrames(uint32_t groups) : shares(groups), of_group_(groups) {}

  bool empty() const { return shares.waiting() == 0; }
  uint32_t count() const { return shares.waiting(); }
  // Of `most`, a group may have as many lossy ones as it leaves free.
  bool has_room(uint8_t group, uint32_t most) const {
    const uint32_t all = count();
    return all < most && (of_group_.size() == 1 || shares.waiting(group) <= most - all);
  }

  void push(uint8_t group, Packet* packet) {
    of_group_[group].push(packet);
    shares.waits(group);
    turns.enter(group);
  }
  const Packet* first(uint8_t group) const { return of_group_[group].head; }
  Packet* pop(uint8_t group) {
    shares.waits_no_more(group);
    if (shares.waiting(group) == 0) turns.leave(group);
    return of_group_[group].pop();
  }
  // Any of them; there is one.
  Packet* pop_any() { return pop(turns.next()); }

  IdShares shares;
  GroupTurns turns;  // of the groups in which frames wait

 private:
  std::vector<PacketQueue> of_group_;
};

}  // namespace heddle
