// SPDX-License-Identifier: Apache-2.0
#include "node/worker.h"

#include <algorithm>
#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kEventsKept = 127;  // until somebody reads them

HashKey draw_hash_key(Random& random) { return {{random.next(), random.next(), random.next(), random.next()}}; }

// Of those that this worker has, or of the others: the node's edge ports.
PortSet edge_ports(const Site& site, const Ports& ports, bool own) {
  PortSet found = 0;
  for (PortSet rest = site.edge_ports; rest != 0; rest &= rest - 1)
    if (ports.is_own(PortIndex::of(std::countr_zero(rest))) == own) found |= rest & -rest;
  return found;
}
void make_room_for_lent_ids(const Site& site, const Ports& ports) {
  for (Port* port : ports)
    for (PortIndex output = 0; output < port->input.ids.size(); ++output)
      if (!ports.is_own(output)) port->input.ids[output].lent.make_room(site.lent_max + 1);
}
}  // namespace

Worker::Worker(const NodeOptions& options, WorkerIndex index, LoadBoard& board, const std::vector<Port*>& ports,
               const std::vector<WorkerIndex>& worker_of_port)
    : site_(options, index),
      ports_(ports),
      board_(board),
      pool_(*options.pool),
      random_(Random(options.seed).next() + index),
      events_(kEventsKept),
      turn_(site_, pool_),
      outbox_(options.workers, worker_of_port),
      waiting_(board, site_.lanes, index),
      edge_(site_.topology, *options.applications, options.match_entries, options.station_entries,
            draw_hash_key(random_), *options.tables),
      link_state_(site_.topology, site_.node, index == 0),
      paths_(site_.topology, site_.node, site_.lanes, board),
      timers_(ports_, kMillisecond),
      releases_(ports_, 2 * kMicrosecond),
      control_(*options.control_pool),
      acks_(site_, control_),
      settlement_(site_, ports_, turn_),
      loads_(site_, board, random_, settlement_, control_),
      prober_(site_, ports_, control_, settlement_, timers_),
      dead_neighbours_(site_, ports_, turn_, outbox_, board, link_state_),
      ended_paths_(site_, ports_, link_state_, dead_neighbours_, settlement_, prober_),
      orphans_(site_, ports_, outbox_, board),
      retry_(turn_, pool_, control_),
      stamping_(site_, prober_),
      stamping_at_once_(site_, ports_, stamping_, retry_),
      credit_watch_(site_, ports_, turn_, settlement_, prober_),
      shares_(site_, ports_, board_),
      room_(site_, ports_, turn_, outbox_, orphans_),
      flow_ways_(site_, turn_, paths_, random_),
      flow_ids_(site_, ports_, turn_, outbox_, flow_ways_, settlement_, orphans_, waiting_),
      crosspoint_(site_, ports_, outbox_, settlement_),
      flow_credits_(site_, turn_, acks_),
      flow_limits_(site_, ports_, acks_, shares_, waiting_),
      flow_pauses_(site_, turn_, edge_, control_, events_),
      flow_queues_(site_, flow_credits_, flow_pauses_, waiting_),
      flow_redirects_(site_, paths_, flow_ways_, flow_queues_, random_),
      flow_life_(ports_, turn_, edge_, flow_ways_, acks_, flow_ids_, flow_limits_, flow_queues_, timers_, releases_),
      admission_(site_, flow_ids_, flow_limits_, flow_pauses_, flow_queues_, flow_ways_, flow_life_, shares_,
                 crosspoint_, stamping_at_once_),
      express_(site_, ports_, flow_ways_, shares_, stamping_at_once_),
      fifos_(site_, turn_, flow_ways_, room_, crosspoint_),
      host_control_(site_, turn_, control_, events_),
      arbitration_(ports_, shares_, flow_ids_, flow_limits_, flow_queues_, flow_life_, admission_, fifos_, room_),
      id_grants_(ports_, turn_, outbox_, flow_life_),
      edge_flows_(site_, turn_, edge_, flow_ways_, flow_pauses_, flow_life_, admission_),
      at_once_(site_, ports_, outbox_, board_, edge_, acks_, flow_ways_, crosspoint_, flow_limits_),
      bridging_(site_, turn_, outbox_, board_, pool_, edge_, paths_, room_, crosspoint_),
      link_states_(site_, ports_, turn_, outbox_, board_, paths_, link_state_, control_, ended_paths_),
      link_control_(site_, ports_, turn_, random_, events_, link_state_, control_, settlement_, orphans_,
                    dead_neighbours_, ended_paths_, room_, flow_life_, flow_limits_, link_states_, retry_),
      ack_receive_(ports_, settlement_, credit_watch_, flow_life_),
      records_(site_, link_state_, acks_, ack_receive_, link_control_, link_states_, retry_, loads_),
      edge_receive_(site_, ports_, turn_, edge_, flow_limits_, edge_flows_, express_, at_once_, bridging_, fifos_,
                    host_control_, flow_pauses_),
      fabric_receive_(site_, turn_, acks_, admission_, express_, at_once_, bridging_, fifos_, flow_life_, link_control_,
                      records_),
      receive_(ports_, turn_, edge_flows_, edge_receive_, fabric_receive_),
      departure_(site_, settlement_),
      fabric_transmit_(site_, acks_, settlement_, prober_, retry_, link_control_, stamping_, departure_, loads_),
      edge_transmit_(site_, settlement_, host_control_, flow_pauses_, departure_),
      ack_relay_(ports_, outbox_, settlement_, flow_life_, flow_redirects_),
      messages_(options.workers, ports_, turn_, edge_, settlement_, room_, flow_ids_, flow_life_, flow_redirects_,
                crosspoint_, at_once_, link_state_, link_states_, orphans_),
      regrouping_(site_, ports_, edge_, flow_pauses_) {
  make_room_for_lent_ids(site_, ports_);
  edge_.set_near(site_.address, edge_ports(site_, ports_, true), edge_ports(site_, ports_, false));
  paths_.compile(link_state_.ports_up());
}

