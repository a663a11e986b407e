// SPDX-License-Identifier: Apache-2.0
// ACK records of the other end of a link (W2), in one pass: each is judged (K3), and what is new in it goes on to the
// flow's input at once where that is this worker's and nothing else of the entry waits to be told; else with what waits
// (node/ack_relay.h). Nearly all say that bytes of a flow have been delivered of which there is nothing else to say:
// those go by a short loop, as far as it goes.
#pragma once

#include "node/credit_watch.h"
#include "node/flow_life.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class AckReceive {
 public:
  AckReceive(Ports& ports, Settlement& settlement, CreditWatch& credit_watch, FlowLife& flow_life)
      : ports_(ports), settlement_(settlement), credit_watch_(credit_watch), flow_life_(flow_life) {}

  // False if the link contradicts itself (K3): records before the one that does have been taken.
  HEDDLE_HOT [[gnu::noinline]] bool receive(Port& port, const LinkFrame& frame, Nanos now);

 private:
  void run_plain(Port& port, AckRecords::Iterator& at, const AckRecords::Iterator& end, Nanos now);
  bool take_record(Port& port, AckRecords::Iterator at, Nanos now);
  HEDDLE_COLD bool take_special(Port& port, AckRecords::Iterator at, OutputFlow& entry);

  Ports& ports_;
  Settlement& settlement_;
  CreditWatch& credit_watch_;
  FlowLife& flow_life_;
};

}  // namespace heddle
