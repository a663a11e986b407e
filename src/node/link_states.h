// SPDX-License-Identifier: Apache-2.0
// Link states: what this node knows of all nodes' links, passed on to neighbours and to the other workers (W6), and
// into the routes (R12). What comes in one turn goes on together: when a node dies each of its neighbours says so, at
// about the same time. A full ring costs a turn, a lost notice a hello interval: whoever has not heard is told again.
// Called by whoever hears of a link, and once a turn by the worker.
#pragma once

#include <vector>

#include "node/control_frames.h"
#include "node/ended_paths.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/site.h"
#include "node/turn.h"
#include "routing/link_state.h"
#include "routing/load_board.h"
#include "routing/node_set.h"
#include "routing/path_choice.h"
#include "wire/inlining.h"

namespace heddle {

class LinkStates {
 public:
  LinkStates(const Site& site, Ports& ports, Turn& turn, Outbox& outbox, LoadBoard& board, PathChoice& paths,
             LinkState& link_state, ControlFrames& control, EndedPaths& ended_paths)
      : site_(site),
        ports_(ports),
        turn_(turn),
        outbox_(outbox),
        board_(board),
        paths_(paths),
        link_state_(link_state),
        control_(control),
        ended_paths_(ended_paths),
        news_(site.topology.nodes.size()),
        from_(site.topology.nodes.size(), kNoPort),
        untold_(site.workers, news_) {}

  // News about a node's links, as they were heard; kNoPort: not from a neighbour.
  void changed(uint16_t node, PortIndex from = kNoPort);
  // Once a turn: what has changed in it goes on to flows that wait for it, to all neighbours but whom it came from, to
  // the other workers, and into the routes. True if these have changed.
  bool take_effect() { return changed_ && pass_on(); }
  // The other workers hear of every record; what a full ring does not take is said next turn.
  void tell_workers() {
    if (untold_workers_ != 0) [[unlikely]]
      tell_untold();
  }
  // The first worker speaks for the node.
  void originate() {
    if (news()) [[unlikely]]
      say_own();
  }
  // All records this worker has, to a neighbour whose digest differs (W6).
  void send_notices(Port& port);
  // Links of this node have changed, and this worker is to say so.
  bool news() const { return site_.worker == 0 && board_version_ != board_.version(); }

 private:
  HEDDLE_COLD bool pass_on();
  HEDDLE_COLD void tell_untold();
  HEDDLE_COLD void say_own();
  void tell_neighbour(Port& port);
  bool append_notice(Port& port, Packet*& packet, uint16_t node, ProtocolEvent frame);

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  Outbox& outbox_;
  LoadBoard& board_;
  PathChoice& paths_;
  LinkState& link_state_;
  ControlFrames& control_;
  EndedPaths& ended_paths_;
  NodeSet news_;                 // of this turn
  std::vector<PortIndex> from_;  // by node: of its newest record
  std::vector<NodeSet> untold_;  // by worker
  uint64_t untold_workers_ = 0;  // bit w: some are untold to worker w
  uint32_t board_version_ = 0;
  uint64_t said_with_ = 0;  // ends seen, when it spoke last
  bool changed_ = false;
};

}  // namespace heddle
