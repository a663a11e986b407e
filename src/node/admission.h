// SPDX-License-Identifier: Apache-2.0
// A frame joins its flow, or passes it by where nothing is in the way (decision 4). Called by those who receive, once
// for each frame that Express does not take, and by arbitration for what leaves a queue. It counts the frame in the
// flow's positions (bytes of original frames) and owns it from then until it stands in a queue, has crossed or is
// dropped. Nothing of it fails: a frame that may not join is dropped with its reason and settled as lost (K4).
#pragma once

#include "node/buffer_shares.h"
#include "node/crosspoint.h"
#include "node/flow_ids.h"
#include "node/flow_life.h"
#include "node/flow_limits.h"
#include "node/flow_pauses.h"
#include "node/flow_queues.h"
#include "node/port.h"
#include "node/site.h"
#include "node/stamping_at_once.h"
#include "wire/inlining.h"

namespace heddle {

class Admission {
 public:
  Admission(const Site& site, FlowIds& flow_ids, FlowLimits& flow_limits, FlowPauses& flow_pauses,
            FlowQueues& flow_queues, FlowWays& ways, FlowLife& flow_life, BufferShares& shares, CrossPoint& crosspoint,
            StampingAtOnce& at_once)
      : site_(site),
        flow_ids_(flow_ids),
        flow_limits_(flow_limits),
        flow_pauses_(flow_pauses),
        flow_queues_(flow_queues),
        ways_(ways),
        flow_life_(flow_life),
        shares_(shares),
        crosspoint_(crosspoint),
        at_once_(at_once) {}

  // The next frame of the flow, at the edge and in transit.
  void admit(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  // Would a frame pass by the queue of its idle flow, whose limits and path do not hold it, on to that output? Asks
  // what is asked of each frame; nothing is changed. `flow` may be one that is not there yet.
  bool would_pass(const Port& port, const InputFlow& flow, const Voq& voq, const Packet& packet) const {
    return may_enter(port, packet) && has_id(port, flow, voq) && may_cross(port, flow, voq, packet);
  }
  // Why its flow's queue would not take it, if not.
  DropReason refusal(const Port& port, const InputFlow& flow, const Packet& packet) const {
    return flow_queues_.refusal(port, flow, packet);
  }
  // Has it an output flow ID there, or would it get one at once, and need not leave it to others (K11)?
  bool has_id(const Port& port, const InputFlow& flow, const Voq& voq) const {
    return flow.branch.flow == kNoFlow ? flow_ids_.would_reserve(port, voq) : !flow_ids_.has_to_yield(port, flow);
  }
  // So many buffers of a fabric port's frames may enter so until it is full.
  uint32_t room_to_enter(const Port& port) const { return flow_queues_.room(port); }
  // For so many buffers at the output, and under the flow's injection limit (A6). `in_transit`: known to be a fabric
  // port, which injects nothing.
  static bool has_room(const Port& port, bool in_transit, const InputFlow& flow, const Voq& voq, uint32_t cost) {
    return usually(voq.room >= cost) && (in_transit || port.input.arbiter.may_inject(flow.branch.injects));
  }
  // It leaves its flow, which has no say in how it goes on.
  static void leave(Port& port, bool in_transit, InputFlow& flow, Voq& voq, Packet* packet) {
    flow.data_flow += packet->payload;
    packet->output_flow = flow.branch.flow;
    voq.take_lane(*packet);
    if (!in_transit && flow.branch.injects != kInjectsNothing)
      port.input.arbiter.inject(flow.branch.injects, packet->payload);
  }
  // A packet leaves its flow for the crossing; the flow has an output flow ID, and the room is there.
  void hand_on(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now);

 private:
  [[gnu::noinline]] void join_queue(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  void leave(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now);
  // No frame passes one by that may go no further, or while its link's other frames hold all buffers here.
  bool may_enter(const Port& port, const Packet& packet) const {
    return !port.is_fabric() || (packet.hop_limit != 0 && (packet.vc != kLossyChannel || !flow_queues_.is_full(port)));
  }
  // Nobody with an output flow ID waits for the output, and there is room, and what it has to have in arbitration.
  bool may_cross(const Port& port, const InputFlow& flow, const Voq& voq, const Packet& packet) const {
    return voq.ready() == 0 && has_room(port, false, flow, voq, packet.cost) &&
           (!voq.shares_credit || within_share(flow, shares_.free_bytes_of(voq)));
  }
  bool pass_through(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  HEDDLE_HOT [[gnu::noinline]] bool set_out(Port& port, FlowId id, InputFlow& flow, const Packet& packet);
  HEDDLE_COLD void pass_marks(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now);
  [[gnu::noinline]] bool may_pass(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now);

  const Site& site_;
  FlowIds& flow_ids_;
  FlowLimits& flow_limits_;
  FlowPauses& flow_pauses_;
  FlowQueues& flow_queues_;
  FlowWays& ways_;
  FlowLife& flow_life_;
  BufferShares& shares_;
  CrossPoint& crosspoint_;
  StampingAtOnce& at_once_;
};

}  // namespace heddle
