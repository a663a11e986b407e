// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_receive.h"

#include "flow_fixture.h"

namespace heddle::test::fabric_receive_test {
namespace {

class FabricReceiveTest : public FlowTest {
 protected:
  static constexpr FlowId kFlow = 9;

  void receive(const Frame& bytes) {
    Packet* packet = received(bytes, fabric_);
    fabric_receive_.receive(fabric_, &packet, 1, turn_.now());
    turn_.flush();
  }
  // The next frame of flow 9 for the host at port 2, but for what is said.
  DataHeader next(FlowId flow = kFlow) const {
    return {.destination = {1, kOutput}, .flow = flow, .position = flow == kNoFlow ? 0 : flow_.next_data_flow};
  }
  void receive(const DataHeader& header) { receive(forged(fabric_, frame(2, 1, 0), header)); }
  // The next frame for a host of the other node, which port 5 leads to as well.
  DataHeader in_transit() {
    bring_up();
    const PortSet both = PortSet{1} << kFabric | PortSet{1} << 5;
    paths_.compile({both, both});
    board_.publish_standing(5, LinkStanding::up);
    DataHeader header = next();
    header.destination = {2, 1};
    return header;
  }
  uint64_t dropped(DropReason reason) const { return drops_of(fabric_, reason); }
  bool reset() const { return count_of(fabric_, ProtocolEvent::session_reset) != 0; }

