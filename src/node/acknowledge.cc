// SPDX-License-Identifier: Apache-2.0
// The way back: deltas from output flows to input flows (decision 5), ACK frames upstream (W2, W3), probes (K5).
#include <algorithm>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kGoodAckCount = 8;    // W3: worth a frame while the link is busy
constexpr uint8_t kProbeBackoffMax = 3;  // K5: at most 8 times the base
}  // namespace

// An entry is in the list at most once; its pending deltas merge until the next turn takes them.
void Worker::mark_dirty(Port& output, FlowId id) {
  OutputFlow& entry = output.output.flows[id];
  if (entry.flags & kOutputDirty) return;
  entry.flags |= kOutputDirty;
  entry.next_dirty = kNoItem;
  const uint32_t item = reference(output.index, id);
  if (dirty_.head == kNoItem)
    dirty_.head = item;
  else
    own(static_cast<PortIndex>(dirty_.tail >> 16)).output.flows[dirty_.tail & 0xffff].next_dirty = item;
  dirty_.tail = item;
  ++dirty_count_;
}

void Worker::apply_acks(Nanos now) {
  for (uint32_t rounds = dirty_count_; rounds > 0; --rounds) {
    const uint32_t item = dirty_.head;
    Port& output = own(static_cast<PortIndex>(item >> 16));
    const auto id = static_cast<FlowId>(item & 0xffff);
    OutputFlow& entry = output.output.flows[id];
    dirty_.head = entry.next_dirty;
    if (dirty_.head == kNoItem)
      dirty_.tail = kNoItem;
    else
      __builtin_prefetch(&own(static_cast<PortIndex>(dirty_.head >> 16)).output.flows[dirty_.head & 0xffff]);
    --dirty_count_;
    entry.flags &= static_cast<uint8_t>(~kOutputDirty);
    if (entry.state == OutputFlowState::orphan) {  // whom it served is gone (K9)
      output.counters.count(ProtocolEvent::ack_absorbed);
      entry.take_pending();
      free_if_drained(output, id);
    } else if (!tell_input(entry, now)) {
      mark_dirty(output, id);  // that worker's ring is full: next turn
    }
  }
}

// Hands an entry's pending delta to the input flow it serves, which may give the entry back at once. False if the other
// worker's ring is full.
bool Worker::tell_input(OutputFlow& entry, Nanos now) {
  const bool ended = entry.flags & kOutputEndDue;
  Message message{.kind = MessageKind::ack};
  message.path_ended = ended;
  message.input = entry.input_port;
  message.flow = entry.input_flow;
  message.epoch = entry.input_epoch;
  message.value = entry.pending_ack;
  message.value2 = entry.pending_lost;
  if (!is_own(entry.input_port) && !send(worker_of_port_[entry.input_port], message)) return false;
  entry.take_pending();
  if (is_own(message.input))
    on_ack(message.input, message.epoch, message.flow, message.value, message.value2, ended, now);
  return true;
}

// Bytes of an input flow are settled downstream. Of an ended session: absorbed (K9).
void Worker::on_ack(PortIndex input, Epoch epoch, FlowId id, uint32_t acknowledged, uint32_t lost, bool path_ended,
                    Nanos now) {
  Port& port = own(input);
  if (epoch != port.input.epoch) return port.counters.count(ProtocolEvent::ack_absorbed);
  InputFlow& flow = port.input.flows[id];
  flow.ack_flow += acknowledged;
  flow.lost_total += lost;
  if (path_ended) {
    flow.flags |= kFlowLeaving;
    port.counters.count(ProtocolEvent::path_ended);
  }
  if (port.is_fabric()) {
    if (acknowledged != 0) mark_ack_due(port, id, now);
  } else {
    port.counters.acknowledged_bytes += acknowledged - lost;
  }
  if (flow.flow_extent() != 0) return;
  if (flow.queue.empty())
    finish_if_empty(port, id);
  else if (flow.state == FlowState::held)
    place(port, id, now);
}

void Worker::mark_ack_due(Port& port, FlowId id, Nanos now) {
  InputSide& input = port.input;
  InputFlow& flow = input.flows[id];
  if (flow.flags & kFlowAckDue) return;
  flow.flags |= kFlowAckDue;
  flow.next_ack_due = kNoFlow;
  if (input.ack_due.empty()) {
    input.ack_due.head = id;
    input.ack_due_since_ns = now;
  } else {
    input.flows[input.ack_due.tail].next_ack_due = id;
  }
  input.ack_due.tail = id;
  ++input.ack_due_flows;
}

// When the records that wait go out at the latest (W3).
Nanos Worker::ack_deadline(const Port& port) const {
  if (port.input.ack_due.empty()) return kNever;
  const bool idle = port.output.queue.empty();
  const bool good = port.input.ack_due_flows >= kGoodAckCount;
  const Nanos wait = idle ? settings_.ack_idle_ns : good ? settings_.ack_busy_ns : settings_.ack_hard_ns;
  return port.input.ack_due_since_ns + std::min(wait, settings_.ack_hard_ns);
}

