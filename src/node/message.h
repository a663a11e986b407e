// SPDX-License-Identifier: Apache-2.0
// What two workers of a node tell each other besides packets, pins and settled bytes (decision 2): one struct a kind,
// each with whom it is for first.
#pragma once

#include <variant>

#include "egress/output_room.h"
#include "routing/link_state.h"
#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

// --- to an output's worker ---

// So many more of an input's flows want an output flow ID, to go on in that virtual channel (K11).
struct WantIds {
  PortIndex output;
  PortIndex input;
  uint8_t channel;
  uint32_t flows;
};

// So many of an input's flows wait for room in a lane (X3).
struct WaitForRoom {
  PortIndex output;
  PortIndex input;
  LaneIndex lane;
  uint32_t flows;
};

// --- to an input's worker ---

// An ID, for whichever of its flows has waited longest in the channel.
struct GrantId {
  PortIndex input;
  PortIndex output;
  uint8_t channel;
  FlowId id;
};

// The output is down: so many flows get no ID and take another way.
struct RefuseIds {
  PortIndex input;
  PortIndex output;
  uint8_t channel;
  uint32_t flows;
};

// Room and what else comes back from a lane.
struct GiveReturns {
  PortIndex input;
  PortIndex output;
  LaneIndex lane;
  Returns returns;
};

// So many flow IDs of its ended sessions are free (K9).
struct OrphansFreed {
  PortIndex input;
  uint32_t count;
};

// The next hop grants a flow by credit, up to a position, or does so no longer (C6).
struct TellCredit {
  InputFlowRef input;
  bool metered;
  uint32_t limit;
};

// --- to all ---

struct StationLearned {
  uint64_t mac;
  uint16_t vlan;
  FabricAddress address;
};

// A node's link states (W6).
struct LinkStateNews {
  uint16_t node;  // index
  LinkState::Record record;
};

using Message = std::variant<WantIds, WaitForRoom, GrantId, RefuseIds, GiveReturns, OrphansFreed, TellCredit,
                             StationLearned, LinkStateNews>;
static_assert(sizeof(Message) == 64);

}  // namespace heddle