  InputFlow& flow_ = fabric_.input.flows[kFlow];
};

TEST_F(FabricReceiveTest, AFrameForAHostOfThisWorkerIsDeliveredAndAcknowledged) {
  bring_up();
  const uint32_t position = flow_.next_data_flow, sequence = fabric_.input.last_sequence;
  receive(next());
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_EQ(flow_.next_data_flow, position + 100);
  EXPECT_EQ(flow_.flow_extent(), 0u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_EQ(fabric_.input.last_sequence, sequence + 1);
  EXPECT_EQ(fabric_.credits[kLossyChannel].received_total(), 1u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
}

TEST_F(FabricReceiveTest, FramesOfABurstGoEachToTheirPort) {
  bring_up();
  DataHeader header = next();
  std::array<Packet*, 3> burst;
  burst[0] = received(forged(fabric_, frame(2, 1, 0), header), fabric_);
  header.flow = FlowId::of(kFlow + 1);
  header.position = fabric_.input.flows[header.flow].next_data_flow;
  header.destination = {1, kEdge};
  header.after = 1;
  burst[1] = received(forged(fabric_, frame(1, 1, 0), header), fabric_);
  header.flow = FlowId::of(kFlow + 2);
  header.position = fabric_.input.flows[header.flow].next_data_flow;
  header.destination = {1, kOutput};
  header.after = 2;
  burst[2] = received(forged(fabric_, frame(2, 1, 0), header), fabric_);
  fabric_receive_.receive(fabric_, burst.data(), 3, turn_.now());
  EXPECT_EQ(output_.counters.delivered_frames, 2u);
  EXPECT_EQ(edge_.counters.delivered_frames, 1u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
}

TEST_F(FabricReceiveTest, AHelloNeedsNoSession) {
  const Nanos now = turn_.now();
  peer_->session.tick(1001, now);
  const DueHello due = peer_->session.take_hello(0, now);
  Packet* packet = nullptr;
  pool_.allocate(&packet, 1);
  write_hello(*packet, due.hello, due.frame_bytes, peer_->mac);
  receive(Frame(packet->data, packet->data + packet->length));
  EXPECT_EQ(fabric_.session.last_hello().nonce, due.hello.nonce);
  EXPECT_EQ(fabric_.output.control_packets, 1u) << "it is answered";
  EXPECT_EQ(fabric_.counters.consumed_frames, 1u);
}

TEST_F(FabricReceiveTest, WhatIsNotOfTheSessionIsDropped) {
  receive(next());
  EXPECT_EQ(dropped(DropReason::link_not_up), 1u);
  bring_up();
  receive(forged(output_, frame(2, 1, 0), next()));  // with the tag of another port, which has none
  EXPECT_EQ(dropped(DropReason::stale_session), 1u);
  EXPECT_FALSE(reset());
  EXPECT_TRUE(device_.delivered.empty());
}

TEST_F(FabricReceiveTest, WhatCannotBeReadIsDropped) {
  bring_up();
  Frame bytes = forged(fabric_, frame(2, 1, 0), next());
  ++bytes[HEDDLE_ETHERNET_BYTES];
  receive(bytes);
  EXPECT_EQ(dropped(DropReason::bad_version), 1u);
  receive(Frame(60));
  EXPECT_EQ(dropped(DropReason::not_fabric), 1u);
  EXPECT_FALSE(reset());
}

TEST_F(FabricReceiveTest, OneOrderIsKept) {
  bring_up();
  const Frame first = forged(fabric_, frame(2, 1, 0), next());
  receive(first);
  EXPECT_EQ(fabric_.counters.lost_on_wire_frames, 0u);
  receive(first);
  EXPECT_EQ(dropped(DropReason::old_sequence), 1u);
  DataHeader header = next();
  header.after = 2;
  receive(header);
  EXPECT_EQ(fabric_.counters.lost_on_wire_frames, 2u);
  EXPECT_EQ(device_.delivered.size(), 2u);
}

TEST_F(FabricReceiveTest, PositionsTellWhatIsMissingAndWhatIsThere) {
  bring_up();
  receive(next());
  DataHeader header = next();
  header.position += 300;
  receive(header);
  EXPECT_EQ(flow_.lost_total, 300u);
  EXPECT_EQ(device_.delivered.size(), 2u);
  header.position -= 1;
  receive(header);
  EXPECT_EQ(dropped(DropReason::duplicate), 1u);
  EXPECT_FALSE(reset());
  header.position = flow_.next_data_flow + (1u << 30) + 1;
  receive(header);
  EXPECT_EQ(dropped(DropReason::protocol_error), 1u);
  EXPECT_TRUE(reset());
}

TEST_F(FabricReceiveTest, AFlowThatCannotBeIsAContradiction) {
  bring_up();
  DataHeader header = next();
  header.flow = FlowId::of(fabric_.input.flows.size() + 1);
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_EQ(dropped(DropReason::protocol_error), 1u);
}

TEST_F(FabricReceiveTest, AnIdNamesOneFlowWhileItIsInUse) {
  bring_up();
  DataHeader header = next();
  header.destination = {1, kOther};  // of the other worker: it waits for an ID there
  receive(header);
  ASSERT_TRUE(flow_.in_use());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::flow_created), 1u);
  header = next();
  header.destination = {1, kOther};
  receive(header);
  EXPECT_EQ(flow_.queued_packets, 2u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::flow_created), 1u);
  EXPECT_FALSE(reset());
  receive(next());
  EXPECT_TRUE(reset()) << "another destination";
  EXPECT_EQ(dropped(DropReason::protocol_error), 1u);
}

TEST_F(FabricReceiveTest, AClassInAChannelThatItHasNotIsAContradiction) {
  bring_up();
  DataHeader header = next(kNoFlow);
  header.ftag = kLossless;
  header.vc = kFirstLosslessChannel;
  receive(header);
  EXPECT_FALSE(reset());
  EXPECT_EQ(fabric_.input.queues.lossless_packets(), 1u) << "it waits behind others without a flow";
  header.vc = kLossyChannel;
  receive(header);
  EXPECT_TRUE(reset());
}

TEST_F(FabricReceiveTest, AClassThatTheFabricHasNotIsAContradiction) {
  bring_up();
  DataHeader header = next();
  header.ftag = 9;
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_TRUE(device_.delivered.empty());
}

TEST_F(FabricReceiveTest, ALosslessFlowStaysInItsChannel) {
  bring_up();
  poke(output_.output.paused_lanes, ~LaneSet{0});  // nothing goes at once
  DataHeader header = next();
  header.ftag = kLossless;
  header.vc = kFirstLosslessChannel;
  for (const uint32_t crossed : {1, 2}) {
    header.position = flow_.next_data_flow;
    receive(header);
    EXPECT_EQ(output_.output.scheduler.packets(), crossed);
    EXPECT_FALSE(reset());
  }
}

TEST_F(FabricReceiveTest, AFloodIsInNoOtherChannelThanTheLossyOne) {
  bring_up();
  DataHeader header{.destination = {HEDDLE_FLOOD_NODE, 0}, .source = {2, 1}};
  receive(header);
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
  header.ftag = kLossless;
  receive(header);
  EXPECT_EQ(output_.output.scheduler.packets(), 2u) << "whatever its class";
  EXPECT_FALSE(reset());
  header.vc = kFirstLosslessChannel;
  receive(header);
  EXPECT_TRUE(reset());
}

TEST_F(FabricReceiveTest, AFloodOfAClassThatTheFabricHasNotIsAContradiction) {
  bring_up();
  receive({.destination = {HEDDLE_FLOOD_NODE, 0}, .ftag = 9, .source = {2, 1}});
  EXPECT_TRUE(reset());
}

TEST_F(FabricReceiveTest, StationsAreMetWhereTheirFramesAreForThisNode) {
  bring_up();
  const auto knows = [&] { return edge_input_.stations().find(0x020000000001, 1) != nullptr; };
  DataHeader header = next();
  header.source = {2, 1};
  header.destination = {3, 0};
  receive(header);
  EXPECT_FALSE(knows()) << "it only passes";
  header.destination = {1, kOutput};
  header.position = flow_.next_data_flow;
  receive(header);
  EXPECT_TRUE(knows());
}

TEST_F(FabricReceiveTest, MoreThanWasGrantedIsAContradiction) {
  bring_up();
  LinkCredits& credits = fabric_.credits[kLossyChannel];
  credits.received(credits.buffers() - 1, false);
  receive(next());
  EXPECT_FALSE(reset());
  receive(next());
  EXPECT_TRUE(reset());
}

TEST_F(FabricReceiveTest, InTheRetryChannelOnlyTheNextOneIsTaken) {
  bring_up();
  DataHeader header = next();
  header.ftag = kWithRetry;
  header.vc = kFirstLosslessChannel;
  header.in_turn = true;
  const uint32_t sequence = fabric_.input.last_sequence, taken = fabric_.retry.taken();
  const Frame first = forged(fabric_, frame(2, 1, 0), header);
  header.after = 1;
  receive(header);
  EXPECT_EQ(dropped(DropReason::ahead_of_turn), 1u);
  EXPECT_EQ(fabric_.retry.taken(), taken);
  receive(first);
  EXPECT_EQ(fabric_.retry.taken(), taken + 1);
  EXPECT_EQ(output_.counters.delivered_frames, 1u);
  receive(first);
  EXPECT_EQ(dropped(DropReason::old_sequence), 1u);
  EXPECT_EQ(fabric_.input.last_sequence, sequence) << "they have numbers of their own";
  EXPECT_FALSE(reset());
}

TEST_F(FabricReceiveTest, NothingButDataIsInTheRetryChannel) {
  bring_up();
  Packet* packet = nullptr;
  pool_.allocate(&packet, 1);
  start_records(*packet, HEDDLE_PROBE, HEDDLE_RETRY_CHANNEL);
  append_record(*packet, ProbeRecord{kFlow, flow_.next_data_flow});
  finish_records(*packet, fabric_.session.tag(), fabric_.retry.taken() + 1, peer_->mac);
  fabric_receive_.receive(fabric_, &packet, 1, turn_.now());
  EXPECT_EQ(dropped(DropReason::bad_frame), 1u);
  EXPECT_EQ(fabric_.retry.judge(fabric_.retry.taken() + 1, 0), LinkRetry::Turn::next) << "it has taken no turn";
}

TEST_F(FabricReceiveTest, AFrameWithoutAFlowCrossesNow) {
  bring_up();
  receive(next(kNoFlow));
  EXPECT_EQ(output_.output.scheduler.packets(), 1u);
  EXPECT_TRUE(fabric_.input.ack_due.empty());
}

TEST_F(FabricReceiveTest, AFloodIsCopied) {
  bring_up();
  Frame bytes = forged(fabric_, broadcast(1, 0), {.destination = {HEDDLE_FLOOD_NODE, 0}});
  receive(bytes);
  EXPECT_EQ(dropped(DropReason::flood_loop), 1u) << "forged ones say that they come from here";
}

TEST_F(FabricReceiveTest, RecordsEndHere) {
  bring_up();
  Packet* packet = nullptr;
  pool_.allocate(&packet, 1);
  start_records(*packet, HEDDLE_PROBE);
  append_record(*packet, ProbeRecord{kFlow, flow_.next_data_flow});
  finish_records(*packet, fabric_.session.tag(), fabric_.input.last_sequence + 1, peer_->mac);
  fabric_receive_.receive(fabric_, &packet, 1, turn_.now());
  EXPECT_TRUE(gone(packet));
  EXPECT_EQ(fabric_.counters.consumed_frames, 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::probe_answered), 1u);
}

// R4: node 2 is the neighbour, this is node 1.
TEST_F(FabricReceiveTest, OnALongerWayAFrameGoesByItsNodeFirst) {
  bring_up();
  DataHeader header = next();
  header.destination = {1, kOutput};
  header.via = 1;
  receive(header);
  EXPECT_EQ(device_.delivered.size(), 1u) << "this is the node";
  header = next();
  header.via = 2;
  receive(header);
  EXPECT_EQ(device_.delivered.size(), 2u) << "and this the destination, whatever it was to go by";
  EXPECT_FALSE(reset());
}

TEST_F(FabricReceiveTest, FromTheNodeThatItWasToGoByItGoesToItsDestination) {
  DataHeader header = in_transit();
  header.via = 1;
  receive(header);
  EXPECT_EQ(fabric_.input.flows.via(kFlow), 0);
  ASSERT_FALSE(flow_.queue.empty());
  EXPECT_EQ(flow_.queue.head->via, 0);
}

TEST_F(FabricReceiveTest, TheWayBelongsToTheFlow) {
  DataHeader header = in_transit();
  header.via = 2;
  receive(header);
  EXPECT_EQ(fabric_.input.flows.via(kFlow), 2);
  EXPECT_EQ(flow_.branch.output(), 5);
  EXPECT_FALSE(reset());
  header.position = flow_.next_data_flow;
  header.via = 0;
  receive(header);
  EXPECT_TRUE(reset()) << "an ID names one flow, and a flow has one way, while anything of it is left";
}

// A flow that came in by the fabric port and goes on by it, where it has an ID: its frames go by the loop of Express.
class BoundFlowTest : public FlowTest {
 protected:
  BoundFlowTest() {
    bring_up();
    EXPECT_TRUE(credits_.apply(0, credits_.buffers(), false));
    reserve(fabric_, transit_id_);
    fabric_.output.flows[transit_id_].input = fabric_.input.ref.with(7);
    transit_.begin({2, 1}, kLossy, kNoMatch);
    transit_.branch.set_output(kFabric);
    transit_.branch.flow = transit_id_;
    transit_.branch.voq = site_.voq_index(kFabric, 0);
  }
  uint32_t stamped() const { return fabric_.output.stamped_packets; }