void Worker::make_ack_frames(Port& port, Nanos now) {
  InputSide& input = port.input;
  const uint32_t full = settings_.ack_records_max;
  if (input.ack_due.empty()) return;
  if (!input.ack_urgent && input.ack_due_flows < full && now < ack_deadline(port)) return;
  while (!input.ack_due.empty()) {
    Packet* packet = control_packet(port);
    if (packet == nullptr) return;  // stays due
    start_records(*packet, HEDDLE_ACK);
    for (uint32_t records = 0; records < full && !input.ack_due.empty(); ++records) {
      const FlowId id = input.ack_due.head;
      InputFlow& flow = input.flows[id];
      input.ack_due.head = flow.next_ack_due;
      flow.flags &= static_cast<uint8_t>(~kFlowAckDue);
      --input.ack_due_flows;
      append_record(*packet, AckRecord{.flow = id,
                                       .flags = 0,
                                       .severity = flow.severity,
                                       .ack_flow = flow.ack_flow,
                                       .lost_total = flow.lost_total,
                                       .credit_limit = 0,
                                       .path_epoch = flow.path_epoch});
    }
    port.counters.count(ProtocolEvent::ack_sent);
    queue_control(port, packet);
  }
  input.ack_due.tail = kNoFlow;
  input.ack_urgent = false;
}

// An entry that its input flow has let go is free once nothing refers to it any more.
void Worker::free_if_drained(Port& output, FlowId id) {
  OutputFlow& entry = output.output.flows[id];
  if (entry.state != OutputFlowState::orphan || entry.queued != 0 || entry.extent() != 0) return;
  if (entry.flags & kOutputDirty) return;
  if (entry.flags & kOutputCounted) {
    output.counters.count(ProtocolEvent::orphan_freed);
    ++output.output.returns[entry.input_port].orphans;
    output.output.returns_due |= PortSet{1} << entry.input_port;
  }
  if (entry.flags & kOutputEnded) start_positions(output, id);
  entry.flags &= kOutputTimed;
  output.output.flows.free(id);
}

uint32_t& Worker::timer_link(uint32_t item) {
  Port& port = own(static_cast<PortIndex>((item & ~kInputTimer) >> 16));
  const auto id = static_cast<FlowId>(item & 0xffff);
  return item & kInputTimer ? port.input.flows[id].next_timer : port.output.flows[id].next_timer;
}

void Worker::arm_timer(PortIndex output, FlowId id, Nanos due) {
  OutputFlow& entry = own(output).output.flows[id];
  entry.probe_mark = entry.ack_flow;
  entry.due_ns = due;
  set_timer(output, id);
}

void Worker::set_timer(PortIndex output, FlowId id) {
  OutputFlow& entry = own(output).output.flows[id];
  entry.flags |= kOutputTimed;
  timers_.add(reference(output, id), entry.due_ns, [this](uint32_t other) -> uint32_t& { return timer_link(other); });
}

void Worker::run_timers(Nanos now) {
  timers_.advance(
      now, [this](uint32_t item) -> uint32_t& { return timer_link(item); },
      [this, now](uint32_t item) {
        Port& port = own(static_cast<PortIndex>((item & ~kInputTimer) >> 16));
        const auto id = static_cast<FlowId>(item & 0xffff);
        if (item & kInputTimer)
          input_timer(port, id, now);
        else
          output_timer(port, id, now);
      });
}

// E1: the pair's flooded frames have died; its first flow may move.
void Worker::input_timer(Port& port, FlowId id, Nanos now) {
  InputFlow& flow = port.input.flows[id];
  flow.flags &= static_cast<uint8_t>(~kFlowPending);
  const Nanos until = flow.match == kNoMatch ? 0 : edge_.held_until(edge_.matches()[flow.match]);
  if (now < until) return set_hold(port, id, until);  // beyond the wheel: not yet
  if (flow.queue.empty())
    finish_if_empty(port, id);
  else if (flow.state == FlowState::held)
    place(port, id, now);
}

// A timer never releases anything: it asks (K5), and settles only what an ended session left (K9).
void Worker::output_timer(Port& output, FlowId id, Nanos now) {
  OutputFlow& entry = output.output.flows[id];
  entry.flags &= static_cast<uint8_t>(~kOutputTimed);
  if (entry.extent() == 0) return;
  if (now < entry.due_ns) return set_timer(output.index, id);  // it was beyond the wheel
  if (entry.flags & kOutputEnded) {
    output.counters.count(ProtocolEvent::settled_by_end);
    entry.settle_lost(entry.extent());
    entry.ack_flow = entry.data_flow;
    return mark_dirty(output, id);
  }
  if (entry.ack_flow != entry.probe_mark) {
    entry.backoff = 0;
  } else {
    probe(output, id);
    if (entry.backoff < kProbeBackoffMax) ++entry.backoff;
  }
  arm_timer(output.index, id, now + (settings_.probe_base_ns << entry.backoff));
}

void Worker::probe(Port& port, FlowId id) {
  const ProbeRecord record{id, port.output.flows[id].data_flow};
  if (port.output.probes != nullptr && record_count(*port.output.probes) == HEDDLE_PROBE_RECORDS_MAX) send_probes(port);
  if (port.output.probes == nullptr) {
    port.output.probes = control_packet(port);
    if (port.output.probes == nullptr) return;  // asked again by the next timer
    start_records(*port.output.probes, HEDDLE_PROBE);
  }
  append_record(*port.output.probes, record);
  port.counters.count(ProtocolEvent::probe_sent);
}

void Worker::send_probes(Port& port) {
  if (port.output.probes == nullptr) return;
  queue_control(port, port.output.probes);
  port.output.probes = nullptr;
}

}  // namespace heddle
