// SPDX-License-Identifier: Apache-2.0
#include "node/fifos.h"

#include <bit>

namespace heddle {

void Fifos::receive(Port& port, Packet* packet, Nanos now) {
  if (site_.lanes.lossless(packet->ftag)) return join(port, packet, now);
  DropReason reason = DropReason::none;
  const PortIndex output = ways_.choose_port(port, *packet, reason);
  if (output == kNoPort) return turn_.drop_at_input(port, packet, reason);
  Voq& voq = port.input.arbiter[ways_.queue(port, output, packet->ftag, packet->vc)];
  const uint32_t kept = voq.ready() == 0 ? 0 : room_of_flows(site_.settings, voq.at_once);
  if (voq.room < packet->cost + kept) return turn_.drop_at_input(port, packet, DropReason::output_full);
  packet->output_flow = kNoFlow;
  voq.take_lane(*packet);
  crosspoint_.cross(port, output, packet, nullptr, now);
}

bool Fifos::serve(Port& port, VoqIndex queue, Nanos now) {
  InputSide& input = port.input;
  Voq& voq = input.arbiter[queue];
  for (LaneSet rest = voq.fifos(); rest != 0; rest &= rest - 1) {
    const auto index = LaneIndex::of(std::countr_zero(rest));
    Fifo& fifo = input.fifos[index];
    for (uint32_t sent = 0; sent < kBurst && (voq.fifos() >> index & 1); ++sent) {
      if (voq.room < fifo.queue.head->cost) {
        room_.wait(port, voq);
        return false;
      }
      Packet* packet = fifo.queue.pop();
      input.queues.left(*packet);
      input.arbiter.take_fifo(queue, index);
      voq.take_lane(*packet);
      crosspoint_.cross(port, voq.output, packet, nullptr, now);
      place(port, index, now);
    }
  }
  return true;
}

void Fifos::join(Port& port, Packet* packet, Nanos now) {
  InputSide& input = port.input;
  if (!port.is_fabric() && input.queues.lossless_packets() >= site_.settings.input_drop_mark_packets)
    return turn_.drop_at_input(port, packet, DropReason::pause_ignored);
  const uint8_t channel = port.is_fabric() ? packet->vc : kFirstLosslessChannel;
  const LaneIndex index = site_.lanes.of(packet->ftag, channel);
  Fifo& fifo = input.fifos[index];
  fifo.queue.push(packet);
  input.queues.joined(*packet);
  packet->output_flow = kNoFlow;
  if (fifo.queue.head == packet) place(port, index, now);
}

// The first packet of a fifo gets its output; those that can go nowhere are dropped.
void Fifos::place(Port& port, LaneIndex index, Nanos now) {
  InputSide& input = port.input;
  Fifo& fifo = input.fifos[index];
  while (!fifo.queue.empty()) {
    const Packet& head = *fifo.queue.head;
    DropReason reason = DropReason::life_ended;
    const bool alive = !port.is_fabric() || !life_over(head, now);
    const PortIndex output = alive ? ways_.choose_port(port, head, reason) : kNoPort;
    if (output != kNoPort) {
      fifo.voq = ways_.queue(port, output, head.ftag, head.vc);
      return input.arbiter.push_fifo(fifo.voq, index);
    }
    input.queues.left(head);
    turn_.drop_at_input(port, fifo.queue.pop(), reason);
  }
}

}  // namespace heddle
