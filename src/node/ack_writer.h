// SPDX-License-Identifier: Apache-2.0
// What the switch before is to know of the flows of a fabric port (W2, W3): each that has news is listed once, and its
// totals of the moment, bytes of original frames modulo 2^32, go out with those of others when enough have come
// together or some time has passed. Whoever changes a total marks its flow; frames are made in the port's turn to send.
#pragma once

#include "node/control_frames.h"
#include "node/port.h"
#include "node/site.h"

namespace heddle {

class AckWriter {
 public:
  AckWriter(const Site& site, ControlFrames& control) : site_(site), control_(control) {}

  // The flow's totals have changed, or were asked for; a fabric port's. It is listed once.
  void mark_due(Port& port, FlowId id, InputFlow& flow, Nanos now);
  // F12: bytes up to `position` that never came are lost: counted at once in all totals, so that extents never hold
  // them, and told upstream. False if that is impossible.
  bool settle_hole(Port& port, FlowId id, InputFlow& flow, uint32_t position, Nanos now);
  // Frames of all that is due, if it is time or a full frame has come together; without a packet for one it stays due.
  // `carries_data`: the link is not idle in this turn. They wait for the port's rate.
  void make_frames(Port& port, bool carries_data, Nanos now);
  // When the records that wait go out at the latest (W3).
  Nanos deadline(const Port& port) const;

 private:
  Nanos deadline(const Port& port, bool idle) const;
  [[gnu::noinline]] static AckRecord more_than_totals(InputSide& input, FlowId id, InputFlow& flow);

  const Site& site_;
  ControlFrames& control_;
};

}  // namespace heddle
