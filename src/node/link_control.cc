// SPDX-License-Identifier: Apache-2.0
// Links of the fabric: sessions (K1, K9) and credits (C9, K7).
#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kControlQueueMax = 64;  // frames made here and not sent yet, per port
}  // namespace

// This worker was away itself, for a good part of a hello interval after it wanted to be called: what it did not hear
// says nothing about its links (K1). The receive queues are drained in the same turn, before the next judgement.
void Worker::forgive_silence(Nanos late, Nanos now) {
  bool any = false;
  for (Port* port : own_ports_) {
    if (!port->is_fabric() || !port->session.up()) continue;
    port->session.forgive_silence(late, now);
    port->counters.count(ProtocolEvent::silence_forgiven);
    any = true;
  }
  if (!any || late <= settings_.hello_interval_ns) return;  // more often than that nobody needs to know
  NodeEvent event{.at_ns = now, .kind = NodeEventKind::worker_late};
  event.late_us = static_cast<uint32_t>(std::min<Nanos>(late / kMicrosecond, ~0u));
  events_.tell(event);
}

// A link has come up, gone down, or stays down for another reason.
void Worker::tell_link(Port& port, Nanos now) {
  const LinkDownReason reason = port.session.down_reason();
  if (reason == port.told_reason) return;
  NodeEvent event{.at_ns = now, .kind = NodeEventKind::link, .reason = reason, .port = port.index};
  if (reason == LinkDownReason::wrong_cable) {
    const Hello& hello = port.session.last_hello();
    std::snprintf(event.found, sizeof event.found, "%s:%s", hello.node_name, hello.port_name);
  }
  if (events_.tell(event)) port.told_reason = reason;
}

void Worker::set_carrier(PortIndex port, bool carrier) {
  if (!own(port).is_fabric() || own(port).carrier == carrier) return;
  own(port).carrier = carrier;
  own(port).carrier_changed = true;
  own(port).session.wake_soon();
}

void Worker::control_links(Nanos now) {
  for (Port* port : own_ports_) {
    if (!port->is_fabric() || now < port->session.next_wake()) continue;
    if (std::exchange(port->carrier_changed, false))
      act_on(*port, port->session.set_carrier(port->carrier, random_.nonzero(), now), now);
    act_on(*port, port->session.tick(random_.nonzero(), now), now);
    tell_link(*port, now);
    if (port->session.hello_due(now)) send_hello(*port, now);
  }
  tell_link_states();
  if (index_ == 0 && board_version_ != board_.version()) {
    board_version_ = board_.version();
    originate_link_state();
  }
}

void Worker::receive_hello(Port& port, const LinkFrame& frame, uint32_t frame_bytes, Nanos now) {
  Hello hello;
  read_hello(frame, hello);
  const bool admit = port.input.orphans < settings_.orphans_max;
  act_on(port, port.session.receive(hello, frame_bytes, random_.nonzero(), admit, now), now);
  tell_link(port, now);
  if (port.session.hello_due(now)) send_hello(port, now);
  if (port.session.up() && hello.notice_digest != link_state_.digest()) send_notices(port);
}

void Worker::act_on(Port& port, SessionEvent event, Nanos now) {
  switch (event) {
    case SessionEvent::none:
      break;
    case SessionEvent::began:
      begin_session(port);
      break;
    case SessionEvent::ended:
      end_session(port, now);
      break;
    case SessionEvent::ended_and_began:
      port.counters.count(ProtocolEvent::session_replaced);
      events_.tell({.at_ns = now, .kind = NodeEventKind::neighbour_restarted, .port = port.index});
      end_session(port, now);
      begin_session(port);
      break;
  }
}

void Worker::begin_session(Port& port) {
  port.counters.count(ProtocolEvent::session_began);
  const uint64_t own_nonce = port.session.own_nonce(), peer_nonce = port.session.peer_nonce();
  const Hello& hello = port.session.last_hello();
  for (uint32_t channel = 0; channel < port.channels; ++channel)  // the topology says what the others are
    port.credits[channel].begin_session(hello.buffer_bytes,
                                        channel == kLossyChannel ? hello.credits : settings_.lossless_credits);
  port.output.sequence = first_position(own_nonce, peer_nonce, kNoFlow);
  port.input.last_sequence = first_position(peer_nonce, own_nonce, kNoFlow);
  port.retry.begin_session(port.output.sequence, port.input.last_sequence);
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const auto id = static_cast<FlowId>(i);
    InputFlow& flow = port.input.flows[id];
    flow.next_data_flow = flow.data_flow = flow.ack_flow = first_position(peer_nonce, own_nonce, id);
    flow.lost_total = 0;
    if (port.output.flows[id].state == OutputFlowState::free) start_positions(port, id);
  }
  board_.publish_state(port.index, true);
  if (index_ != 0) outbox_.wake(0);  // the first worker tells the fabric
}

// K4: both ends compute where a flow ID's positions start in a session.
void Worker::start_positions(Port& port, FlowId id) {
  OutputFlow& entry = port.output.flows[id];
  const uint32_t first = port.session.up() ? first_position(port.session.own_nonce(), port.session.peer_nonce(), id)
                                           : 0;  // set anew when a session begins
  entry.data_flow = entry.ack_flow = first;
  entry.lost_total = 0;
}

void Worker::reset_link(Port& port, LinkDownReason reason, Nanos now) {
  port.counters.count(ProtocolEvent::session_reset);
  end_session(port, now);
  port.session.reset(random_.nonzero(), reason, now);
}

