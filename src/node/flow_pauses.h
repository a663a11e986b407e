// SPDX-License-Identifier: Apache-2.0
// Fine-grained flow control of an edge port (G1): a host that obeys is told how much it may send of a flow whose queue
// has grown past its target, so that it holds back that flow and no other. What a port has stands in its PausedFlows;
// that a match or a flow is paused, in their flags, which are written here.
#pragma once

#include "ingress/edge_input.h"
#include "ingress/flow_pause.h"
#include "node/control_frames.h"
#include "node/node_event.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class FlowPauses {
 public:
  FlowPauses(const Site& site, Turn& turn, EdgeInput& edge, ControlFrames& control, NodeEvents& events)
      : site_(site), turn_(turn), edge_(edge), control_(control), events_(events) {}

  // A frame of the host that parsing has told from others. False if it is not what hosts may send (K14).
  HEDDLE_COLD bool hear(Port& port, Packet* packet, Nanos now);
  // A frame comes of a flow that has a queue, or kFlowPaused; its match and queue_extent() count it.
  void came(Port& port, FlowId id, InputFlow& flow, Nanos now) {
    if (port.input.paused.hosts.any()) [[unlikely]]
      look(port, id, flow, now);
  }
  // A flow begins of a match with kMatchPaused.
  HEDDLE_COLD void resume(Port& port, FlowId id, InputFlow& flow);
  // A frame of a flow with kFlowPaused goes; `queue_bytes` are left in its queue.
  HEDDLE_COLD void left(Port& port, FlowId id, const InputFlow& flow, uint32_t queue_bytes);
  // Once a turn: makes the frames that are due, in turn and a few at a time.
  void run(Port& port, Nanos now) {
    if (now >= port.input.paused.wake_ns) [[unlikely]]
      tell_all(port, now);
  }
  // When run() has something to do; 0: now.
  Nanos next_wake(const Port& port) const { return port.input.paused.wake_ns; }

 private:
  static constexpr uint32_t kFramesPerTurn = 4;
  static constexpr Nanos kRetryNs = 100 * kMicrosecond;  // without a packet
  static constexpr Nanos kStallNs = 20 * kMillisecond;   // a host's thread may stand still for so long,
  static constexpr uint32_t kHostBytes = 128 * 1024;     // and have so much in its queues

  HEDDLE_COLD void look(Port& port, FlowId id, InputFlow& flow, Nanos now);
  HEDDLE_COLD void tell_all(Port& port, Nanos now);
  void begin(Port& port, FlowId id, InputFlow& flow, Nanos now);
  void count_overrun(Port& port, FlowPause& pause, Nanos now);
  void grant(Port& port, FlowPause& pause);
  void look_for_calm(Port& port, PauseId id, uint32_t queue_bytes, Nanos now);
  void end(Port& port, PauseId id);
  void forget(Port& port, PauseId id);
  InputFlow* flow_of(Port& port, const FlowPause& pause) const;
  uint32_t queue_of(Port& port, const FlowPause& pause) const;
  bool tell(Port& port, PauseId id, Nanos now);
  uint64_t host_of(const FlowPause& pause) const;
  PauseMarks marks(uint8_t ftag) const { return PauseMarks(site_.classes.of(ftag).flow_queue_bytes); }

  const Site& site_;
  Turn& turn_;
  EdgeInput& edge_;
  ControlFrames& control_;
  NodeEvents& events_;
};

}  // namespace heddle
