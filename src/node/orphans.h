// SPDX-License-Identifier: Apache-2.0
// What is left of ended sessions (K9). A flow of one may still have packets on their way from here: its output flow ID
// is an orphan of the input port until nothing refers to it any more. When the last one is gone the node says so in its
// link state (W6), for those at the other end whose flows wait for just that (ended_paths.h).
//
// One component per worker, for its own input ports.
#pragma once

#include "node/outbox.h"
#include "node/ports.h"
#include "node/site.h"
#include "routing/load_board.h"
#include "wire/inlining.h"

namespace heddle {

class Orphans {
 public:
  Orphans(const Site& site, Ports& ports, Outbox& outbox, LoadBoard& board);

  // May a session begin there? A full quota keeps the link down.
  bool admits(const Port& input) const { return input.input.orphans < site_.settings.orphans_max; }
  HEDDLE_COLD void session_began(Port& input);
  // Its flows are still to be ended: until then they hold nothing as orphans.
  HEDDLE_COLD void session_ended(Port& input);
  // An output flow ID that packets of an ended session still hold, and so many that nothing holds any more.
  HEDDLE_COLD void made(Port& input);
  HEDDLE_COLD void freed(Port& input, uint32_t count);
  // Once a turn: what ends with time, and what this turn has ended.
  void look(Nanos now) {
    if (unsaid_ != 0) [[unlikely]]
      say(now);
  }

 private:
  HEDDLE_COLD void say(Nanos now);
  void publish(Port& input, LinkStanding standing);

  const Site& site_;
  Ports& ports_;
  Outbox& outbox_;
  LoadBoard& board_;
  // A node that has begun so shortly ago does not know what a former life of it has sent.
  Nanos sure_at_ = kNever;
  PortSet unsaid_ = 0;  // own ports without a session that have not been said to be settled
};

}  // namespace heddle
