// SPDX-License-Identifier: Apache-2.0
#include "node/ack_writer.h"

#include <algorithm>

#include "wire/fabric_frame.h"

namespace heddle {

namespace {
constexpr uint32_t kGoodAckCount = 8;               // W3: worth a frame while the link is busy
constexpr uint32_t kPlausibleHoleBytes = 1u << 30;  // more than a link can have outstanding (K13)
}  // namespace

void AckWriter::mark_due(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  if (flow.flags & kFlowAckDue) return;
  flow.flags |= kFlowAckDue;
  if (port.input.ack_due.empty()) port.input.ack_due_since_ns = now;
  port.input.ack_due.push_back(id);
}

bool AckWriter::settle_hole(Port& port, FlowId id, InputFlow& flow, uint32_t position, Nanos now) {
  if (!serial_before(flow.next_data_flow, position)) return true;
  const uint32_t hole = position - flow.next_data_flow;
  if (hole > kPlausibleHoleBytes) return false;
  flow.next_data_flow = position;
  flow.settle_lost(hole);
  port.counters.count(ProtocolEvent::hole);
  port.counters.lost_on_wire_bytes += hole;
  mark_due(port, id, flow, now);
  return true;
}

void AckWriter::make_frames(Port& port, bool carries_data, Nanos now) {
  InputSide& input = port.input;
  const uint32_t full = site_.settings.ack_records_max;
  if (input.ack_due.empty()) return;
  if (!input.ack_urgent && input.ack_due.size() < full && now < deadline(port, !carries_data)) return;
  if (!port.output.scheduler.may_send_beside(now)) return;  // records that wait are overwritten
  uint32_t told = 0;
  while (told < input.ack_due.size()) {
    Packet* packet = control_.make(port);
    if (packet == nullptr) break;  // the others stay due
    start_records(*packet, HEDDLE_ACK);
    const uint32_t count = std::min(full, static_cast<uint32_t>(input.ack_due.size()) - told);
    uint8_t* at = append_acks(*packet, count);
    for (const uint32_t end = told + count; told != end; at += sizeof(heddle_ack_record)) {
      const FlowId id = input.ack_due[told++];
      InputFlow& flow = input.flows[id];
      flow.flags &= static_cast<uint16_t>(~kFlowAckDue);
      if (usually(flow.congestion == 0) && usually(!(flow.flags & (kFlowFull | kFlowRedirect))))
        write_ack_record(at, id, flow.ack_flow, flow.lost_total);
      else
        write_ack_record(at, more_than_totals(input, id, flow));
    }
    port.counters.count(ProtocolEvent::ack_sent);
    control_.queue(port, packet);
  }
  input.ack_due.erase_front(told);
  if (input.ack_due.empty()) input.ack_urgent = false;
}

Nanos AckWriter::deadline(const Port& port) const {
  if (port.input.ack_due.empty()) return kNever;
  const OutputScheduler& scheduler = port.output.scheduler;
  return std::max(deadline(port, scheduler.empty()), scheduler.beside_ready_at());
}

Nanos AckWriter::deadline(const Port& port, bool idle) const {
  const bool good = port.input.ack_due.size() >= kGoodAckCount;
  const Nanos wait = idle ? site_.settings.ack_idle_ns : good ? site_.settings.ack_busy_ns : site_.settings.ack_hard_ns;
  return port.input.ack_due_since_ns + std::min({wait, site_.settings.ack_hard_ns, port.input.ack_patience_ns});
}

// What the switch before is to know of a flow (W2), beside its totals.
AckRecord AckWriter::more_than_totals(InputSide& input, FlowId id, InputFlow& flow) {
  AckRecord record{.flow = id,
                   .flags = 0,
                   .severity = 0,
                   .ack_flow = flow.ack_flow,
                   .lost_total = flow.lost_total,
                   .credit_limit = 0,
                   .asked_by = 0};
  if (flow.congestion != 0) {
    record.flags = congestion_flags(flow.congestion);
    record.severity = congestion_severity(flow.congestion);
  }
  if (flow.flags & kFlowRedirect) {  // R9: said once
    record.flags |= HEDDLE_ACK_REDIRECT;
    record.asked_by = flow.asked_by;
    flow.flags &= static_cast<uint16_t>(~kFlowRedirect);
  }
  if (flow.flags & kFlowFull) {  // C6
    record.flags |= HEDDLE_ACK_METERED;
    record.credit_limit = input.meters[id].tell(flow.data_flow);
  }
  return record;
}

}  // namespace heddle
