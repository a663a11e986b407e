// SPDX-License-Identifier: Apache-2.0
// Bytes that are settled at an output, delivered or lost, and that the input flow is to hear of (decision 5): entries
// are listed once, and what is settled of them merges until the next turn tells it (ack_relay.h). Also the end of an
// entry's life: free once nothing refers to it. In bytes of original frames. Called by whoever drops or sends a frame
// at an output of its worker, or hears of one. Nothing of it fails: the list has a place for each flow ID.
#pragma once

#include <utility>

#include "flow/bounded_list.h"
#include "node/flow_timers.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class Settlement {
 public:
  Settlement(const Site& site, const Ports& ports, Turn& turn)
      : turn_(turn), dirty_(ports.size() * site.settings.flow_ids), telling_(ports.size() * site.settings.flow_ids) {}

  // A frame that crossed and was never stamped: this side settles it (K4). It is in no queue; its room goes back.
  HEDDLE_COLD void drop_at_output(Port& output, Packet* packet, DropReason reason);
  // K8: those that wait there to be sent, and have waited for their life. In the port's turn to send, where its device
  // has no room, or a rate or a pause holds them back: others are asked for their life as they leave.
  HEDDLE_COLD void drop_expired(Port& output, Nanos now);
  // K9: what was under way on a path that has ended counts as lost; `by`: why it waits no longer. By Prober when its
  // time is over, by EndedPaths when the neighbour says that none is left.
  HEDDLE_COLD void settle_ended(Port& output, FlowId id, OutputFlow& entry, ProtocolEvent by);
  // The input flow lets the entry go; `counted`: as an orphan of its ended session (K9). By FlowIds, or by Messages for
  // another worker's.
  void release(Port& output, FlowId id, bool counted);
  // An entry that its input flow has let go is free once nothing refers to it any more.
  void free_if_drained(Port& output, FlowId id, OutputFlow& entry);
  // K4: both ends compute where a flow ID's positions start in a session. When it begins, of free entries; of the
  // others once they are free.
  void start_positions(Port& port, FlowId id);
  // Something of the entry is to be told; it is listed once.
  void mark(Port& output, FlowId id, OutputFlow& entry) {
    if (entry.flags & kOutputDirty) return;
    entry.flags |= kOutputDirty;
    dirty_.push_back(flow_item(output.index, id));
  }
  // C2, C3: the input flow is to hear of its destination's congestion, with what is settled or by itself.
  void tell_congestion(Port& output, FlowId id, OutputFlow& entry, uint8_t congestion) {
    entry.congestion = congestion;
    entry.flags |= kOutputTell;
    mark(output, id, entry);
  }
  // If that is news.
  void note_congestion(Port& output, FlowId id, OutputFlow& entry, uint8_t congestion) {
    if (congestion != entry.told || congestion != entry.congestion) tell_congestion(output, id, entry, congestion);
  }
  // May its input flow be told of what is settled at once? Else that waits its turn behind what does already.
  static bool nothing_waits(const OutputFlow& entry) {
    return entry.state == OutputFlowState::reserved && !(entry.flags & kOutputDirty);
  }
  // It knows so much of it.
  static void congestion_known(OutputFlow& entry, uint8_t congestion) { entry.told = congestion; }
  bool empty() const { return dirty_.empty(); }
  // Entries marked since the last telling, as flow_item(); what is marked while they are told is for the next one. By
  // AckRelay, once a turn, which clears kOutputDirty of each.
  const BoundedList<uint32_t>& begin_telling() {
    std::swap(dirty_, telling_);
    dirty_.clear();
    return telling_;
  }

 private:
  Turn& turn_;
  BoundedList<uint32_t> dirty_;    // output flows with something to tell
  BoundedList<uint32_t> telling_;  // those of the turn before, while they are being told
};

}  // namespace heddle
