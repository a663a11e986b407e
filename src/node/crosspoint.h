// SPDX-License-Identifier: Apache-2.0
// From an input across to an output (X1): of the same worker at once, of another one by the outbox. The caller has seen
// that there is room.
#pragma once

#include "node/outbox.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

class CrossPoint {
 public:
  CrossPoint(const Site& site, Ports& ports, Outbox& outbox, Settlement& settlement)
      : site_(site), ports_(ports), outbox_(outbox), settlement_(settlement) {}

  // `flow`: that of the packet, which is in its extent; nullptr if it has none.
  void cross(Port& input, PortIndex output, Packet* packet, const InputFlow* flow, Nanos now);
  // The output side of the crossing; its flow has been told of so much congestion (C3). An output flow ID reserved in a
  // session that has ended takes nothing more.
  void accept(Port& output, Packet* packet, uint8_t told);

 private:
  HEDDLE_COLD void tell_congestion(Port& output, const Packet& packet);

  const Site& site_;
  Ports& ports_;
  Outbox& outbox_;
  Settlement& settlement_;
};

}  // namespace heddle
