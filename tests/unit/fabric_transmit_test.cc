// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_transmit.h"

#include <algorithm>

#include "flow_fixture.h"

namespace heddle::test::fabric_transmit_test {
namespace {

// A link with a session and credit for all that comes.
class FabricTransmitTest : public FlowTest {
 protected:
  FabricTransmitTest() {
    bring_up();
    fabric_.session.take_hello(0, turn_.now());
    for (uint32_t channel = 0; channel < fabric_.channels; ++channel)
      grant(channel, fabric_.credits[channel].buffers());
  }
  void grant(uint32_t channel, uint32_t limit) { EXPECT_TRUE(fabric_.credits[channel].apply(0, limit, false)); }
  void grant_only(uint32_t limit) {
    fabric_.credits[kLossyChannel].begin_session(kBufferBytes, fabric_.credits[kLossyChannel].buffers());
    fabric_.credits[kLossyChannel].take(turn_.now());
    grant(kLossyChannel, limit);
  }
  Packet* queue(uint32_t number, FlowId flow = kNoFlow, uint8_t ftag = kLossy, size_t length = 100) {
    Packet* queued = queue_at(fabric_, number, ftag, flow, length);
    queued->source = {1, kEdge};
    queued->destination = {2, 1};
    return queued;
  }
  // One that gets its header as it crosses.
  void stamp_at_once(uint32_t number) {
    InputFlow& flow = edge_.input.flows[9];
    if (flow.branch.flow == kNoFlow) {
      flow.begin({2, 1}, kLossy, kNoMatch);
      flow.branch.set_output(kFabric);
      reserve(fabric_, flow.branch.flow);
    }
    Packet* crossing = numbered(number, edge_);
    crossing->input = edge_.input.ref.with(9);
    crossing->source = {1, kEdge};
    crossing->destination = flow.destination;
    crossing->output_flow = flow.branch.flow;
    crossing->dies_ns = kSecond;
    ASSERT_TRUE(stamping_at_once_.take(edge_, flow, crossing, turn_.now()));
  }
  bool run() { return transmit_.run(fabric_, turn_.now()); }

  // A frame as the other end reads it.
  struct Heard {
    Frame bytes;
    LinkFrame link{};
    Packet data{};  // of a data frame
    uint32_t number() const { return number_of(Frame(bytes.begin() + HEDDLE_DATA_OVERHEAD_BYTES, bytes.end())); }
  };
  // All that the device has taken since the last time.
  std::vector<Heard> heard() {
    std::vector<Heard> all;
    for (const Frame& bytes : std::exchange(device_.delivered, {})) {
      Heard& one = all.emplace_back();
      one.bytes = bytes;
      EXPECT_EQ(check_frame(one.bytes.data(), static_cast<uint32_t>(bytes.size()), one.link), DropReason::none);
      one.data.data = one.bytes.data();
      if (one.link.kind == HEDDLE_DATA) read_data_header(one.data);
    }
    return all;
  }
  // The same of data alone, as numbered.
  std::vector<uint32_t> heard_numbers() {
    std::vector<uint32_t> numbers;
    for (const Heard& one : heard())
      if (one.link.kind == HEDDLE_DATA) numbers.push_back(one.number());
    return numbers;
  }

