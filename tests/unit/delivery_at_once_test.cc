// SPDX-License-Identifier: Apache-2.0
#include "node/delivery_at_once.h"

#include "flow_fixture.h"

namespace heddle::test::delivery_at_once_test {
namespace {

class DeliveryAtOnceTest : public FlowTest {
 protected:
  static constexpr PortIndex kBeside = 3;                                       // another one of the other worker
  static constexpr FlowId kFlow = 9;                                            // of the fabric port
  const uint32_t kLongest = output_.settings.mtu_bytes + kEthernetHeaderBytes;  // frame for its host

  // A match of port 0 whose station has been looked up.
  MatchEntry& match(uint32_t index, PortIndex to = kOutput, uint8_t ftag = kLossy) {
    MatchEntry& entry = edge_input_.matches()[index];
    entry.destination = {1, to};
    entry.ftag = ftag;
    entry.flags = kMatchUsed | (ports_.is_own(to) ? kMatchNear : kMatchBeside);
    entry.station_version = edge_input_.stations().version();
    return entry;
  }
  // A host's frame with a match, as edge input has read it.
  Packet* of_host(uint32_t number, uint32_t index, size_t length = 100) {
    Packet* fresh = numbered(number, edge_, length);
    fresh->ftag = index == kNotFound ? kLossy : edge_input_.matches()[index].ftag;
    fresh->dies_ns = kMillisecond;
    return fresh;
  }
  // A burst of port 0 goes through both passes; which of it are left.
  std::vector<uint32_t> pass(std::vector<Packet*> burst, const std::vector<uint32_t>& found) {
    const auto count = static_cast<uint32_t>(burst.size());
    at_once_.deliver(edge_, burst.data(), found.data(), count, turn_.now());
    at_once_.cross(edge_, burst.data(), found.data(), count, turn_.now());
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < count; ++i) {
      if (burst[i] == nullptr) continue;
      left.push_back(i);
      turn_.discard(burst[i]);
    }
    return left;
  }
  std::vector<uint32_t> pass(const std::vector<uint32_t>& found) {
    std::vector<Packet*> burst;
    for (const uint32_t index : found) burst.push_back(of_host(static_cast<uint32_t>(burst.size()), index));
    return pass(burst, found);
  }
  bool passes(uint32_t index) { return pass(std::vector<uint32_t>{index}).empty(); }
  // From a host of the other worker, of such a length.
  Packet* from_beside(uint32_t number, size_t length = 100) {
    Packet* fresh = numbered(number, output_, length);
    fresh->input = InputFlowRef::of(1, kOther, kNoFlow);
    fresh->flags = kPacketAtOnce;
    fresh->dies_ns = turn_.now() + 1;
    return fresh;
  }
  // Over the fabric, for port 2, at its last hop; it holds a buffer.
  Packet* from_fabric(uint32_t number, size_t length = 100) {
    Packet* fresh = numbered(number, fabric_, length);
    fresh->input.flow = kFlow;
    fresh->destination = {1, kOutput};
    fresh->flags = kPacketFabric;
    fresh->dies_ns = turn_.now() + 1;
    prepend_fabric_header(*fresh);
    fabric_.credits[kLossyChannel].received(1, false);
    return fresh;
  }
  bool gather(Packet* packet) { return at_once_.gather_from_fabric(fabric_, kFlow, flow_, packet, turn_.now()); }
  const Packet* queued() const { return first_queued(output_.output); }
  const Returns& returns() const { return output_.output.room.returns(kOther, 0); }

  InputFlow& flow_ = fabric_.input.flows[kFlow];
  const PortCounters& counters_ = output_.counters;
  Voq& beside_ = edge_.input.arbiter[site_.voq_index(kOther, 0)];
};

using Numbers = std::vector<uint32_t>;

// --- of a host, to one of the same worker ---

TEST_F(DeliveryAtOnceTest, FramesForAnIdleHostAreDelivered) {
  const MatchEntry& entry = match(3);
  EXPECT_EQ(pass({3, 3, 3}), Numbers{});
  EXPECT_EQ(delivered(), (Numbers{0, 1, 2}));
  EXPECT_EQ(entry.bytes, 300u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 300u);
  EXPECT_EQ(counters_.sent_frames, 3u);
  EXPECT_EQ(counters_.sent_bytes, 300u);
  EXPECT_EQ(counters_.delivered_frames, 3u);
  EXPECT_EQ(counters_.delivered_bytes, 300u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::delivered_at_once), 3u);
  EXPECT_EQ(output_.output.taken_bytes, 300u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flow_created), 0u);
}

