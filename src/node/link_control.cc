// SPDX-License-Identifier: Apache-2.0
#include "node/link_control.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <utility>

namespace heddle {

void LinkControl::forgive_silence(Nanos late, Nanos now) {
  bool any = false;
  for (Port* port : ports_) {
    if (!port->is_fabric() || !port->session.up()) continue;
    port->session.forgive_silence(late, now);
    port->counters.count(ProtocolEvent::silence_forgiven);
    any = true;
  }
  if (!any || late <= site_.settings.hello_interval_ns) return;  // more often than that nobody needs to know
  NodeEvent event{.at_ns = now, .kind = NodeEventKind::worker_late};
  event.late_us = static_cast<uint32_t>(std::min<Nanos>(late / kMicrosecond, ~0u));
  events_.tell(event);
}

void LinkControl::set_carrier(Port& port, bool carrier) {
  if (!port.is_fabric() || port.carrier == carrier) return;
  port.carrier = carrier;
  port.carrier_changed = true;
  port.session.wake_soon();
}

void LinkControl::run(Nanos now) {
  for (Port* port : ports_) {
    if (!port->is_fabric() || now < port->session.next_wake()) continue;
    if (port->carrier_changed) {
      port->carrier_changed = false;
      act_on(*port, port->session.set_carrier(port->carrier, random_.nonzero(), now), now);
    }
    act_on(*port, port->session.tick(random_.nonzero(), now), now);
    tell_link(*port, now);
    if (port->session.hello_due(now)) send_hello(*port, now);
  }
  link_states_.tell_workers();
  link_states_.originate();
}

void LinkControl::receive_hello(Port& port, const LinkFrame& frame, uint32_t frame_bytes, Nanos now) {
  Hello hello;
  read_hello(frame, hello);
  act_on(port, port.session.receive(hello, frame_bytes, random_.nonzero(), refusal(port), now), now);
  if (port.session.up() && hello.nonce == port.session.peer_nonce()) ended_paths_.heard(port, hello.notice_sequence);
  tell_link(port, now);
  if (port.session.hello_due(now)) send_hello(port, now);
  if (port.session.up() && hello.notice_digest != link_state_.digest()) link_states_.send_notices(port);
}

// Why no session may begin there; none if one may.
LinkDownReason LinkControl::refusal(const Port& port) const {
  if (!orphans_.admits(port)) return LinkDownReason::orphans;
  return dead_neighbours_.admits(port) ? LinkDownReason::none : LinkDownReason::kept_out;
}

void LinkControl::reset(Port& port, LinkDownReason reason, Nanos now) {
  port.counters.count(ProtocolEvent::session_reset);
  end_session(port, now);
  port.session.reset(random_.nonzero(), reason, now);
}

void LinkControl::send_credits(Port& port, Nanos now) {
  Packet* packet = nullptr;
  for (uint32_t channel = 0; channel < port.channels; ++channel) {
    if (!port.credits[channel].due(now)) continue;
    if (packet == nullptr) {
      packet = control_.make(port);
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
  if (packet != nullptr) control_.queue(port, packet);
}

// A link has come up, gone down, or stays down for another reason.
void LinkControl::tell_link(Port& port, Nanos now) {
  const LinkDownReason reason = port.session.down_reason();
  if (reason == port.told_reason) return;
  NodeEvent event{.at_ns = now, .kind = NodeEventKind::link, .reason = reason, .port = port.index};
  if (reason == LinkDownReason::wrong_cable) {
    const Hello& hello = port.session.last_hello();
    std::snprintf(event.found, sizeof event.found, "%s:%s", hello.node_name, hello.port_name);
  }
  if (events_.tell(event)) port.told_reason = reason;
}

void LinkControl::act_on(Port& port, SessionEvent event, Nanos now) {
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

void LinkControl::begin_session(Port& port) {
  port.counters.count(ProtocolEvent::session_began);
  const uint64_t own_nonce = port.session.own_nonce(), peer_nonce = port.session.peer_nonce();
  const Hello& hello = port.session.last_hello();
  for (uint32_t channel = 0; channel < port.channels; ++channel)  // the topology says what the others are
    port.credits[channel].begin_session(hello.buffer_bytes,
                                        channel == kLossyChannel ? hello.credits : site_.settings.lossless_credits);
  port.output.sequence = first_position(own_nonce, peer_nonce, kNoFlow);
  port.input.last_sequence = first_position(peer_nonce, own_nonce, kNoFlow);
  port.retry.begin_session(port.output.sequence, port.input.last_sequence);
  Stamping::begin_session(port);
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const auto id = FlowId::of(i);
    InputFlow& flow = port.input.flows[id];
    flow.next_data_flow = flow.data_flow = flow.ack_flow = first_position(peer_nonce, own_nonce, id);
    flow.lost_total = 0;
    if (port.output.flows[id].state == OutputFlowState::free) settlement_.start_positions(port, id);
  }
  ended_paths_.session_began(port);
  orphans_.session_began(port);
}

// K9. The session is over: whatever it left is settled, on both sides.
void LinkControl::end_session(Port& port, Nanos now) {
  port.counters.count(ProtocolEvent::session_ended);
  dead_neighbours_.session_ended(port);
  orphans_.session_ended(port);
  ++port.input.ref.epoch;
  end_outputs(port, now);
  end_inputs(port);
}

void LinkControl::end_outputs(Port& port, Nanos now) {
  OutputSide& output = port.output;
  while (!output.scheduler.empty())
    settlement_.drop_at_output(port, output.scheduler.take_any(), DropReason::link_down);
  for (uint32_t i = 0; i < output.stamped_packets; ++i) {  // their bytes are settled with the outstanding ones
    const Packet& packet = *output.stamped[i];
    port.counters.drop(DropReason::link_down);
    turn_.count_loss(port, packet, DropReason::link_down);
    output.scheduler.dropped(packet.lane, DropReason::link_down);
    output.room.returns_for(packet).add(packet);
    turn_.discard(output.stamped[i]);
  }
  output.stamped_packets = 0;
  retry_.let_go(port, port.retry.end_session());
  for (Packet** probes : {&output.probes, &output.probes_in_turn}) {
    if (*probes != nullptr) control_.queue(port, *probes);
    *probes = nullptr;
  }
  while (!output.control.empty()) {
    port.counters.drop(DropReason::link_down);
    turn_.discard(output.control.pop());
  }
  output.control_packets = 0;
  ended_paths_.session_ended(port, now);
}

void LinkControl::end_inputs(Port& port) {
  InputSide& input = port.input;
  for (uint32_t i = 1; i <= input.flows.size(); ++i) {
    InputFlow& flow = input.flows[FlowId::of(i)];
    flow.flags &= static_cast<uint16_t>(~kFlowAckDue);
    if (!flow.in_use()) continue;
    flow_life_.end(port, flow);
    while (!flow.queue.empty()) turn_.drop_at_input(port, flow.queue.pop(), DropReason::link_down);
  }
  for (Fifo& fifo : input.fifos)
    while (!fifo.queue.empty()) turn_.drop_at_input(port, fifo.queue.pop(), DropReason::link_down);
  input.arbiter.clear();
  for (Voq& voq : input.arbiter)
    if (voq.told_waiters != 0) room_.tell_waiting(port, voq, 0);
  for (OutputIds& ids : input.ids) ids.wanting.clear();
  input.queues.empty();
  input.queued_flows = {};
  input.ack_due.clear();
  input.ack_urgent = false;
  flow_limits_.forget(port.index);
}

void LinkControl::send_hello(Port& port, Nanos now) {
  // Without a session nothing but hellos is sent: while one waits, the next one does.
  if (!port.session.up() && port.output.control_packets != 0) return;
  Packet* packet = control_.make(port);
  if (packet == nullptr) return;
  DueHello due = port.session.take_hello(link_state_.digest(), now);
  if (due.hello.nonce == port.session.own_nonce()) due.hello.notice_sequence = ended_paths_.own_calling_up(port);
  write_hello(*packet, due.hello, due.frame_bytes, port.mac);
  packet->flags = 0;
  control_.queue(port, packet);
}

}  // namespace heddle
