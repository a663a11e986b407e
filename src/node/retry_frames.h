// SPDX-License-Identifier: Apache-2.0
// Link retry (K6): frames of lossless classes go in a retry channel of their link (K2) and are kept until the other end
// has them. What the link loses is sent again, so no hole appears in it. The rules are LinkRetry's; here are the
// frames.
#pragma once

#include "node/control_frames.h"
#include "node/port.h"
#include "node/turn.h"
#include "wire/inlining.h"
#include "wire/packet.h"

namespace heddle {

class RetryFrames {
 public:
  RetryFrames(Turn& turn, PacketPool& pool, ControlFrames& control) : turn_(turn), pool_(pool), control_(control) {}

  // What is to be kept of a frame that is about to be stamped; nullptr: it has to wait.
  Packet* replica_for(Port& port, Packet* packet);
  // The frame has its number.
  void keep(Port& port, const Packet& packet, Packet* replica, Nanos now);
  // Frames that the other end misses, before all others of the channel. They have their credit and room from the first
  // time, and go on ageing (K8). How many are in the burst then.
  HEDDLE_COLD uint32_t send_again(Port& port, Packet** burst, uint32_t count, uint32_t room, Nanos now);
  // What the other end is to know or is asked, if that is due.
  HEDDLE_COLD void send_records(Port& port, Nanos now);
  // Frames that need not be kept any more.
  void let_go(Port& port, PacketQueue kept);

 private:
  Packet* second_of(Port& port, Packet* packet);

  Turn& turn_;
  PacketPool& pool_;
  ControlFrames& control_;
};

}  // namespace heddle
