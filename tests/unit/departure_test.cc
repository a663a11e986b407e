// SPDX-License-Identifier: Apache-2.0
#include "node/departure.h"

#include "component_fixture.h"

namespace heddle::test::departure_test {
namespace {

// What it has taken is its own: nobody finds there what was.
class OwningDevice : public MemoryDevice {
 public:
  using MemoryDevice::MemoryDevice;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override {
    ++offers;
    for (uint32_t i = 0; i < count; ++i) {
      Packet taken{};
      taken.data = packets[i]->data;
      taken.length = packets[i]->length;
      taken.payload = 0x5555;
      *packets[i] = taken;
    }
    return MemoryDevice::transmit(packets, count, now);
  }
  uint32_t offers = 0;
};

// Frames that have left the queues of edge port 2, or of the fabric port.
class DepartureTest : public ComponentTest {
 protected:
  DepartureTest() {
    for (Port* port : {&edge_, &output_, &fabric_}) {
      plug(*port, owner_);
      port->output.transmitter.look(0);
    }
    owner_.offers = 0;
    greet(fabric_.session, peer_->session, turn_.now());
  }
  Packet* leaving(Port& port, uint32_t number, FlowId flow = kNoFlow, uint8_t ftag = kLossy) {
    queue_at(port, number, ftag, flow);
    if (port.is_fabric() && flow != kNoFlow) --port.output.flows[flow].queued;  // it has been stamped
    return port.output.scheduler.take_any();
  }
  Packet* made_here(uint32_t number) {
    Packet* fresh = numbered(number, output_);
    fresh->input.port = kNoPort;
    return fresh;
  }
  void send(Port& port, std::vector<Packet*> burst) {
    const auto count = static_cast<uint32_t>(burst.size());
    if (port.is_fabric())
      departure_.send_burst<false>(port, burst.data(), count, turn_.now());
    else
      departure_.send_burst<true>(port, burst.data(), count, turn_.now());
  }
  std::vector<uint32_t> taken() const {
    std::vector<uint32_t> numbers;
    for (const Frame& bytes : owner_.delivered) numbers.push_back(number_of(bytes));
    return numbers;
  }
  static const Returns& returns(const Port& port, PortIndex input = kEdge, LaneIndex lane = 0) {
    return port.output.room.returns(input, lane);
  }

