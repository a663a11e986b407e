// SPDX-License-Identifier: Apache-2.0
#include "node/arbitration.h"

#include <utility>

#include "flow_fixture.h"

namespace heddle::test::arbitration_test {
namespace {

class ArbitrationTest : public FlowTest {
 protected:
  // Frames of a flow of port 0 to port 2, which find no room there and wait.
  InputFlow& waiting(FlowId& id, uint32_t frames = 1, uint16_t payload = 100) {
    InputFlow& flow = begin(id);
    const uint16_t room = voq_.room;
    voq_.room = 0;
    for (uint32_t i = 0; i < frames; ++i) {
      Packet* next = packet(payload);
      next->destination = flow.destination;
      next->dies_ns = kSecond;
      admission_.admit(edge_, id, flow, next, turn_.now());
    }
    voq_.room = room;
    return flow;
  }
  uint32_t crossed() const { return output_.output.scheduler.packets(); }
  void run() { arbitration_.run(turn_.now()); }

  Voq& voq_ = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
  Arbitration arbitration_{ports_,     shares_,    flow_ids_, flow_limits_, flow_queues_,
                           flow_life_, admission_, fifos_,    room_};
};

TEST_F(ArbitrationTest, NobodyHasATurnWhereNothingWaits) {
  EXPECT_FALSE(arbitration_.work_left());
  run();
  EXPECT_EQ(crossed(), 0u);
}

TEST_F(ArbitrationTest, WhatWaitsCrossesAndTheQueueIsOver) {
  FlowId id;
  const InputFlow& flow = waiting(id, 3);
  EXPECT_EQ(flow.queued_packets, 3u);
  EXPECT_TRUE(arbitration_.work_left());
  const uint32_t room = voq_.room;
  run();
  EXPECT_EQ(crossed(), 3u);
  EXPECT_EQ(voq_.room, room - 3);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(flow.state, FlowState::idle);
  EXPECT_FALSE(arbitration_.work_left());
}

TEST_F(ArbitrationTest, AQueueWithoutRoomWaitsForIt) {
  FlowId id;
  const InputFlow& flow = waiting(id, 3);
  voq_.room = 2;
  run();
  EXPECT_EQ(crossed(), 2u);
  EXPECT_EQ(flow.queued_packets, 1u);
  EXPECT_TRUE(voq_.room_blocked);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::room_blocked), 1u);
  EXPECT_FALSE(arbitration_.work_left()) << "room wakes it";
  run();
  EXPECT_EQ(crossed(), 2u);
  Returns returns;
  returns.room = 1;
  room_.apply(edge_, kOutput, 0, returns);
  EXPECT_TRUE(arbitration_.work_left());
  run();
  EXPECT_EQ(crossed(), 3u);
}

TEST_F(ArbitrationTest, AQueueHasSoMuchOfATurn) {
  FlowId id;
  waiting(id, 2 * kBurst + 5);
  voq_.room = 200;
  run();
  EXPECT_EQ(crossed(), 2 * kBurst);
  EXPECT_TRUE(arbitration_.work_left());
  run();
  EXPECT_EQ(crossed(), 2 * kBurst + 5);
}

TEST_F(ArbitrationTest, WhoIsHeldToItsShareIsInNobodysWay) {
  FlowId held, free;
  InputFlow& held_flow = waiting(held);
  held_flow.flags |= kFlowMetered;
  held_flow.data_flow = held_flow.ack_flow + 100;  // something is under way, which brings credit
  held_flow.next_data_flow = held_flow.data_flow + 100;
  edge_.input.meters[held].set_limit(held_flow.data_flow);
  const InputFlow& free_flow = waiting(free);
  run();
  EXPECT_EQ(crossed(), 1u);
  EXPECT_EQ(free_flow.queue_extent(), 0u);
  EXPECT_EQ(held_flow.queued_packets, 1u);
  EXPECT_EQ(held_flow.state, FlowState::blocked);
}

TEST_F(ArbitrationTest, AFlowThatLeavesIsPlacedAnew) {
  FlowId id;
  InputFlow& flow = waiting(id);
  flow.flags |= kFlowLeaving;
  run();
  EXPECT_FALSE(flow.flags & kFlowLeaving);
  EXPECT_EQ(crossed(), 1u) << "with nothing under way it may take any path";
}

// F11: lossless frames without a flow wait one behind the other, and have their turn with the queue.
TEST_F(ArbitrationTest, FramesWithoutAFlowCrossWithTheQueueOfTheirLane) {
  const LaneIndex lane = site_.lanes.of(kLossless, kFirstLosslessChannel);
  const VoqIndex queue = site_.voq_index(kOutput, lane);
  Voq& voq = edge_.input.arbiter[queue];
  voq.room = 0;
  for (int i = 0; i < 2; ++i) {
    Packet* frame = packet(100, kLossless);
    frame->destination = {1, kOutput};
    frame->input = edge_.input.ref;
    fifos_.receive(edge_, frame, turn_.now());
  }
  EXPECT_EQ(crossed(), 0u);
  voq.room = 1;
  edge_.input.arbiter.wake(queue);
  run();
  EXPECT_EQ(crossed(), 1u);
  run();
  EXPECT_EQ(crossed(), 1u);
  EXPECT_FALSE(arbitration_.work_left()) << "there is no room";
  Returns returns;
  returns.room = 1;
  room_.apply(edge_, kOutput, lane, returns);
  run();
  EXPECT_EQ(crossed(), 2u);
  FlowId id;
  waiting(id);
  run();
  EXPECT_EQ(crossed(), 3u) << "a queue of flows needs no frame without one";
}

// Of several ports, too: what woke first has its packets first at an output.
TEST_F(ArbitrationTest, QueuesHaveTheirTurnsInTheOrderInWhichTheyWoke) {
  FlowId id;
  waiting(id);
  const FlowId other = fabric_.input.flows.take();
  InputFlow& flow = fabric_.input.flows[other];
  flow.begin({1, kOutput}, kLossy, kNoMatch);
  Voq& there = fabric_.input.arbiter[site_.voq_index(kOutput, 0)];
  const uint16_t room = std::exchange(there.room, uint16_t{0});
  Packet* next = packet(300);
  next->destination = flow.destination;
  next->dies_ns = kSecond;
  admission_.admit(fabric_, other, flow, next, turn_.now());
  there.room = room;
  edge_.input.arbiter.begin_turn();  // the edge port's queue wakes again, behind the other one
  edge_.input.arbiter.end_turn(site_.voq_index(kOutput, 0), true);
  run();
  struct Taker {
    void begin(const OutputScheduler::Turn&) {}
    Packet* take(OutputScheduler::Turn& turn) { return turn.take(); }
  } taker;
  Packet* burst[kBurst];
  ASSERT_EQ(output_.output.scheduler.fill(burst, 0, kBurst, ~LaneSet{0}, turn_.now(), taker), 2u);
  EXPECT_EQ(burst[0]->payload, 300u);
  EXPECT_EQ(burst[1]->payload, 100u);
  pool_.release(burst, 2);
}

TEST_F(ArbitrationTest, ItsOutputIsToldThatNothingWaitsForRoomAnyMore) {
  FlowId id;
  waiting(id, 2);
  voq_.room = 1;
  run();
  EXPECT_NE(voq_.told_waiters, 0u);
  Returns returns;
  returns.room = 1;
  room_.apply(edge_, kOutput, 0, returns);
  run();
  EXPECT_EQ(voq_.told_waiters, 0u);
}

}  // namespace
}  // namespace heddle::test::arbitration_test
