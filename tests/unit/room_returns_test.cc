// SPDX-License-Identifier: Apache-2.0
#include "component_fixture.h"

namespace heddle::test::room_returns_test {
namespace {

class RoomReturnsTest : public ComponentTest {
 protected:
  // A packet of that input port has left the output.
  void left(PortIndex input, uint16_t cost, Port& output) {
    Packet gone{};
    gone.input = InputFlowRef::of(1, input, 7);
    gone.cost = cost;
    output.output.room.returns_for(gone).add(gone);
  }
  // Copies of the edge port in so many buffers, which are all that it may have at the output.
  void copies_leave(uint16_t cost) {
    voq_.copy_room = 0;
    room_.copied(cost);
    Packet* copy = packet(100);
    copy->input = edge_.input.ref;
    copy->flags |= kPacketCopy;
    copy->cost = cost;
    output_.output.room.returns_for(*copy).add(*copy);
  }
  uint32_t waiting(PortIndex input = kEdge) const { return output_.output.scheduler.waiting(input, 0); }

  Voq& voq_ = edge_.input.arbiter[site_.voq_index(kOutput, 0)];
};

TEST_F(RoomReturnsTest, RoomThatComesBackWakesWhoWaitsForIt) {
  voq_.room = 0;
  room_.wait(edge_, voq_);
  EXPECT_TRUE(voq_.room_blocked);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::room_blocked), 1u);
  room_.apply(edge_, kOutput, 0, {.room = 0, .held = 0, .copy_room = 0, .copies = 0, .delivered = 9});
  EXPECT_EQ(edge_.input.arbiter.count(), 0u) << "bytes are no room";
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 9u);
  room_.apply(edge_, kOutput, 0, {.room = 3, .held = 0, .copy_room = 0, .copies = 0, .delivered = 0});
  EXPECT_EQ(voq_.room, 3u);
  EXPECT_FALSE(voq_.room_blocked);
  ASSERT_EQ(edge_.input.arbiter.count(), 1u);
  EXPECT_EQ(edge_.input.arbiter.begin_turn(), site_.voq_index(kOutput, 0));
  room_.apply(edge_, kOutput, 0, {.room = 3, .held = 0, .copy_room = 0, .copies = 0, .delivered = 0});
  EXPECT_EQ(edge_.input.arbiter.count(), 0u) << "nobody waits";
}

TEST_F(RoomReturnsTest, CreditComesBackToTheChannelItCameIn) {
  const LaneIndex lane = site_.lanes.of(kLossless, kFirstLosslessChannel);
  for (const uint8_t channel : {kLossyChannel, kFirstLosslessChannel}) fabric_.credits[channel].received(9, false);
  room_.apply(fabric_, kOutput, lane, {.room = 0, .held = 4, .copy_room = 0, .copies = 0, .delivered = 0});
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].held(), 5u);
  room_.apply(fabric_, kOutput, 0, {.room = 0, .held = 2, .copy_room = 0, .copies = 0, .delivered = 0});
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 7u);
}

TEST_F(RoomReturnsTest, CopiesHaveABudgetThatComesBackWithTheirRoom) {
  const uint16_t room = voq_.room, of_copies = voq_.copy_room;
  EXPECT_TRUE(room_.may_copy(8));
  EXPECT_FALSE(room_.may_copy(9));
  room_.copied(6);
  EXPECT_FALSE(room_.may_copy(3));
  room_.apply(edge_, kOutput, 0, {.room = 0, .held = 0, .copy_room = 6, .copies = 6, .delivered = 0});
  EXPECT_EQ(room_.copies_out(), 0u);
  EXPECT_EQ(voq_.copy_room, of_copies + 6);
  EXPECT_EQ(voq_.room, room) << "flows have their own";
}

TEST_F(RoomReturnsTest, AnOutputHereHearsOfEachWaiter) {
  for (const uint32_t flows : {16u, 17u, 0u}) {
    room_.tell_waiting(edge_, voq_, flows);
    EXPECT_EQ(waiting(), flows);
    EXPECT_EQ(voq_.told_waiters, flows);
  }
}

TEST_F(RoomReturnsTest, AnotherWorkersHearsWhenTheyAreASixteenthMoreOrAnEighthFewer) {
  Voq& other = edge_.input.arbiter[site_.voq_index(kOther, 0)];
  const auto told = [this, &other](uint32_t flows) {
    room_.tell_waiting(edge_, other, flows);
    return other.told_waiters;
  };
  EXPECT_EQ(told(30), 30u);
  EXPECT_EQ(told(31), 30u);
  EXPECT_EQ(told(32), 32u);
  EXPECT_EQ(told(29), 32u);
  EXPECT_EQ(told(28), 28u) << "also when they are fewer";
  EXPECT_EQ(told(0), 0u) << "and that there are none";
  EXPECT_EQ(messages().size(), 4u);
}

TEST_F(RoomReturnsTest, WhoWaitsAreFlowsAndFifos) {
  for (FlowId flow = 1; flow <= 5; ++flow) edge_.input.arbiter.push(site_.voq_index(kOutput, 0), flow);
  for (const LaneIndex fifo : {LaneIndex::of(0), LaneIndex::of(2)})
    edge_.input.arbiter.push_fifo(site_.voq_index(kOutput, 0), fifo);
  room_.wait(edge_, voq_);
  EXPECT_EQ(waiting(), 7u);
}