  LinkCredits& credits_ = fabric_.credits[kLossyChannel];
  Departure departure_{site_, settlement_};
  FabricTransmit transmit_{site_, acks_, settlement_, prober_, retry_, link_control_, stamping_, departure_, loads_};
};

using Numbers = std::vector<uint32_t>;

TEST_F(FabricTransmitTest, AFrameGetsItsHeaderAtHandOver) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  const uint32_t position = entry.data_flow, sequence = fabric_.output.sequence;
  queue(0, id);
  queue(1, id, kLossy, 300);
  EXPECT_FALSE(run());
  const std::vector<Heard> all = heard();
  ASSERT_EQ(all.size(), 2u);
  for (const uint32_t i : {0, 1}) {
    const Heard& one = all[i];
    EXPECT_EQ(one.number(), i);
    EXPECT_EQ(one.link.session_tag, fabric_.session.tag());
    EXPECT_EQ(one.link.sequence, sequence + 1 + i);
    EXPECT_EQ(one.link.channel, 0u);
    EXPECT_EQ(one.link.flags, 0u);
    EXPECT_EQ(load_mac(&one.bytes[6]), fabric_.mac);
    EXPECT_EQ(one.data.input.flow, id);
    EXPECT_EQ(one.data.position, position + 100 * i);
    EXPECT_EQ(one.data.vc, kLossyChannel);
    EXPECT_EQ(one.data.hop_limit, 8u) << "one less";
    EXPECT_EQ(one.data.dies_ns, kSecond / HEDDLE_LIFE_UNIT_NS > 0xffff ? 0xffffu * HEDDLE_LIFE_UNIT_NS : kSecond);
  }
  EXPECT_EQ(entry.data_flow, position + 400);
  EXPECT_EQ(entry.queued, 0u);
  EXPECT_EQ(credits_.sent_total(), 2u);
  EXPECT_EQ(fabric_.output.room.returns(kEdge, 0).room, 2u);
  EXPECT_EQ(fabric_.counters.delivered_frames, 0u) << "it is not delivered yet";
  EXPECT_EQ(entry.pending_ack, 0u);
}

TEST_F(FabricTransmitTest, OneThatHasAHeaderKeepsItsPlace) {
  Packet* transit = queue(5);
  prepend_fabric_header(*transit);
  transit->flags |= kPacketFabric;
  run();
  const std::vector<Heard> all = heard();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].bytes.size(), HEDDLE_DATA_OVERHEAD_BYTES + 100u);
  EXPECT_EQ(all[0].number(), 5u);
  EXPECT_EQ(all[0].data.input.flow, kNoFlow);
  EXPECT_EQ(all[0].data.position, 0u) << "without a flow it has no position";
}

// What got its header as it crossed has a sequence number that precedes all others of the turn.
TEST_F(FabricTransmitTest, WhatHasBeenStampedAsItCrossedGoesFirst) {
  stamp_at_once(0);
  stamp_at_once(1);
  queue(2);
  run();
  EXPECT_EQ(heard_numbers(), (Numbers{0, 1, 2}));
  EXPECT_EQ(fabric_.output.stamped_packets, 0u);
  stamp_at_once(3);
  run();
  EXPECT_EQ(heard_numbers(), (Numbers{3}));
}

// They go together a little later, in fewer frames.
TEST_F(FabricTransmitTest, AcksWaitWhileTheLinkHasDataToSend) {
  const auto heard_acks = [this] {
    const std::vector<Heard> all = heard();
    return std::count_if(all.begin(), all.end(), [](const Heard& one) { return one.link.kind == HEDDLE_ACK; });
  };
  acks_.mark_due(fabric_, 5, fabric_.input.flows[5], turn_.now());
  fabric_.input.ack_urgent = false;
  stamp_at_once(0);
  run();
  EXPECT_EQ(heard_acks(), 0);
  queue(1);
  run();
  EXPECT_EQ(heard_acks(), 0);
  run();
  EXPECT_EQ(heard_acks(), 1) << "an idle link tells at once";
}

TEST_F(FabricTransmitTest, AFlowThatWasQuietIsProbedAnew) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  entry.backoff = 3;
  entry.probe_mark = entry.ack_flow + 1;
  queue(0, id);
  run();
  const Nanos due = turn_.now() + site_.settings.probe_base_ns;
  EXPECT_EQ(entry.backoff, 0u);
  EXPECT_EQ(entry.probe_mark, entry.ack_flow);
  EXPECT_EQ(entry.due_ns, due);
  EXPECT_TRUE(entry.flags & kOutputTimed);
  EXPECT_NE(timers_.next_due(), kNever);
  entry.backoff = 2;
  turn_.begin(turn_.now() + kMillisecond);
  queue(1, id);
  run();
  EXPECT_EQ(entry.backoff, 2u) << "it has something under way";
  EXPECT_EQ(entry.due_ns, due);
  entry.ack_flow = entry.data_flow;
  queue(2, id);
  run();
  EXPECT_EQ(entry.due_ns, due + kMillisecond) << "its timer runs still, and comes too early";
  uint32_t timers = 0;
  timers_.advance(
      kSecond, [](Port&, FlowId) {}, [&timers](Port&, FlowId) { ++timers; });
  EXPECT_EQ(timers, 1u);
}

