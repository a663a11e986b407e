// SPDX-License-Identifier: Apache-2.0
// One port of a node: everything its worker keeps for it, receiving side and sending side (decision 2).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "flow/input_flow.h"
#include "flow/output_flow.h"
#include "flow/token_bucket.h"
#include "ingress/edge_input.h"
#include "link/credits.h"
#include "link/session.h"
#include "node/counters.h"
#include "node/device.h"
#include "topology/topology.h"

namespace heddle {

// A port's share of a turn. One burst in, so that it has left again before the next one comes and the room between two
// ports lasts; more out, for several inputs may send to one output.
constexpr uint32_t kBurstsOutPerTurn = 4;

// Virtual output queue (X1): flows of one input port that have packets for one output port.
struct Voq {
  FlowList ready;            // have an output flow ID
  FlowList wanting;          // wait for one (K11)
  uint32_t room = 0;         // buffers that may still cross to that output
  uint32_t next_active = 0;  // in the worker's list of queues to serve
  bool active = false;
  uint32_t asked = 0;  // flow IDs that the output's worker has been asked for and has not answered
  bool room_blocked = false;
};

struct InputSide {
  InputSide(uint32_t flow_ids, uint32_t outputs) : flows(flow_ids), voqs(outputs) { ack_due.reserve(flow_ids); }

  InputFlowTable flows;
  PortSet wanting_outputs = 0;  // outputs that flows here wait for a flow ID at; a superset
  std::vector<Voq> voqs;        // by output port
  EdgePortInput edge{};         // edge ports
  Epoch epoch = 1;              // sessions of this port so far; edge ports stay at 1
  uint32_t queued_packets = 0;  // in all its flow queues
  uint32_t orphans = 0;         // output flow IDs that packets of ended sessions still hold (K9)
  uint32_t last_sequence = 0;   // newest of channel 0 (K2)
  PacketQueue waiting;          // edge: frames that wait for a flow ID (F10), `position` = match
  uint32_t waiting_packets = 0;
  std::vector<FlowId> ack_due;  // fabric: flows whose totals go upstream, each once
  Nanos ack_due_since_ns = 0;
  bool ack_urgent = false;  // a probe asked
};

// What goes back to an input port when its packets have left or died here.
struct Returns {
  uint32_t room = 0;     // buffers of crossing room
  uint32_t held = 0;     // buffers of link credit; less than room by the copies
  uint32_t orphans = 0;  // counted orphans that are gone
};

struct OutputSide {
  OutputSide(uint32_t flow_ids, uint32_t inputs) : flows(flow_ids, inputs), returns(inputs), wanted(inputs) {}

  OutputFlowTable flows;
  PacketQueue queue;  // crossed, not stamped (X2: one queue yet)
  uint32_t queued_packets = 0;
  uint32_t queued_bytes = 0;
  uint32_t published_bytes = 0;  // as last told on the load board
  PacketQueue control;           // frames made here, before all data
  uint32_t control_packets = 0;
  Packet* probes = nullptr;             // open record frame
  std::array<Packet*, kBurst> pending;  // stamped and refused by the device: go first, nothing overtakes them
  uint32_t pending_packets = 0;
  uint32_t sequence = 0;  // last one given out on channel 0
  TokenBucket pace;       // configured rate (decision 6)
  PortSet wanting_inputs = 0;
  PortIndex next_wanting = 0;  // round robin among inputs
  PortSet returns_due = 0;
  std::vector<Returns> returns;  // by input port
  std::vector<uint32_t> wanted;  // by input port: flow IDs that it waits for
};

struct Port {
  Port(PortIndex port_index, const TopologyPort& port_settings, const FabricSettings& fabric_settings, uint32_t ports,
       const SessionOptions& session_options)
      : index(port_index),
        fabric(port_settings.fabric),
        settings(port_settings),
        input(fabric_settings.flow_ids, ports),
        output(fabric_settings.flow_ids, ports),
        session(session_options),
        credits(fabric ? fabric_settings.link_credits : 0, fabric_settings.credit_interval_ns) {}

  bool is_fabric() const { return fabric; }
  // May frames be sent to it? Edge ports always; fabric ports with a session.
  bool usable() const { return !fabric || session.up(); }

  PortIndex index;
  const bool fabric;
  const TopologyPort& settings;
  Device* device = nullptr;
  uint32_t receive_room = ~0u;  // of the device
  Nanos seen_empty_ns = 0;      // the frames in the receive queue have come in since (K8)
  Nanos mark_ns = 0;            // at this time the queue was read, after so many frames:
  uint64_t mark_frames = 0;
  uint64_t mac = 0;
  InputSide input;
  OutputSide output;
  LinkSession session;  // fabric ports
  LinkCredits credits;  // fabric ports
  PortCounters counters;
};

}  // namespace heddle
