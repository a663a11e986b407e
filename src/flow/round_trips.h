// SPDX-License-Identifier: Apache-2.0
// How long the way to each node of the fabric and back takes: congested flows may have so much under way (C4), and
// frames carry the longest to the hops behind, which time nothing themselves.
// One flow at a time is timed: from its last packet, which it has handed on, until that is acknowledged, or until the
// congested host's port says that it has come (C2), which leaves out the queue there.
// Owned by one worker. Nodes are indices into the topology; all times come from the caller.
#pragma once

#include <vector>

#include "flow/input_flow.h"
#include "wire/types.h"

namespace heddle {

class RoundTrips {
 public:
  // What has not been answered for `patience_ns` is timed no longer: something was lost.
  RoundTrips(size_t nodes, Nanos patience_ns) : known_ns_(nodes), patience_ns_(patience_ns) {}

  // 0 = not known.
  Nanos to(uint16_t node) const { return known_ns_[node]; }
  // Of the farthest node, as frames carry it: in the upper half of the priority (round_trip_code).
  uint8_t code_bits() const { return code_bits_; }

  bool timing() const { return timed_; }
  // The flow that is timed, while timing().
  PortIndex port() const { return port_; }
  FlowId flow_id() const { return flow_id_; }

  // The flow has handed on a packet to `node`, `alone`: it has nothing else under way.
  void begin(PortIndex port, FlowId id, const InputFlow& flow, uint16_t node, bool alone, Nanos now);
  // Once in a while, with the record of the flow that is timed.
  void look(const InputFlow& flow, Nanos now);
  // A packet has come to a congested host's port. Says nothing of a flow that has others under way.
  void arrived(PortIndex port, FlowId id, Nanos now);
  // The flows of a port are gone.
  void forget(PortIndex port) { timed_ = timed_ && port != port_; }

 private:
  void end(Nanos now);

  std::vector<Nanos> known_ns_;  // by node
  Nanos patience_ns_;
  uint16_t farthest_ = 0;
  uint8_t code_bits_ = 0;
  bool timed_ = false;  // what follows is of a flow
  bool alone_ = false;
  bool may_rise_ = false;  // it may show that the way has become longer
  PortIndex port_ = kNoPort;
  FlowId flow_id_ = kNoFlow;
  uint16_t node_ = 0;
  uint32_t position_ = 0;    // that is waited for
  uint32_t lost_total_ = 0;  // of the flow at the beginning
  Nanos begun_ns_ = 0;
};

}  // namespace heddle
