// SPDX-License-Identifier: Apache-2.0
// Paths that end with a session (K9). What is under way on them is settled as lost; but frames that have passed the
// other end may still arrive, and an ordered flow that went on at once by another path would overtake them. Its
// settlement waits until they are dead (dead_after_ns()); or until the node at the other end says in its link state
// (W6) that nothing of the link's sessions is left there (R12, orphans.h), or that node is dead and all its neighbours
// say as much (dead_neighbours.h). Of the node's own records only one counts that is newer than one by which that node
// called the link up in this session, as its hellos say: an older one is about an earlier session. A record that was
// there when the session began does not call it up, whatever it says, nor does one that is older than what is known of
// the node: from before its restart, or overtaken.
//
// One component per worker, for its own fabric ports.
#pragma once

#include <array>

#include "node/dead_neighbours.h"
#include "node/ports.h"
#include "node/prober.h"
#include "node/settlement.h"
#include "node/site.h"
#include "routing/link_state.h"
#include "wire/inlining.h"

namespace heddle {

class EndedPaths {
 public:
  EndedPaths(const Site& site, Ports& ports, const LinkState& link_state, DeadNeighbours& dead_neighbours,
             Settlement& settlement, Prober& prober)
      : site_(site),
        ports_(ports),
        link_state_(link_state),
        dead_neighbours_(dead_neighbours),
        settlement_(settlement),
        prober_(prober) {}

  HEDDLE_COLD void session_began(const Port& output);
  // What this end's hellos say: the sequence of its own record, if that calls the link up in this session; else 0.
  uint32_t own_calling_up(const Port& output) const;
  // The other end's record of this sequence, or a later one, calls the link up; 0: none does so far.
  void heard(const Port& output, uint32_t sequence);
  // Its flows take nothing more, and wait.
  HEDDLE_COLD void session_ended(Port& output, Nanos now);
  // There is news of some node's links.
  HEDDLE_COLD void look();

 private:
  bool nothing_is_left(const Port& output) const;
  bool settled_at_peer(const Port& output) const;
  void settle_all(Port& output);

  const Site& site_;
  Ports& ports_;
  const LinkState& link_state_;
  DeadNeighbours& dead_neighbours_;
  Settlement& settlement_;
  Prober& prober_;
  std::array<uint32_t, kPortsMax> called_up_{};     // by port: as heard
  std::array<uint32_t, kPortsMax> own_at_begin_{};  // by port: own record when its session began
  PortSet waiting_ = 0;                             // ports with flows that may wait
};

}  // namespace heddle
