// SPDX-License-Identifier: Apache-2.0
#include "node/flow_queues.h"

namespace heddle {

DropReason FlowQueues::refusal(const Port& port, const InputFlow& flow, const Packet& packet) const {
  const uint32_t most = site_.settings.input_drop_mark_packets;
  if (packet.hop_limit == 0 && flow.destination.node != site_.address) return DropReason::hop_limit;
  if (site_.lanes.lossless(flow.ftag))
    return !port.is_fabric() && port.input.queues.lossless_packets() >= most ? DropReason::pause_ignored
                                                                             : DropReason::none;
  if (!flow.queue.empty() && flow.queue_extent() > mark(flow)) return DropReason::flow_queue_full;
  const uint32_t buffers = input_buffers(port);
  if (buffers > most) return DropReason::input_full;
  const uint32_t free = most - buffers;
  // Of what is the part of a class or a group then, a flow has what it and it alone leaves free.
  uint32_t for_flow = free;
  if (site_.several_lossy_classes) {
    const uint32_t of_class = port.input.queues.packets_of_class(flow.ftag);
    if (of_class > free) return DropReason::class_full;
    for_flow = (free - of_class) / 2;
  }
  if (port.input.arbiter.groups() > 1) {
    // Nothing of it would ever go, and it would keep its flow IDs and buffers from the others.
    if (flow.destination.node != site_.address && port.input.arbiter.closed(flow.group))
      return DropReason::injection_closed;
    const uint32_t of_group = port.input.queues.packets(flow.group, false);
    if (of_group > free) return DropReason::group_full;
    for_flow = std::min(for_flow, (free - of_group) / 2);
  }
  return flow.queued_packets > for_flow ? DropReason::flow_queue_full : DropReason::none;
}

void FlowQueues::push(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now) {
  const bool lossless = site_.lanes.lossless(flow.ftag);
  if (port.is_fabric()) {
    flow_credits_.joined(port, id, flow, *packet, now);
  } else if (lossless && !(flow.flags & kFlowFull) && flow.queue_extent() > mark(flow)) {
    flow.flags |= kFlowFull;
    port.input.flows_full[flow.ftag] = port.input.flows_full[flow.ftag] + 1;
  }
  flow.queue.push(packet);
  ++flow.queued_packets;
  port.input.queues.joined(*packet, flow.group, lossless);
  waiting_.joined(flow, packet->payload);
}

// What is under way is what comes in a round trip.
bool FlowQueues::may_hold(const Port& port, const InputFlow& flow) const {
  if (site_.lanes.lossless(flow.ftag) || flow.queue_extent() + flow.flow_extent() <= mark(flow)) return true;
  return !port.is_fabric() && flow.queue_extent() + site_.frame_bytes > mark(flow);
}

Packet* FlowQueues::take(Port& port, InputFlow& flow) {
  --flow.queued_packets;
  Packet* packet = flow.queue.pop();
  port.input.queues.left(*packet, flow.group, site_.lanes.lossless(flow.ftag));
  waiting_.left(flow, packet->payload);
  if (port.is_fabric() && flow.queue.empty()) --port.input.queued_flows[packet->vc];
  if (flow.flags & (kFlowFull | kFlowPaused)) went(port, flow, *packet);
  return packet;
}

void FlowQueues::went(Port& port, InputFlow& flow, const Packet& packet) {
  if (port.is_fabric()) return flow_credits_.left(port, flow, packet);
  const uint32_t left = flow.queue_extent() - packet.payload;
  if (flow.flags & kFlowPaused) flow_pauses_.left(port, packet.input.flow, flow, left);
  if (!(flow.flags & kFlowFull) || (left > mark(flow) / 2 && !flow.queue.empty())) return;
  flow.flags &= static_cast<uint16_t>(~kFlowFull);
  port.input.flows_full[flow.ftag] = port.input.flows_full[flow.ftag] - 1;
}

uint32_t FlowQueues::mark(const InputFlow& flow) const { return site_.classes.of(flow.ftag).flow_queue_bytes; }

}  // namespace heddle
