// SPDX-License-Identifier: Apache-2.0
// Components of a worker by themselves, with the ports they work on and no node around them. Worker 0 of two has the
// edge ports 0 and 2 and the fabric port 4 of a switch; 1, 3 and 5 are the other's.
#include <gtest/gtest.h>

#include "node/ack_writer.h"
#include "node/crosspoint.h"
#include "node/flow_ids.h"
#include "node/flow_queues.h"
#include "node/port_setup.h"
#include "node/prober.h"
#include "node/room_returns.h"
#include "test_fabric.h"

namespace heddle::test {
namespace {

class Components : public testing::Test {
 protected:
  static Topology description() {
    Topology topology;
    topology.classes.emplace_back();
    topology.classes.emplace_back();
    topology.classes[1].ftag = 1;
    topology.classes[1].lossless = true;
    topology.classes[1].link_retry = false;
    topology.classes[1].pcp_set = 1 << 3;
    topology.lossless_channels = 1;
    const uint16_t node = add_node(topology, 1, 4), other = add_node(topology, 2, 0);
    add_link(topology, node, other);
    add_link(topology, node, other);
    return topology;
  }
  NodeOptions options() {
    NodeOptions options;
    options.topology = &topology_;
    options.node_index = 0;
    options.workers = 2;
    for (uint32_t i = 0; i < 6; ++i) options.devices.push_back(&device_);
    options.complete_checksums.assign(6, false);
    options.pool = options.control_pool = &pool_;
    options.copies_max = 8;
    return options;
  }
  std::vector<Port*> make_ports() {
    std::vector<Port*> ports(6);
    for (PortIndex index : {PortIndex{0}, PortIndex{2}, PortIndex{4}}) {
      made_.push_back(make_port(options_, index));
      ports[index] = made_.back().get();
      for (PortIndex output : {PortIndex{1}, PortIndex{3}, PortIndex{5}})
        ports[index]->input.ids[output].lent.make_room(64);
    }
    return ports;
  }
  Components() {
    outbox_.connect(1, &crossing_);
    outbox_.begin_turn();
    turn_.begin(kMillisecond);
  }
  ~Components() override {
    turn_.flush();
    for (Packet* packet : packets_) pool_.release(&packet, 1);
  }
  Packet* packet(uint16_t payload, uint8_t ftag = 0) {
    Packet* fresh = nullptr;
    pool_.allocate(&fresh, 1);
    fresh->payload = fresh->length = payload;
    fresh->ftag = ftag;
    fresh->cost = 1;
    fresh->hop_limit = 9;
    packets_.push_back(fresh);
    return fresh;
  }
  // A flow of port 0 to port 2, or to another port.
  InputFlow& begin(FlowId& id, PortIndex to = 2, uint8_t ftag = 0) {
    id = edge_.input.flows.take();
    InputFlow& flow = edge_.input.flows[id];
    flow.begin({1, to}, ftag, kNoMatch);
    return flow;
  }
  // Flow `id` waits for an output flow ID.
  void want(FlowId id, PortIndex output) {
    edge_.input.flows[id].branch.output = output;
    edge_.input.flows.push(edge_.input.ids[output].wanting, id);
  }
  std::vector<uint32_t> told() {
    std::vector<uint32_t> items;
    for (const uint32_t item : settlement_.begin_telling()) items.push_back(item);
    return items;
  }