  // The next frame of the flow, but for what is said.
  DataHeader next() const {
    return {.destination = {2, 1}, .flow = 7, .position = transit_.next_data_flow, .source = {2, 1}};
  }
  void receive(const DataHeader& header, size_t payload = 100) {
    Packet* next = received(forged(fabric_, frame(2, 1, 0, payload), header), fabric_);
    fabric_receive_.receive(fabric_, &next, 1, turn_.now());
    turn_.flush();
  }
  bool reset() const { return count_of(fabric_, ProtocolEvent::session_reset) != 0; }

  LinkCredits& credits_ = fabric_.credits[kLossyChannel];
  FlowId transit_id_;
  InputFlow& transit_ = fabric_.input.flows[7];
};

TEST_F(BoundFlowTest, AFrameFromTheFabricGoesStraightOn) {
  const uint32_t held = credits_.held();
  receive(next());
  receive(next());
  EXPECT_EQ(stamped(), 2u);
  EXPECT_EQ(transit_.flow_extent(), 200u);
  EXPECT_EQ(credits_.held(), held + 2) << "until it has left";
  EXPECT_EQ(credits_.received_total(), 2u);
  Packet heard{};
  heard.data = fabric_.output.stamped[1]->data;
  read_data_header(heard);
  EXPECT_EQ(heard.hop_limit, 6);
  EXPECT_EQ(heard.input.flow, transit_id_);
}

// Of a lossless class, whose frames go on in the channel that they come in.
class LosslessBoundFlowTest : public BoundFlowTest {
 protected:
  static constexpr uint8_t kChannel = kFirstLosslessChannel;
  DataHeader next_of(uint8_t ftag) {
    transit_.begin({2, 1}, ftag, kNoMatch);
    transit_.branch.set_output(kFabric);
    transit_.branch.flow = transit_id_;
    transit_.branch.voq = site_.voq_index(kFabric, site_.lanes.of(ftag, kChannel));
    fabric_.input.arbiter[transit_.branch.voq].came_in = kChannel;
    EXPECT_TRUE(there_.apply(0, there_.buffers(), false));
    DataHeader header = next();
    header.ftag = ftag;
    header.vc = kChannel;
    header.in_turn = ftag == kWithRetry;
    return header;
  }
  LinkCredits& there_ = fabric_.credits[kChannel];
};

TEST_F(LosslessBoundFlowTest, AFrameFromTheFabricGoesStraightOn) {
  receive(next_of(kLossless));
  EXPECT_EQ(stamped(), 1u);
  EXPECT_EQ(fabric_.retry.kept(), 0u);
  EXPECT_EQ(there_.held(), 1u);
  EXPECT_EQ(transit_.flow_extent(), 100u);
}

TEST_F(LosslessBoundFlowTest, OneThatIsSentAgainIsKept) {
  receive(next_of(kWithRetry));
  EXPECT_EQ(stamped(), 1u);
  EXPECT_EQ(fabric_.retry.kept(), 1u);
  EXPECT_EQ(there_.held(), 1u);
}

// K6: a class is sent again or it is not.
TEST_F(LosslessBoundFlowTest, InTheRetryChannelIsOnlyWhatIsSentAgain) {
  DataHeader header = next_of(kLossless);
  header.in_turn = true;
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_EQ(stamped(), 0u);
}

TEST_F(LosslessBoundFlowTest, BeyondTheGrantIsAContradiction) {
  receive(next_of(kLossless));
  const uint32_t granted = there_.may_receive();
  there_.received(granted, false);
  there_.released(granted);
  receive(next_of(kLossless));
  EXPECT_TRUE(reset());
}

// K7: what the other end says that it has sent does not count frames of the retry channel, of which none is lost.
TEST_F(LosslessBoundFlowTest, WhatCameInTheRetryChannelIsInNoTotal) {
  receive(next_of(kLossless));
  receive(next_of(kWithRetry));
  EXPECT_EQ(there_.received_total(), 2u);
  EXPECT_TRUE(there_.apply(2, there_.buffers(), false));
  EXPECT_EQ(there_.received_total(), 3u) << "of two outside of it one has been lost";
}

// Of a lossless class, for hosts here.
class LosslessDeliveryTest : public LosslessBoundFlowTest {
 protected:
  static constexpr uint16_t kFlow = 9;
  void deliver(uint8_t ftag, bool in_turn) {
    InputFlow& flow = fabric_.input.flows[kFlow];
    DataHeader header{.destination = {1, kOutput}, .flow = kFlow, .position = flow.next_data_flow, .source = {2, 1}};
    header.ftag = ftag;
    header.vc = kChannel;
    header.in_turn = in_turn;
    receive(header);
  }
};

TEST_F(LosslessDeliveryTest, AFrameIsDeliveredAndItsBufferFree) {
  deliver(kLossless, false);
  deliver(kWithRetry, true);
  EXPECT_EQ(device_.delivered.size(), 2u);
  EXPECT_EQ(there_.held(), 0u);
  EXPECT_EQ(there_.received_total(), 2u);
  EXPECT_EQ(fabric_.input.ack_due.size(), 1u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::delivered_at_once), 2u);
  EXPECT_TRUE(there_.apply(2, there_.buffers(), false));
  EXPECT_EQ(there_.received_total(), 3u) << "one of them counts in the other end's total";
}

