// SPDX-License-Identifier: Apache-2.0
// One worker of a node: owns whole ports, and runs all stages of the switch for them (decisions 1, 2, 4).
// poll() is the only entry of the data path. Everything else is for the node that builds it and for inspection between
// polls, by the thread that runs it. Never blocks, sleeps, reads a clock or allocates per packet.
//
// The stages stand in files of their own: receive.cc, bridging.cc, fabric_input.cc, admission.cc, flow_ids.cc,
// arbiter.cc, lossless.cc, local_delivery.cc, transmit.cc, departure.cc, link_retry.cc, acknowledge.cc, congestion.cc,
// flow_credits.cc, link_control.cc, link_states.cc, messages.cc, room_returns.cc.
#pragma once

#include <memory>
#include <memory_resource>
#include <vector>

#include "flow/bounded_list.h"
#include "flow/round_trips.h"
#include "flow/timer_wheel.h"
#include "ingress/edge_input.h"
#include "node/node_event.h"
#include "node/outbox.h"
#include "node/port.h"
#include "routing/link_state.h"
#include "routing/load_board.h"
#include "routing/path_choice.h"
#include "topology/destinations.h"
#include "topology/topology.h"
#include "wire/fabric_frame.h"
#include "wire/packet.h"
#include "wire/random.h"

// The packet's way is compiled as a few long stretches, and what is seldom taken stands beside it: calls cost as much
// as the work of most stages.
#define HEDDLE_WAY [[gnu::flatten]]
#define HEDDLE_ASIDE [[gnu::noinline, gnu::cold]]

namespace heddle {

struct NodeOptions {
  const Topology* topology;  // outlives the node
  uint16_t node_index;
  uint32_t workers = 1;                  // ports are dealt to them in turn
  std::vector<Device*> devices;          // by port; outlive the node
  std::vector<bool> complete_checksums;  // by port
  PacketPool* pool;                      // outlives the node; shared by its workers
  PacketPool* control_pool;              // of the same kind, for frames made here: data never takes their last buffer
  uint32_t match_entries = 4096;         // per worker (F4)
  uint32_t station_entries = 4096;       // per worker
  std::pmr::memory_resource* tables = std::pmr::get_default_resource();  // of these two; outlives the node
  uint32_t copies_max = 512;   // buffers of packets from replication at one time, per worker
  uint32_t waiting_max = 256;  // frames per edge port that wait for a flow ID (F10)
  uint64_t seed = 1;
};

struct PollResult {
  uint32_t packets = 0;      // received
  uint32_t crossings = 0;    // packets, messages and pins sent to other workers
  uint64_t woken = 0;        // bit w: worker w has something to read
  bool busy = false;         // did or has left something to do at once
  Nanos next_wake = kNever;  // wants to be called then at the latest, without new input
};

class Worker {
 public:
  Worker(const NodeOptions& options, uint32_t index, LoadBoard& board, const std::vector<Port*>& ports,
         const std::vector<uint32_t>& worker_of_port);
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Rings to and from worker `other`; call for every other worker before the first poll.
  void connect(uint32_t other, Crossing* to, Crossing* from);

  // One turn.
  PollResult poll(Nanos now);

  // The port's device says whether anything is plugged in; acted on in the next turn. By the worker's thread.
  void set_carrier(PortIndex port, bool carrier);

  uint32_t index() const { return index_; }
  const std::vector<Port*>& ports() const { return own_ports_; }
  const EdgeInput& edge_input() const { return edge_; }
  const LinkState& link_state() const { return link_state_; }
  const PathChoice& paths() const { return paths_; }
  const LoadBoard& board() const { return board_; }
  uint32_t copies_out() const { return copies_out_; }
  NodeEvents& events() { return events_; }
  uint64_t polls() const { return polls_; }
  uint64_t busy_polls() const { return busy_polls_; }

