// SPDX-License-Identifier: Apache-2.0
// The short cut past the queue of a fabric port (decision 4): a frame that crosses to one of its own worker where
// nothing waits gets its header at once and stands among those that go to the device next. What it has to have it has
// here as in the port's turn: life and credit of the link. All else takes the ordinary
// way, as do all frames of the port from then on until its queue is empty again.
#pragma once

#include "node/ports.h"
#include "node/settlement.h"
#include "node/stamping.h"

namespace heddle {

class Express {
 public:
  Express(Ports& ports, Stamping& stamping) : ports_(ports), stamping_(stamping) {}

  // A frame of a lossy channel that has left its flow and has a lane and the room there. False, and nothing done, if it
  // is to cross as others do.
  bool take(const Port& input, const InputFlow& flow, Packet* packet, Nanos now);
  // Would it take one of so many bytes, whose flow has this ID there, or kNoFlow yet, and which lives? Nobody waits
  // there, of its own flow neither, nor is anybody to: a port with a rate of its own is to have its queue here
  // (decision 6).
  static bool may_take(const Port& there, FlowId id, uint32_t bytes) {
    const OutputSide& output = there.output;
    const LinkCredits& credits = there.credits[kLossyChannel];
    return output.scheduler.lanes() == 0 && there.session.up() && !output.scheduler.has_rate() &&
           there.retry.again() == nullptr && !(output.flows[id].flags & kOutputEnded) &&
           output.stamped_packets != output.transmitter.room() && credits.may_send(Stamping::cost(credits, bytes));
  }

 private:
  Ports& ports_;
  Stamping& stamping_;
};

}  // namespace heddle
