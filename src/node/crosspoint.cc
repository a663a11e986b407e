// SPDX-License-Identifier: Apache-2.0
#include "node/crosspoint.h"

#include <cassert>

namespace heddle {

void CrossPoint::cross(Port& input, PortIndex output, Packet* packet, const InputFlow* flow, Nanos now) {
  if (!input.is_fabric()) begin_life(*packet, now);
  const uint8_t known = flow == nullptr ? uint8_t{0} : flow->congestion;
  if (Port* there = ports_.find(output)) return accept(*there, packet, known);
  bool first = false;
  if (flow != nullptr) {
    const uint32_t before = flow->data_flow - packet->payload;
    first = before == flow->branch.turn_start && before == flow->ack_flow;
  }
  outbox_.packet({packet, output, known, first});
}

void CrossPoint::accept(Port& output, Packet* packet, uint8_t told) {
  bool dead;
  if (packet->output_flow == kNoFlow) {
    dead = !output.usable();
  } else {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    assert(entry.input == packet->input);
    assert(entry.state != OutputFlowState::free);
    ++entry.queued;
    Settlement::congestion_known(entry, told);
    dead = entry.flags & kOutputEnded;
  }
  if (dead) return settlement_.drop_at_output(output, packet, DropReason::link_down);
  if (output.output.congestion.congested() && packet->output_flow != kNoFlow) tell_congestion(output, *packet);
  output.output.scheduler.push(packet);
}

// C2: while its host is congested a flow is told at once when its packet comes.
void CrossPoint::tell_congestion(Port& output, const Packet& packet) {
  EndpointCongestion& congestion = output.output.congestion.of(output.output.scheduler.class_of(packet.lane));
  if (!congestion.congested() || !site_.classes.of(packet.ftag).congestion_control) return;
  settlement_.tell_congestion(output, packet.output_flow, output.output.flows[packet.output_flow],
                              congestion.next_level() | kCongestionNew);
  output.counters.count(ProtocolEvent::congestion_new);
}

}  // namespace heddle
