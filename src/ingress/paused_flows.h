// SPDX-License-Identifier: Apache-2.0
// Flows of an edge port whose hosts are told how much of them they may send (G1), and which of them their hosts are to
// hear of next. Room for all flows there can be; work is for those that are listed.
#pragma once

#include <vector>

#include "flow/flow_id_queue.h"
#include "ingress/flow_pause.h"
#include "ingress/obeying_hosts.h"
#include "wire/types.h"

namespace heddle {

// Flows whose hosts are to hear of them again after a while, the same for all.
class FlowTurns {
 public:
  FlowTurns(uint32_t flow_ids, Nanos interval_ns)
      : since_ns_(flow_ids + 1), queue_(flow_ids), interval_ns_(interval_ns) {}

  void enter(FlowId id, Nanos now) {
    if (queue_.has(id)) return;
    since_ns_[id] = now;
    queue_.enter(id);
  }
  // When the first one's turn comes; kNever: there is none.
  Nanos next() const { return queue_.empty() ? kNever : since_ns_[queue_.first()] + interval_ns_; }
  FlowId take() { return queue_.take(); }

 private:
  std::vector<Nanos> since_ns_;  // by flow ID, of those in the queue
  FlowIdQueue queue_;
  Nanos interval_ns_;
};

struct PausedFlows {
  // `flow_ids`: of the port; 0 on fabric ports. `timer_ns`: for which a host obeys what it has heard (G2).
  PausedFlows(uint32_t flow_ids, Nanos timer_ns)
      : pauses(flow_ids + 1), due(flow_ids), again(flow_ids, timer_ns / 4), ended(flow_ids, kEndAgainNs) {}

  static constexpr Nanos kEndAgainNs = 2 * kMillisecond;

  std::vector<FlowPause> pauses;  // by flow ID
  FlowIdQueue due;                // to be told of next
  FlowTurns again;                // paused ones: frames get lost
  FlowTurns ended;                // those of which that is to be told again
  ObeyingHosts hosts;
  uint32_t number = 0;  // of the last pause
};

}  // namespace heddle
