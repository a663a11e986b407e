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
void Worker::mark_dirty(Port& output, FlowId id, OutputFlow& entry) {
  if (entry.flags & kOutputDirty) return;
  entry.flags |= kOutputDirty;
  dirty_.push_back(reference(output.index, id));
}

void Worker::apply_acks(Nanos now) {
  std::swap(dirty_, settling_);
  for (const uint32_t item : settling_) {
    Port& output = own(static_cast<PortIndex>(item >> 16));
    const auto id = static_cast<FlowId>(item & 0xffff);
    OutputFlow& entry = output.output.flows[id];
    const uint16_t flags = entry.flags;
    entry.flags = static_cast<uint16_t>(flags & ~kOutputDirty);
    if (entry.state == OutputFlowState::orphan) {  // whom it served is gone (K9)
      output.counters.count(ProtocolEvent::ack_absorbed);
      entry.take_pending();
      free_if_drained(output, id, entry);
    } else if (Port* input = ports_[entry.input.port]) {
      const uint32_t acknowledged = entry.pending_ack, lost = entry.pending_lost;
      if (flags & (kOutputTell | kOutputCredit)) tell_own_input(*input, entry, now);
      entry.take_pending();
      on_ack(*input, entry.input.epoch, entry.input.flow, acknowledged, lost, flags & kOutputEndDue, now);
    } else if (!tell_input(entry)) {
      mark_dirty(output, id, entry);  // next turn
    }
  }
  settling_.clear();
}

// What an entry's input flow is to know besides what is settled (C3, C6).
void Worker::tell_own_input(Port& input, OutputFlow& entry, Nanos now) {
  if (entry.flags & kOutputTell) {
    entry.told = entry.congestion;
    on_congestion(input, entry.input.epoch, entry.input.flow, entry.congestion, now);
  }
  if (entry.flags & kOutputCredit)
    on_credit(input, entry.input.epoch, entry.input.flow, entry.flags & kOutputMetered,
              entry.credit_limit - entry.credit_base, now);
}

// Hands an entry's pending delta to the worker of the input flow it serves. False if that one's ring is full.
bool Worker::tell_input(OutputFlow& entry) {
  if (entry.flags & kOutputCredit) {
    const TellCredit credit{.input = entry.input,
                            .metered = (entry.flags & kOutputMetered) != 0,
                            .limit = entry.credit_limit - entry.credit_base};
    if (!outbox_.send(entry.input.port, credit)) return false;
    entry.flags &= static_cast<uint16_t>(~kOutputCredit);
    if (entry.pending_ack == 0 && !(entry.flags & (kOutputEndDue | kOutputTell))) return true;
  }
  const bool tells = entry.flags & kOutputTell;
  if (!outbox_.settled({.input = entry.input,
                        .acknowledged = entry.pending_ack,
                        .lost = entry.pending_lost,
                        .path_ended = (entry.flags & kOutputEndDue) != 0,
                        .tells = tells,
                        .congestion = entry.congestion}))
    return false;
  if (tells) entry.told = entry.congestion;
  entry.take_pending();
  return true;
}

// Bytes of an input flow are settled downstream. Of an ended session: absorbed (K9).
void Worker::on_ack(Port& port, Epoch epoch, FlowId id, uint32_t acknowledged, uint32_t lost, bool path_ended,
                    Nanos now) {
  if (epoch != port.input.ref.epoch) return port.counters.count(ProtocolEvent::ack_absorbed);
  InputFlow& flow = port.input.flows[id];
  flow.ack_flow += acknowledged;
  flow.lost_total += lost;
  if (path_ended && flow.branch.flow != kNoFlow) {  // not of an ID that it once had (K11)
    flow.flags |= kFlowLeaving;
    port.counters.count(ProtocolEvent::path_ended);
    if (flow.branch.output != kNoPort) return_lent_ids(port, flow.branch.output, true);
  }
  if (port.is_fabric()) {
    if (acknowledged != 0) mark_ack_due(port, id, flow, now);
  } else {
    port.counters.acknowledged_bytes += acknowledged - lost;
    if (lost != 0 && flow.match != kNoMatch) [[unlikely]]
      edge_.matches()[flow.match].lose(lost, DropReason::none);
  }
  if (flow.flags & kFlowLimited)
    renew_limit(port, id, acknowledged - lost, now);
  else
    flow.congestion = 0;  // of the flow that was here before

  // A blocked one has less under way now (C4, C6, C8).
  if (flow.state == FlowState::blocked) return unblock(port, id, flow, now);
  if (flow.flow_extent() != 0 || !flow.in_use()) return;
  if (flow.queue.empty())
    finish(port, id, flow);
  else if (flow.state == FlowState::held)
    place(port, id, now);
}

void Worker::mark_ack_due(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  if (flow.flags & kFlowAckDue) return;
  flow.flags |= kFlowAckDue;
  if (port.input.ack_due.empty()) port.input.ack_due_since_ns = now;
  port.input.ack_due.push_back(id);
}

// When the records that wait go out at the latest (W3).
Nanos Worker::ack_deadline(const Port& port) const {
  if (port.input.ack_due.empty()) return kNever;
  const bool idle = port.output.queues.empty();
  const bool good = port.input.ack_due.size() >= kGoodAckCount;
  const Nanos wait = idle ? settings_.ack_idle_ns : good ? settings_.ack_busy_ns : settings_.ack_hard_ns;
  return port.input.ack_due_since_ns + std::min(wait, settings_.ack_hard_ns);
}

