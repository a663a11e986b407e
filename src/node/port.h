// SPDX-License-Identifier: Apache-2.0
// One port of a node: everything its worker keeps for it, receiving side and sending side (decision 2). A record of
// what components own, without logic: fields with one writer are that component's, the others say who writes them where
// that is not plain. Telemetry reads it in the worker's thread.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "egress/host_frames.h"
#include "egress/output_room.h"
#include "egress/output_scheduler.h"
#include "egress/port_congestion.h"
#include "egress/redirects.h"
#include "egress/wanted_ids.h"
#include "flow/bounded_list.h"
#include "flow/flow_limit.h"
#include "flow/flow_meter.h"
#include "flow/input_flow.h"
#include "flow/output_flow.h"
#include "flow/path_lease.h"
#include "flow/token_bucket.h"
#include "ingress/edge_input.h"
#include "ingress/input_arbiter.h"
#include "ingress/input_queues.h"
#include "ingress/lent_ids.h"
#include "ingress/paused_flows.h"
#include "ingress/waiting_frames.h"
#include "ingress/wanting_flows.h"
#include "link/credits.h"
#include "link/host_pause.h"
#include "link/retry.h"
#include "link/session.h"
#include "node/counters.h"
#include "node/transmitter.h"
#include "topology/lanes.h"
#include "topology/topology.h"
#include "wire/fabric_frame.h"

namespace heddle {

class AckWriter;       // node/ack_writer.h
class BufferShares;    // node/buffer_shares.h
class DeliveryAtOnce;  // node/delivery_at_once.h
class FlowIds;         // node/flow_ids.h
class FlowLife;        // node/flow_life.h
class FlowQueues;      // node/flow_queues.h
class HostControl;     // node/host_control.h
class LinkControl;     // node/link_control.h
class Orphans;         // node/orphans.h
class PortLoads;       // node/port_loads.h
class Prober;          // node/prober.h
class Receive;         // node/receive.h

// A port's share of a turn. One burst in, so that it has left again before the next one comes and the room between two
// ports lasts; more out, for several inputs may send to one output.
constexpr uint32_t kBurstsOutPerTurn = 4;

// Flow IDs of one output, for flows of one input port.
struct alignas(64) OutputIds {
  OutputIds(uint32_t groups, uint32_t channels) : wanting(groups, channels), lent(channels) {}

  WantingFlows wanting;  // flows that wait for one (K11)
  // By channel: IDs that the output's worker has been asked for and has not answered.
  std::array<Owned<uint16_t, FlowIds>, kVirtualChannels> asked;
  LentIds lent;                            // none of a channel while flows of it wait for one
  Owned<Nanos, FlowIds> wanting_since_ns;  // while any wait: when the first of them came
};

static_assert(sizeof(OutputIds) == 128, "an output's are found without a multiplication");

// Lossless frames without a flow wait here for room at their output, one behind the other (F11).
struct Fifo {
  PacketQueue queue;
  VoqIndex voq = 0;  // of the first one
};

struct InputSide {
  InputSide(PortIndex index, bool fabric, const FabricSettings& settings, uint32_t outputs, const Lanes& lanes,
            const ApplicationPolicy& applications)
      : ref(InputFlowRef::of(1, index, kNoFlow)),
        flows(settings.flow_ids),
        limits(settings.flow_ids + 1),
        meters(settings.flow_ids + 1),
        leases(settings.flow_ids + 1),
        arbiter(flows, outputs * lanes.count(), applications),
        ids(outputs, OutputIds(arbiter.groups(), lanes.channels())),
        fifos(lanes.count()),
        queues(arbiter.groups()),
        paused(fabric ? 0 : settings.flow_ids, settings.fgfc_timer_ns),
        waiting(arbiter.groups()),
        ack_due(settings.flow_ids) {}

