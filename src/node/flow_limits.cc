// SPDX-License-Identifier: Apache-2.0
#include "node/flow_limits.h"

#include "flow/flow_gate.h"

namespace heddle {

bool FlowLimits::tell(Port& port, FlowId id, InputFlow& flow, uint8_t congestion, Nanos now) {
  if (!flow.in_use() || !site_.classes.of(flow.ftag).congestion_control) return false;
  flow.congestion = congestion;
  if (congestion & kCongestionNew) round_trips_.arrived(port.index, id, now);
  if (port.is_fabric()) {
    acks_.mark_due(port, id, flow, now);
    port.input.ack_urgent = true;  // C2: at once
  }
  const uint8_t level = congestion & kCongestionLevelMask;
  if (level == 0) {
    end(port, flow);
  } else {
    FlowLimit& limit = port.input.limits[id];
    if (!(flow.flags & kFlowLimited)) {
      waiting_.end(flow);
      limit.begin(now);
      flow.flags |= kFlowLimited;
      port.counters.count(ProtocolEvent::flow_limited);
    }
    // Behind the edge with some room, so that in the long run it is the edge that holds it.
    const double room = port.is_fabric() ? 2 : 1;
    const double byte_ns = 8e9 / static_cast<double>(destinations_.rate_bps(flow.destination));
    // Twice the queue that the host's port keeps.
    const auto queue_ns = static_cast<Nanos>(2 * kTargetFrames * byte_ns * site_.frame_bytes);
    limit.set_share(byte_ns / (kCongestionShares[level] * room), round_trip_to(flow), queue_ns, now);
  }
  return true;
}

bool FlowLimits::may_forward(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
  const Voq& voq = port.input.arbiter[flow.branch.voq];
  switch (gate_on_path(flow, port.input.limits[id], port.input.meters[id], shares_.free_bytes_of(voq), bytes, now)) {
    case Gate::open:
      return true;
    case Gate::lapsed:
      port.counters.count(ProtocolEvent::limit_expired);
      end(port, flow);
      return true;
    case Gate::no_credit:
      port.counters.count(ProtocolEvent::credit_waited);
      return false;
    case Gate::no_share:
    case Gate::paced:
    case Gate::window:
    case Gate::leaving:    // is asked where flows are placed (flow_life.h),
    case Gate::injection:  // and that by their queue's arbiter
      return false;
  }
  __builtin_unreachable();
}

void FlowLimits::end(Port& port, InputFlow& flow) {
  if (!(flow.flags & kFlowLimited)) return;
  flow.flags &= static_cast<uint16_t>(~kFlowLimited);
  waiting_.begin(flow);
  forget(flow);
  port.counters.count(ProtocolEvent::limit_ended);
}

void FlowLimits::spend(Port& port, FlowId id, uint32_t bytes, Nanos now) {
  if (!round_trips_.timing()) time_round_trip(port, id, bytes, now);
  port.input.limits[id].spend(bytes, now);
}

void FlowLimits::renew(Port& port, FlowId id, uint32_t delivered, Nanos now) {
  if (delivered != 0)
    port.input.limits[id].renew(now);
  else
    port.input.limits[id].hold(now);
}

void FlowLimits::time_round_trip(Port& port, FlowId id, uint32_t bytes, Nanos now) {
  const InputFlow& flow = port.input.flows[id];
  round_trips_.begin(port.index, id, flow, destinations_.node(flow.destination.node), flow.flow_extent() == bytes, now);
}

void FlowLimits::look_at_round_trip(Nanos now) {
  if (round_trips_.timing())
    round_trips_.look(ports_.own(round_trips_.port()).input.flows[round_trips_.flow_id()], now);
}

Nanos FlowLimits::round_trip_to(const InputFlow& flow) const {
  const Nanos known = round_trips_.to(destinations_.node(flow.destination.node));
  if (known != 0) return known;
  const Nanos told = flow.queue.empty() ? 0 : round_trip_of_code(flow.queue.head->priority >> 4);
  return told != 0 ? told : kRoundTripUnknownNs;
}

}  // namespace heddle