// K9. The session is over: whatever it left is settled, on both sides.
void Worker::end_session(Port& port, Nanos now) {
  if (at_once_outputs_ != 0) send_all_at_once(now);  // what came before in this burst
  port.counters.count(ProtocolEvent::session_ended);
  board_.publish_state(port.index, false);
  if (index_ != 0) outbox_.wake(0);
  ++port.input.ref.epoch;
  end_outputs(port, now);
  end_inputs(port);
}

void Worker::end_outputs(Port& port, Nanos now) {
  OutputSide& output = port.output;
  while (!output.queues.empty()) {
    const auto lane = static_cast<uint32_t>(std::countr_zero(output.queues.lanes()));
    drop_at_output(port, output.queues.take(lane), DropReason::link_down);
  }
  for (uint32_t i = 0; i < output.pending_packets; ++i) {  // stamped: their bytes are settled with the outstanding ones
    port.counters.drop(DropReason::link_down);
    const Packet& packet = *output.pending[i];
    if (packet.input.port != kNoPort) port.output.room.returns_for(packet).add(packet);
    discard(output.pending[i]);
  }
  output.pending_packets = 0;
  let_go(port, port.retry.end_session());
  for (Packet** probes : {&output.probes, &output.probes_in_turn}) {
    if (*probes != nullptr) queue_control(port, *probes);
    *probes = nullptr;
  }
  while (!output.control.empty()) {
    port.counters.drop(DropReason::link_down);
    discard(output.control.pop());
  }
  output.control_packets = 0;
  for (uint32_t i = 1; i <= output.flows.size(); ++i) {
    const auto id = static_cast<FlowId>(i);
    OutputFlow& entry = output.flows[id];
    if (entry.state == OutputFlowState::free || (entry.flags & kOutputEnded)) continue;
    entry.flags |= kOutputEnded | kOutputEndDue;
    // An ordered flow's settlement waits until its frames beyond the failure have died: one life, and some more for
    // the time on wires, which no hop counts.
    const Nanos life = edge_.classifier().of_ftag(entry.ftag).life_ns;
    const Nanos settle_at = now + life + life / 8;
    if (entry.extent() != 0) {
      if (!(entry.flags & kOutputTimed)) arm_timer(port.index, id, settle_at);
      entry.due_ns = settle_at;
    }
    if (entry.input.flow != kNoFlow)
      mark_dirty(port, id, entry);  // else whoever gets it hears by its first packet, which is lost
  }
}

void Worker::end_inputs(Port& port) {
  InputSide& input = port.input;
  for (uint32_t i = 1; i <= input.flows.size(); ++i) {
    InputFlow& flow = input.flows[static_cast<FlowId>(i)];
    flow.flags &= static_cast<uint16_t>(~kFlowAckDue);
    if (!flow.in_use()) continue;
    while (!flow.queue.empty()) drop_at_input(port, flow.queue.pop(), DropReason::link_down);
    if (flow.branch.flow != kNoFlow) give_back(port, flow, true);
    flow.flags &= kFlowTimed;
    flow.queued_packets = 0;
    flow.state = FlowState::idle;
  }
  for (Fifo& fifo : input.fifos)
    while (!fifo.queue.empty()) drop_at_input(port, fifo.queue.pop(), DropReason::link_down);
  for (Voq& voq : input.voqs) {
    voq.ready = {};
    voq.fifos = 0;
    if (voq.told_waiters != 0) tell_waiting(port, voq, 0);
  }
  for (OutputIds& ids : input.ids) ids.wanting = {};
  input.queued_packets = input.lossless_packets = 0;
  input.queued_flows = {};
  input.ack_due.clear();
  input.ack_urgent = false;
  round_trips_.forget(port.index);
}

// A packet for a frame made here; nullptr, counted, if there is none.
Packet* Worker::control_packet(Port& port) {
  Packet* packet = nullptr;
  if (port.output.control_packets >= kControlQueueMax || control_pool_.allocate(&packet, 1) == 0) {
    ++port.counters.originated_frames;
    port.counters.drop(DropReason::no_buffer);
    return nullptr;
  }
  ++port.counters.originated_frames;
  packet->input.port = kNoPort;
  packet->flags = kPacketRecords;
  return packet;
}

void Worker::queue_control(Port& port, Packet* packet) {
  port.output.control.push(packet);
  ++port.output.control_packets;
}

void Worker::send_hello(Port& port, Nanos now) {
  // Without a session nothing but hellos is sent: while one waits, the next one does.
  if (!port.session.up() && port.output.control_packets != 0) return;
  Packet* packet = control_packet(port);
  if (packet == nullptr) return;
  const DueHello due = port.session.take_hello(link_state_.digest(), now);
  write_hello(*packet, due.hello, due.frame_bytes, port.mac);
  packet->flags = 0;
  queue_control(port, packet);
}

// Built at hand-over, so that the sender's total stands behind the frames it counts (K7).
void Worker::send_credits(Port& port, Nanos now) {
  Packet* packet = nullptr;
  for (uint32_t channel = 0; channel < port.channels; ++channel) {
    if (!port.credits[channel].due(now)) continue;
    if (packet == nullptr) {
      packet = control_packet(port);
      if (packet == nullptr) return;
      start_records(*packet, HEDDLE_CREDIT);
    }
    const LinkCredits::Record record = port.credits[channel].take(now);
    const uint8_t flags = record.asks ? HEDDLE_CREDIT_ASK : 0;
    append_record(*packet, CreditRecord{.vc = static_cast<uint8_t>(channel),
                                        .flags = flags,
                                        .sent_total = record.sent_total,
                                        .limit = record.limit});
    port.counters.count(record.asks ? ProtocolEvent::credit_asked : ProtocolEvent::credit_sent);
  }
  if (packet != nullptr) queue_control(port, packet);
}
}  // namespace heddle
