// SPDX-License-Identifier: Apache-2.0
#include "node/edge_receive.h"

#include "flow_fixture.h"
#include "packet_builder.h"
#include "wire/pause.h"

namespace heddle::test::edge_receive_test {
namespace {

// Stations 1, 2 and 3 are known at ports 0, 2 and 1.
class EdgeReceiveTest : public FlowTest {
 protected:
  EdgeReceiveTest() {
    know(1, {1, kEdge});
    know(2, {1, kOutput});
    know(3, {1, kOther});
  }
  static uint64_t mac_of(uint8_t station) { return 0x020000000000 + station; }
  void know(uint8_t station, FabricAddress address) {
    edge_input_.stations().learn(mac_of(station), 1, address, 64, turn_.now());
  }
  // A burst of a host.
  void receive(Port& port, const std::vector<Frame>& frames) {
    Packet* burst[kBurst] = {};
    for (size_t i = 0; i < frames.size(); ++i) burst[i] = received(frames[i], port);
    edge_receive_.receive(port, burst, static_cast<uint32_t>(frames.size()), turn_.now());
  }
  void receive(const std::vector<Frame>& frames) { receive(edge_, frames); }
  // One of many matches of stations 1 and 2.
  static Frame of_match(uint16_t number) {
    return PacketBuilder().ethernet(kHostB, kHostA).ipv4(1, 2).udp(number, 53).payload(20).build();
  }
  void fill_matches() {
    for (uint16_t number = 1; matches_.used() < matches_.capacity(); ++number) {
      receive({of_match(number)});
      let_go();
    }
  }
  // All that has crossed here leaves, and what all flows have under way is settled.
  void let_go() {
    while (!output_.output.scheduler.empty()) turn_.discard(output_.output.scheduler.take_any());
    for (Voq& voq : edge_.input.arbiter) voq.room = crossing_room(site_.settings, voq.at_once);
    for (FlowId id = 1; id <= edge_.input.flows.size(); ++id) {
      const InputFlow& flow = edge_.input.flows[id];
      if (flow.in_use()) flow_life_.on_ack(edge_, edge_.input.ref.epoch, id, flow.flow_extent(), 0, false, turn_.now());
    }
  }
  // The other worker has lent an output flow ID of its port.
  void lend(FlowId id) {
    edge_.input.ids[kOther].lent.came();
    edge_.input.ids[kOther].lent.put(0, id);
  }
  // Those that wait at port 2, as numbered.
  std::vector<uint32_t> crossed(LaneIndex lane = 0) const {
    std::vector<uint32_t> numbers;
    for (const Packet* one = first_queued(output_.output, lane); one != nullptr; one = one->next)
      numbers.push_back(number_of(Frame(one->data, one->data + one->length)));
    return numbers;
  }
  uint64_t created() const { return count_of(edge_, ProtocolEvent::flow_created); }
  // The match of which there is only this one.
  MatchEntry& match() { return matches_[0]; }
  InputFlow* flow() { return EdgeFlows::find(edge_, match(), 0); }
  const RoundTrips& round_trips() const { return flow_limits_.round_trips(); }
  // Round trips are timed in the turns of the port.
  void begin_turn_of(const Port& port) {
    do turn_.begin(turn_.now());
    while (ports_.all()[turn_.number() % ports_.size()] != &port);
  }

  MatchTable& matches_ = edge_input_.matches();
};

TEST_F(EdgeReceiveTest, WhatCannotBeReadIsDroppedAndTheOthersGoOnInOrder) {
  receive({Frame(13), frame(2, 1, 7), Frame(13), frame(2, 1, 8), Frame(13)});
  EXPECT_EQ(drops_of(edge_, DropReason::runt), 3u);
  EXPECT_EQ(crossed(), (std::vector<uint32_t>{7, 8}));
  receive({Frame(13)});
  EXPECT_EQ(drops_of(edge_, DropReason::runt), 4u) << "a burst of which nothing is left";
}

TEST_F(EdgeReceiveTest, OnlyPauseFramesOfAHostThatMayAskAreHeard) {
  Packet written{};
  alignas(64) uint8_t bytes[64] = {};
  written.data = bytes;
  PauseFrame pause;
  pause.quanta[0] = 1;
  write_pause(written, pause, mac_of(1));
  Frame pauses(bytes, bytes + written.length);
  receive({pauses});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_heard), 1u);
  EXPECT_EQ(drops_of(edge_, DropReason::mac_control_at_edge), 0u);
  receive(output_, {pauses});
  EXPECT_EQ(count_of(output_, ProtocolEvent::pause_heard), 0u);
  EXPECT_EQ(drops_of(output_, DropReason::mac_control_at_edge), 1u);
}