  InputFlowRef ref;  // its flows; the epoch counts the sessions of this port, edge ports stay at 1
  InputFlowTable flows;
  std::vector<FlowLimit> limits;                          // by flow ID
  std::vector<FlowMeter> meters;                          // by flow ID
  std::vector<PathLease> leases;                          // by flow ID
  std::array<uint32_t, kVirtualChannels> queued_flows{};  // fabric, by channel: flows that have a queue
  Owned<PortSet, FlowLife> wanting_outputs;               // outputs that flows here wait for a flow ID at; a superset
  Owned<PortSet, FlowIds> lent_outputs;                   // outputs that have lent flow IDs
  InputArbiter arbiter;                                   // of its virtual output queues
  std::vector<OutputIds> ids;                             // by output port
  std::vector<Fifo> fifos;                                // by class and virtual channel they came in, as lane
  EdgePortInput edge{};                                   // edge ports
  InputQueues queues;                                     // what waits in flow queues and fifos
  std::array<Owned<uint32_t, FlowQueues>, kClassesMax>
      flows_full;                          // edge, by FTAG: lossless flows past their mark (F10)
  Owned<bool, HostControl> lossless_full;  // edge: all lossless classes are to wait
  PausedFlows paused;                      // edge: flows that their hosts hold back (G1)
  Owned<uint32_t, Orphans> orphans;        // output flow IDs that packets of ended sessions still hold (K9)
  uint32_t last_sequence = 0;              // newest of channel 0 (K2)
  WaitingFrames waiting;                   // edge: for a flow ID (F10), `position` = match
  BoundedList<FlowId> ack_due;             // fabric: flows whose totals go upstream
  Owned<Nanos, AckWriter> ack_due_since_ns;
  bool ack_urgent = false;         // a probe asked
  Nanos ack_patience_ns = kNever;  // what is due waits no longer, however few flows have anything to tell (W3)
};

// Fabric ports: what was last told of the port's load. Bytes.
class ToldLoad {
  friend PortLoads;
  Nanos told_ns_ = 0;    // on the load board, then:
  uint32_t queued_ = 0;  // in the output's queue
  uint64_t sent_ = 0;    // since the port began
  uint32_t sent_lately_ = 0;
  // The same by class, where there are several.
  std::array<uint64_t, kClassesMax> sent_of_{};
  std::array<uint32_t, kClassesMax> sent_lately_of_{};
  Nanos next_neighbour_ns_ = 0;                // the neighbour is told (R8)
  std::array<PortSet, kClassesMax> loaded_{};  // by class, ports of this node, as it was last told
  uint8_t next_class_ = 0;                     // the first that is told next
};

// Edge ports: frames of the burst that is being received, for the device at its end.
class AtOnceFrames {
 public:
  // What comes now goes behind them, and so does all of the burst that comes after it.
  void close() { most_ = count_; }

 private:
  friend DeliveryAtOnce;
  std::array<Packet*, kBurst> frames_;
  uint32_t count_ = 0;
  uint32_t most_ = 0;       // may be gathered, as the device has room; 0 = it is not open
  bool published_ = false;  // on the load board: takes frames at once
};

struct OutputSide {
  OutputSide(uint32_t flow_ids, const std::vector<ChannelSet>& inputs, const Lanes& lanes, const TopologyPort& settings,
             const std::vector<TrafficClass>& classes, PortBytes bytes, uint64_t seed)
      : flows(flow_ids, inputs),
        congestion(shared_rate_bps(settings), settings.mtu_bytes + kEthernetHeaderBytes, seed),
        host_frames(settings, classes),
        scheduler(lanes, static_cast<uint32_t>(inputs.size()), bytes, settings.overhead_bytes),
        redirects(shared_rate_bps(settings), settings.mtu_bytes + kEthernetHeaderBytes),
        asked_by(flow_ids + 1),
        room(static_cast<uint32_t>(inputs.size()), lanes.count()),
        wanted(static_cast<uint32_t>(inputs.size())) {}