TEST_F(FabricTransmitTest, WithoutCreditOfItsChannelAFrameWaits) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  const uint32_t position = entry.data_flow;
  grant_only(1);
  queue(0, id);
  queue(1, id);
  run();
  EXPECT_EQ(heard_numbers(), Numbers{0});
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_blocked), 1u);
  queue(2, kNoFlow, kLossless);
  run();
  EXPECT_EQ(heard_numbers(), Numbers{2}) << "there is of the other one";
  EXPECT_EQ(entry.data_flow, position + 100) << "it is not stamped yet";
  grant(kLossyChannel, 2);
  run();
  EXPECT_EQ(heard_numbers(), Numbers{1});
}

TEST_F(FabricTransmitTest, AFrameCostsAsManyBuffersAsItFills) {
  grant_only(2);
  constexpr size_t kLongest = kBufferBytes - HEDDLE_DATA_OVERHEAD_BYTES;
  queue(0, kNoFlow, kLossy, kLongest + 1);
  run();
  EXPECT_EQ(credits_.sent_total(), 2u);
  queue(1, kNoFlow, kLossy, kLongest);
  grant(kLossyChannel, 3);
  run();
  EXPECT_EQ(credits_.sent_total(), 3u);
  EXPECT_EQ(heard_numbers(), (Numbers{0, 1}));
}

TEST_F(FabricTransmitTest, ALifeThatTheHeaderCannotSayIsOver) {
  FlowId id;
  OutputFlow& entry = reserve(fabric_, id);
  grant_only(1);
  queue(0, id)->dies_ns = turn_.now() + HEDDLE_LIFE_UNIT_NS - 1;
  queue(1, id)->dies_ns = turn_.now() + HEDDLE_LIFE_UNIT_NS;
  run();
  const std::vector<Heard> all = heard();
  const auto data = std::find_if(all.begin(), all.end(), [](const Heard& one) { return one.link.kind == HEDDLE_DATA; });
  ASSERT_NE(data, all.end());
  EXPECT_EQ(data->number(), 1u) << "the other took no credit";
  EXPECT_EQ(data->data.dies_ns, HEDDLE_LIFE_UNIT_NS);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(entry.pending_lost, 100u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_blocked), 0u);
}

TEST_F(FabricTransmitTest, ALosslessFrameGoesInItsChannel) {
  queue(0, kNoFlow, kLossless);
  run();
  const std::vector<Heard> all = heard();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].data.vc, kFirstLosslessChannel);
  EXPECT_EQ(all[0].link.flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_EQ(all[0].link.channel, 0u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].sent_total(), 1u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].take(0).sent_total, 1u);
  EXPECT_EQ(credits_.sent_total(), 0u);
  EXPECT_EQ(fabric_.retry.kept(), 0u);
}

TEST_F(FabricTransmitTest, WithRetryItHasANumberThereAndIsKept) {
  const uint32_t sequence = fabric_.output.sequence, sent = fabric_.retry.sent();
  queue(0, kNoFlow, kWithRetry);
  run();
  const std::vector<Heard> all = heard();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].link.channel, HEDDLE_RETRY_CHANNEL);
  EXPECT_EQ(all[0].link.flags, HEDDLE_DATA_LOSSLESS);
  EXPECT_EQ(all[0].link.sequence, sent + 1);
  EXPECT_EQ(fabric_.output.sequence, sequence);
  EXPECT_EQ(fabric_.retry.kept(), 1u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].take(0).sent_total, 0u) << "nothing of it needs to be told";
}

TEST_F(FabricTransmitTest, OneThatCannotBeKeptWaits) {
  const uint32_t sent = fabric_.retry.sent();
  queue(0, kNoFlow, kWithRetry);
  queue(1);
  pool_.empty = true;
  run();
  EXPECT_EQ(heard_numbers(), Numbers{1});
  EXPECT_EQ(fabric_.retry.sent(), sent);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].sent_total(), 0u);
  pool_.empty = false;
  run();
  EXPECT_EQ(heard_numbers(), Numbers{0});
}

TEST_F(FabricTransmitTest, WhatTheOtherEndMissesGoesBeforeData) {
  queue(0, kNoFlow, kWithRetry);
  run();
  device_.delivered.clear();
  PacketQueue released;
  fabric_.retry.apply({.flags = HEDDLE_RETRY_MISSING, .sequence = fabric_.retry.settled()}, released, turn_.now());
  queue(1);
  run();
  EXPECT_EQ(heard_numbers(), (Numbers{0, 1}));
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::sent_again), 1u);
  EXPECT_EQ(fabric_.credits[kFirstLosslessChannel].sent_total(), 1u) << "they have their credit";
}