 private:
  struct FlowsOfMatches;
  static constexpr uint32_t kInputTimer = 1u << 31;
  static constexpr uint32_t kEventsKept = 127;  // until somebody reads them
  static constexpr uint32_t reference(PortIndex port, FlowId flow) { return uint32_t{port} << 16 | flow; }
  Port& own(PortIndex port) { return *ports_[port]; }
  bool is_own(PortIndex port) const { return ports_[port] != nullptr; }

  // receive.cc: frames from devices, sorted by role of the port
  void receive(Nanos now);
  void receive_port(Port& port, Nanos now);
  void bound_arrivals(Port& port, Nanos now);
  HEDDLE_WAY void edge_receive(Port& port, Packet** packets, uint32_t count, Nanos now);
  void start_way(Packet& packet) const;
  HEDDLE_ASIDE void edge_decide(Port& port, Packet* packet, const EdgeKey& key, uint32_t match, Nanos now);
  void attach_flow(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now);
  HEDDLE_ASIDE void detach_flow(Port& port, uint32_t match_index, PortIndex left, Nanos now);
  InputFlow* flow_in_use(Port& port, const MatchEntry& match, uint32_t match_index);
  FlowId flow_of(Port& port, MatchEntry& match, uint32_t match_index, Nanos hold_until, Nanos now);
  HEDDLE_ASIDE void wait_for_id(Port& port, Packet* packet, MatchEntry& match, uint32_t match_index);
  HEDDLE_ASIDE void serve_waiting(Port& port, Nanos now);