  const Topology topology_ = description();
  HeapPool pool_;
  MemoryDevice device_{pool_};
  const NodeOptions options_ = options();
  std::vector<std::unique_ptr<Port>> made_;
  const Site site_{options_, 0};
  Ports ports_{make_ports()};
  Port& edge_ = ports_.own(0);
  Port& output_ = ports_.own(2);
  Port& fabric_ = ports_.own(4);
  LoadBoard board_{6};
  Turn turn_{site_, pool_};
  Crossing crossing_{64, 64, 64};
  Outbox outbox_{2, {0, 1, 0, 1, 0, 1}};
  PathChoice paths_{topology_, 0, site_.lanes, board_};
  FlowTimers timers_{ports_, kMillisecond};
  ControlFrames control_{pool_};
  AckWriter acks_{site_, control_};
  Settlement settlement_{site_, ports_, turn_};
  Prober prober_{site_, ports_, control_, settlement_, timers_};
  RoomReturns room_{site_, ports_, turn_, outbox_};
  FlowIds flow_ids_{site_, ports_, outbox_, paths_, settlement_};
  CrossPoint crosspoint_{site_, ports_, outbox_, settlement_};
  FlowCredits flow_credits_{site_, turn_, acks_};
  FlowQueues flow_queues_{site_, flow_credits_};
  std::vector<Packet*> packets_;
};

TEST_F(Components, TimersTellInputsFromOutputs) {
  timers_.add_input(0, 7, 5 * kMillisecond);
  timers_.add_output(4, 7, 5 * kMillisecond);
  std::vector<std::pair<PortIndex, FlowId>> inputs, outputs;
  const auto run = [&](Nanos now) {
    timers_.advance(
        now, [&](Port& port, FlowId id) { inputs.emplace_back(port.index, id); },
        [&](Port& port, FlowId id) { outputs.emplace_back(port.index, id); });
  };
  run(4 * kMillisecond);
  EXPECT_TRUE(inputs.empty() && outputs.empty());
  run(6 * kMillisecond);
  EXPECT_EQ(inputs, (std::vector<std::pair<PortIndex, FlowId>>{{PortIndex{0}, FlowId{7}}}));
  EXPECT_EQ(outputs, (std::vector<std::pair<PortIndex, FlowId>>{{PortIndex{4}, FlowId{7}}}));
  EXPECT_EQ(timers_.next_due(), kNever);
}

TEST_F(Components, AnEntryIsToldOnceHoweverOftenItIsMarked) {
  OutputFlow& entry = output_.output.flows[3];
  settlement_.mark(output_, 3, entry);
  settlement_.mark(output_, 3, entry);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(2, 3)});
  EXPECT_TRUE(settlement_.empty());
  entry.flags = 0;
  settlement_.mark(output_, 3, entry);
  EXPECT_EQ(settlement_.marked(), 1u);
}

TEST_F(Components, WhatTheDeviceRefusedHasNothingToTell) {
  for (FlowId id = 1; id <= 4; ++id) settlement_.mark(output_, id, output_.output.flows[id]);
  output_.output.flows[3].pending_ack = 100;
  output_.output.flows[4].flags |= kOutputTell;
  settlement_.unmark_idle(output_, 1);  // the first one was marked before
  EXPECT_EQ(told(), (std::vector<uint32_t>{flow_item(2, 1), flow_item(2, 3), flow_item(2, 4)}));
  EXPECT_FALSE(output_.output.flows[2].flags & kOutputDirty);
}

TEST_F(Components, AnOrphanIsFreeWhenNothingRefersToIt) {
  const FlowId id = output_.output.flows.reserve(InputFlowRef::of(1, 0, 5), 0);
  OutputFlow& entry = output_.output.flows[id];
  entry.queued = 1;
  settlement_.release(output_, id, true);
  EXPECT_EQ(entry.state, OutputFlowState::orphan);
  Packet* lost = packet(100);
  packets_.pop_back();
  lost->output_flow = id;
  lost->input = InputFlowRef::of(1, 0, 5);
  settlement_.drop_at_output(output_, lost, DropReason::link_down);
  EXPECT_EQ(entry.queued, 0u);
  EXPECT_EQ(entry.pending_lost, 100u);
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::orphan) << "it has something to tell still";
  entry.take_pending();
  entry.flags = static_cast<uint16_t>(entry.flags & ~kOutputDirty);
  settlement_.free_if_drained(output_, id, entry);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(output_.output.room.orphans(0), 1u);
}

TEST_F(Components, AFlowQueueRefusesBehindItsMark) {
  FlowId id;
  InputFlow& flow = begin(id);
  const uint32_t mark = topology_.classes[0].flow_queue_bytes;
  Packet* first = packet(1500);
  flow.next_data_flow += mark + 1;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::none) << "an empty queue takes any frame";
  flow_queues_.push(edge_, id, flow, first, 0);
  EXPECT_EQ(edge_.input.queued_packets, 1u);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::flow_queue_full);
  flow.next_data_flow -= 1;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::none);
  edge_.input.queued_packets = site_.settings.input_drop_mark_packets;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::input_full);
  edge_.input.queued_packets = site_.settings.input_drop_mark_packets / 2;
  flow.queued_packets = static_cast<uint16_t>(site_.settings.input_drop_mark_packets / 2);
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::flow_queue_full) << "it leaves others as much";
  flow.destination.node = 2;
  first->hop_limit = 0;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *first), DropReason::hop_limit);
}

