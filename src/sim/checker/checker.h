// SPDX-License-Identifier: Apache-2.0
// The invariants, checked by code apart from the switch: it watches frames on links and at hosts, keeps its own record
// of what must be true, and compares the switches' tables with it between their turns. One thread.
//
// checker.cc: hosts (invariant 3). checker_links.cc: frames (1, 4, 6). checker_tables.cc: a node's tables (1, 2, 6).
// checker_injection.cc: injection limits (5). checker_rest.cc: liveness and rest (8, 9). The trace hash (10) is over
// all that it sees.
#pragma once

#include <array>
#include <deque>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "sim/checker/coverage.h"
#include "sim/engine/fabric.h"
#include "sim/hosts/sim_frame.h"

namespace heddle::sim {

// A broken invariant; `what` names it, with time, place and values.
class BrokenInvariant : public std::exception {
 public:
  explicit BrokenInvariant(std::string text) : text_(std::move(text)) {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

struct CheckerOptions {
  uint32_t polls_per_check = 1;  // the tables of a worker's node are compared after so many of its turns
  bool hostile = false;          // frames that no flow knows may reach hosts
};

// What has been sent against a rate (X4), as last seen.
struct ShapedGhost {
  uint64_t sent_bytes = 0;
  double ahead_bytes = 0;
  Nanos at_ns = 0;
};

class Checker : public Watcher {
 public:
  Checker(Fabric& fabric, SeedCoverage& coverage, const CheckerOptions& options);

  void on_frame(uint32_t link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) override;
  void after_poll(uint16_t node, WorkerIndex worker, const PollResult& result, Nanos now) override;
  void before_crash(uint16_t node) override;
  void after_start(uint16_t node) override;
  void before_regroup(uint16_t node) override;
  void before_reshape(uint16_t node, const PortShapers& shapers) override;
  void on_host_frame(uint16_t host, const Packet& packet, bool flooded, Nanos now) override;
  void on_forged(uint32_t link, unsigned direction, std::string_view forgery, Packet& packet) override;
  void on_host_sent(uint16_t flow, uint32_t sequence, Nanos now) override;

  // All tables of all nodes, both ends of all links.
  void check_all();
  // What is left that should not be at rest; empty at rest (invariant 9).
  std::string unrest() const;
  // Bytes acknowledged at the edges against bytes delivered there (invariant 1, end to end), at rest.
  void check_totals() const;

  // Every frame on fabric links is told there; nullptr = no.
  void log_frames(std::ostream* log) { log_ = log; }

  // The hash is of all that it sees, and of what else is added.
  void trace(uint64_t word) { hash_ = (hash_ ^ word) * 0x9e3779b97f4a7c15u, hash_ ^= hash_ >> 29; }
  uint64_t trace_hash() const { return hash_; }
  uint64_t checks() const { return checks_; }

 private:
  struct GhostFrame {
    uint64_t session;  // of the direction, when it was sent
    uint32_t sequence;
    uint32_t pattern;
    uint16_t flow_id;
    bool in_turn;  // in a retry channel
    bool is_data;
  };
  struct Channel {      // one flow ID of one direction in one session
    uint32_t next = 0;  // position behind the last byte handed to the link
    bool used = false;
    std::deque<uint32_t> starts;  // of frames not known to be received
    struct UnderWay {
      uint32_t sequence, pattern;
      bool in_turn;
    };
    std::vector<UnderWay> under_way;  // its frames on the link
  };
  struct SequenceGhost {
    uint32_t last = 0;
    bool any = false;
  };
  struct DirectionGhost {
    uint64_t session = 0;  // counts tags seen
    uint32_t tag = 0;
    std::array<SequenceGhost, 2> orders;  // of channel 0 and of the retry channel
    std::deque<WireData> in_turn;         // of flows, sent lately in the retry channel
    uint32_t newest_delivered = 0;        // of channel 0
    bool any_sent = false, any_delivered = false;
    bool forged = false;
    std::vector<Channel> channels;  // by flow ID
  };
  struct FlowGhost {
    std::vector<uint8_t> arrivals;  // by sequence: bit 0 by a flow channel, bit 1 by the tree
    std::vector<Nanos> sent_ns;
    uint32_t next_ordered = 0;  // one past the highest that came by a flow channel
  };
  struct MeterGhost {  // of an output flow that the next hop grants by credit (C6)
    bool metered = false;
    uint32_t limit = 0;    // as last seen
    uint32_t there = 0;    // position behind all that had crossed then
    uint32_t ceiling = 0;  // nothing goes beyond: the limit, or what had crossed before it came
    uint64_t lifted = 0;   // flows of the port that were free of their limit again, then
  };
  struct InjectionGhost {  // of an injection limit ID of an edge port (A6)
    uint64_t bytes = 0;
    uint64_t promised = 0;  // to queues that have no room
    bool waits = false;     // flows are ready to send into the fabric
  };
  struct PortInjection {  // as last seen
    uint64_t port_bytes = 0;
    std::array<uint64_t, kNoLimitId> ids{};
  };
  struct PortShapedGhost {
    struct Bounds {
      ShapedGhost maximum, minimum;
    };
    std::array<Bounds, kClassesMax> leaves{};
    std::array<Bounds, kBranchesMax> branches{};
    ShapedGhost head;
  };
  struct EndedSession {  // of a port: how far its flows were settled
    Epoch epoch = 0;
    std::vector<uint32_t> ack_flow;
  };
  struct Held {                                                         // what the outputs and lists of one node hold
    std::vector<std::array<uint32_t, kVirtualChannels>> cost_by_input;  // buffers of link credit, by channel
    std::vector<uint32_t> orphans_by_input;
    std::array<std::vector<uint32_t>, 2> room;  // by input, output and lane
    std::vector<uint32_t> bytes;    // of flows that crossed and are not sent: output * (flow IDs + 1) + flow ID
    std::vector<uint32_t> packets;  // their packets
    uint32_t lane_count = 0;
    uint32_t copies = 0;
    bool exact = false;  // one worker: nothing is between workers
    void reset(size_t ports, uint32_t lanes, uint32_t flow_ids);
    // Of copies, and of all other packets.
    uint32_t& room_of(PortIndex input, PortIndex output, LaneIndex lane, bool of_copies) {
      return room[of_copies][(input * cost_by_input.size() + output) * lane_count + lane];
    }
  };

  [[noreturn]] void fail(int invariant, const std::string& what) const;
  std::string place(uint16_t node, PortIndex port) const;
  std::string place(uint32_t link, unsigned direction) const;

  // checker.cc
  void check_ordered(const HostFlow& flow, const Trailer& trailer, bool flooded, Nanos now);
  FramePriority delivered_priority(const HostFlow& flow) const;
  void check_membership(uint16_t host, const Packet& packet, uint16_t vlan);
  bool forgive_damage();
  void note_sessions(uint16_t node, Nanos now);

  // checker_links.cc
  void log_frame(uint32_t link, unsigned direction, LinkFrameEvent event, const Packet& packet, Nanos at) const;
  void on_sent(uint32_t link, unsigned direction, Packet& packet);
  void on_data_sent(uint32_t link, unsigned direction, const WireData& data, Packet& packet, GhostFrame& ghost);
  void check_sent_again(uint32_t link, unsigned direction, const WireData& data);
  void on_duplicated(uint32_t link, unsigned direction, Packet& copy);
  uint32_t new_ghost();
  void drop_ghost(uint32_t link, unsigned direction, Packet& packet, bool delivered);
  void check_link(uint32_t link, unsigned direction);
  void check_channel(uint32_t link, unsigned direction, FlowId id, const Port& sender, const Port* receiver);
  void check_credits(uint32_t link, unsigned direction, uint32_t channel);
  LinkEnd end_of(uint32_t link, unsigned side) const { return fabric_.topology().links[link].ends[side]; }
  uint32_t pattern_of(const Packet& packet) const;
  bool must_die(uint32_t link, unsigned direction, std::string_view forgery, const Packet& packet) const;

  // checker_tables.cc
  void check_node(uint16_t node);
  void check_counters(uint16_t node);
  void check_lossless(uint16_t node, const Port& port);
  void hold_output(uint16_t node, const Port& port);
  void hold_packet(const Port& port, const Packet& packet);
  using PacketsOfClasses = std::array<uint32_t, kFtags>;  // that wait at an input
  void check_input_flows(uint16_t node, const Port& port);
  void check_input_flow(uint16_t node, const Port& port, FlowId id, PacketsOfClasses& packets);
  void check_rest(uint16_t node, const Port& port, FlowId id);
  void check_reservation(uint16_t node, const Port& port, FlowId id);
  void check_lists(uint16_t node, const Port& port);
  void check_output_flows(uint16_t node, const Port& port);
  void check_meter(uint16_t node, const Port& port, FlowId id);
  void check_shares(uint16_t node, const Port& port);
  void check_held(uint16_t node, const Port& port);
  void check_held_credits(uint16_t node, const Port& port, uint32_t channel);
  uint32_t flow_slot(PortIndex port, FlowId id) const { return port * (fabric_.topology().settings.flow_ids + 1) + id; }
  void cover_states(uint16_t node, const Port& port);

  // checker_injection.cc
  void check_injection(uint16_t node, const Port& port);
  void check_group_counts(uint16_t node, const Port& port);
  void cover_limit(const InjectionGhost& one, uint64_t limit, uint64_t frame);
  static bool may_be_injected(uint64_t bytes, uint64_t before, uint64_t limit, uint64_t frame);

  // checker_shapers.cc
  void check_shaper(uint16_t node, const Port& port);

  // checker_rest.cc
  std::string unrest_of(uint16_t node, const Port& port) const;

  Fabric& fabric_;
  SeedCoverage& coverage_;
  CheckerOptions options_;
  const Lanes lanes_;
  std::vector<std::array<DirectionGhost, 2>> directions_;  // by topology link
  std::vector<GhostFrame> ghosts_;
  std::vector<uint32_t> free_ghosts_;
  std::vector<FlowGhost> flows_;
  uint64_t data_under_way_ = 0;
  uint64_t damage_ = 0;  // frames whose bits have flipped, less damaged ones that hosts got
  std::vector<std::vector<std::vector<MeterGhost>>> meters_;  // by node, port and output flow
  std::vector<std::vector<bool>> session_up_;                 // by node and port, as last seen
  std::vector<std::vector<LinkDownReason>> down_reason_;      // the same
  std::vector<std::vector<EndedSession>> ended_;              // by node and port
  std::vector<std::array<std::set<uint64_t>, 2>> nonces_;     // by link and direction: all that hellos have offered
  std::vector<std::vector<std::vector<uint8_t>>> states_;     // by node, port, flow: input state, output state << 4
  std::vector<std::vector<PortInjection>> injected_;          // by node and port
  std::vector<std::vector<PortShapedGhost>> shaped_;          // the same
  std::vector<uint32_t> polls_;                               // by node
  std::vector<std::vector<uint32_t>> link_of_;                // by node and port; ~0u on edge ports
  Held held_;                                                 // of the node at hand
  Nanos topology_changed_ns_ = 0;                             // when a session last began or ended anywhere
  bool sessions_lost_ = false;                                // any has ended, or a node crashed
  std::ostream* log_ = nullptr;
  uint64_t hash_ = 0;
  uint64_t checks_ = 0;
};

}  // namespace heddle::sim