Worker::~Worker() {
  auto release_queue = [this](PacketQueue& queue) {
    while (!queue.empty()) turn_.discard(queue.pop());
  };
  for (Port* port : ports_) {
    for (uint32_t id = 1; id <= port->input.flows.size(); ++id) release_queue(port->input.flows[FlowId::of(id)].queue);
    while (!port->input.waiting.empty()) turn_.discard(port->input.waiting.pop_any());
    for (Fifo& fifo : port->input.fifos) release_queue(fifo.queue);
    while (!port->output.scheduler.empty()) turn_.discard(port->output.scheduler.take_any());
    release_queue(port->output.control);
    for (Packet* probes : {port->output.probes, port->output.probes_in_turn})
      if (probes != nullptr) turn_.discard(probes);
    PacketQueue kept = port->retry.end_session();
    release_queue(kept);
  }
  CrossingPacket crossing;
  for (Crossing* from : messages_.sources())
    while (from != nullptr && from->data.take(&crossing, 1) == 1) turn_.discard(crossing.packet);
  turn_.flush();
}

void Worker::connect(WorkerIndex other, Crossing* to, Crossing* from) {
  outbox_.connect(other, to);
  messages_.connect(other, from);
}

PollResult Worker::poll(Nanos now) {
  const Nanos due = std::max(turn_.now(), wake_ns_);
  turn_.begin(now);
  outbox_.begin_turn();
  if (now > due && now - due > site_.settings.hello_interval_ns / 4) link_control_.forgive_silence(now - due, now);
  messages_.run(now);      // from other workers: packets, flow IDs, room, ACKs
  link_control_.run(now);  // sessions and link states
  run_timers(now);
  credit_watch_.look(now);  // credits of flows that may have been lost (K7)
  ack_relay_.run(now);      // deltas of the turn before (decision 2)
  flow_limits_.look_at_round_trip(now);
  flow_life_.run_releases(now);                                    // flows whose share has room again (C5)
  receive_.run(now);                                               // devices -> flow queues
  if (link_states_.take_effect()) flow_life_.leave_stale_paths();  // routes have changed (R12)
  flow_life_.age_waiting(now);                                     // life in queues (K8)
  arbitration_.run(now);                                           // flow queues -> outputs
  id_grants_.run();                                                // flow IDs for those who wait (K11)
  transmit(now);                                                   // outputs -> devices
  room_.send();                                                    // room and credits of what has left
  orphans_.look(now);                                              // nothing is left of ended sessions (K9)
  const bool left_for_others = outbox_.hand_over_all();
  turn_.flush();
  const bool busy = turn_.busy() || left_for_others || work_left();
  wake_ns_ = busy ? now : next_wake(now);
  busy_polls_ += busy || turn_.packets() != 0;
  return {.packets = turn_.packets(),
          .crossings = outbox_.crossings(),
          .woken = outbox_.woken(),
          .busy = busy,
          .next_wake = wake_ns_};
}

void Worker::run_timers(Nanos now) {
  timers_.advance(
      now, [this, now](Port& port, FlowId id) { flow_life_.on_timer(port, id, now); },
      [this, now](Port& port, FlowId id) { prober_.on_timer(port, id, now); });
}

void Worker::transmit(Nanos now) {
  for (Port* port : ports_) {
    for (uint32_t burst = 0; burst < kBurstsOutPerTurn; ++burst) {
      const bool more = port->is_fabric() ? fabric_transmit_.run(*port, now) : edge_transmit_.run(*port, now);
      if (!more) break;
      if (burst + 1 == kBurstsOutPerTurn) turn_.stay_busy();
    }
    shares_.publish(*port);
    if (port->is_fabric()) {
      loads_.look(*port, now);
      continue;
    }
    edge_transmit_.look_for_congestion(*port, now);
    at_once_.publish(*port);
  }
}

bool Worker::work_left() const {
  return !settlement_.empty() || arbitration_.work_left() || credit_watch_.looking() || link_states_.news();
}

Nanos Worker::next_wake(Nanos now) const {
  Nanos wake =
      std::min({credit_watch_.next_wake(), timers_.next_due(), releases_.next_due(), edge_receive_.next_wake()});
  for (const Port* port : ports_)
    wake =
        std::min({wake, receive_.next_wake(*port, now), departure_.next_wake(*port, now), flow_life_.next_wake(*port),
                  port->is_fabric() ? fabric_transmit_.next_wake(*port) : edge_transmit_.next_wake(*port)});
  return std::max(wake, now);
}

}  // namespace heddle