TEST_F(EdgeReceiveTest, AChecksumThatTheSenderLeftIsCompletedAndCounted) {
  receive({of_match(1)});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::checksum_completed), 0u);
  Packet* partial = received(
      PacketBuilder().ethernet(kHostB, kHostA).ipv4(1, 2).udp(2, 53).payload(20).checksum_partial().build(), edge_);
  partial->flags |= kPacketChecksumPartial;
  edge_receive_.receive(edge_, &partial, 1, turn_.now());
  EXPECT_EQ(count_of(edge_, ProtocolEvent::checksum_completed), 1u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::class_refused), 0u);
}

// E2: a class that is not for the port's hosts is counted, once for each frame.
TEST_F(EdgeReceiveTest, AClassThatIsNotForItIsCounted) {
  TopologyPort strict = edge_.settings;
  strict.allowed_classes = 1;
  edge_.input.edge.classifier = Classifier(topology_.classes, strict);
  const auto with_pcp = [](unsigned pcp) {
    return PacketBuilder()
        .ethernet(kHostB, kHostA)
        .vlan(static_cast<uint16_t>(pcp << 13))
        .ipv4(1, 2)
        .udp(2, 53)
        .payload(20)
        .build();
  };
  receive({with_pcp(0), with_pcp(5), with_pcp(5)});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::class_refused), 2u);
  Packet* refused = received(with_pcp(5), edge_);
  edge_receive_.receive(edge_, &refused, 1, turn_.now());
  EXPECT_FALSE(refused->flags & kPacketClassRefused) << "the flag has done its work";
}

TEST_F(EdgeReceiveTest, WhatThePolicerWouldDropCanBeAskedWithoutASideEffect) {
  EdgePortInput& input = edge_.input.edge;
  const Frame bytes = of_match(1);
  Packet* asked = received(bytes, edge_);
  const auto would_police = [&] { return EdgeReceive::would_police(input, *asked, turn_.now()); };
  EXPECT_FALSE(would_police()) << "the port has none";
  input.policer = Policer(8'000'000, static_cast<uint32_t>(bytes.size() + kWireExtraBytes));
  for (int times = 0; times < 3; ++times) EXPECT_FALSE(would_police()) << "nothing has been sent";
  receive({bytes});
  EXPECT_EQ(drops_of(edge_, DropReason::policed), 0u);
  EXPECT_TRUE(would_police());
  store_be16(asked->data + 12, kEtherTypeMacControl);
  EXPECT_FALSE(would_police());
  turn_.discard(asked);
}

TEST_F(EdgeReceiveTest, ThePolicerCountsWhatFramesTakeOfThePort) {
  TopologyPort dear = edge_.settings;
  dear.overhead_bytes = 200;
  edge_.input.edge.settings = &dear;
  edge_.input.edge.policer = Policer(8'000'000, 16 * 1024);
  const uint64_t burst = 16 * 1024 / (of_match(1).size() + 200);
  for (uint64_t i = 0; i < 2 * burst; ++i) receive({of_match(1)});
  EXPECT_EQ(drops_of(edge_, DropReason::policed), burst);
  Packet* asked = received(of_match(1), edge_);
  EXPECT_TRUE(EdgeReceive::would_police(edge_.input.edge, *asked, turn_.now()));
  edge_.input.edge.policer = Policer(8'000'000, 16 * 1024);
  for (uint64_t i = 0; i < burst; ++i) receive({of_match(1)});
  EXPECT_TRUE(EdgeReceive::would_police(edge_.input.edge, *asked, turn_.now())) << "as it would be dropped";
  turn_.discard(asked);
}

TEST_F(EdgeReceiveTest, APolicedPortDropsWhatIsTooMuch) {
  edge_.input.edge.policer = Policer(8'000'000, 16 * 1024);
  const uint64_t wire_bytes = of_match(1).size() + kWireExtraBytes;
  const uint64_t burst = 16 * 1024 / wire_bytes;
  for (uint64_t i = 0; i < 2 * burst; ++i) receive({of_match(1)});
  EXPECT_EQ(drops_of(edge_, DropReason::policed), burst);
  alignas(64) uint8_t bytes[64] = {};
  Packet written{};
  written.data = bytes;
  PauseFrame pause;
  pause.quanta[0] = 1;
  write_pause(written, pause, mac_of(1));
  receive(std::vector<Frame>(10, Frame(bytes, bytes + written.length)));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_heard), 10u) << "what asks a port to wait is part of no rate";
}

