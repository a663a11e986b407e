// SPDX-License-Identifier: Apache-2.0
// Who crosses next from one input port (A10, X1). Its virtual output queues take turns, and in each queue its flows do,
// by bytes (deficit round robin): a flow goes on until its share of a turn, one of the largest frames, is used up, and
// what its last packet took beyond that is missing in its next one. A value: it knows which flows are ready for which
// output, no packets, no worker, no time. To look who is next changes nothing (A4): that flow goes with commit(),
// leaves with set_aside(), or stands where it was. Owned by the input port's worker. The flows' links are the flow
// table's, which outlives it.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "flow/input_flow.h"
#include "topology/lanes.h"
#include "wire/packet.h"
#include "wire/port_bytes.h"

namespace heddle {

// Virtual output queue (X1): flows of one input port that have packets for one lane of one output port.
class Voq {
 public:
  // --- what it is, set once ---
  PortIndex output = kNoPort;
  LaneIndex lane = 0;
  PortBytes bytes{};     // what frames count as at that port
  uint8_t came_in = 0;   // virtual channel that its packets came in: the same turn leads from there to the lane's (R5)
  bool at_once = false;  // frames may cross at once, without a flow
  bool shares_credit = false;  // its packets take credit of a lossless channel: no flow takes it all (C8)

  // --- room at the output (node/room_returns.h) ---
  bool room_blocked = false;
  uint16_t room = 0;          // buffers that may still cross
  uint16_t told_waiters = 0;  // flows that wait for room, as the output was told last (X3)

  const FlowList& ready() const { return ready_; }  // have packets and an output flow ID
  LaneSet fifos() const { return fifos_; }          // fifos of no-flow frames whose first one is for here
  bool anything_left() const { return !ready_.empty() || fifos_ != 0; }
  uint32_t waiting() const { return ready_.count + static_cast<uint32_t>(std::popcount(fifos_)); }
  // A packet is about to cross.
  void take_lane(Packet& packet) {
    packet.lane = lane;
    room = static_cast<uint16_t>(room - packet.cost);
  }

 private:
  friend class InputArbiter;
  FlowList ready_;
  LaneSet fifos_ = 0;
  VoqIndex next_ = 0;  // in the list of those to be served
  bool listed_ = false;
  uint64_t woken_ = 0;  // its place among all that woke
};

class InputArbiter {
 public:
  InputArbiter(InputFlowTable& flows, size_t queues) : flows_(flows), queues_(queues) {}

  InputArbiter(const InputArbiter&) = delete;
  InputArbiter& operator=(const InputArbiter&) = delete;

  Voq& operator[](VoqIndex queue) { return queues_[queue]; }
  const Voq& operator[](VoqIndex queue) const { return queues_[queue]; }
  size_t size() const { return queues_.size(); }
  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }

  // The flow has packets and an output flow ID: behind those that wait there already.
  void push(VoqIndex queue, FlowId flow) {
    join(queues_[queue], flow);
    wake(queue);
  }
  // A fifo's first frame is for there. It has crossed.
  void push_fifo(VoqIndex queue, LaneIndex fifo) {
    queues_[queue].fifos_ |= LaneSet{1} << fifo;
    wake(queue);
  }
  void take_fifo(VoqIndex queue, LaneIndex fifo) { queues_[queue].fifos_ &= ~(LaneSet{1} << fifo); }
  // The queue gets its turn: it has room again, or something is left to say of it.
  void wake(VoqIndex queue) {
    Voq& voq = queues_[queue];
    if (voq.listed_) return;
    voq.listed_ = true;
    voq.woken_ = (*order_)++;
    if (count_++ == 0)
      first_ = queue;
    else
      queues_[last_].next_ = queue;
    last_ = queue;
  }

  // The ports of a worker count their queues together as they wake, so that who woke first can be told.
  void share_order(uint64_t& order) { order_ = &order; }
  // Of the first queue; there is one.
  uint64_t woken() const { return queues_[first_].woken_; }

  // Queues that are to have a turn.
  uint32_t count() const { return count_; }
  // The one that has waited longest has it now; there is one. Whatever wakes it from here on is for another turn.
  VoqIndex begin_turn() {
    const VoqIndex queue = first_;
    first_ = queues_[queue].next_;
    queues_[queue].listed_ = false;
    --count_;
    return queue;
  }

  // The flow whose packet goes next of that queue; kNoFlow if none is ready.
  FlowId peek(VoqIndex queue) const { return queues_[queue].ready_.head; }
  // One of its packets goes, which counts as so many bytes. Has it more of them? Then it goes on, or waits behind the
  // others for its next turn.
  void commit(VoqIndex queue, bool more, uint32_t bytes) {
    Voq& voq = queues_[queue];
    Branch& branch = flows_[voq.ready_.head].branch;
    branch.left_bytes = static_cast<int16_t>(branch.left_bytes - static_cast<int32_t>(bytes));
    if (more && branch.left_bytes > 0) return;
    const FlowId flow = flows_.pop(voq.ready_);
    if (more) join(voq, flow);
  }
  // It is not ready after all: push() brings it back.
  void set_aside(VoqIndex queue) { flows_.pop(queues_[queue].ready_); }

  // The port's session has ended: nobody waits any more.
  void clear() {
    for (Voq& voq : queues_) {
      voq.ready_ = {};
      voq.fifos_ = 0;
    }
  }

 private:
  // Behind the others, with its share of a turn.
  void join(Voq& voq, FlowId flow) {
    Branch& branch = flows_[flow].branch;
    branch.left_bytes =
        static_cast<int16_t>(std::min<int32_t>(branch.left_bytes, 0) + static_cast<int32_t>(voq.bytes.largest));
    flows_.push(voq.ready_, flow);
  }

  InputFlowTable& flows_;
  std::vector<Voq> queues_;  // by lane and output port
  VoqIndex first_ = 0, last_ = 0;
  uint32_t count_ = 0;
  uint64_t own_order_ = 0;
  uint64_t* order_ = &own_order_;
};

}  // namespace heddle
