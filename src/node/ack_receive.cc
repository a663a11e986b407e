// SPDX-License-Identifier: Apache-2.0
#include "node/ack_receive.h"

namespace heddle {

bool AckReceive::receive(Port& port, const LinkFrame& frame, Nanos now) {
  uint32_t taken = 0;
  bool sound = true;
  const AckRecords records = ack_records(frame);
  for (AckRecords::Iterator at = records.begin(); at != records.end(); ++at) {
    sound = take_record(port, at, now);
    if (!sound) break;
    ++taken;
  }
  port.counters.count(ProtocolEvent::ack_received, taken);
  return sound;
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
