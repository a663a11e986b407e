// SPDX-License-Identifier: Apache-2.0
#include "node/link_control.h"

#include "flow_fixture.h"

namespace heddle::test::link_control_test {
namespace {

class LinkControlTest : public FlowTest {
 protected:
  static constexpr FlowId kFlow = 9;
  std::vector<NodeEvent> events() {
    std::vector<NodeEvent> all;
    for (NodeEvent event; events_.take(event);) all.push_back(event);
    return all;
  }
  void reset() { link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now()); }
};

TEST_F(LinkControlTest, ASessionBeginsBothWays) {
  fabric_.input.flows[kFlow].lost_total = 5;
  bring_up();
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::session_began), 1u);
  EXPECT_TRUE(board_.up(kFabric));
  const uint64_t own = fabric_.session.own_nonce(), peer = fabric_.session.peer_nonce();
  EXPECT_EQ(fabric_.output.sequence, first_position(own, peer, kNoFlow));
  EXPECT_EQ(fabric_.input.last_sequence, first_position(peer, own, kNoFlow));
  EXPECT_EQ(fabric_.retry.sent(), fabric_.output.sequence);
  EXPECT_EQ(fabric_.retry.taken(), fabric_.input.last_sequence);
  const InputFlow& flow = fabric_.input.flows[kFlow];
  EXPECT_EQ(flow.next_data_flow, first_position(peer, own, kFlow));
  EXPECT_EQ(flow.data_flow, flow.next_data_flow);
  EXPECT_EQ(flow.ack_flow, flow.next_data_flow);
  EXPECT_EQ(flow.lost_total, 0u);
  EXPECT_EQ(fabric_.output.flows[kFlow].data_flow, first_position(own, peer, kFlow));
  const auto last = FlowId::of(fabric_.input.flows.size());
  EXPECT_EQ(fabric_.input.flows[last].data_flow, first_position(peer, own, last));
  const std::vector<NodeEvent> told = events();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back().kind, NodeEventKind::link);
  EXPECT_EQ(told.back().reason, LinkDownReason::none);
  EXPECT_EQ(told.back().port, kFabric);
}

TEST_F(LinkControlTest, TheOtherEndGrantsNoMoreThanItHas) {
  bring_up();
  const uint32_t lossy = site_.settings.link_credits, lossless = site_.settings.lossless_credits;
  ASSERT_LT(lossless, lossy);
  EXPECT_TRUE(fabric_.credits[kLossyChannel].apply(0, lossy, false));
  EXPECT_FALSE(fabric_.credits[kLossyChannel].apply(0, lossy + 1, false));
  EXPECT_TRUE(fabric_.credits[kFirstLosslessChannel].apply(0, lossless, false));
  EXPECT_FALSE(fabric_.credits[kFirstLosslessChannel].apply(0, lossless + 1, false));
}

// R12: what the neighbour's hellos name decides whether it is believed when it says that nothing is left.
class NoticeSequences : public LinkControlTest {
 protected:
  static constexpr PortSet kItsPort = PortSet{1} << kFabric;
  uint32_t named() {
    turn_.begin(turn_.now() + site_.settings.hello_interval_ns);
    link_control_.run(turn_.now());
    Hello hello{};
    while (!fabric_.output.control.empty()) {
      Packet* packet = fabric_.output.control.pop();
      --fabric_.output.control_packets;
      LinkFrame frame{};
      EXPECT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
      if (frame.kind == HEDDLE_HELLO) read_hello(frame, hello);
    }
    return hello.notice_sequence;
  }
  // A hello of the neighbour that names record 6, then the end of the session and its record 7: nothing is left.
  bool believed(bool a_strangers) {
    bring_up();
    FlowId id;
    OutputFlow& entry = reserve(fabric_, id);
    entry.data_flow = entry.ack_flow + 300;
    DueHello due = peer_->session.take_hello(link_state_.digest(), turn_.now());
    due.hello.notice_sequence = 6;
    if (a_strangers) ++due.hello.nonce;
    hear_hello(due);
    reset();
    link_state_.apply(1, {7, 0, kItsPort});
    link_states_.changed(1);
    link_states_.take_effect();
    return entry.extent() == 0;
  }
};

TEST_F(NoticeSequences, AHelloNamesTheRecordThatCallsItsLinkUp) {
  bring_up();
  link_state_.originate({});
  EXPECT_EQ(named(), 0u) << "none does";
  link_state_.originate({.ports_up = kItsPort});
  EXPECT_EQ(named(), link_state_.record(0).sequence);
}

TEST_F(NoticeSequences, TheNeighbourIsBelieved) { EXPECT_TRUE(believed(false)); }

TEST_F(NoticeSequences, AStrangerIsNot) { EXPECT_FALSE(believed(true)); }

TEST_F(LinkControlTest, OtherWorkersHearOfLinksOnceThereIsRoom) {
  board_.publish_standing(kFabric, LinkStanding::up);
  fill_messages();
  link_control_.run(turn_.now());
  while (!messages().empty()) {
  }
  link_control_.run(turn_.now());
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(std::get<LinkStateNews>(told[0]).record.ports_up, PortSet{1} << kFabric);
}