TEST_F(LosslessDeliveryTest, InTheRetryChannelIsOnlyWhatIsSentAgain) {
  deliver(kWithRetry, false);
  EXPECT_TRUE(reset());
  EXPECT_EQ(device_.delivered.size(), 0u);
}

TEST_F(LosslessDeliveryTest, AndNothingElse) {
  deliver(kLossless, true);
  EXPECT_TRUE(reset());
  EXPECT_EQ(device_.delivered.size(), 0u);
}

TEST_F(LosslessBoundFlowTest, InALosslessChannelIsNoLossyClass) {
  DataHeader header = next_of(kLossless);
  transit_.begin({2, 1}, kLossy, kNoMatch);
  transit_.branch.set_output(kFabric);
  transit_.branch.flow = transit_id_;
  header.ftag = kLossy;
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_EQ(stamped(), 0u);
}

TEST_F(BoundFlowTest, OnlyTheNextFrameOfItsFlowDoes) {
  DataHeader header = next();
  header.position += 100;
  receive(header);
  EXPECT_EQ(transit_.lost_total, 100u) << "one is missing";
  header.position -= 100;
  receive(header);
  EXPECT_EQ(drops_of(fabric_, DropReason::duplicate), 1u);
  EXPECT_EQ(stamped(), 1u);
}

