// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_transmit.h"

namespace heddle {

// A burst of data frames: each with life left, with credit of its channel, and where its link sends again what it
// loses, with a replica kept.
struct FabricTransmit::Sender {
  void begin(const OutputScheduler::Turn& turn) {
    const uint8_t channel = turn.channel();
    retry = transmit.site_.lanes.retry(turn.lane());
    credits = &port.credits[channel];
    stamp = {.session_tag = port.session.tag(),
             .vc = channel,
             .channel = retry ? uint8_t{HEDDLE_RETRY_CHANNEL} : uint8_t{0},
             .flags = channel != kLossyChannel ? uint8_t{HEDDLE_DATA_LOSSLESS} : uint8_t{0},
             .source_mac = port.mac};
  }
  Packet* take(OutputScheduler::Turn& turn) {
    const Nanos left = life_left(*turn.head(), now);
    if (left < HEDDLE_LIFE_UNIT_NS) {  // K8, also of a frame that waits for credit
      transmit.settlement_.drop_at_output(port, turn.take(), DropReason::life_ended);
      return nullptr;
    }
    const uint32_t cost = credits->cost(HEDDLE_DATA_OVERHEAD_BYTES + turn.head()->payload);
    if (!credits->may_send(cost)) {
      port.counters.count(ProtocolEvent::credit_blocked);
      turn.hold();
      return nullptr;
    }
    Packet* replica = nullptr;
    if (retry && (replica = transmit.retry_.replica_for(port, turn.head())) == nullptr) {
      turn.hold();
      return nullptr;
    }
    Packet* packet = turn.take();
    stamp.sequence = retry ? port.retry.next_sequence() : ++port.output.sequence;
    stamp.life_units = life_units(left);
    transmit.hand_over(port, packet, stamp, now);
    credits->sent(cost, retry, now);
    if (retry) transmit.retry_.keep(port, *packet, replica, now);
    return packet;
  }

  FabricTransmit& transmit;
  Port& port;
  const Nanos now;
  LinkCredits* credits = nullptr;  // of the lane whose turn it is, as the rest
  bool retry = false;
  Stamp stamp{};
};

bool FabricTransmit::run(Port& port, Nanos now) {
  OutputSide& output = port.output;
  if (output.pending_packets != 0) {
    age_pending(port, now);
    if (!departure_.send_pending(port, now)) return false;
  }
  if (port.session.up()) {
    link_control_.send_credits(port, now);
    if (site_.lanes.any_retry()) retry_.send_records(port, now);
    prober_.send(port);
    acks_.make_frames(port, now);
  }
  Packet* burst[kBurst];
  uint32_t count = 0;
  while (count < kBurst && !output.control.empty()) {
    Packet* packet = output.control.pop();
    --output.control_packets;
    if (packet->flags & kPacketRecords) finish_records(*packet, port.session.tag(), ++output.sequence, port.mac);
    output.scheduler.sent(*packet, now);
    burst[count++] = packet;
  }
  if (port.retry.again() != nullptr) count = retry_.send_again(port, burst, count, now);
  Sender sender{*this, port, now};
  count = output.scheduler.fill(burst, count, ~LaneSet{0}, now, sender);
  departure_.send_burst<false>(port, burst, count, now);
  return count == kBurst && output.pending_packets == 0;
}

// The packet gets its header: what all of its turn have, and the position in its flow.
void FabricTransmit::hand_over(Port& port, Packet* packet, Stamp& stamp, Nanos now) {
  stamp.flow = packet->output_flow;
  stamp.data_flow = 0;
  if (packet->output_flow != kNoFlow) {
    OutputFlow& entry = port.output.flows[packet->output_flow];
    if (entry.extent() == 0) {  // K5 starts anew; a timer that still runs comes too early, and looks at due_ns
      entry.backoff = 0;
      entry.probe_mark = entry.ack_flow;
      entry.due_ns = now + site_.settings.probe_base_ns;
      if (!(entry.flags & kOutputTimed)) prober_.set(port.index, packet->output_flow);
    }
    stamp.data_flow = entry.data_flow;
    entry.data_flow += packet->payload;
    --entry.queued;
  }
  if (!(packet->flags & kPacketFabric)) prepend_fabric_header(*packet);
  --packet->hop_limit;
  stamp_data_frame(*packet, stamp);
}

// K8: frames that the device has refused go on ageing. They have their positions, so one whose life is over is sent all
// the same, with no life: the next hop counts it and lets it die.
void FabricTransmit::age_pending(Port& port, Nanos now) {
  for (uint32_t i = 0; i < port.output.pending_packets; ++i) {
    Packet* packet = port.output.pending[i];
    if (packet->input.port != kNoPort || (packet->flags & kPacketAgain))
      restamp_life(*packet, life_units(life_left(*packet, now)));
  }
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
