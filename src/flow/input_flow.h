// SPDX-License-Identifier: Apache-2.0
// Input flow table (F5): what an input port knows about each of its flows, an array by flow ID.
// On an edge port it is the edge flow table (F4) as well: there `next_data_flow` is what the match table has let in,
// so one entry serves both and the two can't disagree.
// Written only by the worker that owns the input port. Owns the packets in its queues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "flow/id_queue.h"
#include "flow/owned.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

constexpr uint32_t kNoMatch = ~0u;
constexpr uint32_t kTurnBytes = 64 * 1500;

enum class FlowState : uint8_t {
  idle,     // queue empty; in use while flow_extent > 0
  ready,    // in its output's ready list: has a queue and an output flow ID
  wanting,  // in its output's wanting list: has a queue, waits for an output flow ID (K11)
  held,     // has a queue and may not move: its old path is not settled (K9), or its pair's floods may live still (E1)
  blocked,  // has a queue, and its destination's congestion (C4, C5) or lack of credit (C6) holds it
};

class FlowLife;       // node/flow_life.h
class InputArbiter;   // ingress/input_arbiter.h
class FlowLimits;     // node/flow_limits.h
class FlowRedirects;  // node/flow_redirects.h

enum InputFlowFlag : uint16_t {
  kFlowInUse = 0x0001,
  kFlowAckDue = 0x0002,  // among the port's flows whose totals go upstream
  kFlowLeaving =
      0x0004,  // gives its output flow ID back at extent zero: path ended (K9), stale (R12), others wait (K11)
  kFlowPending = 0x0008,   // held by a timer (E1)
  kFlowLimited = 0x0010,   // by its destination's congestion: its FlowLimit is in force (C3)
  kFlowFull = 0x0040,      // past its mark: at the edge lossless, its host waits (F10); inside, granted by credit (C6)
  kFlowMetered = 0x0080,   // the next hop grants it by credit (C6): its FlowMeter's send_limit holds
  kFlowTimed = 0x0020,     // in the worker's wheel of releases (C5), also when the flow is gone
  kFlowMayRest = 0x0100,   // keeps its IDs when nothing of it is left: it goes on by a fabric port of this worker
  kFlowChooses = 0x0200,   // there are several ways to its destination: it chooses anew when it goes on (R6)
  kFlowMoved = 0x0400,     // was asked to leave a port, and has its PathLease (R9)
  kFlowRedirect = 0x0800,  // fabric ports: the switch before is to hear that the flow should take another way (R9)
  kFlowDetour = 0x1000,    // goes by another node first (R4)
  kFlowPaused = 0x2000,    // edge: its host is told how much of it it may send, or of all of its group (G1)
};

// What ends with the output flow ID it has.
constexpr uint16_t kFlowOfItsId = kFlowLeaving | kFlowMetered | kFlowMayRest | kFlowChooses;

constexpr uint8_t kInjectsNothing = 0;

// Where a flow's packets go; read wherever one crosses. Each field's writers stand behind it. (Those that each packet
// asks for are not Owned: g++ reads them anew then, 15 instructions a packet.)
struct Branch {
  // Of the packets that make up flow_extent; kNoPort: it is to choose one. FlowIds, begin()
  PortIndex output() const { return PortIndex::of(output_byte); }
  void set_output(PortIndex port) { output_byte = static_cast<uint8_t>(port); }
  // A flow begins at that position.
  void begin(uint32_t data_flow) {
    set_output(kNoPort);
    turn_start = data_flow;
    left_bytes.reset();
  }

  uint32_t turn_start;  // data_flow when the flow ID was reserved, or it began. FlowIds, begin()
  uint8_t output_byte;  // output()
  uint8_t injects;      // as what its packets count there, see InputArbiter::injects_as(). FlowIds, Regrouping
  FlowId flow;          // reserved there; 0 = none. FlowIds
  VoqIndex voq;         // virtual output queue of its packets, at that output. FlowIds
  Owned<int16_t, InputArbiter, Branch> left_bytes;  // of its turn there (A10); below 0, what it took too much
};

