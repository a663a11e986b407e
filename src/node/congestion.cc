// SPDX-License-Identifier: Apache-2.0
// What endpoint congestion does to flows (C3-C5): each hop holds a flow whose destination is congested to its share, by
// the time between packets and by bytes under way. Also the round trips that shares are turned into bytes with.
#include <algorithm>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr Nanos kLateNs = 8 * kMicrosecond;       // a release may be late by a tick of its wheel and a turn or two
constexpr Nanos kDelayMaxNs = 20 * kMillisecond;  // C5: whoever is held sends something now and then
}  // namespace

uint64_t congestion_rate_bps(const TopologyPort& port) { return port.rate_bps != 0 ? port.rate_bps : kRateUnknownBps; }

// The level of a flow has been told by the hop below, or by its output here.
void Worker::on_congestion(Port& port, Epoch epoch, FlowId id, uint8_t congestion, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (!flow.in_use() || !edge_.classifier().of_ftag(flow.ftag).congestion_control) return;
  flow.congestion = congestion;
  if (sample_.port == &port && sample_.flow == id && sample_.alone && congestion & kCongestionNew) end_sample(now);
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
      limit = {.since_ns = now, .round_trip_ns = 0};
      flow.flags |= kFlowLimited;
      port.counters.count(ProtocolEvent::flow_limited);
    }
    // Behind the edge with some room, so that in the long run it is the edge that holds it.
    const double room = port.is_fabric() ? 2 : 1;
    const double byte_ns = 8e9 / static_cast<double>(rate_to(flow.destination));
    limit.ns_per_byte = byte_ns / (kCongestionShares[level] * room);
    limit.round_trip_ns = round_trip_to(flow);
    // Twice a round trip, for queues on the way, and twice the queue that the host's port keeps.
    limit.window_ns = 2 * limit.round_trip_ns + static_cast<Nanos>(2 * kTargetFrames * byte_ns *
                                                                   (topology_.edge_mtu_bytes + kEthernetHeaderBytes));
    limit.renewed_ns = now;
  }
  if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
}

void Worker::end_limit(Port& port, InputFlow& flow) {
  if (!(flow.flags & kFlowLimited)) return;
  flow.flags &= static_cast<uint8_t>(~kFlowLimited);
  flow.congestion = 0;
  port.counters.count(ProtocolEvent::limit_ended);
}

// C4 to C6, C8: may the flow hand on a packet now?
bool Worker::may_forward(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
  const Voq& voq = port.input.voqs[flow.voq];
  if (voq.shares_credit && !has_share(flow, voq)) return false;
  if ((flow.flags & kFlowMetered) && !has_credit(port, id, flow, bytes)) {
    port.counters.count(ProtocolEvent::credit_waited);
    return false;
  }
  if (!(flow.flags & kFlowLimited)) return true;
  const FlowLimit& limit = port.input.limits[id];
  // K10: a level that nobody renews is over. As long as something is under way its round trip is not: what waits in a
  // long queue at the host has nothing to say meanwhile.
  const Nanos lease = 5 * std::max({limit.round_trip_ns, limit.delay_ns, limit.interval_ns});
  if (flow.flow_extent() == 0 && now > limit.renewed_ns + lease) {
    port.counters.count(ProtocolEvent::limit_expired);
    end_limit(port, flow);
    return true;
  }
  if (now < limit.release_ns) return false;
  return flow.flow_extent() <= limit.window_bytes();
}

// So many bytes have been handed on: the next ones when the flow's share has room for them. Being late does not
// slow it down.
void Worker::spend_share(Port& port, FlowId id, uint32_t bytes, Nanos now) {
  FlowLimit& limit = port.input.limits[id];
  if (sample_.port == nullptr) begin_sample(port, id, port.input.flows[id].flow_extent() == bytes, now);
  limit.delay_ns = std::min(static_cast<Nanos>(bytes * limit.ns_per_byte), kDelayMaxNs);
  limit.release_ns =
      std::max(limit.release_ns, now - std::min(now, std::max(limit.delay_ns, kLateNs))) + limit.delay_ns;
}

