// SPDX-License-Identifier: Apache-2.0
// Link states: what this node knows of all nodes' links, passed on to neighbours and to the other workers (W6), and
// into the routes (R12). A full ring costs a turn, a lost notice a hello interval: whoever has not heard is told again.
// Called by whoever hears of a link, and once a turn by the worker, for the routes.
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
        told_(site.workers) {}

  // News about a node's links: on to all neighbours, to the other workers, to flows that wait for them, and into the
  // routes at the end of the turn.
  void changed(uint16_t node);
  // The other workers hear of every record; what a full ring does not take is said next turn.
  void tell_workers();
  // The first worker speaks for the node.
  void originate() {
    if (news()) [[unlikely]]
      say_own();
  }
  // The routes by the newest states; false if nothing has changed since.
  bool recompile();
  // All records this worker has, to a neighbour whose digest differs (W6).
  void send_notices(Port& port);
  // Links of this node have changed, and this worker is to say so.
  bool news() const { return site_.worker == 0 && board_version_ != board_.version(); }

 private:
  HEDDLE_COLD void say_own();
  NoticeRecord notice_of(uint16_t node) const;

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  Outbox& outbox_;
  LoadBoard& board_;
  PathChoice& paths_;
  LinkState& link_state_;
  ControlFrames& control_;
  EndedPaths& ended_paths_;
  std::vector<uint16_t> told_;  // by worker: link states before this node index have been told
  uint32_t board_version_ = 0;
  bool routes_stale_ = false;
};

}  // namespace heddle
