// SPDX-License-Identifier: Apache-2.0
// The way back: what has been settled at the outputs in the turn before is told to the input flows (decision 5), here
// or by the outbox to another worker's. All that is told is bytes of original frames since the last time, so nothing is
// told twice; what another worker's ring does not take stays marked for the next turn.
#pragma once

#include "node/flow_life.h"
#include "node/flow_redirects.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "wire/inlining.h"

namespace heddle {

class AckRelay {
 public:
  AckRelay(Ports& ports, Outbox& outbox, Settlement& settlement, FlowLife& flow_life, FlowRedirects& flow_redirects)
      : ports_(ports),
        outbox_(outbox),
        settlement_(settlement),
        flow_life_(flow_life),
        flow_redirects_(flow_redirects) {}

  // Once a turn, before anything is received.
  HEDDLE_HOT void run(Nanos now);

 private:
  HEDDLE_COLD void tell_own_input(Port& input, OutputFlow& entry, uint16_t asked_by, Nanos now);
  bool tell_input(OutputFlow& entry, uint16_t asked_by);

  Ports& ports_;
  Outbox& outbox_;
  Settlement& settlement_;
  FlowLife& flow_life_;
  FlowRedirects& flow_redirects_;
};

}  // namespace heddle
