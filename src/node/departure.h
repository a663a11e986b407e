// SPDX-License-Identifier: Apache-2.0
// Departure: what happens to packets when a device takes them. Room and link credits go back to their inputs, and at an
// edge port a frame counts as delivered (F8). Called by FabricTransmit and EdgeTransmit, in their port's turn to send.
// What is settled here is never taken back: if a frame is lost further on, the other end of a link finds that (F12),
// and behind an edge port nobody does. What is delivered at once settles itself (delivery_at_once.h).
#pragma once

#include "node/port.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

class Departure {
 public:
  Departure(const Site& site, Settlement& settlement) : site_(site), settlement_(settlement) {}

  // Frames of this turn that have their headers (stamping_at_once.h): before all others, and no more than the device
  // has room for.
  void send_stamped(Port& port, Nanos now);
  // Hands frames to the device, which has room for them: they have left, room and credit go back, and at an edge port
  // they count as delivered (F8). All are settled before, since the packets are the device's then. They are ready to
  // go and in no queue any more; nothing goes back for those of no input port, made here or sent again (K6).
  template <bool kDeliver>
  void send_burst(Port& port, Packet** packets, uint32_t count, Nanos now);

  // By the worker, at the end of a turn. A full device is asked again soon; what the port's rate holds back goes when
  // it may.
  Nanos next_wake(const Port& port, Nanos now) const;

 private:
  HEDDLE_COLD void note_departure(Port& port, const Packet& packet, OutputFlow& entry);

  const Site& site_;
  Settlement& settlement_;
};

}  // namespace heddle