TEST_F(DeliveryAtOnceTest, TheOthersOfABurstStayInTheirPlace) {
  match(3);
  match(4, kOther);
  EXPECT_EQ(pass({kNotFound, 3, 4, 3, kNotFound}), (Numbers{0, 2, 4}));
  EXPECT_EQ(delivered(), (Numbers{1, 3}));
}

TEST_F(DeliveryAtOnceTest, NothingIsDeliveredByAMatchThatIsNotCurrent) {
  match(3).flooded_ns = 1;
  EXPECT_FALSE(passes(3));
  match(4).station_version -= 1;
  EXPECT_FALSE(passes(4));
}

TEST_F(DeliveryAtOnceTest, NothingOvertakesItsFlow) {
  ++match(3).waiting;
  EXPECT_FALSE(passes(3));
  MatchEntry& entry = match(4);
  FlowId id;
  begin(id).match = 4;
  entry.flow = id;
  EXPECT_FALSE(passes(4));
  match(5).flow = id;
  EXPECT_TRUE(passes(5)) << "the flow is another match's";
}

TEST_F(DeliveryAtOnceTest, NothingGoesBackToItsPort) {
  match(3, kEdge);
  EXPECT_FALSE(passes(3));
}

TEST_F(DeliveryAtOnceTest, NothingOvertakesWhoWaitsForTheOutput) {
  match(3);
  match(4, kOutput, kUncontrolled);
  FlowId id;
  begin(id);
  edge_.input.arbiter.push(site_.voq_index(kOutput, 0), id);
  EXPECT_EQ(pass({3, 4, 3}), (Numbers{0, 2})) << "those of its class, that is";
}

TEST_F(DeliveryAtOnceTest, AnOutputWithSomethingToDoTakesNothingAtOnce) {
  match(3);
  OutputSide& output = output_.output;
  poke(output.paused_lanes, 1);
  EXPECT_FALSE(passes(3)) << "its host has asked to wait";
  poke(output.paused_lanes, 0);
  output.wanted.add(0, kLossyChannel, 1);
  EXPECT_FALSE(passes(3)) << "flows wait for an ID";
  output.wanted.answered(0, kLossyChannel, 1);
  takes(output_, 0);
  EXPECT_FALSE(passes(3)) << "its device is full";
  takes(output_, kBurst);
  output.control_packets = 1;
  EXPECT_FALSE(passes(3)) << "a PAUSE frame waits";
  output.control_packets = 0;
  output.scheduler.push(packet(60));
  EXPECT_FALSE(passes(3)) << "packets wait";
  turn_.discard(output.scheduler.take_any());
  EXPECT_TRUE(passes(3));
  congest(output_);
  EXPECT_FALSE(passes(3)) << "its host is congested";
}

TEST_F(DeliveryAtOnceTest, ABurstGoesThatItsDeviceHasRoomFor) {
  match(3);
  takes(output_, 2);
  EXPECT_EQ(pass({3, 3, 3}), (Numbers{0, 1, 2})) << "one that has a part of it only";
  EXPECT_EQ(pass({3, 3}), Numbers{});
  EXPECT_EQ(device_.delivered.size(), 2u);
}

// K2: one that has been left goes behind, so none of the burst may go after it.
TEST_F(DeliveryAtOnceTest, WhatIsLeftOfABurstIsNotPassedByTheRest) {
  match(3);
  match(4, kEdge);
  takes(output_, 2);
  EXPECT_EQ(pass({3, 4, 3}), (Numbers{0, 1, 2}));
}

TEST_F(DeliveryAtOnceTest, OneWithARateHasItsQueueHere) {
  match(3);
  output_.output.scheduler.set_pace(TokenBucket(1, kMillisecond));
  EXPECT_FALSE(passes(3));
}

TEST_F(DeliveryAtOnceTest, LosslessFramesGoLikeOthersByTheirOwnQueue) {
  match(3);
  match(4, kOutput, kLossless);
  EXPECT_EQ(pass({3, 4, 3}), Numbers{});
  EXPECT_EQ(delivered(), (Numbers{0, 1, 2}));
  FlowId id;
  begin(id);
  edge_.input.arbiter.push(flow_ways_.queue(edge_, kOutput, kLossless, kLossyChannel), id);
  EXPECT_EQ(pass({3, 4, 3}), Numbers{1});
}

