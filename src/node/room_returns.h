// SPDX-License-Identifier: Apache-2.0
// Room in the outputs (X1) goes back to the inputs, and inputs say that they wait for it (X3). Copies that were made by
// replication are counted here: what they hold comes back with the room. All of it in buffers, but for what has been
// delivered, in bytes. Of this worker's outputs and inputs alike. A full ring to another worker loses nothing: what it
// does not take is said in the next turn.
#pragma once

#include "node/orphans.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class RoomReturns {
 public:
  RoomReturns(const Site& site, Ports& ports, Turn& turn, Outbox& outbox, Orphans& orphans)
      : site_(site), ports_(ports), turn_(turn), outbox_(outbox), orphans_(orphans) {}

  // Once a turn, when the ports have sent: what outputs have to give back goes to its inputs.
  void send();
  // An input's: room, credits, copies and delivered bytes have come back from a lane of an output. By send(), or by
  // Messages from another worker's; also when the input's session is another one by now.
  void apply(Port& input, PortIndex output, LaneIndex lane, const Returns& returns);
  // A virtual output queue has no room for its next packet: returns wake it. In its turn, by Arbitration and Fifos.
  HEDDLE_COLD void wait(Port& input, Voq& voq);
  // The output hears how many flows wait there for room, unless it knows that well enough. Arbitration tells that
  // none do any more where it is not room that is short, LinkControl when the input's session ends.
  HEDDLE_COLD void tell_waiting(Port& input, Voq& voq, uint32_t flows);
  // So many flows of an input wait for room in a lane of the output, which is this worker's. By tell_waiting(), or by
  // Messages.
  static void on_wait(Port& output, PortIndex input, LaneIndex lane, uint32_t flows);
  // Of a copy that is to be made: is there room for it in the budget (decision 3)? And: it has been made. By Bridging.
  bool may_copy(uint32_t buffers) const { return copies_out_ + buffers <= site_.copies_max; }
  void copied(uint32_t buffers) { copies_out_ += buffers; }
  uint32_t copies_out() const { return copies_out_; }

 private:
  bool send_returns_of(Port& output, PortIndex input, LaneIndex lane);
  HEDDLE_COLD void keep_some(const Port& output, PortIndex input, LaneIndex lane, Returns& given) const;
  HEDDLE_COLD bool send_orphans(Port& output, PortIndex input);

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  Outbox& outbox_;
  Orphans& orphans_;
  uint32_t copies_out_ = 0;  // buffers of copies that are under way
};

}  // namespace heddle
