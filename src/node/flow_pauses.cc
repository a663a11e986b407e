// SPDX-License-Identifier: Apache-2.0
#include "node/flow_pauses.h"

#include <algorithm>

#include "wire/fgfc.h"

namespace heddle {

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

// What is of a flow with a pause of its own is not of its group's: so the host has one place where it waits.
void FlowPauses::look(Port& port, FlowId id, InputFlow& flow, uint32_t bytes, Nanos now) {
  if (flow.match == kNoMatch) return;  // its frames go elsewhere now
  if (!(flow.flags & kFlowPaused) && !port.input.paused.groups.empty()) groups_.sort(port, flow.match);
  if (flow.flags & kFlowPaused) {
    const PauseId own = port.input.paused.of_flows[id];
    if (own != kNoPause) return count_overrun(port, own, now);
    if (came_of_group(port, flow, bytes, now)) return;
    flow.flags &= static_cast<uint16_t>(~kFlowPaused);
  }
  if (flow.queue_extent() > queues_.marks(flow.ftag).target)
    begin(port, id, flow, now);
  else
    look_at_group(port, flow.match, now);
}

bool FlowPauses::came_of_group(Port& port, const InputFlow& flow, uint32_t bytes, Nanos now) {
  for (PausedGroup& group : port.input.paused.groups) {
    if (!groups_.has(port, group, flow.match)) continue;
    group.received += bytes;
    count_overrun(port, group.pause, now);
    return true;
  }
  return false;
}

void FlowPauses::look_at_group(Port& port, uint32_t match, Nanos now) {
  const MatchEntry& entry = edge_.matches()[match];
  if (groups_.is_full(port, entry.group, site_.lanes.lossless(entry.ftag))) begin_group(port, match, now);
}

void FlowPauses::begin(Port& port, PauseId id, uint32_t match, uint32_t received, Nanos now) {
  PausedFlows& paused = port.input.paused;
  if (++paused.number == 0) ++paused.number;
  paused.pauses[id].begin(paused.number, match, received, now);
  paused.due.enter(id);
  paused.again.enter(id, now);
  paused.wake();
}

// Of a match whose pause has ended and is still to be told so: that is old news then.
void FlowPauses::begin(Port& port, FlowId id, InputFlow& flow, Nanos now) {
  PausedFlows& paused = port.input.paused;
  MatchEntry& match = edge_.matches()[flow.match];
  const bool again = match.flags & kMatchPaused;
  if (!again && paused.unused.empty()) return;  // PAUSE has to do, or drops
  if (!paused.hosts.obeys(load_mac(edge_.matches().key_at(flow.match).macs + 6), now)) return;
  const PauseId pause = again ? paused.find(flow.match) : paused.take();
  begin(port, pause, flow.match, match.bytes, now);
  paused.of_flows[id] = pause;
  flow.flags |= kFlowPaused;
  match.flags = static_cast<uint8_t>(kMatchUsed | (match.flags & kMatchOfGroup) | kMatchPaused);
  port.counters.count(ProtocolEvent::fgfc_paused);
}

// Its flows are flagged with their next frames, which are looked at by more than the match table.
void FlowPauses::begin_group(Port& port, uint32_t match, Nanos now) {
  PausedFlows& paused = port.input.paused;
  if (!paused.hosts.obeys(load_mac(edge_.matches().key_at(match).macs + 6), now)) return;
  PausedGroup* group = groups_.enter(port, match);
  if (group == nullptr) return;
  const FlowPause& pause = paused.pauses[group->pause];
  if (pause.number() == 0 || pause.ended()) {
    groups_.aim(port, *group);
    group->received = group->received_before = 0;
    begin(port, group->pause, kNoMatch, 0, now);
    paused.look_at_groups_ns = std::min(paused.look_at_groups_ns, now + kGroupsNs);
    paused.look_again = true;
    look_again(port, now);
    port.counters.count(ProtocolEvent::fgfc_group_paused);
  }
  groups_.sort(port, match);
}

// Of a group that has just been paused, frames that wait are looked at as they come; this is for those that do not
// wait. What comes of them until then the host counts and the switch does not, so that credit is too small.
void FlowPauses::look_again(Port& port, Nanos now) {
  PausedFlows& paused = port.input.paused;
  if (!paused.look_again || now < paused.look_again_ns) return;
  edge_.look_again();
  paused.look_again = false;
  paused.look_again_ns = now + kLookAgainNs;
}

void FlowPauses::end_groups(Port& port) {
  for (const PausedGroup& group : port.input.paused.groups)
    if (!port.input.paused.pauses[group.pause].ended()) end(port, group.pause);
  port.input.paused.wake();
}

void FlowPauses::resume(Port& port, FlowId id, InputFlow& flow) {
  PausedFlows& paused = port.input.paused;
  const uint8_t held = edge_.matches()[flow.match].flags;
  PauseId own = held & kMatchPaused ? paused.find(flow.match) : kNoPause;
  if (own != kNoPause && paused.pauses[own].ended()) own = kNoPause;
  if (own == kNoPause && !(held & kMatchOfGroup)) return;
  paused.of_flows[id] = own;
  flow.flags |= kFlowPaused;
}

// G1: more than its credit, and more than can have been under way when it heard of it.
void FlowPauses::count_overrun(Port& port, PauseId id, Nanos now) {
  FlowPause& pause = port.input.paused.pauses[id];
  const uint32_t overrun = pause.came(queues_.received(port, id));
  const uint64_t rate_bps = port.settings.rate_bps != 0 ? port.settings.rate_bps : kRateUnknownBps;
  if (overrun <= rate_bps / 8 * kStallNs / kSecond + kHostBytes) return;
  pause.strike_counted();
  const uint64_t host = queues_.host(port, id);
  if (!port.input.paused.hosts.obeys(host, now)) return;  // nor does it say so any more
  port.counters.count(ProtocolEvent::fgfc_overrun);
  if (!port.input.paused.hosts.strike(host, now)) return;
  port.counters.count(ProtocolEvent::fgfc_disobeyed);
  events_.tell({.at_ns = now, .kind = NodeEventKind::host_disobeys, .port = port.index, .station = host});
}

void FlowPauses::left(Port& port, FlowId id, const InputFlow& flow, uint32_t queue_bytes) {
  const PauseId own = port.input.paused.of_flows[id];
  // It is of a paused group only, or its station has moved and another flow is the match's.
  if (own == kNoPause || flow.match != port.input.paused.pauses[own].match()) return;
  look_at_queue(port, own, queue_bytes, turn_.now());
  port.input.paused.wake();
}

void FlowPauses::look_at_queue(Port& port, PauseId id, uint32_t queue_bytes, Nanos now) {
  look_for_calm(port, id, queue_bytes, now);
  if (queues_.unknown_credit(port, id, queue_bytes) >= queues_.marks(port, id).step) port.input.paused.due.enter(id);
}

// Not where frames leave: most are of flows that have no flag, for they have sent nothing since.
void FlowPauses::look_at_groups(Port& port, Nanos now) {
  PausedFlows& paused = port.input.paused;
  look_again(port, now);
  paused.look_at_groups_ns = kNever;
  for (const PausedGroup& group : paused.groups) {
    if (paused.pauses[group.pause].ended()) continue;
    look_at_queue(port, group.pause, queues_.bytes(port, group.pause), now);
    paused.look_at_groups_ns = now + kGroupsNs;
  }
}

void FlowPauses::look_for_calm(Port& port, PauseId id, uint32_t queue_bytes, Nanos now) {
  FlowPause& pause = port.input.paused.pauses[id];
  if (queue_bytes > queues_.marks(port, id).low)
    pause.set_calm_since(kNever);
  else if (pause.calm_since() == kNever)
    pause.set_calm_since(now);
  if (pause.calm_since() != kNever) port.input.paused.calm.enter(id, now);
}

void FlowPauses::tell_all(Port& port, Nanos now) {
  PausedFlows& paused = port.input.paused;
  while (now >= paused.again.next()) {
    const PauseId id = paused.again.take();
    if (paused.pauses[id].number() != 0 && !paused.pauses[id].ended()) tell_again(port, id, now);
  }
  if (now >= paused.look_at_groups_ns) look_at_groups(port, now);
  while (now >= paused.calm.next()) {
    const PauseId id = paused.calm.take();
    FlowPause& pause = paused.pauses[id];
    if (pause.number() == 0 || pause.ended()) continue;
    look_for_calm(port, id, queues_.bytes(port, id), now);
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

// Where nothing has come of a group since the last time, others may keep its queue as long as it may be: the host is
// told of a few frames then, so that it never waits for them alone.
void FlowPauses::tell_again(Port& port, PauseId id, Nanos now) {
  PausedFlows& paused = port.input.paused;
  FlowPause& pause = paused.pauses[id];
  pause.forgive_half();
  if (PausedGroup* group = paused.group_of(id)) {
    groups_.aim(port, *group);
    if (group->received == group->received_before) pause.tell(kSignOfLife * site_.frame_bytes);
    group->received_before = group->received;
  }
  look_for_calm(port, id, queues_.bytes(port, id), now);
  paused.due.enter(id);
  paused.again.enter(id, now);
}

// Its host goes on as it likes, and hears of it.
void FlowPauses::end(Port& port, PauseId id) {
  port.input.paused.pauses[id].end();
  port.input.paused.due.enter(id);
  release(port, id);
}

// A flow that was held by it alone is as any other. Those of a group are when they send next.
void FlowPauses::release(Port& port, PauseId id) {
  PausedFlows& paused = port.input.paused;
  const FlowPause& pause = paused.pauses[id];
  if (pause.match() == kNoMatch) return;
  InputFlow* flow = queues_.flow_of(port, pause);
  if (flow == nullptr || !(flow->flags & kFlowPaused)) return;
  const MatchEntry& match = edge_.matches()[pause.match()];
  paused.of_flows[match.flow] = kNoPause;
  if (!(match.flags & kMatchOfGroup)) flow->flags &= static_cast<uint16_t>(~kFlowPaused);
}

// There is nothing to tell of it any more: its match is as any other.
void FlowPauses::forget(Port& port, PauseId id) {
  const FlowPause& pause = port.input.paused.pauses[id];
  if (!pause.ended()) release(port, id);
  if (pause.match() != kNoMatch) {
    MatchEntry& match = edge_.matches()[pause.match()];
    match.flags = static_cast<uint8_t>(kMatchUsed | (match.flags & kMatchOfGroup));
    match.station_version = edge_.stations().version() - 1;  // its next frame sees where it leads
  }
  port.input.paused.put(id);
}

void FlowPauses::grant(Port& port, PauseId id) {
  FlowPause& pause = port.input.paused.pauses[id];
  pause.came(queues_.received(port, id));
  pause.tell(queues_.unknown_credit(port, id, queues_.bytes(port, id)));
}

// False: there is no packet for it.
bool FlowPauses::tell(Port& port, PauseId id, Nanos now) {
  PausedFlows& paused = port.input.paused;
  FlowPause& pause = paused.pauses[id];
  const uint64_t host = queues_.host(port, id);
  if (!paused.hosts.obeys(host, now)) {  // what it has been told ends with its timer
    forget(port, id);
    paused.due.take();
    return true;
  }
  Packet* packet = control_.make(port);
  if (packet == nullptr) return false;
  paused.due.take();
  packet->flags = 0;
  FgfcPause frame{.flow = queues_.described(port, id), .number = pause.number(), .by = {site_.address, port.index}};
  if (!pause.ended()) {
    grant(port, id);
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

}  // namespace heddle
