// SPDX-License-Identifier: Apache-2.0
// Credits of single flows inside the fabric (C6), as the hop grants them where the flow queues. A flow that queues at a
// fabric port past its target is granted by credit: the switch before may send it up to a position, which follows what
// leaves the queue, so that a flow that does not get on holds few of the link's buffers. Its queue there grows in turn,
// and so it goes back hop by hop. Limits are positions (K3); a lost one is told again with the next ACK, and whoever
// waits for it asks (credit_watch.h). Targets are bytes of original frames, the less the more flows queue in the
// channel. Called by FlowQueues; what is to be told goes with the flow's next ACK record (ack_writer.h), at once when
// it begins.
#pragma once

#include "node/ack_writer.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class FlowCredits {
 public:
  FlowCredits(const Site& site, Turn& turn, AckWriter& acks) : site_(site), turn_(turn), acks_(acks) {}

  // A packet comes to the queue of a flow at a fabric port, and is in queue_extent() already, but not in the queue. Of
  // each: a flow's first one counts it among those that queue in the channel; FlowQueues takes it off again.
  HEDDLE_COLD void joined(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now);
  // A packet leaves the queue of a flow that is granted by credit, or passes it by where it is empty (admission.h). It
  // is in queue_extent() still.
  HEDDLE_COLD void left(Port& port, InputFlow& flow, const Packet& packet);

 private:
  uint32_t target_of(const Port& port, uint8_t channel) const;

  const Site& site_;
  Turn& turn_;
  AckWriter& acks_;
};

}  // namespace heddle
