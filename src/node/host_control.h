// SPDX-License-Identifier: Apache-2.0
// PAUSE and PFC of an edge port: its host is asked to wait before lossless frames find no room (F10), and what it asks
// is obeyed (K14), in quanta of 512 bit times of the port. Called by who sends to the host, once a turn, and by who
// hears a frame of it.
#pragma once

#include "node/control_frames.h"
#include "node/node_event.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class HostControl {
 public:
  HostControl(const Site& site, Turn& turn, ControlFrames& control, NodeEvents& events)
      : site_(site), turn_(turn), control_(control), events_(events) {}

  // Once a turn: tells the host of an edge port to wait or go on, and forgets what it has asked once that is over.
  HEDDLE_COLD void run(Port& port, Nanos now);
  // A MAC control frame of the host. False if it is none that the port listens to.
  HEDDLE_COLD bool hear(Port& port, Packet* packet, Nanos now);

 private:
  uint8_t priorities_to_pause(Port& port);
  HEDDLE_COLD void obey(Port& port, Nanos now);

  const Site& site_;
  Turn& turn_;
  ControlFrames& control_;
  NodeEvents& events_;
};

}  // namespace heddle
