// SPDX-License-Identifier: Apache-2.0
// What one hop would do with a frame, or does with a flow: what it decides and what it sees meanwhile. Filled in the
// threads of the workers concerned, by the code that decides for real frames; nothing is changed.
#pragma once

#include <vector>

#include "flow/flow_gate.h"
#include "io/switch_process.h"
#include "routing/path_choice.h"

namespace heddle {

struct TraceView {
  // --- the frame; a flow on a fabric port or asked for by its ID has none ---
  DropReason refused = DropReason::none;     // edge: as it came in
  DropReason not_placed = DropReason::none;  // edge: for its stations or its match
  uint64_t to_mac = 0;
  uint16_t vlan = 0;
  uint8_t ftag = 0;
  uint8_t channel = kLossyChannel;  // it came in
  uint8_t hop_limit = 0;
  uint16_t bytes = 0;
  uint16_t via = 0;  // node that it goes by first (R4): as it came in, then as it goes on

  // --- where it goes ---
  FabricAddress destination{};
  bool flooded = false;
  bool station_fixed = false;
  Nanos station_seen_ns = 0;

  // --- edge ports of a node with applications ---
  bool has_group = false;
  uint8_t group = 0;
  InjectionLimits injection{kNoApplications};  // of the port, a copy

  // --- the flow; `live`: it is there now ---
  bool has_match = false;
  bool match_says_all = false;  // it leads to a host of this node, nothing has changed since, and none of its frames
                                // waits (decision 4)
  bool live = false;
  FlowId flow_id = kNoFlow;
  InputFlow flow{};  // a copy
  Gate gate = Gate::open;
  bool id_free_here = true;     // edge: a flow that begins finds a flow ID; else its frames wait for one (F10), with
  uint32_t frames_waiting = 0;  // so many others
  bool may_wait = true;         // edge: if there is room for it
  uint8_t told_priorities = 0;  // edge: those that the port's host is told not to send (F10)
  bool host_paces = false;      // edge: it is told how much of the flow, or of its group, it may send (G1)
  DropReason not_queued = DropReason::none;  // why its queue would not take the frame, if it can't pass by it
  uint32_t matches_used = 0, matches = 0;

  // --- the way on ---
  PathChoice::Ways ways{};
  PortSet left = 0;       // of them, those that the flow was asked to leave and keeps off (R9)
  uint16_t moved_by = 0;  // address of the node for which it left one last, 0 = none; and when
  Nanos moved_ns = 0;
  struct Way {
    PortIndex port;
    bool up;
    Load load;
  };
  std::vector<Way> loads;  // of ways.ports; with room for all before it is filled
  PortIndex output = kNoPort;
  LaneIndex lane = 0;
  uint8_t channel_on = kLossyChannel;
  uint32_t room = 0, cost = 0;  // buffers: that may cross, of the frame
  bool passes = false;          // as far as the input goes it would go on without a queue (decision 4)
  bool id_waits = false;        // flows of this input wait for an output flow ID there

  // --- the output ---
  uint32_t ids_used = 0, ids = 0;
  bool id_free = false;                         // one of them for this input
  uint32_t lane_packets = 0, queued_bytes = 0;  // packets: as far as they were counted
  bool at_once = false;                         // `passes`, and nothing is before it there
  DropReason host_refuses = DropReason::none;   // edge ports
  bool tagged = false;                          // edge ports: to the host. Both where its VLAN is known
  bool paused = false;                          // the lane's host has asked to wait
  bool congested = false;                       // edge ports
  unsigned level = 0;
  Nanos held_ns = 0;            // so long it sends nothing of the lane for its rate, or else
  bool held_by_rate = false;    // for a maximum that its class, its branch or the port has (X4)
  bool has_credits = false;     // fabric ports with a session:
  uint32_t credits_left = 0;    // buffers of the next hop that are left for the channel (C9)
  uint32_t credits_asked = 0;   // those that the frame takes
  bool credit = false;          // it finds them
  bool kept_for_retry = false;  // the same in a lane whose frames are kept until the other end has them (K6):
  uint32_t kept = 0, kept_max = 0;
  bool sends_again = false;  // those that the other end misses go first
  bool may_stamp = false;
};

// A frame as a host sends it at an edge port.
TraceView view_frame(const SwitchProcess& process, const ProcessNode& node, PortIndex port, std::vector<uint8_t> frame,
                     Nanos now);
// Of packets before the frame so many are counted.
constexpr uint32_t kTraceCountMax = 4096;

// A frame on a fabric port: `view` says length, class, channel, hop limit, destination and, if known, flow ID there.
TraceView view_transit(const SwitchProcess& process, const ProcessNode& node, PortIndex port, TraceView view,
                       Nanos now);
// A flow that is there, by its ID at an edge port. False if there is none.
bool view_flow(const SwitchProcess& process, const ProcessNode& node, PortIndex port, FlowId id, Nanos now,
               TraceView& view);

}  // namespace heddle
