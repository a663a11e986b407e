// SPDX-License-Identifier: Apache-2.0
// Fine-grained flow control of an edge port (G1): a host that obeys is told how much it may send of a flow whose queue
// has grown past its target, so that it holds back that flow and no other. What a port has stands in its PausedFlows.
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
  FlowPauses(const Site& site, Turn& turn, const EdgeInput& edge, ControlFrames& control, NodeEvents& events)
      : site_(site), turn_(turn), edge_(edge), control_(control), events_(events) {}

  // A frame of the host that parsing has told from others. False if it is not what hosts may send (K14).
  HEDDLE_COLD bool hear(Port& port, Packet* packet, Nanos now);
  // A frame of a flow comes that has a queue, or that does not pass by it; it is in queue_extent().
  void came(Port& port, FlowId id, InputFlow& flow, Nanos now) {
    if (port.input.paused.hosts.any()) [[unlikely]]
      look(port, id, flow, now);
  }
  // A frame of a flow with kFlowPaused has left its queue; `queue_bytes` are left there.
  HEDDLE_COLD void left(Port& port, FlowId id, InputFlow& flow, uint32_t queue_bytes);
  // Once a turn: makes the frames that are due, in turn and a few at a time.
  void run(Port& port, Nanos now) {
    if (now >= next_wake(port)) [[unlikely]]
      tell_all(port, now);
  }
  // When run() has something to do; 0: now.
  Nanos next_wake(const Port& port) const {
    const PausedFlows& paused = port.input.paused;
    return paused.due.empty() ? std::min(paused.again.next(), paused.ended.next()) : 0;
  }

 private:
  static constexpr uint32_t kFramesPerTurn = 4;
  static constexpr Nanos kStallNs = 20 * kMillisecond;  // a host's thread may stand still for so long,
  static constexpr uint32_t kHostBytes = 128 * 1024;    // and have so much in its queues

  HEDDLE_COLD void look(Port& port, FlowId id, InputFlow& flow, Nanos now);
  HEDDLE_COLD void tell_all(Port& port, Nanos now);
  bool tell(Port& port, FlowId id, Nanos now);
  void count_overrun(Port& port, FlowId id, uint32_t overrun, Nanos now);
  void end(Port& port, FlowId id, InputFlow& flow);
  PauseMarks marks(const InputFlow& flow) const { return PauseMarks(site_.classes.of(flow.ftag).flow_queue_bytes); }

  const Site& site_;
  Turn& turn_;
  const EdgeInput& edge_;
  ControlFrames& control_;
  NodeEvents& events_;
};

}  // namespace heddle
