// SPDX-License-Identifier: Apache-2.0
#include "node/ended_paths.h"

#include <bit>

namespace heddle {

void EndedPaths::session_began(const Port& output) {
  called_up_[output.index] = 0;
  own_at_begin_[output.index] = link_state_.record(site_.node).sequence;
}

uint32_t EndedPaths::own_calling_up(const Port& output) const {
  const LinkState::Record& own = link_state_.record(site_.node);
  const bool calls_up = output.session.up() && serial_before(own_at_begin_[output.index], own.sequence) &&
                        (own.ports_up >> output.index & 1) != 0;
  return calls_up ? own.sequence : 0;
}

void EndedPaths::heard(const Port& output, uint32_t sequence) {
  if (serial_before(sequence, link_state_.record(output.settings.peer.node_index).sequence)) return;
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
      entry.due_ns = now + dead_after_ns(site_.classes.of(entry.ftag).life_ns);
      if (!(entry.flags & kOutputTimed)) prober_.set(output.index, id, now);
    }
    if (entry.input.flow != kNoFlow)
      settlement_.mark(output, id, entry);  // else whoever gets it hears by its first packet, which is lost
  }
  waiting_ |= PortSet{1} << output.index;
  if (nothing_is_left(output)) settle_all(output);
}

void EndedPaths::look() {
  dead_neighbours_.look();
  for (PortSet rest = waiting_; rest != 0; rest &= rest - 1) {
    Port& output = ports_.own(PortIndex::of(std::countr_zero(rest)));
    if (nothing_is_left(output)) settle_all(output);
  }
}

bool EndedPaths::nothing_is_left(const Port& output) const {
  return settled_at_peer(output) || dead_neighbours_.nothing_is_left(output);
}

bool EndedPaths::settled_at_peer(const Port& output) const {
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
