// SPDX-License-Identifier: Apache-2.0
#include "node/edge_transmit.h"

#include "wire/fabric_frame.h"

namespace heddle {

// A burst for the host: each frame as it takes it, or dropped.
struct EdgeTransmit::Sender {
  void begin(const OutputScheduler::Turn& turn) {
    port.output.congestion.leaves(port.output.scheduler.class_of(turn.lane()), turn.head()->priority);
  }
  Packet* take(OutputScheduler::Turn& turn) {
    Packet* packet = turn.take();
    const DropReason reason = transmit.prepare_for_host(port, packet, now);
    if (reason == DropReason::none) return packet;
    transmit.settlement_.drop_at_output(port, packet, reason);
    return nullptr;
  }

  EdgeTransmit& transmit;
  Port& port;
  const Nanos now;
};

bool EdgeTransmit::run(Port& port, Nanos now) {
  OutputSide& output = port.output;
  if (site_.lanes.any_lossless()) host_control_.run(port, now);
  flow_pauses_.run(port, now);
  output.transmitter.look(now);
  const uint32_t room = output.transmitter.room();
  if (room == 0 || output.scheduler.slow_lanes(output.paused_lanes) != 0) drop_expired(port, now);
  if (room == 0) return false;
  Packet* burst[kBurst];
  uint32_t count = 0;
  while (count < room && !output.control.empty()) {
    burst[count] = output.control.pop();
    --output.control_packets;
    output.scheduler.sent(*burst[count++], now);
  }
  Sender sender{*this, port, now};
  const uint32_t queued_before = output.scheduler.bytes();
  count = output.scheduler.fill(burst, count, room, ~output.paused_lanes, now, sender);
  output.taken_bytes += queued_before - output.scheduler.bytes();
  departure_.send_burst<true>(port, burst, count, now);
  return count == room && output.transmitter.room() != 0;
}

void EdgeTransmit::look_for_congestion(Port& port, Nanos now) {
  OutputSide& output = port.output;
  output.congestion.look(now, output.scheduler, output.flows, output.taken_bytes);
}

// W4: the host sees the frame that was sent, as its port wants it.
DropReason EdgeTransmit::prepare_for_host(Port& port, Packet* packet, Nanos now) {
  if (life_over(*packet, now)) return DropReason::life_ended;
  if (const DropReason reason = port.output.host_frames.refuses(*packet); reason != DropReason::none) return reason;
  if (packet->flags & kPacketFabric) strip_fabric_header(*packet);
  if (port.output.congestion.of(port.output.scheduler.class_of(packet->lane)).congested()) mark_for_host(port, *packet);
  port.output.host_frames.finish(*packet);
  return DropReason::none;
}

// C10: a host that understands ECN hears of its congestion.
void EdgeTransmit::mark_for_host(Port& port, Packet& packet) {
  if (site_.classes.of(packet.ftag).ecn && mark_congestion_experienced(packet.data, packet.length))
    port.counters.count(ProtocolEvent::ecn_marked);
}

// K8: a host that takes nothing holds up nobody's buffers and flow IDs for longer than a life.
void EdgeTransmit::drop_expired(Port& port, Nanos now) {
  OutputSide& output = port.output;
  const uint32_t queued_before = output.scheduler.bytes();
  settlement_.drop_expired(port, now);
  output.taken_bytes += queued_before - output.scheduler.bytes();
}

Nanos EdgeTransmit::next_wake(const Port& port) const {
  Nanos wake = flow_pauses_.next_wake(port);
  if (site_.lanes.any_lossless()) wake = std::min<Nanos>({wake, port.pause.next_due(), port.output.pause_look_ns});
  const bool slow = port.output.scheduler.slow_lanes(port.output.paused_lanes) != 0;
  return slow ? std::min(wake, port.output.scheduler.first_death()) : wake;
}

}  // namespace heddle
