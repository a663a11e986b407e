// SPDX-License-Identifier: Apache-2.0
// Flows of an edge port, and groups of applications, whose hosts are told how much of them they may send (G1), and
// which of them their hosts are to hear of next. A pause is of a match, for flow IDs come and go while it holds, or of
// all that one host sends of a group. Work is for those that are listed.
#pragma once

#include <algorithm>
#include <vector>

#include "flow/id_queue.h"
#include "ingress/fgfc_flow.h"
#include "ingress/flow_pause.h"
#include "ingress/obeying_hosts.h"
#include "wire/types.h"

namespace heddle {

// Pauses that come up again after a while, the same for all.
class PauseTurns {
 public:
  PauseTurns(uint32_t most, Nanos interval_ns) : since_ns_(most + 1), queue_(most), interval_ns_(interval_ns) {}

  void enter(PauseId id, Nanos now) {
    if (queue_.has(id)) return;
    since_ns_[id] = now;
    queue_.enter(id);
  }
  // When the first one's turn comes; kNever: there is none.
  Nanos interval() const { return interval_ns_; }
  Nanos next() const { return queue_.empty() ? kNever : since_ns_[queue_.first()] + interval_ns_; }
  PauseId take() { return queue_.take(); }

 private:
  std::vector<Nanos> since_ns_;  // by id, of those in the queue
  IdQueue<PauseId> queue_;
  Nanos interval_ns_;
};

// Its host is told of it until its pause has ended.
struct PausedGroup {
  uint64_t host = 0;  // MAC address
  FgfcFlow flow{};    // what its flows have in common
  uint8_t group = 0;
  PauseId pause = kNoPause;
  bool lossless = false;
  uint32_t target = 0;           // bytes that may wait of the whole group
  uint32_t received = 0;         // bytes of it that the host has sent since it was told first; wraps
  uint32_t received_before = 0;  // when it was last told all again
};

struct PausedFlows {
  static constexpr uint32_t kMost = 256;       // of an edge port at a time
  static constexpr uint32_t kMostGroups = 16;  // of these, groups'
  static constexpr Nanos kEndAgainNs = 2 * kMillisecond;

  // `flow_ids`: of the port; 0 on fabric ports. `timer_ns`: for which a host obeys what it has heard (G2).
  PausedFlows(uint32_t flow_ids, Nanos timer_ns) : PausedFlows(flow_ids, flow_ids != 0 ? kMost : 0, timer_ns) {}

  // kNoPause if there are as many as there may be.
  PauseId take() { return unused.take(); }
  // nullptr: a flow's.
  PausedGroup* group_of(PauseId id) {
    if (groups.empty()) return nullptr;
    const auto group = std::find_if(groups.begin(), groups.end(), [id](const auto& each) { return each.pause == id; });
    return group != groups.end() ? &*group : nullptr;
  }
  // Once it is in no list but `due`: what is not taken from the others is passed over there.
  void put(PauseId id) {
    if (const PausedGroup* group = group_of(id)) groups.erase(groups.begin() + (group - groups.data()));
    pauses[id] = FlowPause();
    unused.enter(id);
  }
  // Of a match with kMatchPaused.
  PauseId find(uint32_t match) const {
    for (PauseId id = 1; id < pauses.size(); ++id)
      if (pauses[id].number() != 0 && pauses[id].match() == match) return id;
    return kNoPause;
  }

  // Something has been listed.
  void wake() { wake_ns = 0; }
  // All that was due has been done, or there was no packet for it, and that is tried again then.
  void rest(Nanos at_least) {
    wake_ns =
        std::max(at_least, due.empty() ? std::min({again.next(), calm.next(), ended.next(), look_at_groups_ns}) : 0);
  }

  std::vector<FlowPause> pauses;    // by id; number 0 = unused
  std::vector<PauseId> of_flows;    // by flow ID, of flows with kFlowPaused; kNoPause: it is of a paused group
  std::vector<PausedGroup> groups;  // has room for all
  IdQueue<PauseId> unused;
  IdQueue<PauseId> due;  // to be told of next
  PauseTurns again;      // paused ones: frames get lost
  PauseTurns calm;       // whose queues have become short; over if they still are: who paces takes a while to use its
                         // credit, and would else be let go and stopped again and again
  PauseTurns ended;      // those of which that is to be told again
  ObeyingHosts hosts;
  uint32_t number = 0;               // of the last pause; none has 0
  Nanos look_at_groups_ns = kNever;  // while there are any
  bool look_again = false;           // a group has been paused: entries of the match table are to be made not current,
  Nanos look_again_ns = 0;           // and none is before
  Nanos wake_ns = kNever;            // when there is something to do with what is listed; 0 = now

 private:
  PausedFlows(uint32_t flow_ids, uint32_t most, Nanos timer_ns)
      : pauses(most + 1),
        of_flows(flow_ids + 1),
        unused(most),
        due(most),
        again(most, timer_ns / 4),
        calm(most, timer_ns / 4),
        ended(most, kEndAgainNs) {
    groups.reserve(most != 0 ? kMostGroups : 0);
    for (PauseId id = 1; id <= most; ++id) unused.enter(id);
  }
};

}  // namespace heddle