  OwningDevice owner_{pool_};
  Departure departure_{site_, settlement_};
};

using Numbers = std::vector<uint32_t>;

TEST_F(DepartureTest, WhatAHostsDeviceTakesIsDelivered) {
  FlowId id;
  const OutputFlow& entry = reserve(output_, id);
  send(output_, {leaving(output_, 0, id), leaving(output_, 1, id)});
  EXPECT_EQ(taken(), (Numbers{0, 1}));
  EXPECT_EQ(output_.counters.sent_frames, 2u);
  EXPECT_EQ(output_.counters.sent_bytes, 200u);
  EXPECT_EQ(output_.counters.delivered_frames, 2u);
  EXPECT_EQ(output_.counters.delivered_bytes, 200u);
  EXPECT_EQ(entry.queued, 0u);
  EXPECT_EQ(entry.pending_ack, 200u);
  EXPECT_EQ(entry.pending_lost, 0u);
  EXPECT_EQ(told(), Numbers{flow_item(kOutput, id)});
  EXPECT_EQ(returns(output_).room, 2u);
  EXPECT_EQ(returns(output_).held, 2u);
}

TEST_F(DepartureTest, OfAFrameThatCrossedWithoutAFlowItsInputHearsThatItIsDelivered) {
  Packet* at_once = leaving(output_, 0);
  at_once->flags |= kPacketAtOnce;
  Packet* copy = leaving(output_, 1);
  copy->flags |= kPacketCopy;
  send(output_, {at_once, copy});
  EXPECT_EQ(returns(output_).delivered, 100u);
  EXPECT_EQ(returns(output_).room, 1u);
  EXPECT_EQ(returns(output_).copies, 1u);
  EXPECT_EQ(returns(output_).held, 1u);
  EXPECT_EQ(output_.counters.delivered_frames, 1u) << "a copy is for everybody";
  EXPECT_EQ(output_.counters.delivered_bytes, 100u);
  EXPECT_EQ(output_.counters.sent_frames, 2u);
}

TEST_F(DepartureTest, WhatALinkTakesCountsForItsClass) {
  const uint8_t lossy = site_.lanes.class_of(kLossy), other = site_.lanes.class_of(kWithoutFlows);
  send(fabric_,
       {leaving(fabric_, 0), leaving(fabric_, 1), leaving(fabric_, 2, kNoFlow, kWithoutFlows), leaving(fabric_, 3)});
  EXPECT_EQ(fabric_.output.sent_of_class[lossy], 300u);
  EXPECT_EQ(fabric_.output.sent_of_class[other], 100u);
  send(fabric_, {made_here(4)});
  EXPECT_EQ(fabric_.output.sent_of_class[lossy], 300u);
  EXPECT_EQ(fabric_.counters.sent_bytes, 500u);
}

TEST_F(DepartureTest, WhatALinkTakesIsUnderWay) {
  FlowId id;
  const OutputFlow& entry = reserve(fabric_, id);
  send(fabric_, {leaving(fabric_, 0, id), leaving(fabric_, 1)});
  EXPECT_EQ(fabric_.counters.sent_frames, 2u);
  EXPECT_EQ(fabric_.counters.sent_bytes, 200u);
  EXPECT_EQ(fabric_.counters.delivered_frames, 0u);
  EXPECT_EQ(fabric_.counters.delivered_bytes, 0u);
  EXPECT_EQ(entry.queued, 0u);
  EXPECT_EQ(entry.pending_ack, 0u);
  EXPECT_EQ(told(), Numbers{});
  EXPECT_EQ(returns(fabric_).room, 2u);
  EXPECT_EQ(returns(fabric_).delivered, 0u);
}

TEST_F(DepartureTest, RoomGoesBackToEachInputAndLane) {
  Packet* from_fabric = leaving(output_, 2);
  from_fabric->input = fabric_.input.ref;
  Packet* large = leaving(output_, 3);
  large->cost = 5;
  send(output_, {leaving(output_, 0), leaving(output_, 1, kNoFlow, kUncontrolled), from_fabric, large});
  EXPECT_EQ(returns(output_).room, 6u);
  EXPECT_EQ(returns(output_, kEdge, site_.lanes.of(kUncontrolled, kLossyChannel)).room, 1u);
  EXPECT_EQ(returns(output_, kFabric).room, 1u);
  EXPECT_EQ(output_.output.room.due(), PortSet{1} << kEdge | PortSet{1} << kFabric);
}

TEST_F(DepartureTest, FramesMadeHereGiveNothingBack) {
  for (Port* port : {&output_, &fabric_}) {
    send(*port, {made_here(0), leaving(*port, 1), made_here(2), leaving(*port, 3)});
    EXPECT_EQ(port->counters.sent_frames, 4u);
    EXPECT_EQ(port->counters.sent_bytes, 400u);
    EXPECT_EQ(returns(*port).room, 2u);
    EXPECT_EQ(port->output.room.due(), PortSet{1} << kEdge);
  }
}

TEST_F(DepartureTest, StampedFramesGoOnceInTheirOrder) {
  FlowId id;
  const OutputFlow& entry = reserve(fabric_, id);
  uint32_t& stamped = fabric_.output.stamped_packets;
  for (const uint32_t number : {0u, 1u}) fabric_.output.stamped[stamped++] = leaving(fabric_, number, id);
  departure_.send_stamped(fabric_, turn_.now());
  EXPECT_EQ(taken(), (Numbers{0, 1}));
  EXPECT_EQ(stamped, 0u);
  EXPECT_EQ(returns(fabric_).room, 2u);
  EXPECT_EQ(entry.pending_ack, 0u);
  departure_.send_stamped(fabric_, turn_.now());
  EXPECT_EQ(owner_.offers, 1u);
}

TEST_F(DepartureTest, NothingIsOfferedWhereThereIsNothing) {
  send(output_, {});
  EXPECT_EQ(owner_.offers, 0u);
}

TEST_F(DepartureTest, WhileItsHostIsCongestedAFlowHearsSoAgain) {
  FlowId id, uncontrolled_id;
  OutputFlow& entry = reserve(output_, id);
  const OutputFlow& uncontrolled = reserve(output_, uncontrolled_id, kUncontrolled);
  Packet* first = leaving(output_, 0, id);
  Packet* other = leaving(output_, 1, uncontrolled_id, kUncontrolled);
  congest(output_);
  send(output_, {first, other});
  EXPECT_TRUE(entry.congestion & kCongestionPersistent);
  EXPECT_NE(entry.congestion & kCongestionLevelMask, 0u);
  EXPECT_TRUE(entry.flags & kOutputTell);
  EXPECT_EQ(uncontrolled.congestion, 0u);
  EXPECT_FALSE(uncontrolled.flags & kOutputTell);
  EXPECT_EQ(count_of(output_, ProtocolEvent::congestion_persistent), 1u);
}

TEST_F(DepartureTest, AFlowHearsThatItsHostIsCongestedNoLonger) {
  const auto hears = [this](uint8_t known, uint8_t to_be_told) {
    FlowId id;
    OutputFlow& entry = reserve(output_, id);
    Packet* packet = leaving(output_, 0, id);
    poke(entry.told, known);
    poke(entry.congestion, to_be_told);
    send(output_, {packet});
    EXPECT_EQ(entry.congestion, 0u);
    return (entry.flags & kOutputTell) != 0;
  };
  EXPECT_TRUE(hears(5, 0)) << "it thinks so";
  EXPECT_TRUE(hears(0, 5)) << "it was about to hear that it is";
  EXPECT_FALSE(hears(0, 0)) << "that is no news";
}

TEST_F(DepartureTest, AFullDeviceIsAskedAgainSoon) {
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), kNever);
  owner_.accepts = 0;
  send(output_, {leaving(output_, 0)});
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), turn_.now() + kMicrosecond);
}

