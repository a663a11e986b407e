// SPDX-License-Identifier: Apache-2.0
// Frames on fabric links: judged (K13), of this session (K1), in order (K2), then by kind. Called by Receive with a
// burst, which it owns from then; records in it go to FabricRecords. A neighbour that says what cannot be has its frame
// dropped with a reason, and where positions would part, the session ends and begins anew. Keeps no state.
#pragma once

#include "node/ack_writer.h"
#include "node/admission.h"
#include "node/bridging.h"
#include "node/delivery_at_once.h"
#include "node/express.h"
#include "node/fabric_records.h"
#include "node/fifos.h"
#include "node/flow_life.h"
#include "node/link_control.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class FabricReceive {
 public:
  FabricReceive(const Site& site, Turn& turn, AckWriter& acks, Admission& admission, Express& express,
                DeliveryAtOnce& at_once, Bridging& bridging, Fifos& fifos, FlowLife& flow_life,
                LinkControl& link_control, FabricRecords& records)
      : site_(site),
        turn_(turn),
        acks_(acks),
        admission_(admission),
        express_(express),
        at_once_(at_once),
        bridging_(bridging),
        fifos_(fifos),
        flow_life_(flow_life),
        link_control_(link_control),
        records_(records) {}

  // In passes, as at the edge: frames are judged, then their flows' entries have come.
  void receive(Port& port, Packet** packets, uint32_t count, Nanos now);

 private:
  HEDDLE_HOT [[gnu::noinline]] uint32_t take_data_frames(Port& port, Packet** packets, uint32_t count, Nanos now);
  void receive_other(Port& port, Packet* packet, Nanos now);
  static DropReason judge(Port& port, const LinkFrame& frame, Nanos now);
  static bool skips_ahead(Port& port, uint32_t sequence);
  static DropReason judge_in_turn(Port& port, const LinkFrame& frame, Nanos now);
  void receive_data(Port& port, Packet** packets, uint32_t count, Nanos now);
  // A frame of that channel, in the link's retry channel (K6) or not, that takes one buffer here (C9): the loops take
  // no other.
  static bool is_plain(const Packet& packet, uint8_t channel, bool in_turn) {
    return usually(packet.vc == channel) && usually(bool(packet.flags & kPacketInTurn) == in_turn) &&
           usually(packet.payload <= kOneBufferPayloadMax);
  }
  template <bool kLossless>
  uint32_t run_short(Port& port, Packet** packets, uint32_t count, Nanos now);
  template <bool kLossless>
  HEDDLE_HOT [[gnu::noinline]] uint32_t run_express(Port& port, Packet** packets, uint32_t count, Nanos now);
  template <bool kLossless>
  HEDDLE_HOT [[gnu::noinline]] uint32_t run_deliveries(Port& port, Packet** packets, uint32_t count, Nanos now);
  HEDDLE_HOT [[gnu::noinline]] uint32_t run_others(Port& port, Packet** packets, uint32_t count, Nanos now);
  bool enter(Port& port, Packet* packet, Nanos now);
  void receive_frame(Port& port, Packet* packet, Nanos now);
  void receive_flow_data(Port& port, Packet* packet, Nanos now);
  HEDDLE_COLD void break_off(Port& port, Packet* packet, Nanos now);

  const Site& site_;
  Turn& turn_;
  AckWriter& acks_;
  Admission& admission_;
  Express& express_;
  DeliveryAtOnce& at_once_;
  Bridging& bridging_;
  Fifos& fifos_;
  FlowLife& flow_life_;
  LinkControl& link_control_;
  FabricRecords& records_;
};

}  // namespace heddle
