// SPDX-License-Identifier: Apache-2.0
#include "node/flow_credits.h"

#include <algorithm>

namespace heddle {

namespace {
constexpr uint32_t kTargetMaxBytes = 64 * 1024;
}  // namespace

void FlowCredits::joined(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now) {
  if (flow.queue.empty()) ++port.input.queued_flows[packet.vc];
  if ((flow.flags & kFlowFull) || !site_.classes.of(flow.ftag).flow_credits) return;
  const uint32_t target = target_of(port, packet.vc);
  if (flow.queue_extent() <= target) return;
  flow.flags |= kFlowFull;
  port.input.meters[id].begin(target, flow.data_flow);
  port.counters.count(ProtocolEvent::flow_metered);
  acks_.mark_due(port, id, flow, now);
  port.input.ack_urgent = true;
}

void FlowCredits::left(Port& port, InputFlow& flow, const Packet& packet) {
  const FlowId id = packet.input.flow;
  const FlowMeter::Departure departure{.bytes = packet.payload,
                                       .queued = flow.queue_extent() - packet.payload,
                                       .received = flow.next_data_flow,
                                       .data_flow = flow.data_flow + packet.payload};
  const uint32_t frame = site_.frame_bytes;
  switch (port.input.meters[id].leave(departure, target_of(port, packet.vc), frame)) {
    case FlowMeter::Verdict::nothing:
      return;
    case FlowMeter::Verdict::tell:
      port.counters.count(ProtocolEvent::credit_told);
      break;
    case FlowMeter::Verdict::over:
      flow.flags &= static_cast<uint16_t>(~kFlowFull);
      port.counters.count(ProtocolEvent::meter_ended);
      break;
  }
  acks_.mark_due(port, id, flow, turn_.now());
}

// What a flow may have queued at a fabric port before it is granted by credit: when each that queues there has twice
// that, it is half of the channel's buffers that are not in the outputs.
uint32_t FlowCredits::target_of(const Port& port, uint8_t channel) const {
  const uint32_t frame = site_.frame_bytes;
  const uint32_t all = port.credits[channel].buffers();
  const uint64_t bytes =
      uint64_t{all - std::min(all / 2, site_.settings.output_room_buffers)} * std::min(frame, kBufferBytes);
  const uint64_t share = bytes / (4 * std::max<uint32_t>(1, port.input.queued_flows[channel]));
  return static_cast<uint32_t>(std::clamp<uint64_t>(share, frame, std::max(frame, kTargetMaxBytes)));
}

}  // namespace heddle
