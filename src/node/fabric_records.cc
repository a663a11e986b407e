// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_records.h"

namespace heddle {

void FabricRecords::receive(Port& port, const LinkFrame& frame, Nanos now) {
  switch (frame.kind) {
    case HEDDLE_ACK:
      if (!ack_receive_.receive(port, frame, now))
        return link_control_.reset(port, LinkDownReason::protocol_error, now);
      break;
    case HEDDLE_PROBE:
      for (const ProbeRecord record : probe_records(frame)) {
        if (!receive_probe(port, record, now)) return link_control_.reset(port, LinkDownReason::protocol_error, now);
      }
      break;
    case HEDDLE_CREDIT:
      for (const CreditRecord record : credit_records(frame)) {
        if (record.vc >= port.channels) return link_control_.reset(port, LinkDownReason::protocol_error, now);
        LinkCredits& credits = port.credits[record.vc];
        const uint32_t before = credits.received_total();
        const bool asks = record.flags & HEDDLE_CREDIT_ASK;
        if (!credits.apply(record.sent_total, record.limit, asks))
          return link_control_.reset(port, LinkDownReason::protocol_error, now);
        if (before != credits.received_total()) port.counters.count(ProtocolEvent::credit_loss_synced);
      }
      break;
    case HEDDLE_RETRY:
      if (!receive_retry(port, frame, now)) return link_control_.reset(port, LinkDownReason::protocol_error, now);
      break;
    case HEDDLE_NOTICE:
      for (const NoticeRecord record : notice_records(frame)) {
        const int node = site_.topology.node_of_address(record.node);
        if (node < 0) continue;  // the topology hashes agree, so only a broken neighbour says that
        if (link_state_.apply(static_cast<uint16_t>(node),
                              {record.sequence, record.ports_up, record.ports_settled, record.ports_kept_out,
                               record.ends_seen, record.session_ends}))
          link_states_.changed(static_cast<uint16_t>(node), port.index);
      }
      break;
    case HEDDLE_LOAD:
      loads_.hear(port, frame, now);
      break;
    default:
      break;
  }
}

// K5: answered at once with the present totals.
bool FabricRecords::receive_probe(Port& port, const ProbeRecord& record, Nanos now) {
  if (!port.input.flows.valid(record.flow)) return false;
  InputFlow& flow = port.input.flows[record.flow];
  if (!acks_.settle_hole(port, record.flow, flow, record.data_flow, now)) return false;
  port.counters.count(ProtocolEvent::probe_answered);
  acks_.mark_due(port, record.flow, flow, now);
  port.input.ack_urgent = true;
  return true;
}

// False if the other end contradicts itself.
bool FabricRecords::receive_retry(Port& port, const LinkFrame& frame, Nanos now) {
  if (!site_.lanes.any_retry()) return false;
  for (const RetryRecord record : retry_records(frame)) {
    PacketQueue released;
    const LinkRetry::Outcome outcome = port.retry.apply(record, released, now);
    retry_.let_go(port, released);
    if (outcome == LinkRetry::Outcome::contradiction) return false;
    if (outcome == LinkRetry::Outcome::given_up) {  // it loses the same frame again and again
      link_control_.reset(port, LinkDownReason::loses_frames, now);
      return true;
    }
  }
  return true;
}

}  // namespace heddle