TEST_F(LinkControlTest, PositionsOfAnIdInUseAreNotTouched) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.data_flow = entry.ack_flow = 77;
  bring_up();
  EXPECT_EQ(entry.data_flow, 77u);
}

TEST_F(LinkControlTest, TheEndOfASessionSettlesItsOutputs) {
  bring_up();
  FlowId under_way_id, quiet_id, unbound_id;
  OutputFlow& under_way = reserve(fabric_, under_way_id);
  under_way.data_flow += 500;
  OutputFlow& quiet = reserve(fabric_, quiet_id);
  OutputFlow& unbound = reserve(fabric_, unbound_id);
  unbound.input = edge_.input.ref;
  Packet* queued = packet(100);
  queued->output_flow = quiet_id;
  queued->input = quiet.input;
  quiet.queued = 1;
  fabric_.output.scheduler.push(queued);
  Packet* stamped = packet(100);
  stamped->input = edge_.input.ref;
  stamped->ftag = kLossless;
  fabric_.output.stamped = {stamped};
  fabric_.output.stamped_packets = 1;
  Packet* kept = packet(100, kWithRetry);
  fabric_.retry.next_sequence();
  fabric_.retry.keep(kept, turn_.now());
  prober_.probe(fabric_, under_way_id);
  reset();
  for (const Packet* one : {queued, stamped, kept}) EXPECT_TRUE(gone(one));
  EXPECT_TRUE(fabric_.output.scheduler.empty());
  EXPECT_EQ(fabric_.output.stamped_packets, 0u);
  EXPECT_EQ(fabric_.output.control_packets, 0u);
  EXPECT_EQ(fabric_.output.probes, nullptr);
  EXPECT_EQ(drops_of(fabric_, DropReason::link_down), 3u) << "and the probe";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::lossless_lost), 1u);
  EXPECT_EQ(fabric_.counters.consumed_frames, 1u) << "what was kept is no loss: it has been sent";
  EXPECT_EQ(fabric_.output.room.returns(kEdge, 0).room, 2u);
  EXPECT_EQ(quiet.pending_lost, 100u);
  for (const OutputFlow* entry : {&under_way, &quiet, &unbound})
    EXPECT_EQ(entry->flags & (kOutputEnded | kOutputEndDue), kOutputEnded | kOutputEndDue);
  const Nanos life = topology_.classes[0].life_ns;
  EXPECT_EQ(under_way.due_ns, turn_.now() + life + life / 8);
  EXPECT_TRUE(under_way.flags & kOutputTimed);
  EXPECT_FALSE(quiet.flags & kOutputTimed);
  const std::vector<uint32_t> marked = told();
  EXPECT_EQ(std::set<uint32_t>(marked.begin(), marked.end()),
            (std::set<uint32_t>{flow_item(kFabric, under_way_id), flow_item(kFabric, quiet_id)}))
      << "whoever gets the third hears by its first packet";
}

TEST_F(LinkControlTest, TheEndOfASessionEndsItsInputs) {
  bring_up();
  const Epoch epoch = fabric_.input.ref.epoch;
  InputFlow& flow = fabric_.input.flows[kFlow];
  flow.begin({1, kOther}, kLossy, kNoMatch);
  Packet* queued = packet(100);
  queued->input = fabric_.input.ref.with(kFlow);
  queued->destination = flow.destination;
  queued->dies_ns = kSecond;
  fabric_.credits[kLossyChannel].received(1, false);
  flow.next_data_flow += 100;
  flow_queues_.push(fabric_, kFlow, flow, queued, 0);
  flow_life_.place(fabric_, kFlow);
  acks_.mark_due(fabric_, kFlow, flow, 0);
  fabric_.input.ack_urgent = true;
  Voq& voq = fabric_.input.arbiter[site_.voq_index(kOutput, 0)];
  fabric_.input.arbiter.push_fifo(site_.voq_index(kOutput, 0), 0);
  fabric_.input.arbiter.push(site_.voq_index(kOutput, 0), 3);
  Packet* alone = packet(100, kLossless);
  alone->vc = kFirstLosslessChannel;
  fabric_.credits[kFirstLosslessChannel].received(1, false);
  fabric_.input.fifos[site_.lanes.of(kLossless, kFirstLosslessChannel)].queue.push(alone);
  room_.tell_waiting(fabric_, voq, 4);
  reset();
  EXPECT_TRUE(gone(queued));
  EXPECT_TRUE(gone(alone));
  EXPECT_EQ(voq.fifos(), 0u);
  EXPECT_EQ(voq.ready(), 0u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].held(), 0u);
  EXPECT_FALSE(flow.in_use());
  EXPECT_EQ(fabric_.input.ref.epoch, epoch + 1);
  EXPECT_EQ(fabric_.input.queues.packets(), 0u);
  EXPECT_EQ(fabric_.input.queued_flows[kLossyChannel], 0u);
  EXPECT_TRUE(fabric_.input.ids[kOther].wanting.empty());
  EXPECT_TRUE(fabric_.input.ack_due.empty());
  EXPECT_FALSE(fabric_.input.ack_urgent);
  EXPECT_FALSE(flow.flags & kFlowAckDue);
  EXPECT_EQ(output_.output.scheduler.waiting(kFabric, 0), 0u);
  EXPECT_EQ(fabric_.credits[kLossyChannel].held(), 0u);
  EXPECT_FALSE(board_.up(kFabric));
  EXPECT_FALSE(fabric_.session.up());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::session_ended), 1u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::session_reset), 1u);
}

