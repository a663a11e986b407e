// SPDX-License-Identifier: Apache-2.0
// What endpoint congestion does to flows (C3-C5): each hop holds a flow whose destination is congested to its share, by
// the time between packets and by bytes under way. Asks the one gate (flow/flow_gate.h) whether a flow may go, and
// times round trips for the limits.
#pragma once

#include "flow/round_trips.h"
#include "node/ack_writer.h"
#include "node/buffer_shares.h"
#include "node/ports.h"
#include "node/site.h"
#include "node/waiting_load.h"
#include "topology/destinations.h"
#include "wire/inlining.h"

namespace heddle {

class FlowLimits {
 public:
  FlowLimits(const Site& site, Ports& ports, AckWriter& acks, BufferShares& shares, WaitingLoad& waiting)
      : site_(site),
        ports_(ports),
        acks_(acks),
        shares_(shares),
        waiting_(waiting),
        round_trips_(site.topology.nodes.size(), site.settings.probe_base_ns),
        destinations_(site.topology) {}

  // The level of a flow has been told by the hop below, or by its output here.
  bool tell(Port& port, FlowId id, InputFlow& flow, uint8_t congestion, Nanos now);
  // What was told of an unlimited flow holds no longer.
  static void forget(InputFlow& flow) { flow.congestion = 0; }
  // May the flow hand on a packet of so many bytes now?
  HEDDLE_COLD bool may_forward(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now);
  // The flow is held no longer.
  void end(Port& port, InputFlow& flow);
  // So many bytes of a limited flow have been handed on.
  HEDDLE_COLD void spend(Port& port, FlowId id, uint32_t bytes, Nanos now);
  // Something of a limited flow is settled. What was delivered has the congested host's word with it. What has died on
  // the way says nothing, but nobody could: were the limit over then, a flow whose frames die would send a burst that
  // dies too, again and again.
  HEDDLE_COLD void renew(Port& port, FlowId id, uint32_t delivered, Nanos now);
  // The flow has handed on a packet of so many bytes.
  HEDDLE_COLD void time_round_trip(Port& port, FlowId id, uint32_t bytes, Nanos now);
  // Once a turn: has the timed packet been acknowledged?
  void look_at_round_trip(Nanos now);
  // The round trip that is being timed, if any is.
  const RoundTrips& round_trips() const { return round_trips_; }
  // The flows of a port are gone.
  void forget(PortIndex port) { round_trips_.forget(port); }

 private:
  Nanos round_trip_to(const InputFlow& flow) const;

  const Site& site_;
  Ports& ports_;
  AckWriter& acks_;
  BufferShares& shares_;
  WaitingLoad& waiting_;
  RoundTrips round_trips_;
  const Destinations destinations_;
};

}  // namespace heddle
