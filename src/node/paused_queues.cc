// SPDX-License-Identifier: Apache-2.0
#include "node/paused_queues.h"

namespace heddle {

InputFlow* PausedQueues::flow_of(Port& port, const FlowPause& pause) const {
  return port.input.flows.of_match(edge_.matches()[pause.match()].flow, pause.match());
}

// What the queue has room for up to its target. Frames that wait for a flow ID have come, and are in no flow's queue.
uint32_t PausedQueues::unknown_credit(Port& port, PauseId id, uint32_t queue_bytes) const {
  const FlowPause& pause = port.input.paused.pauses[id];
  const PausedGroup* group = port.input.paused.group_of(id);
  if (group == nullptr && edge_.matches()[pause.match()].waiting != 0) return 0;
  const uint32_t credit = pause.unknown_credit(received(port, id) - queue_bytes, marks(port, id));
  return group == nullptr ? credit : credit / groups_.sharers(port, *group);
}

FgfcFlow PausedQueues::described(Port& port, PauseId id) const {
  if (const PausedGroup* group = port.input.paused.group_of(id)) return group->flow;
  const MatchKey& key = edge_.matches().key_at(port.input.paused.pauses[id].match());
  return fgfc_flow(key, fgfc_fields(site_.classes.of(key.ftag).match), port.settings.vlans.native);
}

uint32_t PausedQueues::received(Port& port, PauseId id) const {
  if (const PausedGroup* group = port.input.paused.group_of(id)) return group->received;
  return edge_.matches()[port.input.paused.pauses[id].match()].bytes;
}

uint32_t PausedQueues::bytes(Port& port, PauseId id) const {
  if (const PausedGroup* group = port.input.paused.group_of(id)) return groups_.queue_bytes(port, group->group);
  const InputFlow* flow = flow_of(port, port.input.paused.pauses[id]);
  return flow != nullptr ? flow->queue_extent() : 0;
}

PauseMarks PausedQueues::marks(Port& port, PauseId id) const {
  if (const PausedGroup* group = port.input.paused.group_of(id)) return PauseMarks(2 * group->target);
  return marks(edge_.matches()[port.input.paused.pauses[id].match()].ftag);
}

uint64_t PausedQueues::host(Port& port, PauseId id) const {
  if (const PausedGroup* group = port.input.paused.group_of(id)) return group->host;
  return load_mac(edge_.matches().key_at(port.input.paused.pauses[id].match()).macs + 6);
}

}  // namespace heddle
