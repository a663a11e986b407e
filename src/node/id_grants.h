// SPDX-License-Identifier: Apache-2.0
// Output flow IDs as the output side gives them out to inputs that wait for one, round robin (K11). Called once a turn;
// has something to do where inputs of a port wait. For how many is in `wanted`, which FlowIds::on_want() adds to and
// this takes from. A ring that is full is tried again next turn.
#pragma once

#include "node/flow_life.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/turn.h"

namespace heddle {

class IdGrants {
 public:
  IdGrants(Ports& ports, Turn& turn, Outbox& outbox, FlowLife& flow_life)
      : ports_(ports), turn_(turn), outbox_(outbox), flow_life_(flow_life) {}

  // Flow IDs for inputs that wait for one, round robin (K11); refused where the link is down.
  void run();

 private:
  bool answer(Port& output, PortIndex input);
  bool grant(Port& output, PortIndex input, uint8_t channel);
  bool refuse(Port& output, PortIndex input, uint8_t channel);

  Ports& ports_;
  Turn& turn_;
  Outbox& outbox_;
  FlowLife& flow_life_;
};

}  // namespace heddle
