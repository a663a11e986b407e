// SPDX-License-Identifier: Apache-2.0
// Frames on fabric links: judged (K13), of this session (K1), in order (K2), then by kind. Called by Receive with a
// burst, which it owns from then; records in it go to FabricRecords. A neighbour that says what cannot be has its frame
// dropped with a reason, and where positions would part, the session ends and begins anew. Keeps no state.
#pragma once

#include "node/ack_writer.h"
#include "node/admission.h"
#include "node/bridging.h"
#include "node/delivery_at_once.h"
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
  FabricReceive(const Site& site, Turn& turn, AckWriter& acks, Admission& admission, DeliveryAtOnce& at_once,
                Bridging& bridging, Fifos& fifos, FlowLife& flow_life, LinkControl& link_control,
                FabricRecords& records)
      : site_(site),
        turn_(turn),
        acks_(acks),
        admission_(admission),
        at_once_(at_once),
        bridging_(bridging),
        fifos_(fifos),
        flow_life_(flow_life),
        link_control_(link_control),
        records_(records) {}

  // In passes, as at the edge: frames are judged, then their flows' entries have come.
  HEDDLE_HOT void receive(Port& port, Packet** packets, uint32_t count, Nanos now);

 private:
  void take_frame(Port& port, Packet* packet, const LinkFrame& frame, Nanos now);
  HEDDLE_COLD static bool skips_ahead(Port& port, uint32_t sequence);
  void receive_in_turn(Port& port, Packet* packet, const LinkFrame& frame, Nanos now);
  void receive_data(Port& port, Packet* packet, bool in_turn, Nanos now);
  void receive_flow_data(Port& port, Packet* packet, Nanos now);
  HEDDLE_COLD void break_off(Port& port, Packet* packet, Nanos now);

  const Site& site_;
  Turn& turn_;
  AckWriter& acks_;
  Admission& admission_;
  DeliveryAtOnce& at_once_;
  Bridging& bridging_;
  Fifos& fifos_;
  FlowLife& flow_life_;
  LinkControl& link_control_;
  FabricRecords& records_;
};

}  // namespace heddle
