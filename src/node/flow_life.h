// SPDX-License-Identifier: Apache-2.0
// Where an input flow with packets stands, from its first packet to its end (F9): the only writer of its state. A flow
// with a queue is in one list or is woken by what it waits for: an output flow ID, room, credit, its share of a
// congested host, the end of a hold.
#pragma once

#include "ingress/edge_input.h"
#include "node/ack_writer.h"
#include "node/flow_ids.h"
#include "node/flow_limits.h"
#include "node/flow_queues.h"
#include "node/flow_timers.h"
#include "node/flow_ways.h"
#include "node/ports.h"
#include "node/turn.h"
#include "wire/inlining.h"

namespace heddle {

class FlowLife {
 public:
  FlowLife(Ports& ports, Turn& turn, EdgeInput& edge, FlowWays& ways, AckWriter& acks, FlowIds& flow_ids,
           FlowLimits& flow_limits, FlowQueues& flow_queues, FlowTimers& holds, FlowTimers& releases)
      : ports_(ports),
        turn_(turn),
        edge_(edge),
        ways_(ways),
        acks_(acks),
        flow_ids_(flow_ids),
        flow_limits_(flow_limits),
        flow_queues_(flow_queues),
        holds_(holds),
        releases_(releases) {}

  // A flow with a queue and in no list: where does it stand? Of kNoFlow, which is nobody's turn: nothing.
  void place(Port& port, FlowId id) {
    if (id != kNoFlow) place_flow(port, id);
  }
  // R6: it goes on after a rest, by the port it has unless another one is less loaded: then it has no ID any more.
  void choose_anew(Port& port, InputFlow& flow, const Packet& packet);
  // The last packet of its queue has been taken.
  void ran_empty(InputFlow& flow) { flow.state = FlowState::idle; }
  // K9: the session of its port has ended. It has no place any more, nor anything outstanding; its packets are dropped
  // next.
  void end(Port& port, InputFlow& flow);
  // A frame of the flow that never goes on: settled here, as lost (K4).
  HEDDLE_COLD void drop_from_flow(Port& port, FlowId id, Packet* packet, DropReason reason);
  // The flow may have come to its end: with nothing queued and nothing outstanding it has (F9).
  void finish_if_empty(Port& port, FlowId id, InputFlow& flow);
  // E1: nothing of the flow moves before `until`.
  HEDDLE_COLD void hold_for(Port& port, FlowId id, Nanos until);
  // The flow has packets and stands in no list.
  HEDDLE_COLD void block(Port& port, FlowId id, InputFlow& flow, Nanos now);
  // Bytes of an input flow are settled downstream. Of an ended session: absorbed (K9).
  void on_ack(Port& port, Epoch epoch, FlowId id, uint32_t acknowledged, uint32_t lost, bool path_ended, Nanos now);
  // The same for a flow that is_plain(), of the session that is, all of whose bytes have been delivered; `output` is
  // where it goes, and flows of its input may rest there (FlowIds::may_rest()).
  void on_plain_ack(Port& port, bool in_transit, FlowId id, InputFlow& flow, Port& output, uint32_t acknowledged,
                    Nanos now) {
    settle(port, in_transit, id, flow, acknowledged, 0, now);
    if (usually(flow.flow_extent() == 0)) FlowIds::enter_rest(port, in_transit, id, output, flow.branch.flow);
  }
  // A flow of another node's begins here with this frame (F3).
  [[gnu::noinline]] static void begin_transit(Port& port, FlowId id, InputFlow& flow, const Packet& packet) {
    flow.begin(packet.destination, packet.ftag, kNoMatch);
    if (packet.via != 0) port.input.flows.steer(id, packet.via);
    port.counters.count(ProtocolEvent::flow_created);
  }
  // An ID names one flow while anything of it is left (invariant 4): is a frame that comes in with it of this one? Its
  // path changes only at extent zero, so a lossless one comes in one virtual channel. (FabricReceive::run_express() and
  // Express::take() ask the same of frames that go by no node.)
  static bool is_of(const Port& port, const InputFlow& flow, const Packet& packet) {
    return flow.destination == packet.destination && flow.ftag == packet.ftag &&
           (((flow.flags & kFlowDetour) | packet.via) == 0 || port.input.flows.via(packet.input.flow) == packet.via) &&
           (packet.vc == kLossyChannel || !channel_changed(port, flow, packet.vc));
  }
  // Its level has been told by the hop below, or by its output here (C3). Of an ended session: nothing.
  HEDDLE_COLD void on_congestion(Port& port, Epoch epoch, FlowId id, uint8_t congestion, Nanos now);
  // `granted`: bytes that the flow may hand on since it has its output flow ID.
  HEDDLE_COLD void on_credit(Port& port, Epoch epoch, FlowId id, bool metered, uint32_t granted, Nanos now);
  // K11: an output flow ID for whoever waits longest.
  void on_grant(Port& port, PortIndex output, uint8_t channel, FlowId id);
  // The output's link is down: all flows that wait for it take another way, or are dropped.
  void on_refuse(Port& input, PortIndex output, uint8_t channel, uint32_t flows);
  // E1: the pair's flooded frames have died; its first flow may move.
  HEDDLE_COLD void on_timer(Port& port, FlowId id, Nanos now);
  // C5: flows whose time has come are looked at again.
  void run_releases(Nanos now);
  // K11: flows at rest end until the output has an ID for the input port in that channel, if it can have one; false
  // if it can't. The longest at rest first, also where its ID turns out to be kept for others.
  [[gnu::noinline]] bool reclaim(Port& output, PortIndex input, uint8_t channel);
  // One ends that the edge port has; false if there is none.
  [[gnu::noinline]] bool reclaim(Port& port);
  // What the flow at rest stood for is over.
  HEDDLE_COLD void end_rest(Port& port, FlowId id, InputFlow& flow);
  // Of all.
  HEDDLE_COLD void end_all_rest();
  // R12: after a change of routes, flows whose port no longer lies on a shortest path leave it, each when its extent is
  // zero, so that order is kept.
  void leave_stale_paths();
  // K8: frames die in transit also while their flow waits for a flow ID. So lossy flows, whose paths may form a ring,
  // do not wait for each other's IDs for ever; lossless ones wait in none (K11).
  HEDDLE_COLD void age_waiting(Nanos now);
  // The next age_waiting() that has something to do, if anything of the port waits.
  Nanos next_wake(const Port& port) const {
    const bool waits = port.input.lent_outputs != 0 || (port.is_fabric() && port.input.wanting_outputs != 0);
    return waits ? next_age_ns_ : kNever;
  }

