// SPDX-License-Identifier: Apache-2.0
// Flow queues (F7): what may join one, and what comes and goes with a packet. The only one that puts packets into a
// flow's queue or takes them out, and with them what is counted by it: packets, the port's queues, what waits for an
// output, credits (C6), pauses (G1). But for the end of a session: it empties all at once (LinkControl). Sizes in bytes
// of original frames; buffers where it says so. Keeps no state.
#pragma once

#include <algorithm>

#include "node/flow_credits.h"
#include "node/flow_pauses.h"
#include "node/port.h"
#include "node/site.h"
#include "node/waiting_load.h"
#include "wire/inlining.h"

namespace heddle {

class FlowQueues {
 public:
  FlowQueues(const Site& site, FlowCredits& flow_credits, FlowPauses& flow_pauses, WaitingLoad& waiting)
      : site_(site), flow_credits_(flow_credits), flow_pauses_(flow_pauses), waiting_(waiting) {}

  // Past a mark the tail of a lossy class is dropped (A8). No flow may have more of the input's buffers than it leaves
  // free, so that however many flows are held up, one that is not finds room (C8), and so for a class and for a group
  // of applications, so that one of many flows leaves room for another's one: in transit, too, for classes. An empty
  // queue takes any frame that its class and group may have. One of a lossless class has a buffer that was granted on a
  // fabric port; at the edge its host has been told to stop well before there is none.
  DropReason refusal(const Port& port, const InputFlow& flow, const Packet& packet) const;
  // What refusal() has let in.
  void push(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  // Could the flow keep what comes until all that it has under way is settled, and lose nothing by it (R9)? One whose
  // queue is full loses what comes as it is.
  bool may_hold(const Port& port, const InputFlow& flow) const;
  // The first packet; there is one. It is still in queue_extent().
  Packet* take(Port& port, InputFlow& flow);
  // A packet has left the queue of a flow that was past a mark, and is still in queue_extent(): below half of its mark
  // the host of a lossless one may go on.
  HEDDLE_COLD void went(Port& port, InputFlow& flow, const Packet& packet);
  // What the port's frames hold, this one included. On a fabric port those in the outputs count too: they hold link
  // credits, and lossy frames must not hold them all (C9).
  static uint32_t input_buffers(const Port& port) {
    return port.is_fabric() ? port.credits[kLossyChannel].held()
                            : port.input.queues.packets() - port.input.queues.lossless_packets() + 1;
  }
  // Past the port's mark.
  bool is_full(const Port& port) const { return input_buffers(port) > site_.settings.input_drop_mark_packets; }
  // Buffers of a fabric port's frames that may come until then.
  uint32_t room(const Port& port) const {
    const uint32_t most = site_.settings.input_drop_mark_packets;
    return most - std::min(input_buffers(port), most);
  }

 private:
  uint32_t mark(const InputFlow& flow) const;

  const Site& site_;
  FlowCredits& flow_credits_;
  FlowPauses& flow_pauses_;
  WaitingLoad& waiting_;
};

}  // namespace heddle
