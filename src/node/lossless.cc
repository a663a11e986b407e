// SPDX-License-Identifier: Apache-2.0
// What lossless classes do where others drop (C9): inside the fabric they wait for credit, at its edge their hosts are
// asked to wait (F10), and what hosts ask is obeyed (K14). Frames of such a class without flow channels (F11) wait in
// one queue per input.
#include <bit>

#include "node/worker.h"

namespace heddle {

// May a frame of a lossless class join its flow's queue? On a fabric port it has a buffer that was granted; at the edge
// the host has been told to stop well before there is none.
DropReason Worker::wait_lossless(Port& port, InputFlow& flow) {
  if (port.is_fabric()) return DropReason::none;
  if (port.input.lossless_packets >= settings_.input_drop_mark_packets) return DropReason::pause_ignored;
  if (!(flow.flags & kFlowFull) && flow.queue_extent() > flow_queue_mark(flow)) {
    flow.flags |= kFlowFull;
    ++port.input.flows_full[flow.ftag];
  }
  return DropReason::none;
}

// A packet has left the queue of a flow that was past its mark, and is still in queue_extent(): below half of the mark
// the host may go on.
void Worker::look_at_full(Port& port, InputFlow& flow, const Packet& packet) {
  if (port.is_fabric()) return return_credit(port, flow, packet);
  if (flow.queue_extent() - packet.payload > flow_queue_mark(flow) / 2 && !flow.queue.empty()) return;
  flow.flags &= static_cast<uint16_t>(~kFlowFull);
  --port.input.flows_full[flow.ftag];
}

// The priorities of a port's host that are to wait.
uint8_t Worker::priorities_to_pause(Port& port) {
  InputSide& input = port.input;
  const uint32_t mark = settings_.input_drop_mark_packets;
  if (input.lossless_full)
    input.lossless_full = input.lossless_packets > mark / 4 || input.waiting_packets > waiting_max_ / 4;
  else
    input.lossless_full = input.lossless_packets > mark / 2 || input.waiting_packets > waiting_max_ / 2;
  uint8_t priorities = 0;
  for (const TrafficClass& traffic_class : topology_.classes)
    if (traffic_class.lossless && (input.lossless_full || input.flows_full[traffic_class.ftag] != 0))
      priorities |= traffic_class.priorities();
  return priorities;
}

// Once a turn: tells the host of an edge port to wait or go on, and forgets what it has asked once that is over.
void Worker::control_host(Port& port, Nanos now) {
  if (port.settings.flow_control == HostFlowControl::off) return;
  if (now >= port.output.pause_look_ns) obey_pause(port, now);
  const uint8_t wanted = priorities_to_pause(port);
  if (!port.pause.due(wanted, now)) return;
  Packet* packet = control_packet(port);
  if (packet == nullptr) return;  // next turn
  packet->flags = 0;
  write_pause(*packet, port.pause.tell(wanted, port.settings.flow_control == HostFlowControl::pfc, now), port.mac);
  port.counters.count(wanted != 0 ? ProtocolEvent::pause_sent : ProtocolEvent::pause_ended);
  queue_control(port, packet);
}

// A MAC control frame of the host. False if it is none that the port listens to.
bool Worker::hear_pause(Port& port, Packet* packet, Nanos now) {
  PauseFrame frame;
  if (!lanes_.any_lossless() || port.settings.flow_control == HostFlowControl::off) return false;
  if (!read_pause(packet->data, packet->length, frame)) return false;
  port.pause.hear(frame, now);
  port.counters.count(ProtocolEvent::pause_heard);
  obey_pause(port, now);
  ++port.counters.consumed_frames;
  discard(packet);
  return true;
}

void Worker::obey_pause(Port& port, Nanos now) {
  const uint32_t ignored = port.pause.ignored();
  const uint8_t held = port.pause.held(now);
  if (const uint32_t overruled = port.pause.ignored() - ignored; overruled != 0) {
    port.counters.count(ProtocolEvent::pause_overruled, overruled);
    events_.tell({.at_ns = now, .kind = NodeEventKind::pause_overruled, .port = port.index});
  }
  port.output.pause_look_ns = port.pause.next_change(now);
  port.output.paused_lanes = 0;
  for (uint32_t lane = 0; lane < lanes_.count(); ++lane)
    if (edge_.classifier().of_ftag(lanes_.ftag(lane)).priorities() & held)
      port.output.paused_lanes |= LaneSet{1} << lane;
}

// --- frames without a flow ---

void Worker::join_fifo(Port& port, Packet* packet, Nanos now) {
  InputSide& input = port.input;
  if (!port.is_fabric() && input.lossless_packets >= settings_.input_drop_mark_packets)
    return drop_at_input(port, packet, DropReason::pause_ignored);
  const uint8_t channel = port.is_fabric() ? packet->vc : kFirstLosslessChannel;
  const uint32_t index = lanes_.of(packet->ftag, channel);
  Fifo& fifo = input.fifos[index];
  fifo.queue.push(packet);
  ++input.queued_packets;
  ++input.lossless_packets;
  packet->output_flow = kNoFlow;
  if (fifo.queue.head == packet) place_fifo(port, index, now);
}

// The first packet of a fifo gets its output; those that can go nowhere are dropped.
void Worker::place_fifo(Port& port, uint32_t index, Nanos now) {
  InputSide& input = port.input;
  Fifo& fifo = input.fifos[index];
  while (!fifo.queue.empty()) {
    const Packet& head = *fifo.queue.head;
    DropReason reason = DropReason::life_ended;
    const bool alive = !port.is_fabric() || !life_over(head, now);
    const PortIndex output = alive ? choose_port(port, head, reason) : kNoPort;
    if (output != kNoPort) {
      fifo.voq = voq_index(output, paths_.lane(port.index, output, head.ftag, head.vc));
      input.voqs[fifo.voq].fifos |= LaneSet{1} << index;
      return activate(port, fifo.voq);
    }
    --input.queued_packets;
    --input.lossless_packets;
    drop_at_input(port, fifo.queue.pop(), reason);
  }
}

// The fifos whose first packet is for this output and lane, as far as the room there lasts. False if it has run out.
bool Worker::serve_fifos(Port& port, Voq& voq, Nanos now) {
  InputSide& input = port.input;
  for (LaneSet rest = voq.fifos; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(rest));
    Fifo& fifo = input.fifos[index];
    for (uint32_t sent = 0; sent < kBurst && (voq.fifos >> index & 1); ++sent) {
      if (voq.room < fifo.queue.head->cost) {
        wait_for_room(port, voq);
        return false;
      }
      Packet* packet = fifo.queue.pop();
      --input.queued_packets;
      --input.lossless_packets;
      voq.fifos &= ~(LaneSet{1} << index);
      take_lane(*packet, voq);
      cross(port, voq.output, packet, nullptr, now);
      place_fifo(port, index, now);
    }
  }
  return true;
}

}  // namespace heddle
