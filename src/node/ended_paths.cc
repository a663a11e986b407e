// SPDX-License-Identifier: Apache-2.0
#include "node/ended_paths.h"

#include <bit>

namespace heddle {

void EndedPaths::heard(const Port& output, uint32_t sequence) {
  uint32_t& known = called_up_[output.index];
  if (sequence != 0 && (known == 0 || serial_before(known, sequence))) known = sequence;
}

void EndedPaths::session_ended(Port& output, Nanos now) {
  for (uint32_t i = 1; i <= output.output.flows.size(); ++i) {
    const auto id = FlowId::of(i);
    OutputFlow& entry = output.output.flows[id];
    if (entry.state == OutputFlowState::free || (entry.flags & kOutputEnded)) continue;
    entry.flags |= kOutputEnded | kOutputEndDue;
    if (entry.extent() != 0) {
      const Nanos settle_at = now + settled_after_ns(site_.classes.of(entry.ftag).life_ns);
      if (!(entry.flags & kOutputTimed)) prober_.arm(output.index, id, settle_at);
      entry.due_ns = settle_at;
    }
    if (entry.input.flow != kNoFlow)
      settlement_.mark(output, id, entry);  // else whoever gets it hears by its first packet, which is lost
  }
  waiting_ |= PortSet{1} << output.index;
  if (nothing_is_left(output)) settle_all(output);
}

void EndedPaths::look(uint16_t node) {
  for (PortSet rest = waiting_; rest != 0; rest &= rest - 1) {
    Port& output = ports_.own(PortIndex::of(std::countr_zero(rest)));
    if (output.settings.peer.node_index == node && nothing_is_left(output)) settle_all(output);
  }
}

bool EndedPaths::nothing_is_left(const Port& output) const {
  const PortPeer& peer = output.settings.peer;
  const LinkState::Record& record = link_state_.record(peer.node_index);
  const uint32_t called_up = called_up_[output.index];
  return called_up != 0 && serial_before(called_up, record.sequence) && (record.ports_settled >> peer.port & 1) != 0;
}

void EndedPaths::settle_all(Port& output) {
  waiting_ &= ~(PortSet{1} << output.index);
  for (uint32_t i = 1; i <= output.output.flows.size(); ++i) {
    const auto id = FlowId::of(i);
    OutputFlow& entry = output.output.flows[id];
    if ((entry.flags & kOutputEnded) && entry.extent() != 0)
      settlement_.settle_ended(output, id, entry, ProtocolEvent::settled_by_notice);
  }
}

}  // namespace heddle
