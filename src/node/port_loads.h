// SPDX-License-Identifier: Apache-2.0
// What a port of this worker has queued and has sent lately, told on the load board (R3) and to the neighbours (R8),
// by class, and which flows a fabric port asks to take another way, by their next ACK (R9). In bytes as they count on
// the wire. Called once a turn of a port, by who hears its neighbour, and by who sends while it asks. What a neighbour
// says is a hint: it is said again, and forgotten.
#pragma once

#include "node/control_frames.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "routing/load_board.h"
#include "wire/inlining.h"
#include "wire/random.h"

namespace heddle {

class PortLoads {
 public:
  PortLoads(const Site& site, LoadBoard& board, Random& random, Settlement& settlement, ControlFrames& control)
      : site_(site), board_(board), random_(random), settlement_(settlement), control_(control) {}

  // At the end of a turn of a fabric port.
  void look(Port& port, Nanos now);
  // R8: a neighbour tells which of its ports have much to do.
  void hear(Port& port, const LinkFrame& frame, Nanos now);
  // Frames that the port is about to send, while it asks: their flows, as many as are too many, are told. One that a
  // congested host holds back anyway is no help where it is, nor anywhere else (R10).
  HEDDLE_COLD void ask(Port& port, Packet* const* burst, uint32_t count, Nanos now);

 private:
  void ask(Port& port, const Packet& packet);
  [[gnu::noinline]] void publish_classes(Port& port, Nanos now);
  HEDDLE_COLD void tell(Port& port, Nanos now);
  LoadRecord record_of(PortIndex port, uint8_t of_class, Nanos now) const;

  const Site& site_;
  LoadBoard& board_;
  Random& random_;
  Settlement& settlement_;
  ControlFrames& control_;
};

}  // namespace heddle
