// SPDX-License-Identifier: Apache-2.0
// Links of the fabric: sessions (K1, K9) and credits (C9, K7). Drives each fabric port's LinkSession once a turn, and
// with its begin and end those of all that goes by the link: flows, credits, what is queued for it. Times in ns; that a
// worker was away itself is no fault of a link. Without a buffer for a hello it is tried again with the next one.
#pragma once

#include "node/control_frames.h"
#include "node/ended_paths.h"
#include "node/flow_life.h"
#include "node/flow_limits.h"
#include "node/link_states.h"
#include "node/node_event.h"
#include "node/orphans.h"
#include "node/ports.h"
#include "node/retry_frames.h"
#include "node/room_returns.h"
#include "node/settlement.h"
#include "node/site.h"
#include "node/stamping.h"
#include "node/turn.h"
#include "routing/link_state.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"
#include "wire/random.h"

namespace heddle {

class LinkControl {
 public:
  LinkControl(const Site& site, Ports& ports, Turn& turn, Random& random, NodeEvents& events, LinkState& link_state,
              ControlFrames& control, Settlement& settlement, Orphans& orphans, DeadNeighbours& dead_neighbours,
              EndedPaths& ended_paths, RoomReturns& room, FlowLife& flow_life, FlowLimits& flow_limits,
              LinkStates& link_states, RetryFrames& retry)
      : site_(site),
        ports_(ports),
        turn_(turn),
        random_(random),
        events_(events),
        link_state_(link_state),
        control_(control),
        settlement_(settlement),
        orphans_(orphans),
        dead_neighbours_(dead_neighbours),
        ended_paths_(ended_paths),
        room_(room),
        flow_life_(flow_life),
        flow_limits_(flow_limits),
        link_states_(link_states),
        retry_(retry) {}

  // This worker was away itself, for a good part of a hello interval after it wanted to be called: what it did not hear
  // says nothing about its links (K1). The receive queues are drained in the same turn, before the next judgement.
  HEDDLE_COLD void forgive_silence(Nanos late, Nanos now);
  // Acted on by the next run(). Edge ports have none.
  void set_carrier(Port& port, bool carrier);
  // Once a turn: carriers, sessions that are due, hellos, link states.
  void run(Nanos now);
  // The session judges it; its flows and credits begin or end with it.
  HEDDLE_COLD void receive_hello(Port& port, const LinkFrame& frame, uint32_t frame_bytes, Nanos now);
  // The session ends here and begins anew by hellos (K3).
  void reset(Port& port, LinkDownReason reason, Nanos now);
  // Built at hand-over, so that the sender's total stands behind the frames it counts (K7).
  void send_credits(Port& port, Nanos now);

 private:
  HEDDLE_COLD void tell_link(Port& port, Nanos now);
  void act_on(Port& port, SessionEvent event, Nanos now);
  void begin_session(Port& port);
  void end_session(Port& port, Nanos now);
  void end_outputs(Port& port, Nanos now);
  void end_inputs(Port& port);
  void send_hello(Port& port, Nanos now);
  LinkDownReason refusal(const Port& port) const;

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  Random& random_;
  NodeEvents& events_;
  LinkState& link_state_;
  ControlFrames& control_;
  Settlement& settlement_;
  Orphans& orphans_;
  DeadNeighbours& dead_neighbours_;
  EndedPaths& ended_paths_;
  RoomReturns& room_;
  FlowLife& flow_life_;
  FlowLimits& flow_limits_;
  LinkStates& link_states_;
  RetryFrames& retry_;
};

}  // namespace heddle
