// SPDX-License-Identifier: Apache-2.0
// Records of the other end of a link: ACKs (W2, node/ack_receive.h), probes (K5), credits (K7), retry reports (K6),
// notices (W6), loads (R8). Called for a frame whose checksum, session and sequence are right, so what a record says
// that can't be is the other end's fault: false from any of them, and the session ends (K3). The frame stays its
// caller's.
#pragma once

#include "node/ack_receive.h"
#include "node/ack_writer.h"
#include "node/link_control.h"
#include "node/link_states.h"
#include "node/port.h"
#include "node/port_loads.h"
#include "node/retry_frames.h"
#include "node/site.h"
#include "routing/link_state.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class FabricRecords {
 public:
  FabricRecords(const Site& site, LinkState& link_state, AckWriter& acks, AckReceive& ack_receive,
                LinkControl& link_control, LinkStates& link_states, RetryFrames& retry, PortLoads& loads)
      : site_(site),
        link_state_(link_state),
        acks_(acks),
        ack_receive_(ack_receive),
        link_control_(link_control),
        link_states_(link_states),
        retry_(retry),
        loads_(loads) {}

  // A frame of records in its order. Resets the session if the link contradicts itself.
  void receive(Port& port, const LinkFrame& frame, Nanos now);

 private:
  bool receive_probe(Port& port, const ProbeRecord& record, Nanos now);
  HEDDLE_COLD bool receive_retry(Port& port, const LinkFrame& frame, Nanos now);

  const Site& site_;
  LinkState& link_state_;
  AckWriter& acks_;
  AckReceive& ack_receive_;
  LinkControl& link_control_;
  LinkStates& link_states_;
  RetryFrames& retry_;
  PortLoads& loads_;
};

}  // namespace heddle
