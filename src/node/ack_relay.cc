// SPDX-License-Identifier: Apache-2.0
#include "node/ack_relay.h"

namespace heddle {

void AckRelay::run(Nanos now) {
  Ports& ports = ports_;
  FlowLife& flow_life = flow_life_;
  for (const uint32_t item : settlement_.begin_telling()) {
    Port& output = ports.own(port_of_item(item));
    const FlowId id = flow_of_item(item);
    OutputFlow& entry = output.output.flows[id];
    const uint16_t flags = entry.flags;
    entry.flags = static_cast<uint16_t>(flags & ~kOutputDirty);
    if (entry.state == OutputFlowState::orphan) {  // whom it served is gone (K9)
      output.counters.count(ProtocolEvent::ack_absorbed);
      entry.take_pending();
      settlement_.free_if_drained(output, id, entry);
    } else if (Port* input = ports.find(entry.input.port)) {
      const uint32_t acknowledged = entry.pending_ack, lost = entry.pending_lost;
      if (flags & (kOutputTell | kOutputCredit | kOutputRedirect))
        tell_own_input(*input, entry, output.output.asked_by[id], now);
      entry.take_pending();
      flow_life.on_ack(*input, entry.input.epoch, entry.input.flow, acknowledged, lost, flags & kOutputEndDue, now);
    } else if (!tell_input(entry, output.output.asked_by[id])) {
      settlement_.mark(output, id, entry);  // next turn
    }
  }
}

// What an entry's input flow is to know besides what is settled (C3, C6, R9).
void AckRelay::tell_own_input(Port& input, OutputFlow& entry, uint16_t asked_by, Nanos now) {
  if (entry.flags & kOutputTell) {
    Settlement::congestion_known(entry, entry.congestion);
    flow_life_.on_congestion(input, entry.input.epoch, entry.input.flow, entry.congestion, now);
  }
  if (entry.flags & kOutputCredit)
    flow_life_.on_credit(input, entry.input.epoch, entry.input.flow, entry.flags & kOutputMetered,
                         entry.credit_limit - entry.credit_base, now);
  if (entry.flags & kOutputRedirect)
    flow_redirects_.on_redirect(input, entry.input.epoch, entry.input.flow, asked_by, now);
}

// Hands an entry's pending delta to the worker of the input flow it serves. False if that one's ring is full.
bool AckRelay::tell_input(OutputFlow& entry, uint16_t asked_by) {
  if (entry.flags & kOutputCredit) {
    const TellCredit credit{.input = entry.input,
                            .metered = (entry.flags & kOutputMetered) != 0,
                            .limit = entry.credit_limit - entry.credit_base};
    if (!outbox_.send(entry.input.port, credit)) return false;
    entry.flags &= static_cast<uint16_t>(~kOutputCredit);
    if (entry.pending_ack == 0 && !(entry.flags & (kOutputEndDue | kOutputTell | kOutputRedirect))) return true;
  }
  const bool tells = entry.flags & kOutputTell;
  if (!outbox_.settled({.input = entry.input,
                        .acknowledged = entry.pending_ack,
                        .lost = entry.pending_lost,
                        .path_ended = (entry.flags & kOutputEndDue) != 0,
                        .tells = tells,
                        .congestion = entry.congestion,
                        .redirect = (entry.flags & kOutputRedirect) != 0,
                        .asked_by = asked_by}))
    return false;
  if (tells) Settlement::congestion_known(entry, entry.congestion);
  entry.take_pending();
  return true;
}

}  // namespace heddle
