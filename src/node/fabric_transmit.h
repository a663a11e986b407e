// SPDX-License-Identifier: Apache-2.0
// From the output queues of a fabric port to its device. Position and link sequence are stamped here, at hand-over to
// the one transmit queue (F6, K2), and nothing overtakes below that point. Frames made here go before data.
#pragma once

#include "node/ack_writer.h"
#include "node/departure.h"
#include "node/link_control.h"
#include "node/port.h"
#include "node/prober.h"
#include "node/retry_frames.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class FabricTransmit {
 public:
  FabricTransmit(const Site& site, AckWriter& acks, Settlement& settlement, Prober& prober, RetryFrames& retry,
                 LinkControl& link_control, Departure& departure)
      : site_(site),
        acks_(acks),
        settlement_(settlement),
        prober_(prober),
        retry_(retry),
        link_control_(link_control),
        departure_(departure) {}

  // One burst; true if there may be another one.
  HEDDLE_HOT bool run(Port& port, Nanos now);

  // Of the session, credits, records and retry of its link, and of lives in its queues.
  Nanos next_wake(const Port& port) const;

 private:
  struct Sender;
  void hand_over(Port& port, Packet* packet, Stamp& stamp, Nanos now);
  HEDDLE_COLD void age_pending(Port& port, Nanos now);

  const Site& site_;
  AckWriter& acks_;
  Settlement& settlement_;
  Prober& prober_;
  RetryFrames& retry_;
  LinkControl& link_control_;
  Departure& departure_;
};

}  // namespace heddle
