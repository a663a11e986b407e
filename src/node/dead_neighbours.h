// SPDX-License-Identifier: Apache-2.0
// Nodes that all their neighbours have given up (R12). A dead node can't say that nothing is left of what it was sent;
// and one that was only slow has it still, and sends it on in its next session. So each neighbour keeps such a node out
// until that is dead (dead_after_ns()), and says so in its record (W6), with which ends of sessions it had seen when it
// began to. When all have said so who have seen the end that flows of this node wait for, and nothing is left with any
// of them of what came from there, those flows need not wait for their whole life (ended_paths.h).
//
// Whoever waits does so for one life at most: after that a node is not kept out anew, unless somebody had a session
// with it meanwhile. Nor is one by which no shortest path leads, as a leaf of a tree: no flow goes on by another way.
// What is not covered: a neighbour that restarts within a life has forgotten whom it was to keep out.
//
// One component per worker, for its own fabric ports.
#pragma once

#include <array>

#include "node/outbox.h"
#include "node/ports.h"
#include "node/site.h"
#include "node/turn.h"
#include "routing/link_state.h"
#include "routing/load_board.h"
#include "wire/inlining.h"

namespace heddle {

class DeadNeighbours {
 public:
  DeadNeighbours(const Site& site, Ports& ports, const Turn& turn, Outbox& outbox, LoadBoard& board,
                 const LinkState& link_state);

  // May a session begin there?
  bool admits(const Port& port) const { return turn_.now() >= kept_out_until_ns_[port.index]; }
  // Before the port's standing says so.
  HEDDLE_COLD void session_ended(const Port& port);
  // There is news of some node's links.
  HEDDLE_COLD void look();
  // Nothing that was sent by the port's last session, or one before it, can arrive any more by any other link.
  bool nothing_is_left(const Port& output) const;

 private:
  bool given_up(const Port& port) const;  // false for edge ports
  bool keeps_out(const PortPeer& end) const;

  const Site& site_;
  Ports& ports_;
  const Turn& turn_;
  Outbox& outbox_;
  LoadBoard& board_;
  const LinkState& link_state_;
  const Nanos life_ns_;
  PortSet transit_ = 0;                               // own ports to nodes that lead on to others
  std::array<Nanos, kPortsMax> given_up_ns_;          // by port: when all others were seen to have; kNever: not so
  std::array<Nanos, kPortsMax> kept_out_until_ns_{};  // by port
  std::array<uint32_t, kPortsMax> session_end_{};     // by port: the last one, as the board counts
};

}  // namespace heddle
