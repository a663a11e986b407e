// SPDX-License-Identifier: Apache-2.0
#include "node/flow_pauses.h"

#include "wire/fgfc.h"

namespace heddle {

namespace {

// What the frames of a match have in common, as a host sends them that has no tag for the port's own VLAN.
FgfcFlow described(const MatchKey& key, uint8_t pattern, uint16_t native_vlan) {
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
  if (flow.match == kNoMatch) return;  // its frames go elsewhere now
  if (!(flow.flags & kFlowPaused)) {
    if (flow.queue_extent() > marks(flow.ftag).target) begin(port, id, flow, now);
    return;
  }
  count_overrun(port, port.input.paused.pauses[port.input.paused.of_flows[id]], now);
}

// Of a match whose pause has ended and is still to be told so: that is old news then.
void FlowPauses::begin(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  PausedFlows& paused = port.input.paused;
  MatchEntry& match = edge_.matches()[flow.match];
  const bool again = match.flags & kMatchPaused;
  if (!again && paused.unused.empty()) return;  // PAUSE has to do, or drops
  if (!paused.hosts.obeys(load_mac(edge_.matches().key_at(flow.match).macs + 6), now)) return;
  const PauseId pause = again ? paused.find(flow.match) : paused.take();
  if (++paused.number == 0) ++paused.number;
  paused.pauses[pause].begin(paused.number, flow.match, match.bytes);
  paused.of_flows[id] = pause;
  flow.flags |= kFlowPaused;
  match.flags = kMatchUsed | kMatchPaused;
  paused.due.enter(pause);
  paused.again.enter(pause, now);
  paused.wake();
  port.counters.count(ProtocolEvent::fgfc_paused);
}

void FlowPauses::resume(Port& port, FlowId id, InputFlow& flow) {
  const PauseId pause = port.input.paused.find(flow.match);
  if (port.input.paused.pauses[pause].ended()) return;
  port.input.paused.of_flows[id] = pause;
  flow.flags |= kFlowPaused;
}

// G1: more than its credit, and more than can have been under way when it heard of it.
void FlowPauses::count_overrun(Port& port, FlowPause& pause, Nanos now) {
  const uint32_t overrun = pause.came(edge_.matches()[pause.match()].bytes);
  const uint64_t rate_bps = port.settings.rate_bps != 0 ? port.settings.rate_bps : kRateUnknownBps;
  if (overrun <= rate_bps / 8 * kStallNs / kSecond + kHostBytes) return;
  pause.strike_counted();
  if (!port.input.paused.hosts.obeys(host_of(pause), now)) return;  // nor does it say so any more
  port.counters.count(ProtocolEvent::fgfc_overrun);
  if (!port.input.paused.hosts.strike(host_of(pause), now)) return;
  port.counters.count(ProtocolEvent::fgfc_disobeyed);
  events_.tell({.at_ns = now, .kind = NodeEventKind::host_disobeys, .port = port.index, .station = host_of(pause)});
}

void FlowPauses::left(Port& port, FlowId id, const InputFlow& flow, uint32_t queue_bytes) {
  PausedFlows& paused = port.input.paused;
  const PauseId pause_id = paused.of_flows[id];
  FlowPause& pause = paused.pauses[pause_id];
  if (flow.match != pause.match()) return;  // its station has moved, and another flow is the match's
  const PauseMarks marks = this->marks(flow.ftag);
  look_for_calm(port, pause_id, queue_bytes, turn_.now());
  const MatchEntry& match = edge_.matches()[pause.match()];
  if (match.waiting == 0 && pause.unknown_credit(match.bytes - queue_bytes, marks) >= marks.step)
    paused.due.enter(pause_id);
  paused.wake();
}

void FlowPauses::look_for_calm(Port& port, PauseId id, uint32_t queue_bytes, Nanos now) {
  FlowPause& pause = port.input.paused.pauses[id];
  if (queue_bytes > marks(edge_.matches()[pause.match()].ftag).low)
    pause.set_calm_since(kNever);
  else if (pause.calm_since() == kNever)
    pause.set_calm_since(now);
  if (pause.calm_since() != kNever) port.input.paused.calm.enter(id, now);
}

void FlowPauses::tell_all(Port& port, Nanos now) {
  PausedFlows& paused = port.input.paused;
  while (now >= paused.again.next()) {
    const PauseId id = paused.again.take();
    FlowPause& pause = paused.pauses[id];
    if (pause.number() == 0 || pause.ended()) continue;
    pause.forgive_half();
    look_for_calm(port, id, queue_of(port, pause), now);
    paused.due.enter(id);
    paused.again.enter(id, now);
  }
  while (now >= paused.calm.next()) {
    const PauseId id = paused.calm.take();
    FlowPause& pause = paused.pauses[id];
    if (pause.number() == 0 || pause.ended()) continue;
    look_for_calm(port, id, queue_of(port, pause), now);
    if (pause.calm_since() != kNever && now >= pause.calm_since() + paused.calm.interval()) end(port, id);
  }
  while (now >= paused.ended.next()) {
    const PauseId id = paused.ended.take();
    if (paused.pauses[id].ended()) paused.due.enter(id);
  }
  bool told = true;
  for (uint32_t frames = 0; told && frames < kFramesPerTurn && !paused.due.empty(); ++frames)
    told = tell(port, paused.due.first(), now);
  paused.rest(told ? 0 : now + kRetryNs);
}

// Its host goes on as it likes, and hears of it.
void FlowPauses::end(Port& port, PauseId id) {
  FlowPause& pause = port.input.paused.pauses[id];
  pause.end();
  port.input.paused.due.enter(id);
  if (InputFlow* flow = flow_of(port, pause)) flow->flags &= static_cast<uint16_t>(~kFlowPaused);
}

// There is nothing to tell of it any more: its match is as any other.
void FlowPauses::forget(Port& port, PauseId id) {
  const FlowPause& pause = port.input.paused.pauses[id];
  if (InputFlow* flow = flow_of(port, pause)) flow->flags &= static_cast<uint16_t>(~kFlowPaused);
  MatchEntry& match = edge_.matches()[pause.match()];
  match.flags = kMatchUsed;
  match.station_version = edge_.stations().version() - 1;  // its next frame sees where it leads
  port.input.paused.put(id);
}

// The one that its match has now, if it has one.
InputFlow* FlowPauses::flow_of(Port& port, const FlowPause& pause) const {
  return port.input.flows.of_match(edge_.matches()[pause.match()].flow, pause.match());
}

uint32_t FlowPauses::queue_of(Port& port, const FlowPause& pause) const {
  const InputFlow* flow = flow_of(port, pause);
  return flow != nullptr ? flow->queue_extent() : 0;
}

// What its queue has room for up to its target. Frames that wait for a flow ID have come and are in no queue.
void FlowPauses::grant(Port& port, FlowPause& pause) {
  const MatchEntry& match = edge_.matches()[pause.match()];
  pause.came(match.bytes);
  if (match.waiting == 0) pause.tell(pause.unknown_credit(match.bytes - queue_of(port, pause), marks(match.ftag)));
}

// False: there is no packet for it.
bool FlowPauses::tell(Port& port, PauseId id, Nanos now) {
  PausedFlows& paused = port.input.paused;
  FlowPause& pause = paused.pauses[id];
  const uint64_t host = host_of(pause);
  if (!paused.hosts.obeys(host, now)) {  // what it has been told ends with its timer
    forget(port, id);
    paused.due.take();
    return true;
  }
  Packet* packet = control_.make(port);
  if (packet == nullptr) return false;
  paused.due.take();
  packet->flags = 0;
  const MatchKey& key = edge_.matches().key_at(pause.match());
  FgfcPause frame{.flow = described(key, site_.classes.of(key.ftag).match, port.settings.vlans.native),
                  .number = pause.number(),
                  .by = {site_.address, port.index}};
  if (!pause.ended()) {
    grant(port, pause);
    frame.timer_ns = site_.settings.fgfc_timer_ns;
  }
  frame.credit = pause.credit();
  write_fgfc_pause(*packet, frame, host, port.mac);
  control_.queue(port, packet);
  port.counters.count(pause.ended() ? ProtocolEvent::fgfc_ended : ProtocolEvent::fgfc_sent);
  if (!pause.ended()) return true;
  if (pause.tell_end())
    paused.ended.enter(id, now);
  else
    forget(port, id);
  return true;
}

uint64_t FlowPauses::host_of(const FlowPause& pause) const {
  return load_mac(edge_.matches().key_at(pause.match()).macs + 6);
}

}  // namespace heddle