 private:
  // Its output flow ID goes to whoever has waited for it longest, who is to be placed, or home: kNoFlow, and so always
  // of a flow that leaves its path, so that placing one never places another. The flow goes on without.
  FlowId unbind(Port& port, InputFlow& flow) {
    const FlowId next = flow_ids_.give_back(port, flow, false);
    flow.flags &= static_cast<uint16_t>(~kFlowOfItsId);
    return next;
  }
  HEDDLE_COLD static bool channel_changed(const Port& port, const InputFlow& flow, uint8_t channel) {
    if (!flow.queue.empty()) return flow.queue.head->vc != channel;
    return flow.branch.output() != kNoPort && port.input.arbiter[flow.branch.voq].came_in != channel;
  }
  // So many of its bytes are settled, and some of them lost; not none.
  void settle(Port& port, bool in_transit, FlowId id, InputFlow& flow, uint32_t acknowledged, uint32_t lost,
              Nanos now) {
    flow.ack_flow += acknowledged;
    flow.lost_total += lost;
    if (in_transit) return acks_.mark_due(port, id, flow, now);
    port.counters.acknowledged_bytes += acknowledged - lost;
    if (flow.branch.injects != kInjectsNothing) port.input.arbiter.settle(flow.branch.injects, acknowledged);
    if (lost != 0 && flow.match != kNoMatch) [[unlikely]]
      edge_.matches()[flow.match].lose(lost, DropReason::none);
  }
  [[gnu::noinline]] void place_flow(Port& port, FlowId id);
  static void make_ready(Port& port, FlowId id, InputFlow& flow) {
    flow.state = FlowState::ready;
    port.input.arbiter.push(flow.branch.voq, id);
  }
  [[gnu::noinline]] void route(Port& port, FlowId id);
  HEDDLE_COLD void drop_queue(Port& port, FlowId id, DropReason reason);
  void finish(Port& port, FlowId id, InputFlow& flow);
  void leave(Port& port, FlowId id, InputFlow& flow);
  HEDDLE_COLD void set_hold(Port& port, FlowId id, Nanos until);
  void unblock(Port& port, FlowId id, InputFlow& flow, Nanos now);
  HEDDLE_COLD void drop_expired_frames(Port& port, FlowId id, Nanos now);

  Ports& ports_;
  Turn& turn_;
  EdgeInput& edge_;
  FlowWays& ways_;
  AckWriter& acks_;
  FlowIds& flow_ids_;
  FlowLimits& flow_limits_;
  FlowQueues& flow_queues_;
  FlowTimers& holds_;
  FlowTimers& releases_;
  Nanos next_age_ns_ = 0;
};

}  // namespace heddle
