// SPDX-License-Identifier: Apache-2.0
// Frames without a flow (F11, E1). Lossy ones wait nowhere; lossless ones wait one behind the other for room at their
// output, in a queue per input port, class and channel, in the order in which they came. Called by those who receive,
// and by arbitration at a queue's turn; owns a frame from then until it has crossed or is dropped.
#pragma once

#include "node/crosspoint.h"
#include "node/flow_ways.h"
#include "node/port.h"
#include "node/room_returns.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class Fifos {
 public:
  Fifos(const Site& site, Turn& turn, FlowWays& ways, RoomReturns& room, CrossPoint& crosspoint)
      : site_(site), turn_(turn), ways_(ways), room_(room), crosspoint_(crosspoint) {}

  // F11, E1: no-flow frames are not acknowledged. Lossy ones wait nowhere: they cross now or die here.
  [[gnu::noinline]] void receive(Port& port, Packet* packet, Nanos now);
  // The fifos whose first packet is for this output and lane, as far as the room there lasts. False if it has run out.
  HEDDLE_COLD bool serve(Port& port, VoqIndex queue, Nanos now);

 private:
  HEDDLE_COLD void join(Port& port, Packet* packet, Nanos now);
  HEDDLE_COLD void place(Port& port, LaneIndex index, Nanos now);

  const Site& site_;
  Turn& turn_;
  FlowWays& ways_;
  RoomReturns& room_;
  CrossPoint& crosspoint_;
};

}  // namespace heddle
