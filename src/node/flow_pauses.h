// SPDX-License-Identifier: Apache-2.0
// Fine-grained flow control of an edge port (G1): a host that obeys is told how much it may send of a flow whose queue
// has grown past its target, or of a group of applications that has filled its part of the port's buffers, so that it
// holds back that and no other. What a port has stands in its PausedFlows; that a match or a flow is paused, in their
// flags, which are written here, those of groups by GroupPauses.
#pragma once

#include "ingress/edge_input.h"
#include "ingress/flow_pause.h"
#include "node/control_frames.h"
#include "node/group_pauses.h"
#include "node/node_event.h"
#include "node/paused_queues.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class FlowPauses {
 public:
  FlowPauses(const Site& site, Turn& turn, EdgeInput& edge, ControlFrames& control, NodeEvents& events)
      : site_(site),
        turn_(turn),
        edge_(edge),
        groups_(site, edge),
        queues_(site, edge, groups_),
        control_(control),
        events_(events) {}

  // A frame of the host that parsing has told from others. False if it is not what hosts may send (K14).
  HEDDLE_COLD bool hear(Port& port, Packet* packet, Nanos now);
  // A frame of `bytes` comes of a flow that has a queue, or kFlowPaused; its match and queue_extent() count it.
  void came(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
    if (port.input.paused.hosts.any()) [[unlikely]]
      look(port, id, flow, bytes, now);
  }
  // A frame of a match is looked at by more than the match table: is it of a group that is paused?
  void sort(Port& port, uint32_t match) {
    if (port.input.paused.hosts.any()) [[unlikely]]
      groups_.sort(port, match);
  }
  // A frame of a match waits for a flow ID.
  void waits(Port& port, uint32_t match) {
    if (port.input.paused.hosts.any()) [[unlikely]]
      look_at_group(port, match, turn_.now());
  }
  // A flow begins of a match with kMatchHeld.
  HEDDLE_COLD void resume(Port& port, FlowId id, InputFlow& flow);
  // A frame of a flow with kFlowPaused goes; `queue_bytes` are left in its queue.
  HEDDLE_COLD void left(Port& port, FlowId id, const InputFlow& flow, uint32_t queue_bytes);
  // Once a turn: makes the frames that are due, in turn and a few at a time.
  void run(Port& port, Nanos now) {
    if (now >= port.input.paused.wake_ns) [[unlikely]]
      tell_all(port, now);
  }
  // Which flows are of which group is going to be another matter (A9).
  void end_groups(Port& port);
  // When run() has something to do; 0: now.
  Nanos next_wake(const Port& port) const { return port.input.paused.wake_ns; }

 private:
  static constexpr uint32_t kFramesPerTurn = 4;
  static constexpr Nanos kRetryNs = 100 * kMicrosecond;   // without a packet
  static constexpr Nanos kStallNs = 20 * kMillisecond;    // a host's thread may stand still for so long,
  static constexpr uint32_t kHostBytes = 128 * 1024;      // and have so much in its queues
  static constexpr Nanos kGroupsNs = 100 * kMicrosecond;  // so often queues of groups are looked at
  static constexpr Nanos kLookAgainNs = kMillisecond;     // between groups that all entries are looked at for
  static constexpr uint32_t kSignOfLife = 4;              // frames of a group of which nothing comes

  HEDDLE_COLD void look(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now);
  HEDDLE_COLD void look_at_group(Port& port, uint32_t match, Nanos now);
  HEDDLE_COLD void tell_all(Port& port, Nanos now);
  void begin(Port& port, FlowId id, InputFlow& flow, Nanos now);
  void begin_group(Port& port, uint32_t match, Nanos now);
  void begin(Port& port, PauseId id, uint32_t match, uint32_t received, Nanos now);
  void count_overrun(Port& port, PauseId id, Nanos now);
  bool came_of_group(Port& port, const InputFlow& flow, uint32_t bytes, Nanos now);
  void look_again(Port& port, Nanos now);
  void look_at_queue(Port& port, PauseId id, uint32_t queue_bytes, Nanos now);
  void look_at_groups(Port& port, Nanos now);
  void tell_again(Port& port, PauseId id, Nanos now);
  void grant(Port& port, PauseId id);
  void look_for_calm(Port& port, PauseId id, uint32_t queue_bytes, Nanos now);
  void end(Port& port, PauseId id);
  void release(Port& port, PauseId id);
  void forget(Port& port, PauseId id);
  bool tell(Port& port, PauseId id, Nanos now);

  const Site& site_;
  Turn& turn_;
  EdgeInput& edge_;
  GroupPauses groups_;
  PausedQueues queues_;
  ControlFrames& control_;
  NodeEvents& events_;
};

}  // namespace heddle
