// SPDX-License-Identifier: Apache-2.0
// Arbitration (A10, X1): round robin over the virtual output queues that have something to send, and over the flows in
// each. A packet crosses only with room at its output and an output flow ID reserved there.
#pragma once

#include "node/active_queues.h"
#include "node/admission.h"
#include "node/buffer_shares.h"
#include "node/fifos.h"
#include "node/flow_ids.h"
#include "node/flow_life.h"
#include "node/flow_limits.h"
#include "node/flow_queues.h"
#include "node/port.h"
#include "node/room_returns.h"
#include "wire/inlining.h"

namespace heddle {

class Arbiter {
 public:
  Arbiter(BufferShares& shares, FlowIds& flow_ids, FlowLimits& flow_limits, FlowQueues& flow_queues,
          FlowLife& flow_life, Admission& admission, Fifos& fifos, RoomReturns& room, ActiveQueues& active)
      : shares_(shares),
        flow_ids_(flow_ids),
        flow_limits_(flow_limits),
        flow_queues_(flow_queues),
        flow_life_(flow_life),
        admission_(admission),
        fifos_(fifos),
        room_(room),
        active_(active) {}

  // A quantum of each virtual output queue that is active now; those with something left stay so.
  void run(Nanos now);

 private:
  HEDDLE_HOT bool serve(Port& input, Voq& voq, Nanos now);

  BufferShares& shares_;
  FlowIds& flow_ids_;
  FlowLimits& flow_limits_;
  FlowQueues& flow_queues_;
  FlowLife& flow_life_;
  Admission& admission_;
  Fifos& fifos_;
  RoomReturns& room_;
  ActiveQueues& active_;
};

}  // namespace heddle
