// SPDX-License-Identifier: Apache-2.0
// What a pause is about (G1): the queue of a flow, or those of all flows of a group together. Reads what others count,
// in bytes of original frames, and writes nothing; FlowPauses asks, of pauses that are in use.
#pragma once

#include "node/group_pauses.h"

namespace heddle {

class PausedQueues {
 public:
  PausedQueues(const Site& site, EdgeInput& edge, const GroupPauses& groups)
      : site_(site), edge_(edge), groups_(groups) {}

  // As its host is told, which is `host`'s MAC address.
  FgfcFlow described(Port& port, PauseId id) const;
  uint64_t host(Port& port, PauseId id) const;
  // Position: bytes that have come of it. A group's: since its host was told first.
  uint32_t received(Port& port, PauseId id) const;
  // That wait.
  uint32_t bytes(Port& port, PauseId id) const;
  PauseMarks marks(Port& port, PauseId id) const;
  PauseMarks marks(uint8_t ftag) const { return PauseMarks(site_.classes.of(ftag).flow_queue_bytes); }
  // Bytes that the host may send, with `queue_bytes` waiting, and does not know of.
  uint32_t unknown_credit(Port& port, PauseId id, uint32_t queue_bytes) const;
  // A flow's: the one that its match has now, if it has one.
  InputFlow* flow_of(Port& port, const FlowPause& pause) const;

 private:
  const Site& site_;
  EdgeInput& edge_;
  const GroupPauses& groups_;
};

}  // namespace heddle