TEST_F(DeliveryAtOnceTest, WhatDoesNotFitThePortIsLeft) {
  match(3);
  Packet* foreign = of_host(2, 3);
  foreign->vni = 77;
  EXPECT_EQ(pass({of_host(0, 3, kLongest), of_host(1, 3, kLongest + 1), foreign}, {3, 3, 3}), (Numbers{1, 2}));
  EXPECT_EQ(delivered(), Numbers{0});
}

TEST_F(DeliveryAtOnceTest, AFrameOfATaggedVlanHasItsTag) {
  match(3);
  Packet* tagged = of_host(0, 3);
  tagged->vni = kTagged;
  EXPECT_EQ(pass({tagged}, {3}), Numbers{});
  ASSERT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(device_.delivered[0].size(), 104u);
  EXPECT_EQ(load_be32(&device_.delivered[0][12]), 0x81000000u | kTagged);
  EXPECT_EQ(counters_.sent_bytes, 104u);
  EXPECT_EQ(counters_.delivered_bytes, 100u);
}

TEST_F(DeliveryAtOnceTest, AHostsFramesKnowNoLongerRoundTripThanThisWorker) {
  match(3);
  Packet* first = of_host(0, 3);
  first->priority = 0x36;
  output_.output.congestion.leaves(0, 1);
  pass({first}, {3});
  EXPECT_EQ(output_.output.congestion.last_priority(0), flow_limits_.round_trips().code_bits());
}

// --- of a host, to one of another worker ---

TEST_F(DeliveryAtOnceTest, FramesCrossToAnIdlePortOfAnotherWorker) {
  const MatchEntry& entry = match(3, kOther);
  board_.publish_at_once(kOther, true);
  const uint32_t room = beside_.room;
  EXPECT_EQ(pass({3, kNotFound, 3}), Numbers{1});
  const std::vector<CrossingPacket> all = crossings();
  ASSERT_EQ(all.size(), 2u);
  for (const CrossingPacket& crossing : all) {
    EXPECT_EQ(crossing.output, kOther);
    EXPECT_EQ(crossing.told, 0u);
    EXPECT_FALSE(crossing.first);
    const Packet& one = *crossing.packet;
    EXPECT_EQ(one.output_flow, kNoFlow);
    EXPECT_TRUE(one.flags & kPacketAtOnce);
    EXPECT_EQ(one.destination, entry.destination);
    EXPECT_EQ(one.dies_ns, turn_.now() + kMillisecond) << "its life begins";
    EXPECT_EQ(one.hop_limit, kHopLimit);
    EXPECT_EQ(one.lane, beside_.lane);
  }
  EXPECT_EQ(beside_.room, room - 2);
  EXPECT_EQ(entry.bytes, 200u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::crossed_at_once), 2u);
  EXPECT_EQ(edge_.counters.acknowledged_bytes, 0u) << "nothing is delivered yet";
}

TEST_F(DeliveryAtOnceTest, OnlyToThoseThatTakeSome) {
  match(3, kOther);
  match(4, kBeside);
  board_.publish_at_once(kBeside, true);
  EXPECT_EQ(pass({3, 4, 3, 4}), (Numbers{0, 2}));
  for (const CrossingPacket& crossing : crossings()) EXPECT_EQ(crossing.output, kBeside);
}

TEST_F(DeliveryAtOnceTest, OneBurstGoesBothWays) {
  match(3);
  match(4, kOther);
  board_.publish_at_once(kOther, true);
  EXPECT_EQ(pass({3, 4, 3, 4}), Numbers{});
  EXPECT_EQ(delivered(), (Numbers{0, 2}));
  EXPECT_EQ(crossings().size(), 2u);
}

TEST_F(DeliveryAtOnceTest, LosslessFramesCrossInTheRoomOfTheirLane) {
  match(3, kOther, kLossless);
  board_.publish_at_once(kOther, true);
  Voq& voq = edge_.input.arbiter[flow_ways_.queue(edge_, kOther, kLossless, kLossyChannel)];
  ASSERT_NE(&voq, &beside_);
  const uint16_t room = voq.room, room_beside = beside_.room;
  EXPECT_TRUE(passes(3));
  EXPECT_EQ(voq.room, room - 1);
  EXPECT_EQ(beside_.room, room_beside);
  EXPECT_EQ(crossings().size(), 1u);
}

TEST_F(DeliveryAtOnceTest, NothingThatCrossesOvertakesItsFlow) {
  board_.publish_at_once(kOther, true);
  ++match(3, kOther).waiting;
  EXPECT_FALSE(passes(3));
  match(4, kOther).flooded_ns = 1;
  EXPECT_FALSE(passes(4));
}

