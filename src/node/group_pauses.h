// SPDX-License-Identifier: Apache-2.0
// Which flows of an edge port are of a group of applications whose host is told how much of it all it may send (G1):
// many short queues may fill the port's buffers as one long one does, and no flow of them reaches its mark. Finds such
// groups and flags their flows, and matches, which are written here; what is told of them is FlowPauses' to say.
#pragma once

#include "ingress/edge_input.h"
#include "node/port.h"
#include "node/site.h"

namespace heddle {

class GroupPauses {
 public:
  GroupPauses(const Site& site, EdgeInput& edge) : site_(site), edge_(edge) {}

  // Has the group more than its part of the port's buffers, or of the frames that may wait for flow IDs? That is less
  // for each of several groups, and never so much that the host is paused, or frames of the group are dropped.
  bool is_full(const Port& port, uint8_t group, bool lossless) const;
  // Bytes that wait of it; of those without a flow ID, at most.
  uint32_t queue_bytes(const Port& port, uint8_t group) const;
  // How long its queue may be, as frames are now and others leave it room.
  void aim(const Port& port, PausedGroup& group) const;
  // Pauses of the same group, of which each is told of a part.
  uint32_t sharers(const Port& port, const PausedGroup& group) const;
  // The paused group that a match is of, or would be once its host is told; its pause may have ended. nullptr if there
  // is none and no more may be, or if its host can't be told what it is.
  PausedGroup* enter(Port& port, uint32_t match) const;
  // Is the match of a paused group? Both flags follow.
  HEDDLE_COLD void sort(Port& port, uint32_t match) const;
  // Is a match of that group, while its host is told of it?
  bool has(const Port& port, const PausedGroup& group, uint32_t match) const;

 private:
  static constexpr uint32_t kFramesMin = 16;  // of the longest, may wait of any group

  uint32_t packets(const Port& port, bool lossless) const;
  uint32_t most_packets(bool lossless) const;
  uint64_t host_of(uint32_t match) const { return load_mac(edge_.matches().key_at(match).macs + 6); }
  FgfcFlow described(const Port& port, uint32_t match, uint8_t fields) const {
    return fgfc_flow(edge_.matches().key_at(match), fields, port.settings.vlans.native);
  }

  const Site& site_;
  EdgeInput& edge_;
};

}  // namespace heddle
