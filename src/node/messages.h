// SPDX-License-Identifier: Apache-2.0
// What the other workers of the node have for this one (X1): packets that cross, what is settled of them, and messages
// (node/crossbar.h), each taken in the order in which its sender handed it over, a bounded number of each a turn; then
// the turn says that it is busy. Packets are this worker's from then on. The rings are the senders'.
#pragma once

#include <vector>

#include "ingress/edge_input.h"
#include "node/crossbar.h"
#include "node/crosspoint.h"
#include "node/delivery_at_once.h"
#include "node/flow_ids.h"
#include "node/flow_life.h"
#include "node/flow_redirects.h"
#include "node/link_states.h"
#include "node/orphans.h"
#include "node/ports.h"
#include "node/room_returns.h"
#include "node/settlement.h"
#include "node/turn.h"
#include "routing/link_state.h"
#include "wire/inlining.h"

namespace heddle {

class Messages {
 public:
  Messages(uint32_t workers, Ports& ports, Turn& turn, EdgeInput& edge, Settlement& settlement, RoomReturns& room,
           FlowIds& flow_ids, FlowLife& flow_life, FlowRedirects& flow_redirects, CrossPoint& crosspoint,
           DeliveryAtOnce& at_once, LinkState& link_state, LinkStates& link_states, Orphans& orphans)
      : ports_(ports),
        turn_(turn),
        edge_(edge),
        settlement_(settlement),
        room_(room),
        flow_ids_(flow_ids),
        flow_life_(flow_life),
        flow_redirects_(flow_redirects),
        crosspoint_(crosspoint),
        at_once_(at_once),
        link_state_(link_state),
        link_states_(link_states),
        orphans_(orphans),
        from_(workers) {}

  // Once a turn, first of all: what they have handed over, a bounded number of each kind.
  void run(Nanos now);
  // Before the first turn, for every other worker.
  void connect(WorkerIndex worker, Crossing* from) { from_[worker] = from; }
  const std::vector<Crossing*>& sources() const { return from_; }  // by worker; nullptr: none

 private:
  HEDDLE_HOT void take_packets(Crossing& from, Nanos now);
  uint32_t take_settled(Crossing& from, Nanos now);
  void take(const Message& message, Nanos now);
  void take(const WantIds& want, Nanos);
  void take(const WaitForRoom& wait, Nanos);
  void take(const GrantId& grant, Nanos);
  void take(const RefuseIds& refuse, Nanos now);
  void take(const GiveReturns& give, Nanos);
  void take(const OrphansFreed& freed, Nanos);
  void take(const TellCredit& credit, Nanos now);
  void take(const StationLearned& station, Nanos now);
  void take(const LinkStateNews& news, Nanos);
  void take_flow(OutputFlowTable& flows, const CrossingPacket& crossing);

  Ports& ports_;
  Turn& turn_;
  EdgeInput& edge_;
  Settlement& settlement_;
  RoomReturns& room_;
  FlowIds& flow_ids_;
  FlowLife& flow_life_;
  FlowRedirects& flow_redirects_;
  CrossPoint& crosspoint_;
  DeliveryAtOnce& at_once_;
  LinkState& link_state_;
  LinkStates& link_states_;
  Orphans& orphans_;
  std::vector<Crossing*> from_;  // by worker
};

}  // namespace heddle