  // local_delivery.cc: to edge ports at once
  [[gnu::noinline]] void deliver_at_once(Port& port, Packet** packets, const uint32_t* found, uint32_t count,
                                         Nanos now);
  OutputSide* open_at_once(const Port& port, PortIndex to, uint8_t ftag);
  static bool anybody_waits(const Port& port, const Voq& voq);
  Voq* open_beside(Port& port, PortIndex to, uint8_t ftag);
  static bool takes_at_once(const Port& there);
  void publish_at_once(Port& port);
  HEDDLE_WAY void cross_at_once(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now);
  bool has_crossed_at_once(const Port& port, PortIndex to, uint8_t ftag) const;
  bool has_nothing_on_its_way(Port& port, const MatchEntry& match, uint32_t match_index);
  void gather_crossed(Port& there, Packet* packet, Nanos now);
  [[gnu::noinline]] bool gather_from_fabric(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  bool fits_host(const OutputSide& output, PortIndex to, const Packet& packet);
  bool opens_at_once(Port& there);
  static void gather(OutputSide& output, Packet* packet);
  void send_all_at_once(Nanos now);
  [[gnu::noinline]] void send_at_once(Port& there, Nanos now);
  HEDDLE_ASIDE void take_the_ordinary_way(Port& there, Packet* packet, Nanos now);

  // bridging.cc: flooding and learning
  struct Recent {  // stations of the last frames: saves the look-up per frame, as long as the table has not changed
    uint64_t station = 0;
    FabricAddress address;
    uint32_t version = 0;
  };
  HEDDLE_ASIDE void flood(Port& port, Packet* packet, Nanos now);
  void meet_station(Port& port, const Packet& packet, Nanos now);
  HEDDLE_ASIDE void learn_from_fabric(Port& port, const Packet& packet, Recent& recent, Nanos now);
  HEDDLE_ASIDE void announce(Port& port, Learned learned, uint64_t mac, uint16_t vlan, FabricAddress address);

  // fabric_input.cc: frames on fabric links
  HEDDLE_WAY void fabric_receive(Port& port, Packet** packets, uint32_t count, Nanos now);
  void take_frame(Port& port, Packet* packet, const LinkFrame& frame, Nanos now);
  HEDDLE_ASIDE static bool skips_ahead(Port& port, uint32_t sequence);
  void receive_data(Port& port, Packet* packet, bool in_turn, Nanos now);
  void receive_flow_data(Port& port, Packet* packet, Nanos now);
  HEDDLE_ASIDE bool channel_changed(const Port& port, const InputFlow& flow, uint8_t channel) const;
  bool advance_past_hole(Port& port, FlowId id, InputFlow& flow, uint32_t position);
  void receive_records(Port& port, const LinkFrame& frame, Nanos now);
  bool receive_ack(Port& port, const AckRecord& record);
  HEDDLE_ASIDE void take_congestion(Port& port, const AckRecord& record, OutputFlow& entry);
  bool receive_probe(Port& port, const ProbeRecord& record, Nanos now);
  void receive_no_flow(Port& port, Packet* packet, Nanos now);
  HEDDLE_ASIDE void protocol_error(Port& port, Nanos now);

  // admission.cc: flow queues, and where a flow with packets stands
  void admit(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  [[gnu::noinline]] void join_queue(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  uint32_t flow_queue_mark(const InputFlow& flow) const;
  bool pass_through(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  HEDDLE_ASIDE bool may_pass(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now);
  void hand_on(Port& port, InputFlow& flow, Voq& voq, Packet* packet, Nanos now);
  uint32_t input_buffers(const Port& port) const;
  [[gnu::noinline]] void place(Port& port, FlowId id, Nanos now);
  [[gnu::noinline]] void route(Port& port, FlowId id, Nanos now);
  HEDDLE_ASIDE void drop_queue(Port& port, FlowId id, DropReason reason);
  HEDDLE_ASIDE void drop_from_flow(Port& port, FlowId id, Packet* packet, DropReason reason);
  void finish_if_empty(Port& port, FlowId id, InputFlow& flow);
  void finish(Port& port, FlowId id, InputFlow& flow);
  HEDDLE_ASIDE void hold_for(Port& port, FlowId id, Nanos until);
  HEDDLE_ASIDE void set_hold(Port& port, FlowId id, Nanos until);
  PortIndex choose_port(const Port& input, const Packet& packet, DropReason& reason);
  uint32_t voq_index(PortIndex output, uint32_t lane) const { return lane * port_count_ + output; }
  static void take_lane(Packet& packet, Voq& voq) {
    packet.lane = voq.lane;
    voq.room = static_cast<uint16_t>(voq.room - packet.cost);
  }
  Packet* take_from_queue(Port& port, InputFlow& flow);
  void leave_stale_paths();
  HEDDLE_ASIDE void age_waiting(Nanos now);
  HEDDLE_ASIDE void drop_expired_frames(Port& port, FlowId id, Nanos now);

  // flow_ids.cc: output flow IDs
  bool reserve_output(Port& port, InputFlow& flow, PortIndex output, const Packet& first);
  bool take_lent_id(Port& port, InputFlow& flow);
  void tell_wants(Port& input, PortIndex output);
  void on_want(Port& output, PortIndex input, uint32_t flows);
  void grant_ids(Nanos now);
  bool grant_id(Port& output, PortIndex input, Nanos now);
  bool refuse_ids(Port& output, PortIndex input, Nanos now);
  void on_grant(Port& port, PortIndex output, FlowId id);
  void give_id(Port& port, PortIndex output, FlowId id);
  void on_refuse(Port& input, PortIndex output, uint32_t flows, Nanos now);
  void bind(OutputFlow& entry, const InputFlowRef& input);
  HEDDLE_ASIDE void yield_id(Port& port, InputFlow& flow);
  void give_back(Port& port, InputFlow& flow, bool count_orphan);
  void keep_id(Port& port, PortIndex output, FlowId id);
  HEDDLE_ASIDE void return_lent_ids(Port& port, PortIndex output, bool all);
  void release_output_flow(Port& output, FlowId id, bool counted);

  // congestion.cc: what endpoint congestion does to flows
  HEDDLE_ASIDE void on_congestion(Port& port, Epoch epoch, FlowId flow, uint8_t congestion, Nanos now);
  void end_limit(Port& port, InputFlow& flow);
  HEDDLE_ASIDE bool may_forward(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now);
  HEDDLE_ASIDE void renew_limit(Port& port, FlowId id, uint32_t delivered, Nanos now);
  HEDDLE_ASIDE void spend_share(Port& port, FlowId id, uint32_t bytes, Nanos now);
  HEDDLE_ASIDE void block(Port& port, FlowId id, InputFlow& flow, Nanos now);
  void unblock(Port& port, FlowId id, InputFlow& flow, Nanos now);
  void run_releases(Nanos now);
  Nanos round_trip_to(const InputFlow& flow) const;
  HEDDLE_ASIDE void time_round_trip(Port& port, FlowId id, uint32_t bytes, Nanos now);

  // flow_credits.cc: a flow that queues inside the fabric is granted by credit, hop by hop
  uint32_t credit_target(const Port& port, uint8_t channel) const;
  HEDDLE_ASIDE void grant_by_credit(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now);
  HEDDLE_ASIDE void return_credit(Port& port, InputFlow& flow, const Packet& packet);
  HEDDLE_ASIDE bool take_credit(Port& port, const AckRecord& record, OutputFlow& entry);
  HEDDLE_ASIDE void on_credit(Port& port, Epoch epoch, FlowId id, bool metered, uint32_t granted, Nanos now);
  uint64_t free_bytes_of(const Voq& voq) const;
  bool has_share(const InputFlow& flow, const Voq& voq) const;
  HEDDLE_ASIDE void list_metered(Port& port, FlowId id, OutputFlow& entry);
  void look_at_metered(Nanos now);

  // arbiter.cc: from flow queues across to outputs
  void arbitrate(Nanos now);
  void activate(Port& input, uint32_t index);
  HEDDLE_WAY bool serve(Port& input, Voq& voq, Nanos now);
  void cross(Port& input, PortIndex output, Packet* packet, const InputFlow* flow, Nanos now);
  void accept(Port& output, Packet* packet, uint8_t told);
  HEDDLE_ASIDE void tell_congestion(Port& output, const Packet& packet);

  // lossless.cc: waiting instead of dropping, PAUSE and PFC
  HEDDLE_ASIDE DropReason wait_lossless(Port& port, InputFlow& flow);
  HEDDLE_ASIDE void look_at_full(Port& port, InputFlow& flow, const Packet& packet);
  uint8_t priorities_to_pause(Port& port);
  HEDDLE_ASIDE void control_host(Port& port, Nanos now);
  HEDDLE_ASIDE bool hear_pause(Port& port, Packet* packet, Nanos now);
  HEDDLE_ASIDE void obey_pause(Port& port, Nanos now);
  HEDDLE_ASIDE void join_fifo(Port& port, Packet* packet, Nanos now);
  HEDDLE_ASIDE void place_fifo(Port& port, uint32_t index, Nanos now);
  HEDDLE_ASIDE bool serve_fifos(Port& port, Voq& voq, Nanos now);

  // transmit.cc: from outputs to devices
  void transmit(Nanos now);
  HEDDLE_WAY bool transmit_fabric(Port& port, Nanos now);
  HEDDLE_WAY bool transmit_edge(Port& port, Nanos now);
  HEDDLE_ASIDE void age_pending(Port& port, Nanos now);
  HEDDLE_ASIDE void drop_expired(Port& port, Nanos now);
  HEDDLE_ASIDE void note_departure(Port& port, const Packet& packet, OutputFlow& entry);
  void stamp(Port& port, Packet* packet, uint8_t channel, bool retry, Nanos left, Nanos now);
  static void tag_for_host(Packet& packet);
  DropReason prepare_for_host(Port& port, Packet* packet, Nanos now);
  HEDDLE_ASIDE void mark_for_host(Port& port, Packet& packet);
  void publish_load(Port& port);
  void publish_free(Port& port, uint32_t channel);
  static uint32_t free_buffers(const Port& port, uint32_t channel);
  void look_for_congestion(Port& port, Nanos now);

  // departure.cc: taken by the device, refused, dropped
  bool send_pending(Port& port, Nanos now);
  template <bool kDeliver>
  void send_burst(Port& port, Packet** packets, uint32_t count, Nanos now);
  HEDDLE_ASIDE void take_back(Port& port, Packet** packets, uint32_t count, size_t dirty_before);
  HEDDLE_ASIDE void drop_at_output(Port& output, Packet* packet, DropReason reason);

  // link_retry.cc: frames that the link may lose, kept and sent again
  Packet* second_of(Port& port, Packet* packet);
  Packet* replica_for(Port& port, Packet* packet);
  void keep_for_retry(Port& port, const Packet& packet, Packet* replica, Nanos now);
  HEDDLE_ASIDE uint32_t send_again(Port& port, Packet** burst, uint32_t count, Nanos now);
  void receive_in_turn(Port& port, Packet* packet, const LinkFrame& frame, Nanos now);
  HEDDLE_ASIDE bool receive_retry(Port& port, const LinkFrame& frame, Nanos now);
  HEDDLE_ASIDE void send_retry_records(Port& port, Nanos now);
  void let_go(Port& port, PacketQueue kept);

  // acknowledge.cc: deltas between tables, ACK frames, probes
  void mark_dirty(Port& output, FlowId id, OutputFlow& entry);
  HEDDLE_WAY void apply_acks(Nanos now);
  HEDDLE_ASIDE void tell_own_input(Port& input, OutputFlow& entry, Nanos now);
  bool tell_input(OutputFlow& entry);
  void on_ack(Port& port, Epoch epoch, FlowId flow, uint32_t acknowledged, uint32_t lost, bool path_ended, Nanos now);
  void mark_ack_due(Port& port, FlowId id, InputFlow& flow, Nanos now);
  static AckRecord totals_of(InputSide& input, FlowId id, const InputFlow& flow);
  void make_ack_frames(Port& port, Nanos now);
  Nanos ack_deadline(const Port& port) const;
  void free_if_drained(Port& output, FlowId id, OutputFlow& entry);
  void run_timers(Nanos now);
  HEDDLE_ASIDE void output_timer(Port& output, FlowId id, Nanos now);
  HEDDLE_ASIDE void input_timer(Port& port, FlowId id, Nanos now);
  HEDDLE_ASIDE void probe(Port& port, FlowId id);
  void send_probes(Port& port);
  void add_hold_timer(Port& port, FlowId id, Nanos until);
  void arm_timer(PortIndex output, FlowId id, Nanos due);
  void set_timer(PortIndex output, FlowId id);
  uint32_t& timer_link(uint32_t item);

  // link_control.cc: sessions, credits
  HEDDLE_ASIDE void forgive_silence(Nanos late, Nanos now);
  void control_links(Nanos now);
  HEDDLE_ASIDE void receive_hello(Port& port, const LinkFrame& frame, uint32_t frame_bytes, Nanos now);
  void act_on(Port& port, SessionEvent event, Nanos now);
  HEDDLE_ASIDE void tell_link(Port& port, Nanos now);
  void begin_session(Port& port);
  void start_positions(Port& port, FlowId output_flow);
  void end_session(Port& port, Nanos now);
  void reset_link(Port& port, LinkDownReason reason, Nanos now);
  void end_outputs(Port& port, Nanos now);
  void end_inputs(Port& port);
  void send_hello(Port& port, Nanos now);
  void send_credits(Port& port, Nanos now);
  Packet* control_packet(Port& port);
  void queue_control(Port& port, Packet* packet);

  // link_states.cc
  void send_notices(Port& port);
  void link_states_changed(uint16_t node);
  void tell_link_states();
  void originate_link_state();

  // messages.cc: the other workers
  void take_messages(Nanos now);
  HEDDLE_WAY void take_packets(Crossing& from, Nanos now);
  uint32_t take_settled(Crossing& from, Nanos now);
  void take(const Message& message, Nanos now);
  void take(const WantIds& want, Nanos now);
  void take(const WaitForRoom& wait, Nanos now);
  void take(const GrantId& grant, Nanos now);
  void take(const RefuseIds& refuse, Nanos now);
  void take(const GiveReturns& give, Nanos now);
  void take(const OrphansFreed& freed, Nanos now);
  void take(const TellCredit& credit, Nanos now);
  void take(const StationLearned& station, Nanos now);
  void take(const LinkStateNews& news, Nanos now);
  void take_flow(OutputFlow& entry, const CrossingPacket& crossing);

  // room_returns.cc: room in the outputs goes back
  void send_returns();
  bool send_returns_of(Port& output, PortIndex input, uint32_t lane);
  HEDDLE_ASIDE uint32_t room_to_keep(const Port& output, PortIndex input, uint32_t lane) const;
  HEDDLE_ASIDE bool send_orphans(Port& output, PortIndex input);
  void apply_returns(Port& input, PortIndex output, uint32_t lane, const Returns& returns);
  HEDDLE_ASIDE void wait_for_room(Port& input, Voq& voq);
  HEDDLE_ASIDE void tell_waiting(Port& input, Voq& voq, uint32_t flows);

  // worker.cc
  static void copy_frame(Packet& copy, const Packet& packet);
  void discard(Packet* packet);
  HEDDLE_ASIDE void drop_at_input(Port& port, Packet* packet, DropReason reason);
  HEDDLE_ASIDE void count_loss(Port& port, const Packet& packet, DropReason reason);
  void flush_discarded();
  Nanos next_wake(Nanos now) const;
  Nanos next_death(const Port& port) const;
  bool work_left() const;

  const Topology& topology_;
  const FabricSettings& settings_;
  const Lanes lanes_;
  const uint32_t port_count_;
  static constexpr uint16_t kNoVoq = 0xffff;
  std::array<uint16_t, kClassesMax> lossy_voqs_;  // by FTAG: the first of its lane; kNoVoq of a lossless class
  const uint16_t node_index_;
  const uint16_t node_address_;
  const uint32_t index_;
  const uint32_t waiting_max_;
  const uint32_t copies_max_;
  const uint32_t lent_max_;  // flow IDs of another worker's output that an input port keeps: half of its share (K11)
  const uint64_t frame_buffers_;  // of the largest frame
  LoadBoard& board_;
  PacketPool& pool_;
  PacketPool& control_pool_;
  Random random_;
  std::array<Port*, kPortsMax> ports_{};  // by port index; nullptr for other workers' ports
  std::vector<Port*> own_ports_;
  Outbox outbox_;                // to the other workers
  std::vector<Crossing*> from_;  // by worker
  std::vector<uint16_t> told_;   // by worker: link states before this node index have been told
  PortSet fabric_ports_ = 0;     // of the node
  PortSet edge_ports_ = 0;
  EdgeInput edge_;
  LinkState link_state_;
  PathChoice paths_;
  const Destinations destinations_;
  TimerWheel timers_;
  TimerWheel releases_;  // of flows that wait until their share has room (C5)
  RoundTrips round_trips_;
  BoundedList<uint32_t> dirty_;     // output flows with pending deltas
  BoundedList<uint32_t> settling_;  // those of the turn before, while they are being told
  struct Metered {                  // an output flow that the next hop grants by credit
    uint32_t item;                  // reference()
    uint32_t limit;                 // its credit_limit at the last look; at first, as it was before it was listed
  };
  BoundedList<Metered> metered_;
  size_t metered_to_look_at_ = 0;  // in the look that is under way: the first so many
  Nanos next_metered_look_ns_ = 0;
  uint32_t active_head_ = kNoItem, active_tail_ = kNoItem;  // virtual output queues to serve: input << 16 | index
  uint32_t active_count_ = 0;
  PortSet at_once_outputs_ = 0;  // those with frames gathered of the burst that is being received
  bool routes_stale_ = false;
  uint32_t board_version_ = 0;
  uint32_t copies_out_ = 0;
  Nanos now_ = 0;      // of the running poll
  Nanos wake_ns_ = 0;  // when it wanted to be called next, as it said at the end of the last one
  Nanos next_sweep_ns_ = 0;
  Nanos next_age_ns_ = 0;
  PollResult result_;
  uint32_t discarded_count_ = 0;
  std::array<Packet*, 256> discarded_{};
  uint64_t polls_ = 0, busy_polls_ = 0;
  NodeEvents events_{kEventsKept};

  std::array<Recent, 64> recent_{};
};

}  // namespace heddle
