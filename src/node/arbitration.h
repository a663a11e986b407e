// SPDX-License-Identifier: Apache-2.0
// Arbitration (A10, X1): of each input port a quantum of every virtual output queue that has something to send, in the
// order of its arbiter (ingress/input_arbiter.h). A packet crosses only with room at its output and an output flow ID
// reserved there, and as far as congestion and credits let its flow go.
#pragma once

#include "node/admission.h"
#include "node/buffer_shares.h"
#include "node/fifos.h"
#include "node/flow_ids.h"
#include "node/flow_life.h"
#include "node/flow_limits.h"
#include "node/flow_queues.h"
#include "node/ports.h"
#include "node/room_returns.h"
#include "wire/inlining.h"

namespace heddle {

class Arbitration {
 public:
  Arbitration(const Ports& ports, BufferShares& shares, FlowIds& flow_ids, FlowLimits& flow_limits,
              FlowQueues& flow_queues, FlowLife& flow_life, Admission& admission, Fifos& fifos, RoomReturns& room)
      : ports_(ports),
        shares_(shares),
        flow_ids_(flow_ids),
        flow_limits_(flow_limits),
        flow_queues_(flow_queues),
        flow_life_(flow_life),
        admission_(admission),
        fifos_(fifos),
        room_(room) {
    for (Port* port : ports) port->input.arbiter.share_order(order_);
  }
  Arbitration(const Arbitration&) = delete;

  // Once a turn, the queues of all ports in the order in which they woke: who is first at an output has its packets
  // before the others there. Queues with something left have another turn in the next one.
  void run(Nanos now);
  // Is any queue to have a turn?
  bool work_left() const;

 private:
  HEDDLE_HOT bool serve(Port& input, VoqIndex queue, Nanos now);
  bool may_go(Port& input, const Voq& voq, FlowId id, InputFlow& flow, Nanos now);

  const Ports& ports_;
  BufferShares& shares_;
  FlowIds& flow_ids_;
  FlowLimits& flow_limits_;
  FlowQueues& flow_queues_;
  FlowLife& flow_life_;
  Admission& admission_;
  Fifos& fifos_;
  RoomReturns& room_;
  uint64_t order_ = 0;  // of the ports' queues, as they woke
};

}  // namespace heddle