TEST_F(Components, ALosslessFlowPastItsMarkPausesItsHostUntilHalfOfIt) {
  FlowId id;
  InputFlow& flow = begin(id, 2, 1);
  const uint32_t mark = topology_.classes[1].flow_queue_bytes;
  for (const uint32_t bytes : {mark, 1000u}) {
    Packet* next = packet(1000, 1);
    flow.next_data_flow += bytes;
    EXPECT_EQ(flow_queues_.refusal(edge_, flow, *next), DropReason::none);
    flow_queues_.push(edge_, id, flow, next, 0);
  }
  EXPECT_EQ(edge_.input.flows_full[1], 1u);
  EXPECT_EQ(edge_.input.lossless_packets, 2u);
  flow.data_flow = flow.next_data_flow - mark / 2 - 1001;
  flow_queues_.take(edge_, flow);
  EXPECT_EQ(edge_.input.flows_full[1], 1u);
  flow.data_flow = flow.next_data_flow - mark / 2 - 1000;
  flow_queues_.take(edge_, flow);
  EXPECT_EQ(edge_.input.flows_full[1], 0u);
  EXPECT_EQ(edge_.input.lossless_packets, 0u);
  edge_.input.lossless_packets = site_.settings.input_drop_mark_packets;
  EXPECT_EQ(flow_queues_.refusal(edge_, flow, *packet(1000, 1)), DropReason::pause_ignored);
}

TEST_F(Components, AnOutputOfThisWorkerGivesAnIdAtOnceUnlessOthersWait) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* first = packet(100);
  first->input = edge_.input.ref.with(id);
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, 2, *first));
  const FlowId own = flow.branch.flow;
  EXPECT_EQ(output_.output.flows[own].input, first->input);
  EXPECT_EQ(flow_ids_.give_back(edge_, flow, false), kNoFlow);
  EXPECT_EQ(output_.output.flows[own].state, OutputFlowState::free);
  EXPECT_EQ(flow.path_epoch, 0u);
  FlowIds::on_want(output_, 1, 1);
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, 2, *first));
  EXPECT_FALSE(flow_ids_.reserve(edge_, flow, 4, *first)) << "its link has no session";
  EXPECT_EQ(flow.path_epoch, 1u);
}

TEST_F(Components, ALentIdGoesToWhoHasWaitedLongestElseItIsKept) {
  FlowId first_id, second_id;
  InputFlow& first = begin(first_id, 1);
  InputFlow& second = begin(second_id, 1);
  want(first_id, 1);
  want(second_id, 1);
  flow_ids_.tell_wants(edge_, 1);
  flow_ids_.tell_wants(edge_, 1);  // they have been told of
  EXPECT_EQ(edge_.input.ids[1].asked, 2u);
  EXPECT_EQ(flow_ids_.granted(edge_, 1, 40), first_id);
  EXPECT_EQ(first.branch.flow, 40);
  EXPECT_EQ(flow_ids_.give_back(edge_, first, false), second_id) << "who waits has it before it goes home";
  EXPECT_EQ(second.branch.flow, 40);
  EXPECT_EQ(flow_ids_.give_back(edge_, second, false), kNoFlow);
  EXPECT_EQ(edge_.input.ids[1].lent.count(), 1u);
  EXPECT_EQ(flow_ids_.granted(edge_, 1, 41), kNoFlow) << "nobody waits any more";
  Packet* next = packet(100);
  ASSERT_TRUE(flow_ids_.reserve(edge_, first, 1, *next));
  EXPECT_EQ(first.branch.flow, 41) << "the one that was used last";
  first.flags |= kFlowLeaving;
  flow_ids_.give_back(edge_, first, false);
  flow_ids_.return_lent(edge_, 1, true);
  EXPECT_EQ(edge_.input.lent_outputs, 0u);
  outbox_.hand_over_all();
  GivenBack pins[4];
  ASSERT_EQ(crossing_.given_back.take(pins, 4), 2u);
  EXPECT_EQ(pins[0].id, 41);
  EXPECT_EQ(pins[1].id, 40);
  Message message;
  ASSERT_EQ(crossing_.messages.take(&message, 1), 1u);
  EXPECT_EQ(std::get<WantIds>(message).flows, 2u);
  EXPECT_EQ(crossing_.messages.take(&message, 1), 0u);
}

