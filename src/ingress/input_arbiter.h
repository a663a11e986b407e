// SPDX-License-Identifier: Apache-2.0
// Who crosses next from one input port (A3, A10, X1). Its virtual output queues take turns, and in each queue three
// levels do, by bytes (deficit round robin): injection limit IDs, each ID's groups of applications, each group's flows.
// So an output is shared by application, not by number of flows. A flow goes on until its share of a turn, one of the
// largest frames, is used up, a group and an ID until as many as they have weight; what the last packet took beyond
// that is missing in their next turn. Fabric ports have one group, for all that is on its way (A10). A value: it knows
// which flows are ready for which output, no packets, no worker, no time. To look who is next changes nothing (A4):
// that flow goes with commit(), leaves with set_aside(), or stands where it was. Whatever is asked of it costs the same
// however many flows, groups and IDs there are. Owned by the input port's worker. The flows' links are the flow
// table's, which outlives it, as the policy does.
//
// An injection limit ID that is at its limit (A6) has no turns at queues towards the fabric; its groups and flows stand
// there as they did (A4). Queues that have met its limit stand in line for it, so that what an acknowledgement frees
// goes to them by turns: as long as anybody stands there, only who has the ID's turn may send of it, for one turn of
// its own. Who has no room when the turn comes keeps it until it has, with a packet's bytes that are promised to it,
// and the next one has a turn, too: else those who have room at all times would have all of the ID. IDs get their turns
// in rotation, so that where the port's limit is short no ID is always the first.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "flow/input_flow.h"
#include "ingress/injection_limits.h"
#include "topology/application_policy.h"
#include "topology/lanes.h"
#include "wire/packet.h"
#include "wire/port_bytes.h"

namespace heddle {

class RoomReturns;  // node/room_returns.h

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
  bool leads_in = false;       // from a host into the fabric

  // --- of the policy ---
  bool injects = false;  // it leads in, and there are injection limits: they hold (A6). InputArbiter

  // --- room at the output (node/room_returns.h) ---
  Owned<bool, RoomReturns> room_blocked;
  uint16_t room = 0;                          // buffers that may still cross
  uint16_t copy_room = 0;                     // of copies, beside them
  Owned<uint16_t, RoomReturns> told_waiters;  // flows that wait for room, as the output was told last (X3)

  uint32_t ready() const { return ready_; }  // flows that have packets and an output flow ID
  LaneSet fifos() const { return fifos_; }   // fifos of no-flow frames whose first one is for here
  uint32_t waiting() const { return ready_ + static_cast<uint32_t>(std::popcount(fifos_)); }
  // A packet is about to cross.
  void take_lane(Packet& packet) {
    packet.lane = lane;
    room = static_cast<uint16_t>(room - packet.cost);
  }
  void take_lane_of_copy(Packet& copy) {
    copy.lane = lane;
    copy_room = static_cast<uint16_t>(copy_room - copy.cost);
  }

 private:
  friend class InputArbiter;
  uint32_t ready_ = 0;
  LaneSet fifos_ = 0;
  uint16_t limits_ = 0;    // bit i: injection limit ID i has groups with ready flows
  uint16_t in_line_ = 0;   // bit i: stands in line for ID i, whose limit it has met
  uint16_t turns_ = 0;     // bit i: has a turn of ID i, for which others may stand in line, and has not used it
  uint16_t given_ = 0;     // of those, which it has got since it was last asked
  uint16_t promised_ = 0;  // of those, which are for when it has room
  uint8_t limit_ = 0;      // whose turn it is
  bool listed_ = false;
  VoqIndex next_ = 0;   // in the list of those to be served
  uint64_t woken_ = 0;  // its place among all that woke
};

class InputArbiter {
 public:
  // Where the policy knows of no applications all flows are of group 0. begin_policy() is to be called again once what
  // the queues are has been set: how many groups there are is asked before.
  InputArbiter(InputFlowTable& flows, size_t queues, const ApplicationPolicy& policy)
      : flows_(flows), policy_(policy), queues_(queues), injection_(policy) {
    begin_policy();
  }

  InputArbiter(const InputArbiter&) = delete;
  InputArbiter& operator=(const InputArbiter&) = delete;

