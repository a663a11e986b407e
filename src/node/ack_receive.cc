// SPDX-License-Identifier: Apache-2.0
#include "node/ack_receive.h"

#include "node/short_way_tries.h"

namespace heddle {

bool AckReceive::receive(Port& port, const LinkFrame& frame, Nanos now) {
  bool sound = true;
  const AckRecords records = ack_records(frame);
  AckRecords::Iterator at = records.begin();
  ShortWayTries tries;
  while (sound && at != records.end()) {
    const AckRecords::Iterator before = at;
    run_plain(port, at, records.end(), now);
    for (uint32_t others = tries.others_after(at - before); others != 0 && at != records.end(); --others, ++at) {
      sound = take_record(port, at, now);
      if (!sound) break;
    }
  }
  port.counters.count(ProtocolEvent::ack_received, at - records.begin());
  return sound;
}

// From the first of the records on: those that tell of flows with nothing special that they have got on, on inputs of
// this worker. What those ask alike is asked once for all of an input.
void AckReceive::run_plain(Port& port, AckRecords::Iterator& at, const AckRecords::Iterator& end, Nanos now) {
  OutputFlowTable& entries = port.output.flows;
  Port* input = nullptr;  // of the record before
  InputFlowRef session{};
  bool in_transit = false;
  for (; at != end; ++at) {
    const AckRecord record = *at;
    if (!usually(entries.valid(record.flow)) || !usually((record.flags | record.severity) == 0)) break;
    OutputFlow& entry = entries[record.flow];
    if (!usually(entry.is_plain())) break;
    const uint32_t acknowledged = record.ack_flow - entry.ack_flow;
    if (!usually(acknowledged - 1 < entry.extent()) || !usually(record.lost_total == entry.lost_total)) break;
    if (!usually(input != nullptr) || !usually(entry.input.is_of(session))) {
      input = ports_.find(entry.input.port);
      if (input == nullptr || !FlowIds::may_rest(*input, port)) break;
      session = input->input.ref;
      if (!entry.input.is_of(session)) break;
      in_transit = input->is_fabric();
    }
    InputFlow& flow = input->input.flows[entry.input.flow];
    if (!usually(flow.is_plain())) break;
    entry.ack_flow = record.ack_flow;
    flow_life_.on_plain_ack(*input, in_transit, entry.input.flow, flow, port, acknowledged, now);
  }
}

// Absolute totals of one of our outgoing flow IDs.
bool AckReceive::take_record(Port& port, AckRecords::Iterator at, Nanos now) {
  const AckRecord record = *at;
  if (!usually(port.output.flows.valid(record.flow))) return false;
  OutputFlow& entry = port.output.flows[record.flow];
  const uint32_t acknowledged = record.ack_flow - entry.ack_flow;
  const uint32_t lost = record.lost_total - entry.lost_total;
  const bool fits = usually(acknowledged <= entry.extent()) && usually(lost <= acknowledged);
  const unsigned special = (entry.flags & (kOutputEnded | kOutputMetered)) |
                           (record.flags & (HEDDLE_ACK_METERED | HEDDLE_ACK_REDIRECT)) | record.severity | entry.told |
                           entry.congestion;
  if (!usually(fits) || !usually(special == 0)) {
    if (entry.flags & kOutputEnded) return true;  // belongs to an earlier session
    if (serial_before(record.ack_flow, entry.ack_flow)) return true;
    if (!fits || !take_special(port, at, entry)) return false;
  }
  if (!usually(acknowledged != 0)) return true;
  port.counters.count(ProtocolEvent::ack_lost_bytes, lost);
  entry.ack_flow = record.ack_flow;
  entry.lost_total = record.lost_total;
  if (Port* input = ports_.find(entry.input.port);
      usually(input != nullptr) && usually(Settlement::nothing_waits(entry))) {
    flow_life_.on_ack(*input, entry.input.epoch, entry.input.flow, acknowledged, lost, false, now);
    return true;
  }
  entry.pending_ack += acknowledged;
  entry.pending_lost += lost;
  settlement_.mark(port, record.flow, entry);
  return true;
}

// Congestion (C3) is handed on to the input flow, with what is settled or by itself; of an entry with nothing under way
// it is old news. So is the wish that the flow take another way, of a record that acknowledges nothing: it may be of
// the flow that had the ID before (R9, tests/model). And the flow's credit (C6): false if that cannot be.
bool AckReceive::take_special(Port& port, AckRecords::Iterator at, OutputFlow& entry) {
  const AckRecord record = *at;
  const uint8_t congestion = congestion_of(record.severity, record.flags);
  if (entry.extent() != 0) settlement_.note_congestion(port, record.flow, entry, congestion);
  if ((record.flags & HEDDLE_ACK_REDIRECT) && record.ack_flow != entry.ack_flow) {
    entry.flags |= kOutputRedirect;
    port.output.asked_by[record.flow] = record.asked_by;
    settlement_.mark(port, record.flow, entry);
  }
  const bool metered = (record.flags & HEDDLE_ACK_METERED) || (entry.flags & kOutputMetered);
  return !metered || credit_watch_.hear(port, record, entry);
}

}  // namespace heddle
