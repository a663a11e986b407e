// SPDX-License-Identifier: Apache-2.0
// From the output queues of an edge port to its host: with the tag that its port wants (W4), no longer than it takes,
// and not after its life (K8). Endpoint congestion is seen here (C1), by bytes that wait. Called by the worker, for
// each port once a turn and again while it says so; what is dropped here is settled as lost (K4).
#pragma once

#include "node/departure.h"
#include "node/flow_pauses.h"
#include "node/host_control.h"
#include "node/port.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

class EdgeTransmit {
 public:
  EdgeTransmit(const Site& site, Settlement& settlement, HostControl& host_control, FlowPauses& flow_pauses,
               Departure& departure)
      : site_(site),
        settlement_(settlement),
        host_control_(host_control),
        flow_pauses_(flow_pauses),
        departure_(departure) {}

  // One burst; true if there may be another one.
  HEDDLE_HOT bool run(Port& port, Nanos now);
  // C1. Between bursts: the queue is what has come and not been handed to the device.
  void look_for_congestion(Port& port, Nanos now);

  // When a pause, of all or of a flow, is over or to be told, or a frame that waits for that has lived its life.
  Nanos next_wake(const Port& port) const;

 private:
  struct Sender;
  DropReason prepare_for_host(Port& port, Packet* packet, Nanos now);
  HEDDLE_COLD void mark_for_host(Port& port, Packet& packet);
  HEDDLE_COLD void drop_expired(Port& port, Nanos now);

  const Site& site_;
  Settlement& settlement_;
  HostControl& host_control_;
  FlowPauses& flow_pauses_;
  Departure& departure_;
};

}  // namespace heddle