TEST_F(DepartureTest, WhatTheRateHoldsBackGoesWhenItMay) {
  OutputScheduler& scheduler = output_.output.scheduler;
  queue_at(output_, 0);
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), kNever) << "it may go now";
  scheduler.set_pace(TokenBucket(10, 0));
  Packet* before = numbered(1, output_);
  scheduler.sent(*before, turn_.now());
  turn_.discard(before);
  const Nanos ready = scheduler.pace_ready_at();
  ASSERT_GT(ready, turn_.now() + kMicrosecond);
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), ready);
  EXPECT_EQ(departure_.next_wake(output_, ready), kNever);
  poke(output_.output.paused_lanes, 1);
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), kNever) << "its host is to say first";
  queue_at(output_, 2, kUncontrolled);
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), ready) << "to that one it has not";
  owner_.accepts = 0;
  send(output_, {leaving(output_, 3, kNoFlow, kLossless)});
  EXPECT_EQ(departure_.next_wake(output_, turn_.now()), turn_.now() + kMicrosecond) << "a full device is beyond it";
}

TEST_F(DepartureTest, SoItIsWithWhatALinkSendsAgain) {
  fabric_.retry.begin_session(40, 40);
  fabric_.retry.next_sequence();
  fabric_.retry.keep(numbered(0, edge_), 0);
  fabric_.output.scheduler.set_pace(TokenBucket(10, 0));
  Packet* before = numbered(1, fabric_);
  fabric_.output.scheduler.sent(*before, turn_.now());
  turn_.discard(before);
  EXPECT_EQ(departure_.next_wake(fabric_, turn_.now()), kNever);
  PacketQueue released;
  fabric_.retry.apply({.flags = HEDDLE_RETRY_MISSING, .sequence = 40}, released, 0);
  EXPECT_EQ(departure_.next_wake(fabric_, turn_.now()), fabric_.output.scheduler.pace_ready_at());
}

}  // namespace
}  // namespace heddle::test::departure_test
