// SPDX-License-Identifier: Apache-2.0
// The flows of an edge port's hosts: a match has one as long as its frames are under way (F4). Frames that find no free
// flow ID wait for one (F10), or are dropped with their reason where too many do. Called by those who receive hosts'
// frames, for each that is not delivered at once or taken by Express; the writer of MatchEntry::flow and waiting.
#pragma once

#include "ingress/edge_input.h"
#include "node/admission.h"
#include "node/flow_life.h"
#include "node/flow_ways.h"
#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

// A host's frame gets what frames on the fabric bring with them in their header.
inline void start_way(Packet& packet, uint8_t round_trip_bits) {
  packet.hop_limit = kHopLimit;
  packet.priority |= round_trip_bits;
  packet.cost = buffers_for(packet.length);
}

class EdgeFlows {
 public:
  EdgeFlows(const Site& site, Turn& turn, EdgeInput& edge, const FlowWays& ways, FlowPauses& flow_pauses,
            FlowLife& flow_life, Admission& admission)
      : site_(site),
        turn_(turn),
        edge_(edge),
        ways_(ways),
        flow_pauses_(flow_pauses),
        flow_life_(flow_life),
        admission_(admission) {}

  // The flow that a match has now; nullptr if it has none.
  static InputFlow* find(Port& port, const MatchEntry& match, uint32_t match_index) {
    return port.input.flows.of_match(match.flow, match_index);
  }
  // For who looks on (telemetry): would a flow that begins find a free flow ID?
  HEDDLE_COLD static bool has_free_id(const Port& port);
  // May a frame of that class and group wait for one (F10)? Lossy frames leave so much that lossless ones find room,
  // and their host is not told to wait because of them.
  static bool may_wait(const Site& site, const Port& port, uint8_t ftag, uint8_t group);
  // F10: frames that find no free flow ID wait in order behind each other, group by group, up to a bound; so do then
  // those of flows that have had their turn, so that an ID becomes free.
  void attach(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now);
  // Frames that wait for a flow ID (F10) join their flows, in order, as far as there are IDs.
  HEDDLE_COLD void serve_waiting(Port& port, Nanos now);
  // The match's station is elsewhere now. What its flow has outstanding may still be under way to the old place, and
  // the station may come back there: the next flow waits until it is dead, as after a flood (E1). So may what has
  // crossed without a flow to the port that it left, if that is another worker's.
  HEDDLE_COLD void detach(Port& port, uint32_t match_index, PortIndex left, Nanos now);
  // Whether frames of that class may still be under way there without a flow: some are, of whichever flow.
  HEDDLE_COLD bool has_crossed_at_once(const Port& port, PortIndex to, uint8_t ftag) const;

 private:
  FlowId flow_of(Port& port, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now);
  HEDDLE_COLD void wait_for_id(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index);

  const Site& site_;
  Turn& turn_;
  EdgeInput& edge_;
  const FlowWays& ways_;
  FlowPauses& flow_pauses_;
  FlowLife& flow_life_;
  Admission& admission_;
};

}  // namespace heddle
