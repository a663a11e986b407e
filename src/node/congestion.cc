// SPDX-License-Identifier: Apache-2.0
// What endpoint congestion does to flows (C3-C5): each hop holds a flow whose destination is congested to its share, by
// the time between packets and by bytes under way.
#include "flow/flow_gate.h"
#include "node/worker.h"

namespace heddle {

// The level of a flow has been told by the hop below, or by its output here.
void Worker::on_congestion(Port& port, Epoch epoch, FlowId id, uint8_t congestion, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (!flow.in_use() || !edge_.classifier().of_ftag(flow.ftag).congestion_control) return;
  flow.congestion = congestion;
  if (congestion & kCongestionNew) round_trips_.arrived(port.index, id, now);
  if (port.is_fabric()) {
    mark_ack_due(port, id, flow, now);
    port.input.ack_urgent = true;  // C2: at once
  }
  const uint8_t level = congestion & kCongestionLevelMask;
  if (level == 0) {
    end_limit(port, flow);
  } else {
    FlowLimit& limit = port.input.limits[id];
    if (!(flow.flags & kFlowLimited)) {
      limit.begin(now);
      flow.flags |= kFlowLimited;
      port.counters.count(ProtocolEvent::flow_limited);
    }
    // Behind the edge with some room, so that in the long run it is the edge that holds it.
    const double room = port.is_fabric() ? 2 : 1;
    const double byte_ns = 8e9 / static_cast<double>(destinations_.rate_bps(flow.destination));
    // Twice the queue that the host's port keeps.
    const auto queue_ns =
        static_cast<Nanos>(2 * kTargetFrames * byte_ns * (topology_.edge_mtu_bytes + kEthernetHeaderBytes));
    limit.set_share(byte_ns / (kCongestionShares[level] * room), round_trip_to(flow), queue_ns, now);
  }
  if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
}

void Worker::end_limit(Port& port, InputFlow& flow) {
  if (!(flow.flags & kFlowLimited)) return;
  flow.flags &= static_cast<uint16_t>(~kFlowLimited);
  flow.congestion = 0;
  port.counters.count(ProtocolEvent::limit_ended);
}

// May the flow hand on a packet of so many bytes now?
bool Worker::may_forward(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
  const Voq& voq = port.input.voqs[flow.branch.voq];
  const uint64_t free_bytes = voq.shares_credit ? free_bytes_of(voq) : kNoShare;
  switch (gate_of(flow, port.input.limits[id], port.input.meters[id], free_bytes, bytes, now)) {
    case Gate::open:
      return true;
    case Gate::lapsed:
      port.counters.count(ProtocolEvent::limit_expired);
      end_limit(port, flow);
      return true;
    case Gate::no_credit:
      port.counters.count(ProtocolEvent::credit_waited);
      return false;
    case Gate::no_share:
    case Gate::paced:
    case Gate::window:
      return false;
  }
  __builtin_unreachable();
}

// So many bytes of a limited flow have been handed on.
void Worker::spend_share(Port& port, FlowId id, uint32_t bytes, Nanos now) {
  if (!round_trips_.timing()) time_round_trip(port, id, bytes, now);
  port.input.limits[id].spend(bytes, now);
}

// Something of a limited flow is settled. Only what was delivered has the congested host's word with it: frames that
// die on the way while the flow is held must not hold it longer.
void Worker::renew_limit(Port& port, FlowId id, uint32_t delivered, Nanos now) {
  if (delivered != 0) port.input.limits[id].renew(now);
}

// The flow has packets and stands in no list.
void Worker::block(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  flow.state = FlowState::blocked;
  port.counters.count(ProtocolEvent::flow_blocked);
  const Nanos release = flow.flags & kFlowLimited ? port.input.limits[id].release_ns() : 0;
  if (release <= now) return;  // an acknowledgement or credit wakes it
  if (flow.flow_extent() == 0 && flow.branch.flow != kNoFlow) {
    give_back(port, flow, false);  // others may need the ID meanwhile (K11)
    flow.flags &= static_cast<uint16_t>(~kFlowOfItsId);
  }
  if (flow.flags & kFlowTimed) return;
  flow.flags |= kFlowTimed;
  releases_.add(kInputTimer | reference(port.index, id), release,
                [this](uint32_t other) -> uint32_t& { return timer_link(other); });
}

void Worker::unblock(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  if (port.is_fabric()) {  // K8: frames die while they wait here, too
    drop_expired_frames(port, id, now);
    if (flow.state != FlowState::blocked) return;
  }
  if (!may_forward(port, id, flow, flow.queue.head->payload, now)) return block(port, id, flow, now);
  place(port, id, now);
}

void Worker::run_releases(Nanos now) {
  releases_.advance(
      now, [this](uint32_t item) -> uint32_t& { return timer_link(item); },
      [this, now](uint32_t item) {
        Port& port = own(static_cast<PortIndex>((item & ~kInputTimer) >> 16));
        const auto id = static_cast<FlowId>(item & 0xffff);
        InputFlow& flow = port.input.flows[id];
        flow.flags &= static_cast<uint16_t>(~kFlowTimed);
        if (flow.flags & kFlowPending) return add_hold_timer(port, id, now);  // E1 has come meanwhile
        if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
      });
}

Nanos Worker::round_trip_to(const InputFlow& flow) const {
  const Nanos known = round_trips_.to(destinations_.node(flow.destination.node));
  if (known != 0) return known;
  const Nanos told = flow.queue.empty() ? 0 : round_trip_of_code(flow.queue.head->priority >> 4);
  return told != 0 ? told : kRoundTripUnknownNs;
}

// The flow has handed on a packet of so many bytes.
void Worker::time_round_trip(Port& port, FlowId id, uint32_t bytes, Nanos now) {
  const InputFlow& flow = port.input.flows[id];
  round_trips_.begin(port.index, id, flow, destinations_.node(flow.destination.node), flow.flow_extent() == bytes, now);
}

}  // namespace heddle
