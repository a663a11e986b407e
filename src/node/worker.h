// SPDX-License-Identifier: Apache-2.0
// One worker of a node: owns whole ports, and runs all stages of the switch for them (decisions 1, 2, 4).
// poll() is the data path: it never blocks, sleeps, reads a clock or allocates per packet. All else is for the node
// that builds it and for inspection between polls, by the thread that runs it. Components stand after what they use.
#pragma once

#include <vector>

#include "node/ack_relay.h"
#include "node/arbitration.h"
#include "node/credit_watch.h"
#include "node/edge_transmit.h"
#include "node/fabric_transmit.h"
#include "node/id_grants.h"
#include "node/messages.h"
#include "node/options.h"
#include "node/receive.h"
#include "node/regrouping.h"

namespace heddle {

class Worker {
 public:
  Worker(const NodeOptions& options, WorkerIndex index, LoadBoard& board, const std::vector<Port*>& ports,
         const std::vector<WorkerIndex>& worker_of_port);
  Worker(const Worker&) = delete;
  ~Worker();
  // Rings to and from worker `other`; call for every other worker before the first poll.
  void connect(WorkerIndex other, Crossing* to, Crossing* from);
  PollResult poll(Nanos now);  // one turn
  // No flow keeps an ID that it has no use for just now: what else stays in the tables is left over.
  void end_all_rest() { flow_life_.end_all_rest(); }
  void regroup() { regrouping_.run(); }  // the policy that it was given is another one (A9)
  // The port's device says whether anything is plugged in; acted on in the next turn. By the worker's thread.
  void set_carrier(PortIndex port, bool carrier) { link_control_.set_carrier(ports_.own(port), carrier); }

  const Site& site() const { return site_; }
  const std::vector<Port*>& ports() const { return ports_.all(); }
  const EdgeInput& edge_input() const { return edge_; }
  const LinkState& link_state() const { return link_state_; }
  const PathChoice& paths() const { return paths_; }
  const LoadBoard& board() const { return board_; }
  const BufferShares& shares() const { return shares_; }
  const Admission& admission() const { return admission_; }
  const EdgeReceive& edge_receive() const { return edge_receive_; }
  uint32_t copies_out() const { return room_.copies_out(); }
  NodeEvents& events() { return events_; }
  uint64_t polls() const { return turn_.number(); }
  uint64_t busy_polls() const { return busy_polls_; }

 private:
  void run_timers(Nanos now);
  void transmit(Nanos now);
  bool work_left() const;
  Nanos next_wake(Nanos now) const;

  const Site site_;
  Ports ports_;
  LoadBoard& board_;
  PacketPool& pool_;
  Random random_;
  NodeEvents events_;
  Turn turn_;
  Outbox outbox_;  // to the other workers
  WaitingLoad waiting_;
  EdgeInput edge_;
  LinkState link_state_;
  PathChoice paths_;
  FlowTimers timers_;    // probes, settlement (K5, K9), held pairs (E1)
  FlowTimers releases_;  // of flows that wait until their share has room (C5)
  ControlFrames control_;
  AckWriter acks_;
  Settlement settlement_;
  PortLoads loads_;
  Prober prober_;
  DeadNeighbours dead_neighbours_;
  EndedPaths ended_paths_;
  Orphans orphans_;
  RetryFrames retry_;
  Stamping stamping_;
  StampingAtOnce stamping_at_once_;
  CreditWatch credit_watch_;
  BufferShares shares_;
  RoomReturns room_;
  FlowWays flow_ways_;
  FlowIds flow_ids_;
  CrossPoint crosspoint_;
  FlowCredits flow_credits_;
  FlowLimits flow_limits_;
  FlowPauses flow_pauses_;
  FlowQueues flow_queues_;
  FlowRedirects flow_redirects_;
  FlowLife flow_life_;
  Admission admission_;
  Express express_;
  Fifos fifos_;
  HostControl host_control_;
  Arbitration arbitration_;
  IdGrants id_grants_;
  EdgeFlows edge_flows_;
  DeliveryAtOnce at_once_;
  Bridging bridging_;
  LinkStates link_states_;
  LinkControl link_control_;
  AckReceive ack_receive_;
  FabricRecords records_;
  EdgeReceive edge_receive_;
  FabricReceive fabric_receive_;
  Receive receive_;
  Departure departure_;
  FabricTransmit fabric_transmit_;
  EdgeTransmit edge_transmit_;
  AckRelay ack_relay_;
  Messages messages_;
  Regrouping regrouping_;
  Nanos wake_ns_ = 0;  // when it wanted to be called next, as it said at the end of the last turn
  uint64_t busy_polls_ = 0;
};

}  // namespace heddle