TEST_F(EdgeReceiveTest, AHostsStationIsLearnedAndToldOnce) {
  receive({frame(2, 9, 0), frame(2, 9, 1)});
  const Station* station = edge_input_.stations().find(mac_of(9), 1);
  ASSERT_NE(station, nullptr);
  EXPECT_EQ(station->address, (FabricAddress{1, kEdge}));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::learned), 1u);
  const std::vector<Message> all = messages();
  ASSERT_EQ(all.size(), 1u);
  const auto& learned = std::get<StationLearned>(all[0]);
  EXPECT_EQ(learned.mac, mac_of(9));
  EXPECT_EQ(learned.vlan, 1);
  EXPECT_EQ(learned.address, (FabricAddress{1, kEdge}));
}

TEST_F(EdgeReceiveTest, AFrameForAStationThatNobodyKnowsIsFlooded) {
  receive({frame(7, 1, 5)});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flooded), 1u);
  EXPECT_EQ(crossed(), std::vector<uint32_t>{5});
  EXPECT_EQ(created(), 0u);
}

TEST_F(EdgeReceiveTest, AClassWithoutFlowsHasNone) {
  Frame tagged = frame(2, 1, 5);
  const uint8_t tag[] = {0x81, 0x00, 5 << 5, 0};
  tagged.insert(tagged.begin() + 12, tag, tag + 4);
  receive({tagged});
  EXPECT_EQ(crossed(site_.lanes.of(kWithoutFlows, kLossyChannel)), std::vector<uint32_t>{5});
  EXPECT_EQ(created(), 0u);
  EXPECT_EQ(matches_.used(), 0u);
}

TEST_F(EdgeReceiveTest, FramesOfAPairShareAFlow) {
  receive({frame(2, 1, 0), frame(2, 1, 1)});
  receive({frame(2, 1, 2)});
  EXPECT_EQ(created(), 1u);
  EXPECT_EQ(matches_.used(), 1u);
  ASSERT_NE(flow(), nullptr);
  EXPECT_EQ(flow()->flow_extent(), 300u);
  EXPECT_EQ(crossed(), (std::vector<uint32_t>{0, 1, 2}));
  for (const Packet* one = first_queued(output_.output); one != nullptr; one = one->next) {
    EXPECT_EQ(one->destination, (FabricAddress{1, kOutput}));
    EXPECT_EQ(one->hop_limit, kHopLimit);
    EXPECT_EQ(one->cost, 1u);
  }
}