TEST_F(DeliveryAtOnceTest, ThereIsToBeRoomForTheLongestFrame) {
  match(3, kOther);
  board_.publish_at_once(kOther, true);
  beside_.room = static_cast<uint16_t>(site_.frame_buffers);
  EXPECT_EQ(pass({3, 3}), Numbers{1});
}

TEST_F(DeliveryAtOnceTest, FlowsThatWaitKeepHalfOfTheRoom) {
  match(3, kOther);
  board_.publish_at_once(kOther, true);
  FlowId ready, wanting;
  begin(wanting, kOther);
  want(wanting, kOther);
  const uint32_t half = crossing_room(site_.settings, true) / 2;
  beside_.room = static_cast<uint16_t>(half + site_.frame_buffers);
  EXPECT_EQ(pass({3, 3}), Numbers{1}) << "for an ID";
  edge_.input.ids[kOther].wanting.clear();
  EXPECT_TRUE(passes(3));
  begin(ready, kOther);
  edge_.input.arbiter.push(site_.voq_index(kOther, 0), ready);
  EXPECT_FALSE(passes(3)) << "for room";
}

// --- of another worker's host ---

TEST_F(DeliveryAtOnceTest, WhatHasCrossedIsDeliveredAndItsRoomGoesBack) {
  for (const uint32_t number : {0, 1}) at_once_.gather_crossed(output_, from_beside(number), turn_.now());
  EXPECT_EQ(delivered(), Numbers{}) << "at the end of the burst";
  at_once_.send_all(turn_.now());
  EXPECT_EQ(delivered(), (Numbers{0, 1}));
  EXPECT_EQ(returns().room, 2u);
  EXPECT_EQ(returns().delivered, 200u);
  EXPECT_EQ(returns().held, 0u);
  EXPECT_EQ(counters_.delivered_bytes, 200u);
  at_once_.send_all(turn_.now());
  EXPECT_EQ(counters_.sent_frames, 2u) << "once";
}

TEST_F(DeliveryAtOnceTest, WhatCannotBeDeliveredAtOnceQueuesBehindWhatIsGathered) {
  Packet* dead = from_beside(2);
  dead->dies_ns = turn_.now();
  for (Packet* other : {from_beside(1, kLongest + 1), dead}) {
    device_.delivered.clear();
    at_once_.gather_crossed(output_, from_beside(0), turn_.now());
    at_once_.gather_crossed(output_, other, turn_.now());
    Packet* late = from_beside(3);
    at_once_.gather_crossed(output_, late, turn_.now());
    at_once_.send_all(turn_.now());
    EXPECT_EQ(delivered(), Numbers{0});
    ASSERT_EQ(output_.output.scheduler.take_any(), other);
    ASSERT_EQ(output_.output.scheduler.take_any(), late) << "nothing goes past it";
    turn_.discard(late);
    EXPECT_EQ(returns().room, 1u);
    output_.output.room.given(kOther, 0, returns());
    turn_.discard(other);
  }
  poke(output_.output.paused_lanes, 1);
  at_once_.gather_crossed(output_, from_beside(0), turn_.now());
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
}

TEST_F(DeliveryAtOnceTest, WhatHasCrossedAndFindsNoRoomAtTheDeviceQueuesBehindTheRest) {
  takes(output_, 1);
  for (const uint32_t number : {0, 1}) {
    Packet* tagged = from_beside(number);
    tagged->vni = kTagged;
    at_once_.gather_crossed(output_, tagged, turn_.now());
  }
  at_once_.send_all(turn_.now());
  ASSERT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(device_.delivered[0].size(), 104u);
  ASSERT_EQ(output_.output.scheduler.packets(), 1u);
  EXPECT_EQ(queued()->length, 100u);
  EXPECT_EQ(returns().room, 1u);
  EXPECT_EQ(returns().delivered, 100u);
}

// --- over the fabric ---

