// SPDX-License-Identifier: Apache-2.0
#include "node/settlement.h"

#include "wire/fabric_frame.h"

namespace heddle {

void Settlement::drop_at_output(Port& output, Packet* packet, DropReason reason) {
  output.counters.drop(reason);
  output.output.scheduler.dropped(packet->lane, reason);
  turn_.count_loss(output, *packet, reason);
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = output.output.flows[packet->output_flow];
    --entry.queued;
    entry.settle_lost(packet->payload);
    entry.credit_base -= packet->payload;
    mark(output, packet->output_flow, entry);
  }
  output.output.room.returns_for(*packet).add(*packet);
  turn_.discard(packet);
}

void Settlement::drop_expired(Port& output, Nanos now) {
  OutputScheduler& scheduler = output.output.scheduler;
  for (LaneSet rest = scheduler.lanes(); rest != 0; rest &= rest - 1) {
    const auto lane = LaneIndex::of(std::countr_zero(rest));
    for (PortSet inputs = scheduler.inputs(lane); inputs != 0; inputs &= inputs - 1) {
      const auto input = PortIndex::of(std::countr_zero(inputs));
      const PacketQueue& queue = scheduler.packets_of(lane, input);
      while (!queue.empty() && life_over(*queue.head, now))
        drop_at_output(output, scheduler.take(lane, input), DropReason::life_ended);
    }
  }
}

void Settlement::settle_ended(Port& output, FlowId id, OutputFlow& entry, ProtocolEvent by) {
  output.counters.count(by);
  entry.settle_lost(entry.extent());
  entry.ack_flow = entry.data_flow;
  mark(output, id, entry);
}

void Settlement::release(Port& output, FlowId id, bool counted) {
  OutputFlow& entry = output.output.flows[id];
  if (!counted && entry.at_rest()) return output.output.flows.free(id);
  entry.state = OutputFlowState::orphan;
  if (counted) entry.flags |= kOutputCounted;
  free_if_drained(output, id, entry);
}

void Settlement::free_if_drained(Port& output, FlowId id, OutputFlow& entry) {
  if (entry.state != OutputFlowState::orphan || entry.queued != 0 || entry.extent() != 0) return;
  if (entry.flags & kOutputDirty) return;
  if (entry.flags & kOutputCounted) {
    output.counters.count(ProtocolEvent::orphan_freed);
    output.output.room.orphan_freed(entry.input.port);
  }
  if (entry.flags & kOutputEnded) start_positions(output, id);
  output.output.flows.free(id);
}

void Settlement::start_positions(Port& port, FlowId id) {
  OutputFlow& entry = port.output.flows[id];
  const uint32_t first = port.session.up() ? first_position(port.session.own_nonce(), port.session.peer_nonce(), id)
                                           : 0;  // set anew when a session begins
  entry.data_flow = entry.ack_flow = first;
  entry.lost_total = 0;
}

}  // namespace heddle