  OutputFlowTable flows;
  PortCongestion congestion;                        // edge ports (C1)
  const HostFrames host_frames;                     // edge ports
  uint64_t taken_bytes = 0;                         // out of the queue since the port began
  OutputScheduler scheduler;                        // crossed, not stamped
  Owned<LaneSet, HostControl> paused_lanes;         // edge: the host has asked them to wait
  Owned<Nanos, HostControl> pause_look_ns{kNever};  // edge: that may change then
  ToldLoad told;
  Redirects redirects;             // fabric ports
  std::vector<uint16_t> asked_by;  // by flow ID, with kOutputRedirect: the node that asks
  // As last told on the load board, by lossless channel.
  std::array<Owned<uint32_t, BufferShares>, kVirtualChannels> published_free;
  PacketQueue control;  // frames made here, before all data
  uint32_t control_packets = 0;
  Packet* probes = nullptr;              // open record frame
  Packet* probes_in_turn = nullptr;      // the same, of flows in the retry channel (K6):
  Owned<uint32_t, Prober> probes_after;  // when the other end has that channel's frames up to this one
  // Fabric ports: bytes of data frames that have left, by class, but those that were sent again (K6). Departure
  std::array<uint64_t, kClassesMax> sent_of_class{};
  Transmitter transmitter;
  // Fabric ports: stamped as they crossed in this turn, go to the device first, and nothing overtakes them.
  std::array<Packet*, kBurst> stamped;
  uint32_t stamped_packets = 0;
  AtOnceFrames at_once;
  uint32_t sequence = 0;  // last one given out on channel 0
  OutputRoom room;        // of the inputs, and what else goes back to them
  WantedIds wanted;       // flow IDs that inputs wait for
};

// When what lies in the device's receive queue came in, at the earliest (K8).
class ArrivalBound {
 public:
  Nanos seen_empty_ns() const { return seen_empty_ns_; }

 private:
  friend Receive;
  Nanos seen_empty_ns_ = 0;  // the frames in the queue have come in since
  Nanos mark_ns_ = 0;        // at this time the queue was read, after so many frames:
  uint64_t mark_frames_ = 0;
};

struct Port {
  // `inputs`: for its flow table (flow/output_flow.h).
  Port(PortIndex port_index, const TopologyPort& port_settings, const FabricSettings& fabric_settings,
       const std::vector<ChannelSet>& inputs, const Lanes& lanes, const std::vector<TrafficClass>& classes,
       const ApplicationPolicy& applications, const SessionOptions& session_options, PortBytes bytes, uint64_t seed)
      : index(port_index),
        fabric(port_settings.fabric),
        settings(port_settings),
        channels(lanes.channels()),
        input(port_index, port_settings.fabric, fabric_settings, static_cast<uint32_t>(inputs.size()), lanes,
              applications),
        output(fabric_settings.flow_ids, inputs, lanes, port_settings, classes, bytes, seed),
        session(session_options) {}

  bool is_fabric() const { return fabric; }
  // May frames be sent to it? Edge ports always; fabric ports with a session.
  bool usable() const { return !fabric || session.up(); }

  PortIndex index;
  const bool fabric;
  const TopologyPort& settings;
  const uint32_t channels;  // virtual channels of its link
  Device* device = nullptr;
  uint32_t receive_room = ~0u;               // of the device
  Owned<bool, LinkControl> carrier{true};    // fabric ports: as the device said last
  Owned<bool, LinkControl> carrier_changed;  // and the session has not been told
  ArrivalBound arrivals;
  uint64_t mac = 0;
  DataFrameStart data_frame_start;  // with that
  InputSide input;
  OutputSide output;
  LinkSession session;  // fabric ports
  // Fabric ports: of this session's frames, by virtual channel, and by whether they are in the retry channel.
  // Stamping
  std::array<std::array<LinkStamp, 2>, kVirtualChannels> stamps{};
  Owned<LinkDownReason, LinkControl> told_reason{LinkDownReason::no_hello};  // the last one that an event has told
  std::array<LinkCredits, kVirtualChannels> credits;                         // fabric ports, by virtual channel
  LinkRetry retry;                                                           // fabric ports
  HostPause pause;                                                           // edge ports
  PortCounters counters;
};

}  // namespace heddle
