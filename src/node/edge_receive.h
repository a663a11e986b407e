// SPDX-License-Identifier: Apache-2.0
// Frames of hosts: policed (E2), read, matched, on to their flow. Called by Receive with a burst, which it owns from
// then. Hostile until read() has taken it: what is refused is dropped with its reason, or goes to those who hear hosts
// (PAUSE, fine-grained flow control). Keeps nothing but the time of the next look for aged stations (ns).
#pragma once

#include "ingress/edge_input.h"
#include "node/bridging.h"
#include "node/delivery_at_once.h"
#include "node/edge_flows.h"
#include "node/express.h"
#include "node/fifos.h"
#include "node/flow_limits.h"
#include "node/flow_pauses.h"
#include "node/host_control.h"
#include "node/ports.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class EdgeReceive {
 public:
  EdgeReceive(const Site& site, Ports& ports, Turn& turn, EdgeInput& edge, FlowLimits& flow_limits,
              EdgeFlows& edge_flows, Express& express, DeliveryAtOnce& at_once, Bridging& bridging, Fifos& fifos,
              HostControl& host_control, FlowPauses& flow_pauses)
      : site_(site),
        ports_(ports),
        turn_(turn),
        edge_(edge),
        flow_limits_(flow_limits),
        edge_flows_(edge_flows),
        express_(express),
        at_once_(at_once),
        bridging_(bridging),
        fifos_(fifos),
        host_control_(host_control),
        flow_pauses_(flow_pauses) {}

  // In passes over the burst, so that memory is fetched while something else is done: headers, records, flows (F4).
  HEDDLE_HOT void receive(Port& port, Packet** packets, uint32_t count, Nanos now);
  // Would the port's policer drop the frame, as received?
  HEDDLE_COLD static bool would_police(const EdgePortInput& input, const Packet& packet, Nanos now);
  // Why a frame for that place would go nowhere for its match, which is kNotFound if there is none.
  HEDDLE_COLD DropReason refusal(uint32_t match, FabricAddress destination, Nanos now) const;
  // Once in a while: stations that have not been seen for long are forgotten.
  void age_stations(Nanos now);
  Nanos next_wake() const { return site_.edge_ports != 0 ? next_sweep_ns_ : kNever; }

 private:
  template <bool kLossless>
  HEDDLE_HOT [[gnu::noinline]] uint32_t run_express(Port& port, Packet** packets, const uint32_t* found, uint32_t count,
                                                    Nanos now);
  void run_others(Port& port, Packet** packets, const EdgeKey* keys, uint32_t* found, uint32_t count, uint32_t left,
                  Nanos now);
  HEDDLE_COLD void refuse(Port& port, Packet* packet, DropReason reason, Nanos now);
  // Frames by which hosts and ports tell each other to wait are part of no rate.
  HEDDLE_COLD static bool counts_in_rate(const Packet& packet);
  HEDDLE_COLD uint32_t police(Port& port, Packet** packets, uint32_t count, Nanos now);
  HEDDLE_COLD static void count_marks(Port& port, Packet& packet);
  HEDDLE_COLD void decide(Port& port, Packet* packet, const EdgeKey& key, uint32_t match, Nanos now);

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  EdgeInput& edge_;
  FlowLimits& flow_limits_;
  EdgeFlows& edge_flows_;
  Express& express_;
  DeliveryAtOnce& at_once_;
  Bridging& bridging_;
  Fifos& fifos_;
  HostControl& host_control_;
  FlowPauses& flow_pauses_;
  Nanos next_sweep_ns_ = 0;
};

}  // namespace heddle
