// SPDX-License-Identifier: Apache-2.0
#include "node/host_control.h"

namespace heddle {

void HostControl::run(Port& port, Nanos now) {
  if (port.settings.flow_control == HostFlowControl::off) return;
  if (now >= port.output.pause_look_ns) obey(port, now);
  const uint8_t wanted = priorities_to_pause(port);
  if (!port.pause.due(wanted, now)) return;
  Packet* packet = control_.make(port);
  if (packet == nullptr) return;  // next turn
  packet->flags = 0;
  write_pause(*packet, port.pause.tell(wanted, port.settings.flow_control == HostFlowControl::pfc, now), port.mac);
  port.counters.count(wanted != 0 ? ProtocolEvent::pause_sent : ProtocolEvent::pause_ended);
  control_.queue(port, packet);
}

bool HostControl::hear(Port& port, Packet* packet, Nanos now) {
  PauseFrame frame;
  if (!site_.lanes.any_lossless() || port.settings.flow_control == HostFlowControl::off) return false;
  if (!read_pause(packet->data, packet->length, frame)) return false;
  port.pause.hear(frame, now);
  port.counters.count(ProtocolEvent::pause_heard);
  obey(port, now);
  ++port.counters.consumed_frames;
  turn_.discard(packet);
  return true;
}

// The priorities of a port's host that are to wait.
uint8_t HostControl::priorities_to_pause(Port& port) {
  InputSide& input = port.input;
  const uint32_t mark = site_.settings.input_drop_mark_packets;
  if (input.lossless_full)
    input.lossless_full = input.queues.lossless_packets() > mark / 4 || input.waiting.count() > site_.waiting_max / 4;
  else
    input.lossless_full = input.queues.lossless_packets() > mark / 2 || input.waiting.count() > site_.waiting_max / 2;
  uint8_t priorities = 0;
  for (const TrafficClass& traffic_class : site_.topology.classes)
    if (traffic_class.lossless && (input.lossless_full || input.flows_full[traffic_class.ftag] != 0))
      priorities |= traffic_class.priorities();
  return priorities;
}

void HostControl::obey(Port& port, Nanos now) {
  const uint32_t ignored = port.pause.ignored();
  const uint8_t held = port.pause.held(now);
  if (const uint32_t overruled = port.pause.ignored() - ignored; overruled != 0) {
    port.counters.count(ProtocolEvent::pause_overruled, overruled);
    events_.tell({.at_ns = now, .kind = NodeEventKind::pause_overruled, .port = port.index});
  }
  port.output.pause_look_ns = port.pause.next_change(now);
  LaneSet paused = 0;
  for (LaneIndex lane = 0; lane < site_.lanes.count(); ++lane)
    if (site_.classes.of(site_.lanes.ftag(lane)).delivered_priorities() & held) paused |= LaneSet{1} << lane;
  port.output.paused_lanes = paused;
}

}  // namespace heddle