// Who writes a field stands behind it. LinkControl too, when a session begins or ends; settle_lost() is called by
// FlowLife and AckWriter. Readers: each stage that has the flow in hand, and telemetry.
struct alignas(64) InputFlow {
  PacketQueue queue;        // FlowQueues
  uint32_t next_data_flow;  // bytes received (fabric: position expected next). Admission, Express, DeliveryAtOnce,
                            // AckWriter
  uint32_t data_flow;       // bytes handed to the crossing, lost ones included. Admission, DeliveryAtOnce
  uint32_t ack_flow;        // bytes settled: delivered or lost. FlowLife, DeliveryAtOnce
  uint32_t lost_total;      // bytes lost, of those settled (F12). FlowLife
  Branch branch;
  FabricAddress destination;  // begin()
  uint32_t match;             // edge: index into the match table, else kNoMatch. begin(), EdgeFlows
  FlowId next_in_list;        // ready or wanting list, or free IDs. InputFlowTable
  Owned<uint16_t, FlowRedirects, InputFlow> asked_by;  // with kFlowRedirect: address of the node whose port asks
  uint16_t queued_packets;                             // FlowQueues, FlowLife
  uint16_t flags;                                      // InputFlowFlag
  Owned<FlowState, FlowLife, InputFlow> state;
  uint8_t ftag;  // begin()
  // ep_congestion (C3): level and CongestionFlag bits (flow/congestion_level.h)
  Owned<uint8_t, FlowLimits, InputFlow> congestion;
  uint8_t group;  // of applications (A1); 0 on fabric ports. begin(), Regrouping

  bool in_use() const { return flags & kFlowInUse; }
  uint32_t queue_extent() const { return next_data_flow - data_flow; }
  uint32_t flow_extent() const { return data_flow - ack_flow; }
  // F9: nothing of it is left, and it has its IDs still, as long as nobody needs them.
  bool at_rest() const {
    return (flags & (kFlowInUse | kFlowMayRest | kFlowPending)) == (kFlowInUse | kFlowMayRest) && queue.empty() &&
           flow_extent() == 0;
  }
  // With no queue, and a path where it may rest; nothing is held, and no congestion known. One comparison of the eight
  // bytes from its packets' number on, since there is an ACK for each packet.
  bool is_plain() const {
    constexpr uint16_t kMay = kFlowAckDue | kFlowChooses | kFlowMoved | kFlowDetour;
    constexpr uint64_t kAsked = 0xffff | uint64_t{uint16_t(~kMay)} << 16 | uint64_t{0xff} << 32 | uint64_t{0xff} << 48;
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const uint8_t*>(this) + kPlainFrom, sizeof(word));
    return (word & kAsked) == uint64_t{kFlowInUse | kFlowMayRest} << 16;
  }
  // A flow begins, on an ID of which nothing is left. `match_index`: kNoMatch inside the fabric.
  void begin(FabricAddress to, uint8_t class_ftag, uint32_t match_index, uint8_t of_group = 0) {
    flags |= kFlowInUse;
    // With totals still to be told upstream it is the flow that was here before: there it has not come to rest.
    if (!(flags & kFlowAckDue)) congestion.reset();
    destination = to;
    ftag = class_ftag;
    match = match_index;
    group = of_group;
    branch.begin(data_flow);
  }
  // While others wait for an ID a flow keeps its own for one queue, and of a long one for so many bytes (K11).
  bool turn_over() const { return queue.empty() || data_flow - branch.turn_start >= kTurnBytes; }
  // Bytes that were never handed on: they count as received, handed on, settled and lost at once (K4).
  void settle_lost(uint32_t bytes) {
    data_flow += bytes;
    ack_flow += bytes;
    lost_total += bytes;
  }

  static constexpr size_t kPlainFrom = 56;
};

