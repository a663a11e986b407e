// SPDX-License-Identifier: Apache-2.0
// From the output queues of a fabric port to its device. Position and link sequence are stamped (node/stamping.h) as a
// frame leaves its queue, or where it found none before (node/stamping_at_once.h): so they are in the order of the one
// transmit queue (F6, K2), and nothing overtakes from there on. What has been stamped goes first, then frames made
// here, then data.
#pragma once

#include "node/ack_writer.h"
#include "node/departure.h"
#include "node/link_control.h"
#include "node/port.h"
#include "node/port_loads.h"
#include "node/prober.h"
#include "node/retry_frames.h"
#include "node/settlement.h"
#include "node/site.h"
#include "node/stamping.h"
#include "wire/inlining.h"

namespace heddle {

class FabricTransmit {
 public:
  FabricTransmit(const Site& site, AckWriter& acks, Settlement& settlement, Prober& prober, RetryFrames& retry,
                 LinkControl& link_control, Stamping& stamping, Departure& departure, PortLoads& loads)
      : site_(site),
        acks_(acks),
        settlement_(settlement),
        prober_(prober),
        retry_(retry),
        link_control_(link_control),
        stamping_(stamping),
        departure_(departure),
        loads_(loads) {}

  // One burst; true if there may be another one.
  HEDDLE_HOT bool run(Port& port, Nanos now);

  // Of the session, credits, records and retry of its link, and of lives in its queues.
  Nanos next_wake(const Port& port) const;

 private:
  struct Sender;

  const Site& site_;
  AckWriter& acks_;
  Settlement& settlement_;
  Prober& prober_;
  RetryFrames& retry_;
  LinkControl& link_control_;
  Stamping& stamping_;
  Departure& departure_;
  PortLoads& loads_;
};

}  // namespace heddle