TEST_F(FabricTransmitTest, WhatIsToldGoesBeforeDataInOneOrder) {
  const uint32_t sequence = fabric_.output.sequence;
  FlowId id;
  reserve(fabric_, id);
  queue(9);
  fabric_.credits[kFirstLosslessChannel].apply(0, 0, true);
  fabric_.retry.judge(fabric_.retry.taken() + 2, turn_.now());
  prober_.probe(fabric_, id);
  acks_.mark_due(fabric_, 5, fabric_.input.flows[5], turn_.now());
  fabric_.input.ack_urgent = true;
  run();
  const std::vector<Heard> all = heard();
  const uint8_t kinds[] = {HEDDLE_CREDIT, HEDDLE_RETRY, HEDDLE_PROBE, HEDDLE_ACK, HEDDLE_DATA};
  ASSERT_EQ(all.size(), std::size(kinds));
  for (uint32_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].link.kind, kinds[i]);
    EXPECT_EQ(all[i].link.sequence, sequence + 1 + i);
    EXPECT_EQ(all[i].link.session_tag, fabric_.session.tag());
  }
  EXPECT_EQ(fabric_.output.control_packets, 0u);
}

TEST_F(FabricTransmitTest, WithoutASessionNothingIsToldButHellos) {
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  while (!fabric_.output.control.empty()) turn_.discard(fabric_.output.control.pop());
  fabric_.output.control_packets = 0;
  acks_.mark_due(fabric_, 5, fabric_.input.flows[5], turn_.now());
  fabric_.input.ack_urgent = true;
  const uint32_t sequence = fabric_.output.sequence;
  Packet* hello = control_.make(fabric_);
  const DueHello due = fabric_.session.take_hello(0, turn_.now());
  write_hello(*hello, due.hello, due.frame_bytes, fabric_.mac);
  hello->flags = 0;
  control_.queue(fabric_, hello);
  run();
  const std::vector<Heard> all = heard();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].link.kind, HEDDLE_HELLO);
  EXPECT_EQ(fabric_.output.sequence, sequence) << "it is in no order";
}

TEST_F(FabricTransmitTest, ABurstAtATime) {
  for (uint32_t number = 0; number <= kBurst; ++number) queue(number);
  EXPECT_TRUE(run()) << "there may be more";
  EXPECT_EQ(device_.delivered.size(), kBurst);
  EXPECT_FALSE(run());
  for (uint32_t made = 0; made <= kBurst; ++made) {
    Packet* records = control_.make(fabric_);
    start_records(*records, HEDDLE_PROBE);
    append_record(*records, ProbeRecord{1, 0});
    control_.queue(fabric_, records);
  }
  EXPECT_TRUE(run());
  EXPECT_EQ(fabric_.output.control_packets, 1u) << "of those made here as well";
}

TEST_F(FabricTransmitTest, WhatIsMadeHereTakesItsPartOfTheRate) {
  fabric_.output.scheduler.set_pace(TokenBucket(1e6, 0));
  queue(0);
  FlowId id;
  reserve(fabric_, id);
  prober_.probe(fabric_, id);
  run();
  ASSERT_EQ(device_.delivered.size(), 1u);
  EXPECT_TRUE(heard_numbers().empty()) << "the probe alone";
}

TEST_F(FabricTransmitTest, BehindAFullDeviceAllWaitsAndAges) {
  queue(0, kNoFlow, kWithRetry);
  run();
  device_.delivered.clear();
  PacketQueue released;
  fabric_.retry.apply({.flags = HEDDLE_RETRY_MISSING, .sequence = fabric_.retry.settled()}, released, turn_.now());
  const Nanos dies = turn_.now() + 50 * HEDDLE_LIFE_UNIT_NS;
  fabric_.retry.again()->dies_ns = dies;
  FlowId id;
  reserve(fabric_, id);
  prober_.probe(fabric_, id);
  queue(1)->dies_ns = dies;
  takes(fabric_, 0);
  EXPECT_FALSE(run());
  EXPECT_TRUE(device_.delivered.empty());
  EXPECT_NE(fabric_.retry.again(), nullptr);
  EXPECT_NE(fabric_.output.probes, nullptr);
  turn_.begin(turn_.now() + 30 * HEDDLE_LIFE_UNIT_NS);
  for (size_t frames = 1; !fabric_.output.scheduler.empty(); ++frames) {
    device_.accepts = 1;
    EXPECT_FALSE(run());
    ASSERT_EQ(device_.delivered.size(), frames);
  }
  std::vector<uint32_t> numbers;
  for (const Heard& frame : heard()) {
    if (frame.link.kind != HEDDLE_DATA) continue;
    numbers.push_back(frame.number());
    EXPECT_EQ(frame.data.dies_ns, 20 * HEDDLE_LIFE_UNIT_NS);
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(fabric_.output.probes, nullptr);
}

TEST_F(FabricTransmitTest, BehindAFullDeviceLivesEnd) {
  takes(fabric_, 0);
  queue(0)->dies_ns = turn_.now() + 10;
  queue(1)->dies_ns = turn_.now() + 20;
  turn_.begin(turn_.now() + 10);
  EXPECT_FALSE(run());
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), 1u);
  EXPECT_EQ(fabric_.output.scheduler.packets(), 1u);
}

