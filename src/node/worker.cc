// SPDX-License-Identifier: Apache-2.0
#include "node/worker.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace heddle {

namespace {
HashKey draw_hash_key(Random& random) { return {{random.next(), random.next(), random.next(), random.next()}}; }
}  // namespace

Worker::Worker(const NodeOptions& options, uint32_t index, LoadBoard& board, const std::vector<Port*>& ports,
               const std::vector<uint32_t>& worker_of_port)
    : topology_(*options.topology),
      settings_(options.topology->settings),
      lanes_(*options.topology),
      port_count_(static_cast<uint32_t>(ports.size())),
      node_index_(options.node_index),
      node_address_(topology_.nodes[options.node_index].address),
      index_(index),
      waiting_max_(options.waiting_max),
      copies_max_(options.copies_max),
      lent_max_(settings_.flow_ids / (4 * static_cast<uint32_t>(ports.size()))),
      frame_buffers_((HEDDLE_DATA_OVERHEAD_BYTES + topology_.edge_mtu_bytes + kEthernetHeaderBytes + kBufferBytes - 1) /
                     kBufferBytes),
      board_(board),
      pool_(*options.pool),
      control_pool_(*options.control_pool),
      random_(Random(options.seed).next() + index),
      outbox_(options.workers, worker_of_port),
      from_(options.workers),
      told_(options.workers),
      edge_(topology_, options.match_entries, options.station_entries, draw_hash_key(random_), *options.tables),
      link_state_(topology_, options.node_index, index == 0),
      paths_(topology_, options.node_index, lanes_, board),
      destinations_(topology_),
      timers_(kMillisecond),
      releases_(2 * kMicrosecond),
      round_trips_(topology_.nodes.size(), settings_.probe_base_ns) {
  for (uint8_t ftag = 0; ftag < kClassesMax; ++ftag)
    lossy_voqs_[ftag] =
        lanes_.lossless(ftag)
            ? kNoVoq
            : static_cast<uint16_t>(voq_index(0, lanes_.of(edge_.classifier().of_ftag(ftag).ftag, kLossyChannel)));
  PortSet near = 0, beside = 0;
  const auto& descriptions = topology_.nodes[node_index_].ports;
  for (PortIndex port = 0; port < ports.size(); ++port) {
    (descriptions[port].fabric ? fabric_ports_ : edge_ports_) |= PortSet{1} << port;
    ports_[port] = ports[port];
    if (!descriptions[port].fabric) (ports[port] != nullptr ? near : beside) |= PortSet{1} << port;
    if (ports[port] == nullptr) continue;
    own_ports_.push_back(ports[port]);
    for (PortIndex output = 0; output < ports.size(); ++output)
      if (ports[output] == nullptr) ports[port]->input.ids[output].lent.make_room(lent_max_ + 1);
  }
  edge_.set_near(node_address_, near, beside);
  dirty_ = BoundedList<uint32_t>(own_ports_.size() * settings_.flow_ids);
  settling_ = BoundedList<uint32_t>(own_ports_.size() * settings_.flow_ids);
  metered_ = BoundedList<Metered>(own_ports_.size() * settings_.flow_ids);
  paths_.compile(link_state_.ports_up());
}

Worker::~Worker() {
  auto release_queue = [this](PacketQueue& queue) {
    while (!queue.empty()) discard(queue.pop());
  };
  for (Port* port : own_ports_) {
    for (uint32_t id = 1; id <= port->input.flows.size(); ++id)
      release_queue(port->input.flows[static_cast<FlowId>(id)].queue);
    release_queue(port->input.waiting);
    for (Fifo& fifo : port->input.fifos) release_queue(fifo.queue);
    while (!port->output.queues.empty())
      discard(port->output.queues.take(static_cast<uint32_t>(std::countr_zero(port->output.queues.lanes()))));
    release_queue(port->output.control);
    for (Packet* probes : {port->output.probes, port->output.probes_in_turn})
      if (probes != nullptr) discard(probes);
    PacketQueue kept = port->retry.end_session();
    release_queue(kept);
    for (uint32_t i = 0; i < port->output.pending_packets; ++i) discard(port->output.pending[i]);
  }
  CrossingPacket crossing;
  for (Crossing* from : from_)
    while (from != nullptr && from->data.take(&crossing, 1) == 1) discard(crossing.packet);
  flush_discarded();
}

void Worker::connect(uint32_t other, Crossing* to, Crossing* from) {
  outbox_.connect(other, to);
  from_[other] = from;
}

