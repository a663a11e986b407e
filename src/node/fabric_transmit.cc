// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_transmit.h"

namespace heddle {

// A burst of data frames: each with life left, with credit of its channel, and where its link sends again what it
// loses, with a replica kept.
struct FabricTransmit::Sender {
  void begin(const OutputScheduler::Turn& turn) {
    lane = Stamping::lane_of(transmit.site_.lanes, turn.lane());
    credits = &port.credits[lane.channel];
  }
  Packet* take(OutputScheduler::Turn& turn) {
    const Nanos left = life_left(*turn.head(), now);
    if (!Stamping::lives(left)) {  // K8, also of a frame that waits for credit
      transmit.settlement_.drop_at_output(port, turn.take(), DropReason::life_ended);
      return nullptr;
    }
    const uint32_t cost = Stamping::cost(*credits, turn.head()->payload);
    if (!credits->may_send(cost)) {
      port.counters.count(ProtocolEvent::credit_blocked);
      turn.hold();
      return nullptr;
    }
    Packet* replica = nullptr;
    if (lane.retry && (replica = transmit.retry_.replica_for(port, turn.head())) == nullptr) {
      turn.hold();
      return nullptr;
    }
    Packet* packet = turn.take();
    uint32_t position = 0;
    if (packet->output_flow != kNoFlow) {
      OutputFlow& entry = port.output.flows[packet->output_flow];
      --entry.queued;
      position = transmit.stamping_.advance(port.index, packet->output_flow, entry, packet->payload, now);
    }
    if (!(packet->flags & kPacketFabric)) prepend_fabric_header(*packet);
    Stamping::stamp(port, *packet, lane, packet->output_flow, position, left);
    credits->sent(cost, lane.retry, now);
    if (lane.retry) transmit.retry_.keep(port, *packet, replica, now);
    return packet;
  }

  FabricTransmit& transmit;
  Port& port;
  const Nanos now;
  Stamping::Lane lane{};  // whose turn it is
  LinkCredits* credits = nullptr;
};

bool FabricTransmit::run(Port& port, Nanos now) {
  OutputSide& output = port.output;
  const bool carries_data = output.stamped_packets != 0 || !output.scheduler.empty();
  if (output.stamped_packets != 0) departure_.send_stamped(port, now);
  output.transmitter.look(now);
  const uint32_t room = output.transmitter.room();
  if (room == 0 || output.scheduler.slow_lanes(0) != 0) settlement_.drop_expired(port, now);
  if (room == 0) return false;
  if (port.session.up()) {
    link_control_.send_credits(port, now);
    if (site_.lanes.any_retry()) retry_.send_records(port, now);
    prober_.send(port);
    acks_.make_frames(port, carries_data, now);
  }
  Packet* burst[kBurst];
  uint32_t count = 0;
  while (count < room && !output.control.empty()) {
    Packet* packet = output.control.pop();
    --output.control_packets;
    if (packet->flags & kPacketRecords) finish_records(*packet, port.session.tag(), ++output.sequence, port.mac);
    output.scheduler.sent(*packet, now);
    burst[count++] = packet;
  }
  if (port.retry.again() != nullptr) count = retry_.send_again(port, burst, count, room, now);
  Sender sender{*this, port, now};
  count = output.scheduler.fill(burst, count, room, ~LaneSet{0}, now, sender);
  if (output.redirects.asking(now)) [[unlikely]]
    loads_.ask(port, burst, count, now);
  departure_.send_burst<false>(port, burst, count, now);
  return count == room && output.transmitter.room() != 0;
}

Nanos FabricTransmit::next_wake(const Port& port) const {
  Nanos wake = port.session.next_wake();
  if (!port.session.up()) return wake;
  wake = std::min({wake, port.output.scheduler.first_death(), acks_.deadline(port), port.retry.next_due()});
  for (uint32_t channel = 0; channel < port.channels; ++channel)
    wake = std::min(wake, port.credits[channel].next_due());
  return wake;
}

}  // namespace heddle