// Something of a limited flow is settled. Only what was delivered has the congested host's word with it: frames that
// die on the way while the flow is held must not hold it longer.
void Worker::renew_limit(Port& port, FlowId id, uint32_t delivered, Nanos now) {
  if (delivered == 0) return;
  FlowLimit& limit = port.input.limits[id];
  limit.interval_ns = std::max(now - limit.renewed_ns, limit.interval_ns - limit.interval_ns / 8);
  limit.renewed_ns = now;
}

// The flow has packets and stands in no list.
void Worker::block(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  flow.state = FlowState::blocked;
  port.counters.count(ProtocolEvent::flow_blocked);
  const Nanos release = flow.flags & kFlowLimited ? port.input.limits[id].release_ns : 0;
  if (release <= now) return;  // an acknowledgement or credit wakes it
  if (flow.flow_extent() == 0 && flow.output_flow != kNoFlow) {
    give_back(port, flow, false);  // others may need the ID meanwhile (K11)
    flow.flags &= static_cast<uint8_t>(~kFlowOfItsId);
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
        flow.flags &= static_cast<uint8_t>(~kFlowTimed);
        if (flow.flags & kFlowPending) return add_hold_timer(port, id, now);  // E1 has come meanwhile
        if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
      });
}

// --- round trips ---

// Of an address that no node has, which only a broken neighbour uses: the first node.
uint16_t Worker::node_index(uint16_t address) const {
  return address < node_of_address_.size() ? node_of_address_[address] : uint16_t{0};
}

uint64_t Worker::rate_to(FabricAddress destination) const {
  const TopologyNode& node = topology_.nodes[node_index(destination.node)];
  return destination.port < node.ports.size() ? congestion_rate_bps(node.ports[destination.port]) : kRateUnknownBps;
}

Nanos Worker::round_trip_to(const InputFlow& flow) const {
  const Nanos known = round_trips_[node_index(flow.destination.node)];
  if (known != 0) return known;
  const Nanos told = flow.queue.empty() ? 0 : round_trip_of_code(flow.queue.head->priority >> 4);
  return told != 0 ? told : kRoundTripUnknownNs;
}

// One flow at a time is timed: from its last packet, which it has handed on now, until that is acknowledged, or until
// the congested host's port says that it has come (C2), which leaves out the queue there.
void Worker::begin_sample(Port& port, FlowId id, bool alone, Nanos now) {
  const InputFlow& flow = port.input.flows[id];
  sample_ = {.port = &port,
             .flow = id,
             .node = node_index(flow.destination.node),
             .alone = alone,
             .may_rise = alone || !(flow.flags & kFlowLimited),
             .position = flow.data_flow,
             .lost_total = flow.lost_total,
             .at_ns = now};
}

void Worker::look_at_sample(Nanos now) {
  const InputFlow& flow = sample_.port->input.flows[sample_.flow];
  if (flow.lost_total != sample_.lost_total || now - sample_.at_ns > settings_.probe_base_ns)
    sample_.port = nullptr;  // what was lost has been settled without its round trip, or only after a probe
  else if (!serial_before(flow.ack_flow, sample_.position))
    end_sample(now);
}

void Worker::end_sample(Nanos now) {
  const Nanos elapsed = std::max<Nanos>(now - sample_.at_ns, 1);
  Nanos& known = round_trips_[sample_.node];
  const bool may_rise = sample_.may_rise || known == 0;
  sample_.port = nullptr;
  if (!may_rise && elapsed >= known) return;
  // The least seen, and slowly more: what queues on the way add now is not the way's. A first one out of a burst is
  // mended by those of limited flows, which are seldom alone under way and whose own queue says nothing of a longer
  // way.
  known = known == 0 || elapsed < known ? elapsed : known + (elapsed - known) / 64;
  if (sample_.node != farthest_ && known <= round_trips_[farthest_]) return;
  farthest_ = static_cast<uint16_t>(std::max_element(round_trips_.begin(), round_trips_.end()) - round_trips_.begin());
  round_trip_code_ = static_cast<uint8_t>(round_trip_code(round_trips_[farthest_]) << 4);
}

}  // namespace heddle