TEST_F(FabricTransmitTest, NoMoreGoesThanTheDeviceHasRoomFor) {
  takes(fabric_, 5);
  for (uint32_t number = 0; number < 7; ++number) queue(number);
  EXPECT_FALSE(run()) << "all there is room for, but the device is full";
  EXPECT_EQ(device_.delivered.size(), 5u);
  device_.accepts = kBurst;
  EXPECT_FALSE(run());
  EXPECT_EQ(fabric_.output.scheduler.packets(), 0u) << "once it has room it goes on";
}

// X4, K8.
TEST_F(FabricTransmitTest, AShapedClassWaitsForNoLongerThanALife) {
  ShaperPolicy policy;
  policy.configured = true;
  policy.leaves[kLossy].bandwidth.maximum_bps = 1'000'000;
  fabric_.output.scheduler.set_pace(TokenBucket(0.1, kMillisecond));
  fabric_.output.scheduler.set_shaper(policy);
  for (uint32_t number = 0; number < 60; ++number) queue(number)->dies_ns = turn_.now() + kMillisecond;
  run();
  const uint32_t waited = fabric_.output.scheduler.packets();
  ASSERT_GT(waited, 0u);
  turn_.begin(turn_.now() + kMillisecond);
  run();
  EXPECT_EQ(fabric_.output.scheduler.packets(), 0u);
  EXPECT_EQ(drops_of(fabric_, DropReason::life_ended), waited);
}

TEST_F(FabricTransmitTest, ItWakesForWhicheverComesFirst) {
  const Nanos hello = fabric_.session.next_wake();
  ASSERT_GT(hello, turn_.now());
  EXPECT_EQ(transmit_.next_wake(fabric_), hello);
  queue(0)->dies_ns = hello - 1;
  EXPECT_EQ(transmit_.next_wake(fabric_), hello - 1) << "the end of a life";
  acks_.mark_due(fabric_, 5, fabric_.input.flows[5], turn_.now());
  EXPECT_EQ(transmit_.next_wake(fabric_), acks_.deadline(fabric_));
  ASSERT_LT(acks_.deadline(fabric_), hello - 1);
}

TEST_F(FabricTransmitTest, ForCreditsOfAllChannelsAndRetry) {
  const Nanos hello = fabric_.session.next_wake();
  for (uint32_t channel = 0; channel < fabric_.channels; ++channel) {
    fabric_.credits[channel].apply(0, fabric_.credits[channel].buffers(), true);
    EXPECT_EQ(transmit_.next_wake(fabric_), 0u) << channel;
    fabric_.credits[channel].take(turn_.now());
    EXPECT_EQ(transmit_.next_wake(fabric_), hello);
  }
  fabric_.retry.judge(fabric_.retry.taken() + 2, turn_.now());
  EXPECT_EQ(transmit_.next_wake(fabric_), fabric_.retry.next_due());
  ASSERT_LT(fabric_.retry.next_due(), hello);
}

TEST_F(FabricTransmitTest, WithoutASessionForThatAlone) {
  link_control_.reset(fabric_, LinkDownReason::protocol_error, turn_.now());
  acks_.mark_due(fabric_, 5, fabric_.input.flows[5], 0);
  EXPECT_EQ(transmit_.next_wake(fabric_), fabric_.session.next_wake());
  ASSERT_NE(transmit_.next_wake(fabric_), acks_.deadline(fabric_));
}

}  // namespace
}  // namespace heddle::test::fabric_transmit_test