TEST_F(Components, WhoWaitedAtAnOutputThatIsDownIsToldOfOnce) {
  FlowId id;
  begin(id, 1);
  want(id, 1);
  flow_ids_.tell_wants(edge_, 1);
  const FlowList waiting = flow_ids_.refused(edge_, 1, 1);
  EXPECT_EQ(waiting.head, id);
  EXPECT_EQ(waiting.count, 1u);
  EXPECT_TRUE(edge_.input.ids[1].wanting.empty());
  EXPECT_EQ(edge_.input.ids[1].asked, 0u);
}

TEST_F(Components, RoomThatComesBackWakesWhoWaitsForIt) {
  Voq& voq = edge_.input.arbiter[2];
  voq.room = 0;
  room_.wait(edge_, voq);
  EXPECT_TRUE(voq.room_blocked);
  room_.apply(edge_, 2, 0, {.room = 0, .held = 0, .copies = 0, .delivered = 9});
  EXPECT_EQ(edge_.input.arbiter.count(), 0u) << "bytes are no room";
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 9u);
  room_.apply(edge_, 2, 0, {.room = 3, .held = 0, .copies = 0, .delivered = 0});
  EXPECT_EQ(voq.room, 3u);
  EXPECT_FALSE(voq.room_blocked);
  EXPECT_EQ(edge_.input.arbiter.count(), 1u);
}

TEST_F(Components, CopiesHaveABudgetThatComesBackWithTheirRoom) {
  EXPECT_TRUE(room_.may_copy(8));
  EXPECT_FALSE(room_.may_copy(9));
  room_.copied(6);
  EXPECT_FALSE(room_.may_copy(3));
  room_.apply(edge_, 2, 0, {.room = 6, .held = 0, .copies = 6, .delivered = 0});
  EXPECT_EQ(room_.copies_out(), 0u);
}

TEST_F(Components, AnOutputHearsOfWaitersWhenTheyHaveChangedByAnEighth) {
  Voq& voq = edge_.input.arbiter[2];
  const auto waiting = [&] { return output_.output.room.waiting(0, 0); };
  room_.tell_waiting(edge_, voq, 16);
  EXPECT_EQ(waiting(), 16u);
  room_.tell_waiting(edge_, voq, 17);
  EXPECT_EQ(waiting(), 16u);
  room_.tell_waiting(edge_, voq, 18);
  EXPECT_EQ(waiting(), 18u);
  room_.tell_waiting(edge_, voq, 0);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(Components, AHoleIsSettledOnceAndToldUpstream) {
  InputFlow& flow = fabric_.input.flows[9];
  flow.next_data_flow = flow.data_flow = flow.ack_flow = 1000;
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1000, 50));
  EXPECT_TRUE(fabric_.input.ack_due.empty());
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1300, 50));
  EXPECT_TRUE(acks_.settle_hole(fabric_, 9, flow, 1200, 60)) << "an older position is a duplicate's";
  EXPECT_EQ(flow.lost_total, 300u);
  EXPECT_EQ(flow.flow_extent(), 0u);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(fabric_.counters.lost_on_wire_bytes, 300u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_FALSE(acks_.settle_hole(fabric_, 9, flow, 1300 + (1u << 30) + 1, 60)) << "more than a link can carry";
  EXPECT_EQ(flow.lost_total, 300u);
}