  Voq& operator[](VoqIndex queue) { return queues_[queue]; }
  const Voq& operator[](VoqIndex queue) const { return queues_[queue]; }
  size_t size() const { return queues_.size(); }
  auto begin() { return queues_.begin(); }
  auto end() { return queues_.end(); }
  auto begin() const { return queues_.begin(); }
  auto end() const { return queues_.end(); }

  // The flow has packets and an output flow ID: behind those of its group that wait there already.
  void push(VoqIndex queue, FlowId flow) {
    join(queue, flow);
    ++queues_[queue].ready_;
    wake(queue);
  }
  // A fifo's first frame is for there. It has crossed.
  void push_fifo(VoqIndex queue, LaneIndex fifo) {
    queues_[queue].fifos_ |= LaneSet{1} << fifo;
    wake(queue);
  }
  void take_fifo(VoqIndex queue, LaneIndex fifo) { queues_[queue].fifos_ &= ~(LaneSet{1} << fifo); }
  // The queue gets a turn: it has room again, or something is left to say of it.
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
    used_ = 0;
    if (queues_[queue].promised_ != 0) keep_promises(queue, queues_[queue].promised_);
    return queue;
  }

  // Its turn is over. Unless it is room that it waits for it has another one, if there is anything that may go. True if
  // it stands in line now for an ID that is at its limit.
  bool end_turn(VoqIndex queue, bool has_room) {
    Voq& voq = queues_[queue];
    bool waits = false;
    if (voq.injects && (injection_.contended() | (voq.limits_ & ~injection_.open())) != 0)
      waits = stand_in_line(queue, has_room);
    if (has_room && (voq.fifos_ != 0 || eligible(queue) != 0)) wake(queue);
    return waits;
  }

  // The flow whose packet goes next of that queue; kNoFlow if none is ready that may.
  FlowId peek(VoqIndex queue) const {
    if (eligible(queue) == 0) return kNoFlow;
    return group_at(queue, limit_at(queue, next_limit(queue)).first).flows.head;
  }
  // One of its packets goes, which counts as so many bytes. Has it more of them?
  void commit(VoqIndex queue, bool more, uint32_t bytes) {
    const uint8_t index = next_limit(queue);
    Limit& limit = limit_at(queue, index);
    if (queues_[queue].limit_ != index || limit.left_bytes <= 0) begin_limit(queue, index);
    Group& group = group_at(queue, limit.first);
    const auto count = static_cast<int32_t>(bytes);
    limit.left_bytes -= count;
    group.left_bytes -= count;
    used_ = static_cast<uint16_t>(used_ | 1u << index);
    if (queues_[queue].injects) last_used_ = index;
    if (limit.left_bytes <= 0) queues_[queue].turns_ = static_cast<uint16_t>(queues_[queue].turns_ & ~(1u << index));
    Branch& branch = flows_[group.flows.head].branch;
    branch.left_bytes = static_cast<int16_t>(branch.left_bytes - count);
    if (!more || branch.left_bytes <= 0) {
      const FlowId flow = flows_.pop(group.flows);
      if (more)
        join(queue, flow, group);
      else
        --queues_[queue].ready_;
    }
    if (group.flows.empty() || group.left_bytes <= 0) end_group(queue, index);
  }
  // It is not ready after all: push() brings it back.
  void set_aside(VoqIndex queue) {
    const uint8_t index = next_limit(queue);
    Group& group = group_at(queue, limit_at(queue, index).first);
    flows_.pop(group.flows);
    --queues_[queue].ready_;
    if (group.flows.empty()) end_group(queue, index);
  }

  // --- injection limits (A6, A7), of queues towards the fabric ---
  // What packets of the group count as that go by this queue, from when it is chosen until they are settled.
  uint8_t injects_as(const Voq& queue, uint8_t group) const {
    return queue.injects ? static_cast<uint8_t>(limit_of(group) + 1) : kInjectsNothing;
  }
  // May a packet that counts as that pass the queue by, as far as limits go?
  bool may_inject(uint8_t as) const { return injection_.may_inject(as); }
  // So many of its bytes have been handed on; so many are settled. It counts as something.
  void inject(uint8_t as, uint32_t bytes) { injection_.inject(as, bytes); }
  void settle(uint8_t as, uint32_t bytes) {
    if (!usually(!injection_.settle(as, bytes))) pass_turns();
  }
  bool closed(uint8_t group) const { return injection_.closed(limit_of(group)); }  // by a limit of 0
  const InjectionLimits& injection() const { return injection_; }
  // Bit i: the queue has a turn of ID i for when it has room, and the bytes of a largest packet.
  uint16_t promised(VoqIndex queue) const { return queues_[queue].promised_; }
  // Is it its limit that a flow of the group waits for there?
  bool at_limit(VoqIndex queue, uint8_t group) const {
    return queues_[queue].injects && !(eligible(queue) >> limit_of(group) & 1);
  }

  // The policy holds from now on; nobody stands anywhere.
  void begin_policy() {
    groups_of_queue_ = policy_.configured ? kGroups : 1;
    limits_of_queue_ = policy_.configured ? kLimitIds : 1;
    groups_.assign(queues_.size() * groups_of_queue_, Group{});
    limits_.assign(queues_.size() * limits_of_queue_, Limit{});
    for (Voq& voq : queues_) voq.injects = voq.leads_in && policy_.limits_injection();
    for (uint32_t group = 0; group < kGroups; ++group) limit_ids_[group] = policy_.groups[group].limit;
    injection_ = InjectionLimits(policy_);
  }
  // A9: the policy is another one. Nobody stands anywhere any more, and nothing is injected: those that were ready, by
  // queue, are to come back, and what is injected is to be told again.
  std::vector<FlowList> take_all() {
    std::vector<FlowList> all(queues_.size());
    for (VoqIndex queue = 0; queue < queues_.size(); ++queue) {
      Voq& voq = queues_[queue];
      for (uint32_t group = 0; group < groups_of_queue_ && voq.ready_ != 0; ++group)
        for (FlowList& flows = group_at(queue, static_cast<uint8_t>(group)).flows; !flows.empty(); --voq.ready_)
          flows_.push(all[queue], flows_.pop(flows));
      voq.limits_ = voq.in_line_ = voq.turns_ = voq.given_ = voq.promised_ = 0;
    }
    lines_ = {};
    given_ = 0;
    begin_policy();
    return all;
  }

  // The port's session has ended: nobody waits any more. Of fabric ports, which have no limits.
  void clear() {
    for (Voq& voq : queues_) {
      voq.ready_ = 0;
      voq.fifos_ = 0;
      voq.limits_ = 0;
    }
    std::fill(groups_.begin(), groups_.end(), Group{});
    std::fill(limits_.begin(), limits_.end(), Limit{});
  }

  // Those that are ready of a group; of any group where there are none (telemetry, checkers).
  const FlowList& ready(VoqIndex queue, uint8_t group) const {
    return group_at(queue, groups_of_queue_ == 1 ? uint8_t{0} : group).flows;
  }
  uint32_t groups() const { return groups_of_queue_; }

 private:
  static constexpr uint8_t kNobody = 0xff;
  static constexpr VoqIndex kNoQueue = 0xffff;

  struct Group {
    FlowList flows;          // ready ones; none: it stands in no list
    int32_t left_bytes = 0;  // of its turn; below 0, what it took too much
    uint8_t next = kNobody;  // in its ID's list
  };
  // An injection limit ID: its groups that have ready flows, the one whose turn it is first.
  struct Limit {
    int32_t left_bytes = 0;
    uint8_t first = kNobody, last = kNobody;
    VoqIndex next_in_line = 0;  // the queue behind this one for the ID
  };
  // Queues that stand in line for an ID.
  struct Line {
    VoqIndex first = kNoQueue, last = kNoQueue;
    bool empty() const { return first == kNoQueue; }
  };

  Group& group_at(VoqIndex queue, uint8_t group) { return groups_[queue * groups_of_queue_ + group]; }
  const Group& group_at(VoqIndex queue, uint8_t group) const { return groups_[queue * groups_of_queue_ + group]; }
  Limit& limit_at(VoqIndex queue, uint8_t limit) { return limits_[queue * limits_of_queue_ + limit]; }
  const Limit& limit_at(VoqIndex queue, uint8_t limit) const { return limits_[queue * limits_of_queue_ + limit]; }

  uint8_t limit_of(uint8_t group) const { return limit_ids_[group]; }

  // IDs that have ready flows there and may send.
  uint16_t eligible(VoqIndex queue) const {
    const Voq& voq = queues_[queue];
    if (!voq.injects) return voq.limits_;
    return static_cast<uint16_t>(voq.limits_ & injection_.open() & (voq.turns_ | ~injection_.contended()));
  }
  // The ID whose turn it is, or the next one that may send; there is one.
  uint8_t next_limit(VoqIndex queue) const {
    const Voq& voq = queues_[queue];
    const uint16_t limits = eligible(queue);
    if ((limits >> voq.limit_ & 1) && limit_at(queue, voq.limit_).left_bytes > 0) return voq.limit_;
    const auto later = static_cast<uint16_t>(limits & ~((2u << voq.limit_) - 1));
    return static_cast<uint8_t>(std::countr_zero(later != 0 ? later : limits));
  }
  void begin_limit(VoqIndex queue, uint8_t index) {
    Voq& voq = queues_[queue];
    voq.limit_ = index;
    refill(limit_at(queue, index).left_bytes, policy_.limits[index].weight * voq.bytes.largest);
  }
  static void refill(int32_t& left_bytes, uint32_t share) {
    left_bytes = begin_share(left_bytes, static_cast<int32_t>(share));
  }

  void join(VoqIndex queue, FlowId flow) {
    const uint8_t index = groups_of_queue_ == 1 ? uint8_t{0} : flows_[flow].group;
    Group& group = group_at(queue, index);
    const bool listed = !group.flows.empty();
    join(queue, flow, group);
    if (!listed) list(queue, index, group);
  }
  // Behind the others of its group, with its share of a turn.
  void join(VoqIndex queue, FlowId flow, Group& group) {
    Branch& branch = flows_[flow].branch;
    int32_t left_bytes = branch.left_bytes;
    refill(left_bytes, queues_[queue].bytes.largest);
    branch.left_bytes = static_cast<int16_t>(left_bytes);
    flows_.push(group.flows, flow);
  }
  // Behind the others of its ID, with its share of a turn.
  void list(VoqIndex queue, uint8_t index, Group& group) {
    const uint8_t id = limits_of_queue_ == 1 ? uint8_t{0} : limit_of(index);
    Voq& voq = queues_[queue];
    Limit& limit = limit_at(queue, id);
    refill(group.left_bytes, policy_.groups[index].weight * voq.bytes.largest);
    group.next = kNobody;
    (limit.first == kNobody ? limit.first : group_at(queue, limit.last).next) = index;
    limit.last = index;
    if (voq.limits_ >> id & 1) return;
    voq.limits_ = static_cast<uint16_t>(voq.limits_ | 1u << id);
    if (voq.injects) injection_.waits(id);
  }
  // The turn of an ID's first group is over, or none of its flows is ready any more.
  void end_group(VoqIndex queue, uint8_t id) {
    Limit& limit = limit_at(queue, id);
    const uint8_t index = limit.first;
    Group& group = group_at(queue, index);
    limit.first = group.next;
    if (!group.flows.empty()) return list(queue, index, group);
    if (limit.first != kNobody) return;
    Voq& voq = queues_[queue];
    voq.limits_ = static_cast<uint16_t>(voq.limits_ & ~(1u << id));
    if (voq.injects) injection_.waits_no_more(id);
  }

  // The turns of the queue's IDs that it had are over. It stands in line for those that it has more for, if they are at
  // their limit or others wait for them; not while it could do nothing with a turn.
  HEDDLE_COLD bool stand_in_line(VoqIndex queue, bool has_room) {
    Voq& voq = queues_[queue];
    given_ = static_cast<uint16_t>(given_ & ~voq.given_);
    voq.given_ = 0;
    voq.turns_ = static_cast<uint16_t>(voq.turns_ & voq.limits_ & ~used_);
    const bool had_room = has_room || used_ != 0;
    const uint16_t open = injection_.open();
    const auto wanted = static_cast<uint16_t>(voq.limits_ & (injection_.contended() | ~open) & ~voq.in_line_);
    for (uint16_t rest = had_room ? wanted : uint16_t{0}; rest != 0; rest = static_cast<uint16_t>(rest & (rest - 1))) {
      const auto id = static_cast<uint8_t>(std::countr_zero(rest));
      if (!has_room && (voq.turns_ >> id & 1)) continue;
      line_up(queue, id, (voq.turns_ >> id & 1) != 0);
    }
    if (!has_room && voq.turns_ != 0) promise(queue);
    pass_turns();
    return had_room && (wanted & ~open) != 0;
  }
  // The turns that it has are for when it has room. One that it can't be promised is lost; it may stand in line again.
  void promise(VoqIndex queue) {
    Voq& voq = queues_[queue];
    for (uint16_t rest = voq.turns_; rest != 0; rest = static_cast<uint16_t>(rest & (rest - 1))) {
      const auto id = static_cast<uint8_t>(std::countr_zero(rest));
      const auto bit = static_cast<uint16_t>(1u << id);
      if ((injection_.open() & bit) && injection_.promise(id, voq.bytes.largest))
        voq.promised_ = static_cast<uint16_t>(voq.promised_ | bit);
      else
        voq.turns_ = static_cast<uint16_t>(voq.turns_ & ~bit);
    }
  }
  void keep_promises(VoqIndex queue, uint16_t ids) {
    Voq& voq = queues_[queue];
    voq.promised_ = static_cast<uint16_t>(voq.promised_ & ~ids);
    for (uint16_t rest = ids; rest != 0; rest = static_cast<uint16_t>(rest & (rest - 1)))
      injection_.keep_promise(static_cast<uint8_t>(std::countr_zero(rest)), voq.bytes.largest);
  }
  void line_up(VoqIndex queue, uint8_t id, bool first) {
    const auto bit = static_cast<uint16_t>(1u << id);
    Voq& voq = queues_[queue];
    Line& line = lines_[id];
    limit_at(queue, id).next_in_line = first ? line.first : kNoQueue;
    if (line.empty())
      line.first = line.last = queue;
    else if (first)
      line.first = queue;
    else
      line.last = limit_at(line.last, id).next_in_line = queue;
    voq.turns_ = static_cast<uint16_t>(voq.turns_ & ~bit);
    voq.in_line_ = static_cast<uint16_t>(voq.in_line_ | bit);
    injection_.set_contended(static_cast<uint16_t>(injection_.contended() | bit));
  }
  // Whoever is first in line for an ID that is open, and whose turn nobody has, has it now.
  HEDDLE_COLD void pass_turns() {
    const auto to_give = static_cast<uint16_t>(injection_.contended() & ~given_);
    const auto up_to_last = static_cast<uint16_t>((2u << last_used_) - 1);
    give_turns(static_cast<uint16_t>(to_give & ~up_to_last));
    give_turns(static_cast<uint16_t>(to_give & up_to_last));
  }
  void give_turns(uint16_t to_give) {
    for (uint16_t rest = to_give; rest != 0; rest = static_cast<uint16_t>(rest & (rest - 1))) {
      const int id = std::countr_zero(rest);
      const auto bit = static_cast<uint16_t>(1u << id);
      Line& line = lines_[id];
      if (line.empty()) {
        injection_.set_contended(static_cast<uint16_t>(injection_.contended() & ~bit));
      } else if (injection_.open() & bit) {
        const VoqIndex queue = line.first;
        Voq& voq = queues_[queue];
        line.first = limit_at(queue, static_cast<uint8_t>(id)).next_in_line;
        voq.in_line_ = static_cast<uint16_t>(voq.in_line_ & ~bit);
        voq.turns_ = static_cast<uint16_t>(voq.turns_ | bit);
        voq.given_ = static_cast<uint16_t>(voq.given_ | bit);
        given_ = static_cast<uint16_t>(given_ | bit);
        wake(queue);
      }
    }
  }

  InputFlowTable& flows_;
  const ApplicationPolicy& policy_;
  uint32_t groups_of_queue_ = 1, limits_of_queue_ = 1;
  std::vector<Voq> queues_;    // by lane and output port
  std::vector<Group> groups_;  // by queue and group
  std::vector<Limit> limits_;  // by queue and injection limit ID
  InjectionLimits injection_;
  std::array<uint8_t, kGroups> limit_ids_{};  // by group, the policy's
  std::array<Line, kNoLimitId> lines_{};      // by injection limit ID
  uint16_t given_ = 0;                        // bit i: somebody has got the turn of ID i, and has not been asked yet
  uint16_t used_ = 0;                         // bit i: the queue whose turn it is has sent of ID i
  uint8_t last_used_ = 0;                     // the ID that was last sent of towards the fabric
  VoqIndex first_ = 0, last_ = 0;
  uint32_t count_ = 0;
  uint64_t own_order_ = 0;
  uint64_t* order_ = &own_order_;
};

}  // namespace heddle