// What the switch before is to know of a flow (W2).
AckRecord Worker::totals_of(InputSide& input, FlowId id, const InputFlow& flow) {
  AckRecord record{.flow = id,
                   .flags = 0,
                   .severity = 0,
                   .ack_flow = flow.ack_flow,
                   .lost_total = flow.lost_total,
                   .credit_limit = 0,
                   .path_epoch = flow.path_epoch};
  if (flow.congestion != 0) {
    record.flags = congestion_flags(flow.congestion);
    record.severity = congestion_severity(flow.congestion);
  }
  if (flow.flags & kFlowFull) {  // C6
    record.flags |= HEDDLE_ACK_METERED;
    record.credit_limit = input.meters[id].tell(flow.data_flow);
  }
  return record;
}

void Worker::make_ack_frames(Port& port, Nanos now) {
  InputSide& input = port.input;
  const uint32_t full = settings_.ack_records_max;
  if (input.ack_due.empty()) return;
  if (!input.ack_urgent && input.ack_due.size() < full && now < ack_deadline(port)) return;
  uint32_t told = 0;
  while (told < input.ack_due.size()) {
    Packet* packet = control_packet(port);
    if (packet == nullptr) break;  // the others stay due
    start_records(*packet, HEDDLE_ACK);
    append_acks(*packet, std::min(full, static_cast<uint32_t>(input.ack_due.size()) - told), [&] {
      const FlowId id = input.ack_due[told++];
      InputFlow& flow = input.flows[id];
      flow.flags &= static_cast<uint16_t>(~kFlowAckDue);
      return totals_of(input, id, flow);
    });
    port.counters.count(ProtocolEvent::ack_sent);
    queue_control(port, packet);
  }
  input.ack_due.erase_front(told);
  if (input.ack_due.empty()) input.ack_urgent = false;
}

// An entry that its input flow has let go is free once nothing refers to it any more.
void Worker::free_if_drained(Port& output, FlowId id, OutputFlow& entry) {
  if (entry.state != OutputFlowState::orphan || entry.queued != 0 || entry.extent() != 0) return;
  if (entry.flags & kOutputDirty) return;
  if (entry.flags & kOutputCounted) {
    output.counters.count(ProtocolEvent::orphan_freed);
    output.output.room.orphan_freed(entry.input.port);
  }
  if (entry.flags & kOutputEnded) start_positions(output, id);
  output.output.flows.free(id);
}

uint32_t& Worker::timer_link(uint32_t item) {
  Port& port = own(static_cast<PortIndex>((item & ~kInputTimer) >> 16));
  const auto id = static_cast<FlowId>(item & 0xffff);
  return item & kInputTimer ? port.input.flows.timer_link(id) : port.output.flows.timer_link(id);
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
  flow.flags &= static_cast<uint16_t>(~kFlowPending);
  const Nanos until = flow.match == kNoMatch ? 0 : edge_.held_until(edge_.matches()[flow.match]);
  if (now < until) return set_hold(port, id, until);  // beyond the wheel: not yet
  if (flow.queue.empty())
    finish_if_empty(port, id, flow);
  else if (flow.state == FlowState::held)
    place(port, id, now);
}

void Worker::add_hold_timer(Port& port, FlowId id, Nanos until) {
  const uint32_t item = kInputTimer | reference(port.index, id);
  timers_.add(item, until, [this](uint32_t other) -> uint32_t& { return timer_link(other); });
}

// A timer never releases anything: it asks (K5), and settles only what an ended session left (K9).
void Worker::output_timer(Port& output, FlowId id, Nanos now) {
  OutputFlow& entry = output.output.flows[id];
  entry.flags &= static_cast<uint16_t>(~kOutputTimed);
  if (entry.extent() == 0) return;
  if (now < entry.due_ns) return set_timer(output.index, id);  // it was beyond the wheel
  if (entry.flags & kOutputEnded) {
    output.counters.count(ProtocolEvent::settled_by_end);
    entry.settle_lost(entry.extent());
    entry.ack_flow = entry.data_flow;
    return mark_dirty(output, id, entry);
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
  const OutputFlow& entry = port.output.flows[id];
  const bool in_turn = lanes_.valid(entry.ftag, kFirstLosslessChannel, true);
  Packet*& probes = in_turn ? port.output.probes_in_turn : port.output.probes;
  if (probes != nullptr && record_count(*probes) == HEDDLE_PROBE_RECORDS_MAX) send_probes(port);
  if (probes == nullptr) {
    probes = control_packet(port);
    if (probes == nullptr) return;  // asked again by the next timer
    start_records(*probes, HEDDLE_PROBE);
  }
  if (!append_record(*probes, ProbeRecord{id, entry.data_flow})) return;  // full, and it may not go yet
  if (in_turn) port.output.probes_after = port.retry.sent();
  port.counters.count(ProtocolEvent::probe_sent);
}

// A flow's probe stays behind its frames (K2): of one in the retry channel until the other end has them.
void Worker::send_probes(Port& port) {
  OutputSide& output = port.output;
  if (output.probes != nullptr) queue_control(port, output.probes);
  output.probes = nullptr;
  if (output.probes_in_turn == nullptr || serial_before(port.retry.settled(), output.probes_after)) return;
  queue_control(port, output.probes_in_turn);
  output.probes_in_turn = nullptr;
}

}  // namespace heddle
