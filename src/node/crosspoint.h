// SPDX-License-Identifier: Apache-2.0
// From an input across to an output (X1): of the same worker at once, of another one by the outbox. The caller has seen
// that there is room, and has taken it with the packet's lane. All cross here but those that go past the output's queue
// (stamping_at_once.h, delivery_at_once.h). The packet is the output's then, or the ring's. None is refused: where the
// output's session has ended it is dropped, settled as lost, and its room goes back.
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

  // By the input's side, once a packet: Admission, and Fifos and Bridging for those without a flow. A host's frame
  // begins its life here (K8). `flow`: that of the packet, which is in its extent; nullptr if it has none.
  void cross(Port& input, PortIndex output, Packet* packet, const InputFlow* flow, Nanos now);
  // The output side of the crossing; its flow has been told of so much congestion (C3). An output flow ID reserved in a
  // session that has ended takes nothing more. By cross(); for what comes from another worker by Messages, when its
  // flow has the ID, and by DeliveryAtOnce, when it can't be delivered at once.
  void accept(Port& output, Packet* packet, uint8_t told);

 private:
  HEDDLE_COLD void tell_congestion(Port& output, const Packet& packet);

  const Site& site_;
  Ports& ports_;
  Outbox& outbox_;
  Settlement& settlement_;
};

}  // namespace heddle