TEST_F(RoomReturnsTest, TheOtherWorkersOutputHearsOfWaitersByMessage) {
  Voq& other = edge_.input.arbiter[site_.voq_index(kOther, 0)];
  room_.tell_waiting(edge_, other, 3);
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  const auto wait = std::get<WaitForRoom>(told[0]);
  EXPECT_EQ(wait.output, kOther);
  EXPECT_EQ(wait.input, kEdge);
  EXPECT_EQ(wait.flows, 3u);
  EXPECT_EQ(other.told_waiters, 3u);
  fill_messages();
  room_.tell_waiting(edge_, other, 0);
  EXPECT_EQ(other.told_waiters, 3u);
  EXPECT_EQ(edge_.input.arbiter.count(), 1u) << "it is said later";
}

TEST_F(RoomReturnsTest, WhatHasLeftComesBackToItsInput) {
  voq_.room = 10;
  left(kEdge, 4, output_);
  left(kOther, 5, output_);
  room_.send();
  EXPECT_EQ(voq_.room, 14u);
  std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  const auto give = std::get<GiveReturns>(told[0]);
  EXPECT_EQ(give.input, kOther);
  EXPECT_EQ(give.output, kOutput);
  EXPECT_EQ(give.returns.room, 5u);
  EXPECT_EQ(output_.output.room.due(), 0u);
  room_.send();
  EXPECT_EQ(voq_.room, 14u) << "once";
  EXPECT_FALSE(turn_.busy());
}

TEST_F(RoomReturnsTest, WhatAFullRingDoesNotTakeComesNextTurn) {
  left(kOther, 5, output_);
  output_.output.room.orphan_freed(kOther);
  fill_messages();
  room_.send();
  EXPECT_TRUE(turn_.busy());
  EXPECT_EQ(output_.output.room.due(), PortSet{1} << kOther);
  while (!messages().empty()) {
  }
  turn_.begin(2 * kMillisecond);
  room_.send();
  EXPECT_FALSE(turn_.busy());
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(std::get<OrphansFreed>(told[0]).count, 1u);
  EXPECT_EQ(std::get<GiveReturns>(told[1]).returns.room, 5u);
}

TEST_F(RoomReturnsTest, OrphansThatAreFreeAreTakenOffTheirQuota) {
  poke(edge_.input.orphans, 3);
  output_.output.room.orphan_freed(kEdge);
  output_.output.room.orphan_freed(kEdge);
  room_.send();
  EXPECT_EQ(edge_.input.orphans, 1u);
  room_.send();
  EXPECT_EQ(edge_.input.orphans, 1u) << "once";
}

// X3: two of the largest frames can always cross.
TEST_F(RoomReturnsTest, WhileOthersWaitAnInputGetsNoMoreThanItsShare) {
  const uint32_t all = crossing_room(site_.settings, false);
  RoomReturns::on_wait(output_, kFabric, 0, 1000);
  voq_.room = 0;
  left(kEdge, static_cast<uint16_t>(all), output_);
  room_.send();
  EXPECT_EQ(voq_.room, all) << "the queue has run empty, so it is not room that is short";
  output_.output.scheduler.push(packet(100));
  voq_.room = 0;
  left(kEdge, static_cast<uint16_t>(all), output_);
  room_.send();
  const uint64_t least = 2 * site_.frame_buffers;
  ASSERT_LT(least, all);
  EXPECT_EQ(voq_.room, least) << "one flow of a thousand";
  RoomReturns::on_wait(output_, kEdge, 0, 500);
  room_.send();
  EXPECT_EQ(voq_.room, all / 2) << "half as many as the one with most";
  RoomReturns::on_wait(output_, kFabric, 0, 0);
  RoomReturns::on_wait(output_, kEdge, 0, 0);
  room_.send();
  EXPECT_EQ(voq_.room, all) << "nobody waits any more";
}

// Else they would stand there before its flows' frames. The budget of all comes back at once.
TEST_F(RoomReturnsTest, NorMoreOfItForCopies) {
  const uint16_t all = copy_room(site_.settings);
  RoomReturns::on_wait(output_, kFabric, 0, 1000);
  RoomReturns::on_wait(output_, kEdge, 0, 1);
  output_.output.scheduler.push(packet(100));
  copies_leave(all);
  room_.send();
  EXPECT_EQ(voq_.copy_room, 2 * site_.frame_buffers);
  EXPECT_EQ(room_.copies_out(), 0u);
  RoomReturns::on_wait(output_, kFabric, 0, 0);
  room_.send();
  EXPECT_EQ(voq_.copy_room, all);
}

// It asks all hosts for one while none of its flows waits.
TEST_F(RoomReturnsTest, CopiesOfAnInputWithoutFlowsHaveAllTheirRoom) {
  const uint16_t all = copy_room(site_.settings);
  RoomReturns::on_wait(output_, kFabric, 0, 1000);
  output_.output.scheduler.push(packet(100));
  copies_leave(all);
  room_.send();
  EXPECT_EQ(voq_.copy_room, all);
}

TEST_F(RoomReturnsTest, WhereFramesCrossAtOnceThereIsTwiceTheRoom) {
  const uint32_t all = crossing_room(site_.settings, true);
  ASSERT_GT(all, crossing_room(site_.settings, false));
  RoomReturns::on_wait(output_, kFabric, 0, 1000);
  output_.output.scheduler.push(packet(100));
  left(kOther, static_cast<uint16_t>(all), output_);
  room_.send();
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<GiveReturns>(told[0]).returns.room, 2 * site_.frame_buffers);
}

}  // namespace
}  // namespace heddle::test::room_returns_test