TEST_F(BoundFlowTest, AnIdThatNamesAnotherFlowIsAContradiction) {
  DataHeader header = next();
  header.destination = {2, 0};
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_EQ(stamped(), 0u);
}

TEST_F(BoundFlowTest, SoIsAnotherWay) {
  DataHeader header = next();
  header.via = 3;
  receive(header);
  EXPECT_TRUE(reset());
}

TEST_F(BoundFlowTest, SoIsAnotherClass) {
  DataHeader header = next();
  header.ftag = kLossless;
  header.vc = kFirstLosslessChannel;
  receive(header);
  EXPECT_TRUE(reset());
}

TEST_F(BoundFlowTest, SoIsAChannelInWhichItsClassDoesNotGo) {
  DataHeader header = next();
  header.vc = kFirstLosslessChannel;
  receive(header);
  EXPECT_TRUE(reset());
}

TEST_F(BoundFlowTest, SoIsTheRetryChannelOfALossyFrame) {
  DataHeader header = next();
  header.in_turn = true;
  receive(header);
  EXPECT_TRUE(reset());
  EXPECT_EQ(stamped(), 0u);
}

TEST_F(BoundFlowTest, SoIsAFrameBeyondTheGrant) {
  receive(next());
  const uint32_t granted = credits_.may_receive();
  credits_.received(granted, false);
  credits_.released(granted);
  receive(next());
  EXPECT_TRUE(reset());
}