TEST_F(DeliveryAtOnceTest, AFrameAtItsLastHopIsDeliveredAndSettled) {
  const uint32_t position = flow_.next_data_flow;
  poke(flow_.congestion, 5);
  Packet* first = from_fabric(0);
  first->priority = 0x36;
  ASSERT_TRUE(gather(first));
  ASSERT_TRUE(gather(from_fabric(1)));
  at_once_.send_all(turn_.now());
  EXPECT_EQ(device_.delivered, (std::vector<Frame>{frame(2, 1, 0), frame(2, 1, 1)})) << "without the fabric's header";
  EXPECT_EQ(flow_.next_data_flow, position + 200);
  EXPECT_EQ(flow_.flow_extent(), 0u);
  EXPECT_EQ(flow_.queue_extent(), 0u);
  EXPECT_EQ(flow_.congestion, 0u);
  EXPECT_FALSE(flow_.in_use());
  ASSERT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_EQ(fabric_.input.ack_due[0], kFlow);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
  EXPECT_EQ(counters_.delivered_bytes, 200u);
  EXPECT_EQ(output_.output.congestion.last_priority(0), 0x36) << "it knows the longest round trip";
}

TEST_F(DeliveryAtOnceTest, EachOutputHasWhatWasGatheredForIt) {
  Packet* other = from_fabric(1);
  other->destination.port = kEdge;
  ASSERT_TRUE(gather(from_fabric(0)));
  ASSERT_TRUE(gather(other));
  at_once_.send_all(turn_.now());
  EXPECT_EQ(edge_.counters.sent_frames, 1u);
  EXPECT_EQ(output_.counters.sent_frames, 1u);
}

TEST_F(DeliveryAtOnceTest, OneForElsewhereIsLeft) {
  Packet* remote = from_fabric(0);
  for (const PortIndex elsewhere : {kOther, kFabric, kNoPort}) {
    remote->destination.port = elsewhere;
    EXPECT_FALSE(gather(remote));
  }
  turn_.discard(remote);
  EXPECT_EQ(flow_.next_data_flow, flow_.ack_flow);
}

TEST_F(DeliveryAtOnceTest, OneThatIsLeftGoesBehindThoseThatAreGathered) {
  Packet* too_long = from_fabric(1, kLongest + 1);
  Packet* dead = from_fabric(2);
  dead->dies_ns = turn_.now();
  Packet* foreign = from_fabric(3);
  foreign->vni = 77;
  for (Packet* left : {too_long, dead, foreign}) {
    device_.delivered.clear();
    ASSERT_TRUE(gather(from_fabric(0)));
    EXPECT_FALSE(gather(left));
    at_once_.send_all(turn_.now());
    EXPECT_EQ(delivered(), Numbers{0});
    turn_.discard(left);
  }
}

TEST_F(DeliveryAtOnceTest, AtTheLastHopSoManyAreGatheredAsTheDeviceHasRoomFor) {
  takes(output_, 2);
  for (const uint32_t number : {0, 1}) EXPECT_TRUE(gather(from_fabric(number)));
  Packet* third = from_fabric(2);
  EXPECT_FALSE(gather(third));
  turn_.discard(third);
  at_once_.send_all(turn_.now());
  EXPECT_EQ(delivered(), (Numbers{0, 1}));
  Packet* late = from_fabric(3);
  EXPECT_FALSE(gather(late)) << "it is full";
  turn_.discard(late);
}

// C9, K6: of a lossless class, in a channel of its own.
TEST_F(DeliveryAtOnceTest, ALosslessFrameHoldsBuffersOfItsChannelOnlyWhileItIsHere) {
  LinkCredits& credits = fabric_.credits[kFirstLosslessChannel];
  const auto lossless = [&](uint32_t number) {
    Packet* frame = from_fabric(number);
    fabric_.credits[kLossyChannel].released(1);
    credits.received(1, false);
    frame->ftag = kWithRetry;
    frame->vc = kFirstLosslessChannel;
    return frame;
  };
  ASSERT_TRUE(gather(lossless(0)));
  EXPECT_EQ(credits.held(), 0u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
  at_once_.send_all(turn_.now());
  EXPECT_EQ(delivered(), Numbers{0});
}

// --- what the other workers know ---

TEST_F(DeliveryAtOnceTest, TheBoardIsToldWhenAPortBeginsOrEndsToTakeSome) {
  at_once_.publish(output_);
  EXPECT_TRUE(board_.takes_at_once(kOutput));
  board_.publish_at_once(kOutput, false);
  at_once_.publish(output_);
  EXPECT_FALSE(board_.takes_at_once(kOutput)) << "nothing has changed";
  poke(output_.output.paused_lanes, 1);
  board_.publish_at_once(kOutput, true);
  at_once_.publish(output_);
  EXPECT_FALSE(board_.takes_at_once(kOutput));
}

}  // namespace
}  // namespace heddle::test::delivery_at_once_test