TEST_F(EdgeReceiveTest, FramesOfKnownPairsInOneBurstGoEachTheirWay) {
  know(4, {1, kOutput});
  receive({frame(2, 1, 0), frame(4, 1, 1)});
  poke(output_.output.paused_lanes, 1);  // nothing goes at once
  receive({frame(4, 1, 2), Frame(13), frame(2, 1, 3), frame(4, 1, 4)});
  EXPECT_EQ(created(), 2u);
  EXPECT_EQ(matches_[0].bytes, 200u);
  EXPECT_EQ(matches_[1].bytes, 300u);
  EXPECT_EQ(crossed(), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST_F(EdgeReceiveTest, OfAKnownPairBesideAnIdleHostFramesAreDeliveredAtOnce) {
  receive({frame(2, 1, 0)});
  let_go();
  EXPECT_TRUE(device_.delivered.empty());
  receive({frame(7, 1, 1), frame(2, 1, 2)});
  EXPECT_EQ(device_.delivered, std::vector<Frame>{frame(2, 1, 2)});
  EXPECT_EQ(created(), 1u);
}

TEST_F(EdgeReceiveTest, ToAPortOfAnotherWorkerTheyCrossAtOnce) {
  board_.publish_at_once(kOther, true);
  lend(5);
  receive({frame(3, 1, 0)});
  EXPECT_EQ(crossings().size(), 1u);
  let_go();
  ASSERT_EQ(flow(), nullptr);
  receive({frame(3, 1, 1)});
  EXPECT_EQ(count_of(edge_, ProtocolEvent::crossed_at_once), 1u);
  EXPECT_EQ(crossings().size(), 1u);
  EXPECT_EQ(created(), 1u);
}

TEST_F(EdgeReceiveTest, AStationThatHasMovedHoldsTheNextFlow) {
  receive({frame(2, 1, 0)});
  InputFlow* old = flow();
  ASSERT_NE(old, nullptr);
  know(2, {1, kOther});
  receive({frame(2, 1, 1)});
  EXPECT_EQ(old->match, kNoMatch) << "it ends by itself";
  EXPECT_EQ(created(), 2u);
  ASSERT_NE(flow(), nullptr);
  EXPECT_EQ(flow()->destination, (FabricAddress{1, kOther}));
  EXPECT_EQ(flow()->state, FlowState::held);
}

TEST_F(EdgeReceiveTest, WithNothingUnderWayItHoldsNobody) {
  receive({frame(2, 1, 0)});
  let_go();
  know(2, {1, kOther});
  receive({frame(2, 1, 1)});
  ASSERT_NE(flow(), nullptr);
  EXPECT_EQ(flow()->state, FlowState::wanting);
}

TEST_F(EdgeReceiveTest, WhatHasCrossedAtOnceToItsOldPlaceIsUnderWay) {
  board_.publish_at_once(kOther, true);
  lend(5);
  receive({frame(3, 1, 0)});
  let_go();
  receive({frame(3, 1, 1)});
  ASSERT_EQ(count_of(edge_, ProtocolEvent::crossed_at_once), 1u);
  know(3, {1, kOutput});
  receive({frame(3, 1, 2)});
  ASSERT_NE(flow(), nullptr);
  EXPECT_EQ(flow()->state, FlowState::held);
}

TEST_F(EdgeReceiveTest, BehindAQueueForTheOldPlaceFramesAreDropped) {
  edge_.input.arbiter[site_.voq_index(kOutput, 0)].room = 0;
  receive({frame(2, 1, 0)});
  InputFlow* old = flow();
  ASSERT_NE(old, nullptr);
  know(2, {1, kOther});
  receive({frame(2, 1, 1)});
  EXPECT_EQ(drops_of(edge_, DropReason::station_moved), 1u);
  EXPECT_EQ(match().bytes, 200u);
  EXPECT_EQ(match().lost_bytes, 100u);
  EXPECT_EQ(match().lost_reason, DropReason::station_moved);
  EXPECT_EQ(flow(), old) << "it is the match's until its queue is empty";
}

TEST_F(EdgeReceiveTest, SoTheyAreBehindThoseThatWaitForAFlowId) {
  while (edge_.input.flows.available() != 0) edge_.input.flows.take();
  receive({frame(2, 1, 0)});
  ASSERT_EQ(match().waiting, 1u);
  know(2, {1, kOther});
  receive({frame(2, 1, 1)});
  EXPECT_EQ(drops_of(edge_, DropReason::station_moved), 1u);
}

TEST_F(EdgeReceiveTest, AFrameThatGoesBackWhereItCameFromMakesNoMatch) {
  receive({frame(1, 1, 0)});
  EXPECT_EQ(drops_of(edge_, DropReason::same_port), 1u);
  EXPECT_EQ(matches_.used(), 0u);
}

TEST_F(EdgeReceiveTest, AFullTableMakesRoomForANewMatchBetweenIdleOnes) {
  turn_.begin(kSecond);
  fill_matches();
  receive({of_match(1000)});
  EXPECT_EQ(matches_.evictions(), 1u);
  EXPECT_EQ(drops_of(edge_, DropReason::match_table_full), 0u);
}

TEST_F(EdgeReceiveTest, AMatchWhoseFlowIsUnderWayStays) {
  turn_.begin(kSecond);
  fill_matches();
  for (uint16_t number = 1; number <= matches_.capacity(); ++number) {
    poke(output_.output.paused_lanes, 1);  // they need flows
    receive({of_match(number)});
  }
  receive({of_match(1000)});
  EXPECT_EQ(matches_.evictions(), 0u);
  EXPECT_EQ(drops_of(edge_, DropReason::match_table_full), 1u);
}

TEST_F(EdgeReceiveTest, OneThatWasFloodedStaysForALife) {
  turn_.begin(kSecond);
  fill_matches();
  for (uint32_t index = 0; index < matches_.capacity(); ++index) matches_[index].flooded_ns = turn_.now();
  turn_.begin(kSecond + dead_after_ns(site_.classes.longest_life_ns()) - 1);
  receive({of_match(1000)});
  EXPECT_EQ(drops_of(edge_, DropReason::match_table_full), 1u);
  turn_.begin(kSecond + dead_after_ns(site_.classes.longest_life_ns()));
  receive({of_match(1000)});
  EXPECT_EQ(drops_of(edge_, DropReason::match_table_full), 1u);
  EXPECT_EQ(matches_.evictions(), 1u);
}

// The first frame gets the index that was found for the second one.
TEST_F(EdgeReceiveTest, BehindAnEvictionABurstIsLookedUpAnew) {
  turn_.begin(kSecond);
  fill_matches();
  const uint64_t before = created();
  poke(output_.output.paused_lanes, 1);
  receive({of_match(1000), of_match(1), of_match(2)});
  EXPECT_EQ(created(), before + 3);
  EXPECT_EQ(matches_.evictions(), 3u);
}

TEST_F(EdgeReceiveTest, TheLastFrameOfABurstTimesARoundTrip) {
  know(4, {1, kOutput});
  poke(output_.output.paused_lanes, 1);
  receive({frame(2, 1, 0), frame(4, 1, 1)});
  begin_turn_of(edge_);
  receive({frame(2, 1, 2), frame(4, 1, 3)});
  ASSERT_TRUE(round_trips().timing());
  EXPECT_EQ(round_trips().port(), kEdge);
  EXPECT_EQ(round_trips().flow_id(), matches_[1].flow);
  receive({frame(4, 1, 4), frame(2, 1, 5)});
  EXPECT_EQ(round_trips().flow_id(), matches_[1].flow) << "one at a time";
}

TEST_F(EdgeReceiveTest, PortsTakeTurnsToTimeOne) {
  poke(output_.output.paused_lanes, 1);
  receive({frame(2, 1, 0)});
  uint32_t times = 0;
  for (size_t turn = 0; turn < ports_.size(); ++turn) {
    turn_.begin(turn_.now());
    receive({frame(2, 1, 1)});
    times += round_trips().timing();
    flow_limits_.forget(kEdge);
  }
  EXPECT_EQ(times, 1u);
}

TEST_F(EdgeReceiveTest, WhatIsNewOrQueuedOrDeliveredTimesNone) {
  begin_turn_of(edge_);
  receive({frame(2, 1, 0)});
  EXPECT_FALSE(round_trips().timing()) << "new";
  let_go();
  receive({frame(2, 1, 1)});
  EXPECT_EQ(device_.delivered.size(), 1u);
  EXPECT_FALSE(round_trips().timing()) << "delivered";
  poke(output_.output.paused_lanes, 1);
  edge_.input.arbiter[site_.voq_index(kOutput, 0)].room = 1;
  receive({frame(2, 1, 2), frame(2, 1, 3)});
  EXPECT_FALSE(flow()->queue.empty());
  EXPECT_FALSE(round_trips().timing()) << "queued";
}

// C2: the word of a congested host ends only the round trip of one that is alone under way.
TEST_F(EdgeReceiveTest, OneThatIsAloneUnderWayIsTimedAsSuch) {
  for (const uint32_t frames : {1, 2}) {
    receive({frame(2, 1, 0)});
    let_go();
    poke(output_.output.paused_lanes, 1);
    begin_turn_of(edge_);
    receive(std::vector<Frame>(frames, frame(2, 1, 1)));
    ASSERT_TRUE(round_trips().timing());
    flow_limits_.tell(edge_, match().flow, *flow(), kCongestionNew, turn_.now() + 1000);
    EXPECT_EQ(round_trips().timing(), frames != 1);
    flow_limits_.forget(kEdge);
    let_go();
    poke(output_.output.paused_lanes, 0);
  }
}

TEST_F(EdgeReceiveTest, StationsAreLookedAtOnceInAWhile) {
  EXPECT_EQ(edge_receive_.next_wake(), 0u);
  const Nanos later = 2 * site_.settings.station_age_ns;
  edge_receive_.age_stations(later);
  EXPECT_EQ(edge_input_.stations().used(), 0u);
  EXPECT_EQ(count_of(ports_.front(), ProtocolEvent::station_aged), 3u);
  EXPECT_EQ(edge_receive_.next_wake(), later + 10 * kMillisecond);
  know(1, {1, kEdge});  // as seen in the beginning
  edge_receive_.age_stations(later + 10 * kMillisecond - 1);
  EXPECT_EQ(edge_receive_.next_wake(), later + 10 * kMillisecond);
  edge_receive_.age_stations(later + 10 * kMillisecond);
  EXPECT_EQ(edge_receive_.next_wake(), later + 20 * kMillisecond);
}

}  // namespace
}  // namespace heddle::test::edge_receive_test