// Hosts of this fabric send none that is longer.
TEST_F(BoundFlowTest, OnlyFramesOfOneBuffer) {
  receive(next(), kBufferBytes - HEDDLE_DATA_OVERHEAD_BYTES);
  EXPECT_EQ(stamped(), 1u);
  EXPECT_FALSE(reset());
  receive(next(), kBufferBytes - HEDDLE_DATA_OVERHEAD_BYTES + 1);
  EXPECT_TRUE(reset());
}

TEST_F(BoundFlowTest, WithoutAHopItGoesNoFurther) {
  Frame bytes = forged(fabric_, frame(2, 1, 0), next());
  Packet* last = received(bytes, fabric_);
  last->data[HEDDLE_ETHERNET_BYTES + offsetof(heddle_data_header, hop_limit)] = 0;
  uint8_t* header = last->data + HEDDLE_ETHERNET_BYTES;
  store_be32(header + offsetof(heddle_link_header, check), header_check(header, sizeof(heddle_data_header)));
  fabric_receive_.receive(fabric_, &last, 1, turn_.now());
  EXPECT_EQ(drops_of(fabric_, DropReason::hop_limit), 1u);
  EXPECT_EQ(stamped(), 0u);
}

TEST_F(BoundFlowTest, WhileTheInputIsFullItIsDropped) {
  receive(next());
  credits_.received(site_.settings.input_drop_mark_packets - credits_.held(), false);
  receive(next());
  EXPECT_EQ(stamped(), 1u);
  EXPECT_EQ(drops_of(fabric_, DropReason::input_full), 1u);
  EXPECT_FALSE(reset());
}

}  // namespace
}  // namespace heddle::test::fabric_receive_test
