// SPDX-License-Identifier: Apache-2.0
// Frames made here: hellos, credits, records, PAUSE, and what hosts that obey are told (G1). Each takes a packet of the
// pool for them, waits in its port's queue of control frames and leaves before data. Called by whoever has something to
// say at a port of its worker. Without a packet it is not said now: it stays due, or the other end asks again.
#pragma once

#include "node/port.h"
#include "wire/packet.h"

namespace heddle {

class ControlFrames {
 public:
  explicit ControlFrames(PacketPool& pool) : pool_(pool) {}

  // A packet for a frame made here, of no input port; the caller owns it. nullptr, counted as a drop, if the pool has
  // none or too many wait at the port. It is taken for an open record frame: who makes another one clears its flags.
  Packet* make(Port& port);
  // It leaves before data, behind those queued before. It is the port's now, which finishes a record frame as it sends
  // it (fabric_transmit.h), and drops all that wait when its session ends (link_control.h).
  void queue(Port& port, Packet* packet);

 private:
  PacketPool& pool_;
};

}  // namespace heddle