static_assert(sizeof(InputFlow) == 64, "an input flow is one cache line");
// What a packet on its way reads and writes stands in the first half and at the end of the second.
static_assert(offsetof(InputFlow, next_data_flow) == 16 && offsetof(InputFlow, branch) == 32);
static_assert(offsetof(InputFlow, destination) == 44 && offsetof(InputFlow, flags) == 58);
static_assert(offsetof(InputFlow, queued_packets) == InputFlow::kPlainFrom && offsetof(InputFlow, state) == 60);
static_assert(offsetof(InputFlow, congestion) == 62 && static_cast<uint8_t>(FlowState::idle) == 0);
static_assert(sizeof(Branch) == 12);
static_assert(kPortsMax < kNoPort && kNoPort <= 0xff);

// A list of flows of one port, linked through InputFlow::next_in_list. A flow is in at most one.
struct FlowList {
  FlowId head = kNoFlow;
  FlowId tail = kNoFlow;
  uint32_t count = 0;
  bool empty() const { return head == kNoFlow; }
};

class InputFlowTable {
 public:
  explicit InputFlowTable(uint32_t flow_ids)
      : flows_(flow_ids + 1), timer_links_(flow_ids + 1), vias_(flow_ids + 1), resting_(flow_ids), size_(flow_ids) {
    for (uint32_t id = flow_ids; id > 0; --id) put(FlowId::of(id));
  }

  // Free IDs, at edge ports (F4): on fabric ports the other end gives them out. The one that was freed last comes
  // first, since its entry is still in the cache.
  uint32_t available() const { return available_; }
  FlowId take() {
    const FlowId id = free_;
    if (id == kNoFlow) return kNoFlow;
    free_ = flows_[id].next_in_list;
    --available_;
    return id;
  }
  void put(FlowId id) {
    flows_[id].next_in_list = free_;
    free_ = id;
    ++available_;
  }

  uint32_t size() const { return size_; }
  bool valid(FlowId id) const { return id - 1u < size_; }
  InputFlow& operator[](FlowId id) { return flows_[id]; }
  const InputFlow& operator[](FlowId id) const { return flows_[id]; }
  // The flow that a match has now, whose last one had that ID; nullptr if it has none.
  InputFlow* of_match(FlowId last, uint32_t match) {
    InputFlow& flow = flows_[last];  // that of kNoFlow is never in use
    return flow.in_use() && flow.match == match ? &flow : nullptr;
  }
  // Of the wheel that the flow is in (kFlowPending, kFlowTimed).
  uint32_t& timer_link(FlowId id) { return timer_links_[id]; }
  // R4: address of the node that the flow goes by first; 0 if it takes a shortest way.
  uint16_t via(FlowId id) const { return flows_[id].flags & kFlowDetour ? vias_[id] : uint16_t{0}; }
  void steer(FlowId id, uint16_t via) {
    vias_[id] = via;
    uint16_t& flags = flows_[id].flags;
    flags = static_cast<uint16_t>(via != 0 ? flags | kFlowDetour : flags & ~kFlowDetour);
  }
  // Edge ports: flows at rest.
  IdQueue<FlowId>& resting() { return resting_; }
  const IdQueue<FlowId>& resting() const { return resting_; }

  void push(FlowList& list, FlowId id) {
    flows_[id].next_in_list = kNoFlow;
    if (list.empty())
      list.head = id;
    else
      flows_[list.tail].next_in_list = id;
    list.tail = id;
    ++list.count;
  }
  FlowId pop(FlowList& list) {
    FlowId id = list.head;
    list.head = flows_[id].next_in_list;
    if (list.head == kNoFlow) list.tail = kNoFlow;
    --list.count;
    return id;
  }

 private:
  std::vector<InputFlow> flows_;  // entry 0 is never used
  std::vector<uint32_t> timer_links_;
  std::vector<uint16_t> vias_;  // with kFlowDetour: address of that node
  IdQueue<FlowId> resting_;
  uint32_t size_;
  FlowId free_ = kNoFlow;
  uint32_t available_ = 0;
};

}  // namespace heddle
