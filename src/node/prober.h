// SPDX-License-Identifier: Apache-2.0
// Asks after output flows of which nothing is heard (K5), and settles what an ended session has left (K9). A timer
// never releases anything by itself. Called by whoever sends the first frame of a flow, or ends its path, and by
// timers, which look to within a millisecond (node/flow_timers.h).
#pragma once

#include "node/control_frames.h"
#include "node/flow_timers.h"
#include "node/ports.h"
#include "node/settlement.h"
#include "node/site.h"
#include "wire/inlining.h"

namespace heddle {

class Prober {
 public:
  Prober(const Site& site, Ports& ports, ControlFrames& control, Settlement& settlement, FlowTimers& timers)
      : site_(site), ports_(ports), control_(control), settlement_(settlement), timers_(timers) {}

  // A timer looks at the entry at the time that stands there, or sooner: the ID may be another flow's before that. It
  // has none yet.
  void set(PortIndex output, FlowId id, Nanos now);
  // A timer never releases anything: it asks (K5), and settles only what an ended session left (K9).
  HEDDLE_COLD void on_timer(Port& output, FlowId id, Nanos now);
  // Asks now. Without a packet for it the next timer does.
  HEDDLE_COLD void probe(Port& port, FlowId id);
  // A flow's probe stays behind its frames (K2): of one in the retry channel until the other end has them.
  void send(Port& port);

 private:
  const Site& site_;
  Ports& ports_;
  ControlFrames& control_;
  Settlement& settlement_;
  FlowTimers& timers_;
};

}  // namespace heddle
