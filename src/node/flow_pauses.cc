// SPDX-License-Identifier: Apache-2.0
#include "node/flow_pauses.h"

#include "wire/fgfc.h"

namespace heddle {

namespace {

uint64_t host_of(const MatchKey& key) { return load_mac(key.macs + 6); }

// What the frames of a match have in common, as a host sends them that has no tag for the port's own VLAN.
FgfcFlow flow_of(const MatchKey& key, uint8_t pattern, uint16_t native_vlan) {
  FgfcFlow flow{.l3 = key.l3,
                .protocol = key.protocol,
                .dscp = static_cast<uint8_t>(key.dscp >> 2),
                .vlan = key.vni == native_vlan ? uint16_t{0} : key.vni,
                .source_port = big_endian(key.source_port),
                .destination_port = big_endian(key.destination_port),
                .flow_label = key.flow_label,
                .destination = load_mac(key.macs)};
  if (pattern & kMatchIp) flow.fields |= HEDDLE_FGFC_ADDRESSES;
  if (pattern & kMatchPorts) flow.fields |= HEDDLE_FGFC_PORTS;
  if (pattern & kMatchDscp) flow.fields |= HEDDLE_FGFC_DSCP;
  if (pattern & kMatchFlowLabel) flow.fields |= HEDDLE_FGFC_FLOW_LABEL;
  std::memcpy(flow.source_address.data(), key.source_address, sizeof key.source_address);
  std::memcpy(flow.destination_address.data(), key.destination_address, sizeof key.destination_address);
  return flow;
}

}  // namespace

bool FlowPauses::hear(Port& port, Packet* packet, Nanos now) {
  bool obeys = false;
  if (!read_fgfc_announcement(packet->data, packet->length, obeys)) return false;
  const uint64_t host = load_mac(packet->data + 6);
  if (!obeys)
    port.input.paused.hosts.withdrawn(host);
  else if (!port.input.paused.hosts.announced(host, now))
    return false;
  port.counters.count(ProtocolEvent::host_announced);
  ++port.counters.consumed_frames;
  turn_.discard(packet);
  return true;
}

void FlowPauses::look(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  PausedFlows& paused = port.input.paused;
  FlowPause& pause = paused.pauses[id];
  if (flow.flags & kFlowPaused) return count_overrun(port, id, pause.came(flow.next_data_flow), now);
  if (flow.queue_extent() <= marks(flow).target || flow.match == kNoMatch) return;
  if (paused.due.has(id)) return;  // that the one before has ended is still to be told
  if (!paused.hosts.obeys(host_of(edge_.matches().key_at(flow.match)), now)) return;
  pause.begin(++paused.number, flow.match, flow.next_data_flow);
  flow.flags |= kFlowPaused;
  paused.due.enter(id);
  paused.again.enter(id, now);
  port.counters.count(ProtocolEvent::fgfc_paused);
}

// G1: more than its credit, and more than can have been under way when it heard of it.
void FlowPauses::count_overrun(Port& port, FlowId id, uint32_t overrun, Nanos now) {
  const uint64_t rate_bps = port.settings.rate_bps != 0 ? port.settings.rate_bps : kRateUnknownBps;
  if (overrun <= rate_bps / 8 * kStallNs / kSecond + kHostBytes) return;
  FlowPause& pause = port.input.paused.pauses[id];
  pause.strike_counted();
  port.counters.count(ProtocolEvent::fgfc_overrun);
  const uint64_t host = host_of(edge_.matches().key_at(pause.match()));
  if (!port.input.paused.hosts.strike(host, now)) return;
  port.counters.count(ProtocolEvent::fgfc_disobeyed);
  events_.tell({.at_ns = now, .kind = NodeEventKind::host_disobeys, .port = port.index, .station = host});
}

void FlowPauses::left(Port& port, FlowId id, InputFlow& flow, uint32_t queue_bytes) {
  FlowPause& pause = port.input.paused.pauses[id];
  const PauseMarks marks = this->marks(flow);
  if (queue_bytes <= marks.low || flow.queue.empty()) {
    flow.flags &= static_cast<uint16_t>(~kFlowPaused);
    pause.end();
  } else if (pause.unknown_credit(flow.next_data_flow - queue_bytes, marks) < marks.step) {
    return;
  }
  port.input.paused.due.enter(id);
}

void FlowPauses::tell_all(Port& port, Nanos now) {
  PausedFlows& paused = port.input.paused;
  while (now >= paused.again.next()) {
    const FlowId id = paused.again.take();
    if (!(port.input.flows[id].flags & kFlowPaused)) continue;
    paused.due.enter(id);
    paused.again.enter(id, now);
  }
  while (now >= paused.ended.next()) {
    const FlowId id = paused.ended.take();
    if (paused.pauses[id].ended()) paused.due.enter(id);
  }
  for (uint32_t frames = 0; frames < kFramesPerTurn && !paused.due.empty(); ++frames)
    if (!tell(port, paused.due.first(), now)) return;  // next turn
}

// False: there is no packet for it.
bool FlowPauses::tell(Port& port, FlowId id, Nanos now) {
  PausedFlows& paused = port.input.paused;
  FlowPause& pause = paused.pauses[id];
  const MatchEntry& match = edge_.matches()[pause.match()];
  // Its frames go elsewhere now, or its host obeys no longer: what it has been told ends with its timer.
  if (!match.used() || match.flow != id || !paused.hosts.obeys(host_of(edge_.matches().key_at(pause.match())), now)) {
    if (!pause.ended()) port.input.flows[id].flags &= static_cast<uint16_t>(~kFlowPaused);
    paused.due.take();
    return true;
  }
  Packet* packet = control_.make(port);
  if (packet == nullptr) return false;
  paused.due.take();
  packet->flags = 0;
  const MatchKey& key = edge_.matches().key_at(pause.match());
  FgfcPause frame{.flow = flow_of(key, site_.classes.of(key.ftag).match, port.settings.vlans.native),
                  .number = pause.number(),
                  .by = {site_.address, port.index}};
  if (pause.ended()) {
    if (pause.tell_end()) paused.ended.enter(id, now);
    port.counters.count(ProtocolEvent::fgfc_ended);
  } else {
    const InputFlow& flow = port.input.flows[id];
    pause.tell(pause.unknown_credit(flow.data_flow, marks(flow)));
    frame.timer_ns = site_.settings.fgfc_timer_ns;
    port.counters.count(ProtocolEvent::fgfc_sent);
  }
  frame.credit = pause.credit();
  write_fgfc_pause(*packet, frame, host_of(key), port.mac);
  control_.queue(port, packet);
  return true;
}

}  // namespace heddle