PollResult Worker::poll(Nanos now) {
  result_ = {};
  outbox_.begin_turn();
  ++polls_;
  const Nanos due = std::max(now_, wake_ns_);
  now_ = now;
  if (now > due && now - due > settings_.hello_interval_ns / 4) forgive_silence(now - due, now);
  take_messages(now);    // from other workers: packets, flow IDs, room, ACKs
  control_links(now);    // sessions and link states
  run_timers(now);       // probes (K5), settlement (K9), held pairs (E1)
  look_at_metered(now);  // credits of flows that may have been lost (K7)
  apply_acks(now);       // deltas of the turn before (decision 2)
  if (round_trips_.timing()) round_trips_.look(own(round_trips_.port()).input.flows[round_trips_.flow_id()], now);
  run_releases(now);    // flows whose share has room again (C5)
  receive(now);         // devices -> flow queues
  leave_stale_paths();  // routes have changed (R12)
  age_waiting(now);     // life in queues (K8)
  arbitrate(now);       // flow queues -> outputs
  grant_ids(now);       // flow IDs for those who wait (K11)
  transmit(now);        // outputs -> devices
  send_returns();       // room and credits of what has left
  const bool left_for_others = outbox_.hand_over_all();
  flush_discarded();
  result_.crossings = outbox_.crossings();
  result_.woken = outbox_.woken();
  result_.busy = result_.busy || left_for_others || work_left();
  busy_polls_ += result_.busy || result_.packets != 0;
  wake_ns_ = result_.next_wake = result_.busy ? now : next_wake(now);
  return result_;
}

// Into a fresh packet.
void Worker::copy_frame(Packet& copy, const Packet& packet) {
  uint8_t* bytes = copy.data;
  copy = packet;
  copy.data = bytes;
  copy.next = nullptr;
  std::memcpy(bytes, packet.data, packet.length);
}

void Worker::discard(Packet* packet) {
  if (discarded_count_ == discarded_.size()) flush_discarded();
  discarded_[discarded_count_++] = packet;
}

void Worker::flush_discarded() {
  if (discarded_count_ == 0) return;
  pool_.release(discarded_.data(), discarded_count_);
  discarded_count_ = 0;
}

// A frame that has not crossed: its buffer credit is this worker's to return.
void Worker::drop_at_input(Port& port, Packet* packet, DropReason reason) {
  port.counters.drop(reason);
  if (port.is_fabric() && packet->cost != 0) {
    count_loss(port, *packet, reason);
    port.credits[packet->vc].released(packet->cost);
  }
  discard(packet);
}

// A frame of a lossless class that was to go on. Others of its frames may come twice or late.
void Worker::count_loss(Port& port, const Packet& packet, DropReason reason) {
  if (!lanes_.lossless(packet.ftag & 15) || packet.destination.node == HEDDLE_FLOOD_NODE) return;
  const bool spare = reason == DropReason::duplicate || reason == DropReason::old_sequence ||
                     reason == DropReason::stale_session || reason == DropReason::link_not_up;
  if (!spare) port.counters.count(ProtocolEvent::lossless_lost);
}

bool Worker::work_left() const {
  const bool states_changed = index_ == 0 && board_version_ != board_.version();
  return !dirty_.empty() || active_count_ != 0 || metered_to_look_at_ != 0 || states_changed;
}

// When the first packet in an output queue has lived its life.
Nanos Worker::next_death(const Port& port) const {
  Nanos first = kNever;
  for (LaneSet rest = port.output.queues.lanes(); rest != 0; rest &= rest - 1) {
    const Packet& head = *port.output.queues.of(static_cast<uint32_t>(std::countr_zero(rest))).head;
    first = std::min(first, head.dies_ns);
  }
  return first;
}

Nanos Worker::next_wake(Nanos now) const {
  Nanos wake = std::min({metered_.empty() ? kNever : next_metered_look_ns_, timers_.next_due(), releases_.next_due(),
                         edge_ports_ != 0 ? next_sweep_ns_ : kNever});
  for (const Port* port : own_ports_) {
    wake = std::min(wake, port->device->next_arrival());
    if (port->output.pending_packets != 0) wake = std::min(wake, now + kMicrosecond);
    if (!port->input.waiting.empty() && port->input.flows.available() != 0) return now;
    const LaneSet queued = port->output.queues.lanes() & ~port->output.paused_lanes;
    if ((queued != 0 || port->retry.again() != nullptr) && !port->output.pace.allows(now))
      wake = std::min(wake, port->output.pace.ready_at());
    if (port->input.lent_outputs != 0) wake = std::min(wake, next_age_ns_);
    if (!port->is_fabric()) {
      if (lanes_.any_lossless()) wake = std::min({wake, port->pause.next_due(), port->output.pause_look_ns});
      if (port->output.paused_lanes != 0) wake = std::min(wake, next_death(*port));
      continue;
    }
    wake = std::min(wake, port->session.next_wake());
    if (port->input.wanting_outputs != 0) wake = std::min(wake, next_age_ns_);
    if (!port->session.up()) continue;
    wake = std::min(wake, next_death(*port));
    for (uint32_t channel = 0; channel < port->channels; ++channel)
      wake = std::min(wake, port->credits[channel].next_due());
    wake = std::min({wake, ack_deadline(*port), port->retry.next_due()});
  }
  return std::max(wake, now);
}

}  // namespace heddle