TEST_F(Components, RecordsWaitForOthersWhileTheLinkIsBusy) {
  EXPECT_EQ(acks_.deadline(fabric_), kNever);
  acks_.mark_due(fabric_, 1, fabric_.input.flows[1], 100);
  acks_.mark_due(fabric_, 1, fabric_.input.flows[1], 900);  // it is listed, since then
  EXPECT_EQ(acks_.deadline(fabric_), 100 + site_.settings.ack_idle_ns);
  Packet* queued = packet(100);
  fabric_.output.scheduler.push(queued);
  EXPECT_EQ(acks_.deadline(fabric_), 100 + site_.settings.ack_hard_ns);
  for (FlowId id = 2; id <= 8; ++id) acks_.mark_due(fabric_, id, fabric_.input.flows[id], 900);
  EXPECT_EQ(acks_.deadline(fabric_), 100 + std::min(site_.settings.ack_busy_ns, site_.settings.ack_hard_ns));
  fabric_.output.scheduler.take(0);
}

TEST_F(Components, AProbeIsSentWhenNothingWasHeardAndLessOftenThen) {
  OutputFlow& entry = fabric_.output.flows[5];
  entry.data_flow = 700;
  const Nanos base = site_.settings.probe_base_ns;
  prober_.arm(4, 5, base);
  prober_.on_timer(fabric_, 5, base - 1);
  EXPECT_EQ(fabric_.output.probes, nullptr) << "too early";
  for (const uint32_t backoff : {1, 2, 3, 3}) {
    prober_.on_timer(fabric_, 5, entry.due_ns);
    EXPECT_EQ(entry.backoff, backoff);
  }
  EXPECT_EQ(fabric_.counters.events[static_cast<unsigned>(ProtocolEvent::probe_sent)], 4u);
  entry.ack_flow = 100;
  const Nanos due = entry.due_ns;
  prober_.on_timer(fabric_, 5, due);
  EXPECT_EQ(entry.backoff, 0u) << "something was heard";
  EXPECT_EQ(entry.due_ns, due + base);
  entry.flags |= kOutputEnded;
  prober_.on_timer(fabric_, 5, entry.due_ns);
  EXPECT_EQ(entry.pending_lost, 600u) << "its session has ended: nothing more will be heard";
  EXPECT_EQ(entry.extent(), 0u);
  prober_.send(fabric_);
  packets_.push_back(fabric_.output.control.pop());
}

TEST_F(Components, APacketThatCrossesPinsItsFlowIdUnlessItsSessionHasEnded) {
  FlowId id;
  InputFlow& flow = begin(id);
  Packet* first = packet(100);
  first->input = edge_.input.ref.with(id);
  first->dies_ns = 50;
  ASSERT_TRUE(flow_ids_.reserve(edge_, flow, 2, *first));
  first->output_flow = flow.branch.flow;
  flow.congestion = 5;
  crosspoint_.cross(edge_, 2, first, &flow, 1000);
  OutputFlow& entry = output_.output.flows[flow.branch.flow];
  EXPECT_EQ(entry.queued, 1u);
  EXPECT_EQ(entry.told, 5u);
  EXPECT_EQ(first->dies_ns, 1050u) << "K8: its life begins here";
  EXPECT_EQ(output_.output.scheduler.take(0), first);
  entry.flags |= kOutputEnded;
  Packet* late = packet(100);
  packets_.pop_back();
  late->input = first->input;
  late->output_flow = first->output_flow;
  crosspoint_.cross(edge_, 2, late, &flow, 1000);
  EXPECT_TRUE(output_.output.scheduler.empty());
  EXPECT_EQ(output_.counters.drops[static_cast<unsigned>(DropReason::link_down)], 1u);
}

TEST_F(Components, TheFirstPacketOfAFlowOnALentIdSaysSo) {
  FlowId id;
  InputFlow& flow = begin(id, 1);
  for (const bool first : {true, false}) {
    Packet* next = packet(100);
    flow.data_flow += 100;
    crosspoint_.cross(edge_, 1, next, &flow, 0);
    outbox_.hand_over_all();
    CrossingPacket crossing{};
    ASSERT_EQ(crossing_.data.take(&crossing, 1), 1u);
    EXPECT_EQ(crossing.first, first);
  }
}

static_assert(!std::is_assignable_v<OwnedFlowState&, FlowState>, "a flow's state is FlowLife's");

}  // namespace
}  // namespace heddle::test
