// SPDX-License-Identifier: Apache-2.0
// What waits in the flow queues of this worker's inputs, told on the load board by the output that it is for (R3). A
// flow that is held to its share of a congested host waits for that host and not for a port, and does not count.
// Bytes of original frames, and flows. The board adds up what changes: one change that is not told is missing in the
// sums for ever, by which all workers choose ways.
#pragma once

#include "flow/input_flow.h"
#include "routing/load_board.h"
#include "topology/lanes.h"

namespace heddle {

class WaitingLoad {
 public:
  WaitingLoad(LoadBoard& board, const Lanes& lanes, WorkerIndex worker)
      : board_(board), lanes_(lanes), worker_(worker) {}

  // A packet of so many bytes has joined the flow's queue, or has left it. By FlowQueues, when queue and
  // queued_packets have changed.
  void joined(const InputFlow& flow, uint32_t bytes) {
    if (counts(flow)) add(flow, bytes, flow.queued_packets == 1);
  }
  void left(const InputFlow& flow, uint32_t bytes) {
    if (counts(flow)) add(flow, 0u - bytes, 0u - flow.queue.empty());
  }
  // Its queue begins to count, or counts no longer: to be called where its output or kFlowLimited changes, end() with
  // the old one and then begin() with the new one. By FlowIds and FlowLimits, while queue_extent() is what stands in
  // the queue.
  void begin(const InputFlow& flow) {
    if (!flow.queue.empty() && counts(flow)) add(flow, flow.queue_extent(), 1);
  }
  void end(const InputFlow& flow) {
    if (!flow.queue.empty() && counts(flow)) add(flow, 0u - flow.queue_extent(), ~0u);
  }

 private:
  static bool counts(const InputFlow& flow) { return flow.branch.output() != kNoPort && !(flow.flags & kFlowLimited); }
  void add(const InputFlow& flow, uint32_t bytes, uint32_t flows) {
    board_.add_waiting(worker_, flow.branch.output(), lanes_.class_of(flow.ftag), bytes, flows);
  }

  LoadBoard& board_;
  const Lanes& lanes_;
  const WorkerIndex worker_;
};

}  // namespace heddle
