// SPDX-License-Identifier: Apache-2.0
// Frames made here: hellos, credits, records, PAUSE. Each takes a packet of the pool for them, waits in its port's
// queue of control frames and leaves before data.
#pragma once

#include "node/port.h"
#include "wire/packet.h"

namespace heddle {

class ControlFrames {
 public:
  explicit ControlFrames(PacketPool& pool) : pool_(pool) {}

  // A packet for a frame made here; nullptr, counted, if there is none.
  Packet* make(Port& port);
  // It leaves before data, behind those queued before.
  void queue(Port& port, Packet* packet);

 private:
  PacketPool& pool_;
};

}  // namespace heddle