TEST_F(LinkControlTest, AWorkerThatWasAwayForgivesSilence) {
  link_control_.forgive_silence(kSecond, 2 * kSecond);
  EXPECT_TRUE(events().empty()) << "nothing is up";
  bring_up();
  events();
  const Nanos interval = site_.settings.hello_interval_ns;
  link_control_.forgive_silence(interval, 2 * kSecond);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::silence_forgiven), 1u);
  EXPECT_TRUE(events().empty()) << "more often than that nobody needs to know";
  link_control_.forgive_silence(interval + kMicrosecond, 2 * kSecond);
  const std::vector<NodeEvent> told = events();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].kind, NodeEventKind::worker_late);
  EXPECT_EQ(told[0].late_us, interval / kMicrosecond + 1);
}

TEST_F(LinkControlTest, CreditsThatAreDueGoTogether) {
  bring_up();
  link_control_.send_credits(fabric_, turn_.now());
  EXPECT_TRUE(fabric_.output.control.empty()) << "nothing is due";
  for (const uint8_t channel : {kLossyChannel, kFirstLosslessChannel})
    fabric_.credits[channel].apply(0, 0, true);  // the other end asks
  control_pool_.empty = true;
  link_control_.send_credits(fabric_, turn_.now());
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_sent), 0u);
  control_pool_.empty = false;
  link_control_.send_credits(fabric_, turn_.now());
  const LinkFrame frame = next_records(fabric_);
  const auto records = credit_records(frame);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].vc, kLossyChannel);
  EXPECT_EQ(records[0].limit, fabric_.credits[kLossyChannel].buffers());
  EXPECT_EQ(records[1].vc, kFirstLosslessChannel);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_sent) + count_of(fabric_, ProtocolEvent::credit_asked), 2u);
}

TEST_F(LinkControlTest, OnlyLinksHaveACarrierToLose) {
  link_control_.set_carrier(edge_, false);
  EXPECT_TRUE(edge_.carrier);
  link_control_.set_carrier(fabric_, true);
  EXPECT_FALSE(fabric_.carrier_changed);
  link_control_.set_carrier(fabric_, false);
  EXPECT_TRUE(fabric_.carrier_changed);
  link_control_.run(turn_.now());
  EXPECT_FALSE(fabric_.carrier_changed);
  EXPECT_EQ(fabric_.session.down_reason(), LinkDownReason::no_carrier);
  EXPECT_EQ(fabric_.output.control_packets, 0u) << "and nothing is sent";
}

TEST_F(LinkControlTest, WithoutASessionOneHelloWaitsAtATime) {
  link_control_.run(turn_.now());
  EXPECT_EQ(fabric_.output.control_packets, 1u);
  link_control_.run(turn_.now() + site_.settings.hello_interval_ns);
  EXPECT_EQ(fabric_.output.control_packets, 1u);
  EXPECT_EQ(edge_.output.control_packets + output_.output.control_packets, 0u);
}

TEST_F(LinkControlTest, WhoKnowsOtherLinkStatesIsToldAll) {
  bring_up();
  hear_hello(peer_->session.take_hello(link_state_.digest(), turn_.now()));
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_sent), 0u);
  hear_hello(peer_->session.take_hello(link_state_.digest() + 1, turn_.now()));
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::notice_sent), 1u);
}

TEST_F(LinkControlTest, TheEndOfASessionIsCounted) {
  bring_up();
  const uint32_t before = board_.session_ends();
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  EXPECT_EQ(board_.session_ends(), before + 1);
}

TEST_F(LinkControlTest, TooManyOrphansKeepALinkDown) {
  poke(fabric_.input.orphans, site_.settings.orphans_max);
  const Nanos now = turn_.now();
  peer_->session.tick(1001, now);
  for (int i = 0; i < 4; ++i) {
    hear_hello(peer_->session.take_hello(0, now));
    Hello hello = fabric_.session.take_hello(0, now).hello;
    peer_->session.receive(hello, 1614, 2000, LinkDownReason::none, now);
  }
  EXPECT_FALSE(fabric_.session.up());
  EXPECT_EQ(fabric_.session.down_reason(), LinkDownReason::orphans);
}

}  // namespace
}  // namespace heddle::test::link_control_test
