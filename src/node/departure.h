// SPDX-License-Identifier: Apache-2.0
// Departure: what happens to packets when a device takes or refuses them. Room and link credits go back to their
// inputs, and at an edge port a frame counts as delivered (F8).
#pragma once

#include "node/port.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

class Departure {
 public:
  Departure(const Site& site, Settlement& settlement) : site_(site), settlement_(settlement) {}

  // Frames that the device has refused, once more. False if it refuses some again.
  bool send_pending(Port& port, Nanos now);
  // Hands frames to the device; what it takes has left: room and credit go back, and at an edge port the frame counts
  // as delivered (F8). What it refuses stays first in line. The packets are the device's once it has taken them, so all
  // are settled before, and those that it refuses are taken back.
  template <bool kDeliver>
  void send_burst(Port& port, Packet** packets, uint32_t count, Nanos now);

  // Pending frames are offered again soon; what the port's rate holds back goes when it may.
  Nanos next_wake(const Port& port, Nanos now) const;

 private:
  HEDDLE_COLD void take_back(Port& port, Packet** packets, uint32_t count, size_t marked_before);
  HEDDLE_COLD void note_departure(Port& port, const Packet& packet, OutputFlow& entry);

  const Site& site_;
  Settlement& settlement_;
};

}  // namespace heddle
