// SPDX-License-Identifier: Apache-2.0
// R3, R8, R9: what a port says of itself, and whom it asks to take another way.
#include "node/port_loads.h"

#include "flow_fixture.h"

namespace heddle::test::port_loads_test {
namespace {

class PortLoadsTest : public FlowTest {
 protected:
  OutputFlow& reserve() {
    id_ = fabric_.output.flows.reserve(edge_.input.ref.with(7), kLossy, 0);
    packet_.output_flow = id_;
    packet_.ftag = kLossy;
    packet_.input = edge_.input.ref.with(7);
    made_here_.input.port = kNoPort;
    made_here_.output_flow = id_;
    OutputFlow& entry = fabric_.output.flows[id_];
    entry.data_flow += 3000;
    return entry;
  }
  void ask() {
    for (const uint64_t epoch : {1u, 2u})
      fabric_.output.redirects.look(1'000'000, 2, epoch * 1'000'000'000, random_, kSecond);
    ASSERT_TRUE(fabric_.output.redirects.asking(kSecond));
    Packet* burst[] = {&made_here_, &packet_};
    loads_.ask(fabric_, burst, 2, kSecond);
  }
  uint64_t asked() { return count_of(fabric_, ProtocolEvent::redirect_asked); }

  static constexpr Nanos kTellNs = 4 * kLatelyNs;
  Packet packet_{}, made_here_{};
  FlowId id_ = kNoFlow;
};

TEST_F(PortLoadsTest, TheBoardIsToldWhatWaitsAndWhatWasSent) {
  fabric_.output.scheduler.push(packet(500));
  fabric_.counters.sent_bytes = 8000;
  loads_.look(fabric_, kSecond);
  EXPECT_EQ(board_.queue_bytes(kFabric), 500u);
  const uint64_t byte_ns = board_.time_ns(kFabric, 1000);
  EXPECT_EQ(board_.load(kFabric, kSecond).sent_ns, 8 * byte_ns);
  fabric_.counters.sent_bytes = 9000;
  loads_.look(fabric_, kSecond + kLatelyNs / 2);
  EXPECT_EQ(board_.load(kFabric, kSecond + kLatelyNs / 2).sent_ns, 5 * byte_ns) << "half of the first";
  board_.publish_load(kFabric, 1, 0, 0);
  loads_.look(fabric_, 2 * kSecond);
  EXPECT_EQ(board_.queue_bytes(kFabric), 1u) << "nothing has changed";
}

TEST_F(PortLoadsTest, AndOfWhichClass) {
  const uint8_t lossy = site_.lanes.class_of(kLossy), other = site_.lanes.class_of(kWithoutFlows);
  Packet* queued = packet(500, kWithoutFlows);
  queued->lane = site_.lanes.of(kWithoutFlows, kLossyChannel);
  fabric_.output.scheduler.push(queued);
  fabric_.counters.sent_bytes = 8000;
  fabric_.output.sent_of_class[lossy] = 6000;
  loads_.look(fabric_, kSecond);
  const uint64_t byte_ns = board_.time_ns(kFabric, 1000);
  EXPECT_EQ(board_.load(kFabric, lossy, kSecond).sent_ns, 6 * byte_ns);
  EXPECT_EQ(board_.load(kFabric, lossy, kSecond).waiting_ns, 0u);
  EXPECT_EQ(board_.load(kFabric, other, kSecond).waiting_ns, byte_ns / 2);
  fabric_.counters.sent_bytes = 9000;
  fabric_.output.sent_of_class[lossy] = 7000;
  const Nanos later = kSecond + kLatelyNs / 2;
  loads_.look(fabric_, later);
  EXPECT_EQ(board_.load(kFabric, lossy, later).sent_ns, 4 * byte_ns) << "half of the first";
}

TEST_F(PortLoadsTest, AFlowIsAskedByItsEntry) {
  OutputFlow& entry = reserve();
  ask();
  EXPECT_TRUE(entry.flags & kOutputRedirect);
  EXPECT_TRUE(entry.flags & kOutputDirty) << "its input is told in the next turn";
  EXPECT_EQ(fabric_.output.asked_by[id_], site_.address);
  EXPECT_EQ(asked(), 1u);
  ask();
  EXPECT_EQ(asked(), 1u) << "it has been";
}

TEST_F(PortLoadsTest, ThoseWithoutAFlowAreNotAsked) {
  packet_.output_flow = kNoFlow;
  packet_.input = edge_.input.ref;
  made_here_.input.port = kNoPort;
  ask();
  EXPECT_EQ(asked(), 0u);
}

TEST_F(PortLoadsTest, ASourceOfCongestionIsNotAsked) {
  poke(reserve().told, 2);
  ask();
  EXPECT_EQ(asked(), 0u);
  poke(reserve().congestion, 2);
  ask();
  EXPECT_EQ(asked(), 0u);
}

TEST_F(PortLoadsTest, AClassThatDoesNotAdaptIsNotAsked) {
  reserve();
  packet_.ftag = kUncontrolled;
  ask();
  EXPECT_EQ(asked(), 0u);
}

// R8, as the neighbour reads it.
TEST_F(PortLoadsTest, TheNeighbourIsToldOfTheOtherPortsThatHaveMuchToDo) {
  bring_up();
  fabric_.output.control = {};
  fabric_.output.control_packets = 0;
  const PortIndex other = 5;
  board_.publish_loaded(other, 0, true);
  publish_load(other, 5000, 0, kSecond);
  board_.add_waiting(0, other, 0, 1000, 300);
  board_.publish_loaded(kFabric, 0, true);  // of the link itself the neighbour knows enough
  loads_.look(fabric_, kSecond);
  const LinkFrame frame = next_records(fabric_);
  ASSERT_EQ(frame.kind, HEDDLE_LOAD);
  ASSERT_EQ(load_records(frame).size(), 1u);
  EXPECT_EQ(load_records(frame)[0].port, other);
  EXPECT_EQ(load_records(frame)[0].ftag, kLossy);
  EXPECT_EQ(load_records(frame)[0].flows, 300);
  EXPECT_EQ(load_records(frame)[0].part, 0xffff);
  EXPECT_EQ(load_records(frame)[0].waiting_ns, board_.time_ns(other, 6000));
  loads_.look(fabric_, kSecond + kTellNs - 1);
  EXPECT_EQ(fabric_.output.control_packets, 0u) << "not so often";
  loads_.look(fabric_, kSecond + kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 1u) << "again";
  next_records(fabric_);
  board_.publish_loaded(other, 0, false);
  loads_.look(fabric_, kSecond + 2 * kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 1u) << "no more";
  loads_.look(fabric_, kSecond + 3 * kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 1u) << "once";
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::load_told), 3u);
}

// Each class has ports of its own that have much to do, and all of a class stand in one frame.
TEST_F(PortLoadsTest, TheNeighbourIsToldByClass) {
  bring_up();
  fabric_.output.control = {};
  fabric_.output.control_packets = 0;
  const uint8_t lossless = site_.lanes.class_of(kLossless), other = site_.lanes.class_of(kWithoutFlows);
  const PortIndex bulk = 5, last = 3;
  board_.publish_loaded(bulk, lossless, true);
  board_.publish_loaded(last, other, true);
  board_.publish_part(bulk, lossless, 0.25);
  board_.add_waiting(0, bulk, lossless, 700, 2);
  loads_.look(fabric_, kSecond);
  const LinkFrame frame = next_records(fabric_);
  ASSERT_EQ(load_records(frame).size(), 2u);
  const LoadRecord first = load_records(frame)[0], second = load_records(frame)[1];
  EXPECT_EQ(first.port, bulk);
  EXPECT_EQ(first.ftag, kLossless);
  EXPECT_EQ(first.flows, 2);
  EXPECT_EQ(first.part, 0xffff / 4);
  EXPECT_EQ(first.waiting_ns, board_.time_ns(bulk, 700));
  EXPECT_EQ(second.port, last);
  EXPECT_EQ(second.ftag, kWithoutFlows);
  board_.publish_loaded(bulk, lossless, false);
  loads_.look(fabric_, kSecond + kTellNs);
  const LinkFrame again = next_records(fabric_);
  ASSERT_EQ(load_records(again).size(), 2u) << "of one class that it is over";
  EXPECT_EQ(load_records(again)[0].ftag, kLossless);
  loads_.look(fabric_, kSecond + 2 * kTellNs);
  const LinkFrame then = next_records(fabric_);
  ASSERT_EQ(load_records(then).size(), 1u);
  EXPECT_EQ(load_records(then)[0].ftag, kWithoutFlows);
}

TEST_F(PortLoadsTest, AClassThatAFrameHasNoRoomForComesInTheNext) {
  bring_up();
  fabric_.output.control = {};
  fabric_.output.control_packets = 0;
  constexpr uint32_t kLoaded = 30;  // besides the port itself; two classes fit into a frame
  LoadBoard wide(kPortsMax, 1, board_.classes());
  PortLoads loads(site_, wide, random_, settlement_, control_);
  for (uint8_t of_class = 0; of_class < wide.classes(); ++of_class)
    for (PortIndex port = PortIndex::of(64 - kLoaded); port < kPortsMax; ++port)
      wide.publish_loaded(port, of_class, true);
  std::vector<uint8_t> told;  // classes, in their order
  for (Nanos now = kSecond; now < kSecond + 3 * kTellNs; now += kTellNs) {
    loads.look(fabric_, now);
    ASSERT_EQ(fabric_.output.control_packets, 1u) << "one frame each time";
    const LinkFrame frame = next_records(fabric_);
    ASSERT_EQ(load_records(frame).size(), 2 * kLoaded) << "all of a class in one";
    for (const uint32_t first : {0u, kLoaded}) told.push_back(load_records(frame)[first].ftag);
  }
  EXPECT_EQ(told, (std::vector<uint8_t>{kLossy, kLossless, kWithRetry, kUncontrolled, kWithoutFlows, kLossy}));
}

// A class that has no more to do there is told so when there is room again, and a frame that can't be made.
TEST_F(PortLoadsTest, WhatCouldNotBeToldIsToldLater) {
  bring_up();
  fabric_.output.control = {};
  fabric_.output.control_packets = 0;
  board_.publish_loaded(5, 0, true);
  loads_.look(fabric_, kSecond);
  next_records(fabric_);
  board_.publish_loaded(5, 0, false);
  fabric_.output.control_packets = 9;
  loads_.look(fabric_, kSecond + kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 9u) << "hellos and ACKs need the room";
  fabric_.output.control_packets = 0;
  loads_.look(fabric_, kSecond + 2 * kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 1u);
  EXPECT_EQ(load_records(next_records(fabric_)).size(), 1u);
  loads_.look(fabric_, kSecond + 3 * kTellNs);
  EXPECT_EQ(fabric_.output.control_packets, 0u);
}

TEST_F(PortLoadsTest, APortHasMuchToDoIfAQuarterOfWhatItSendsLatelyWaitsOrItWasHalfBusy) {
  const auto bytes = [this](Nanos ns) {
    return static_cast<uint32_t>(ns * 1'000'000 / board_.time_ns(kFabric, 1'000'000));
  };
  Nanos now = kSecond;
  const auto loaded = [&] {
    loads_.look(fabric_, now += kTellNs);
    return (board_.loaded(0) >> kFabric & 1) != 0;
  };
  publish_load(kFabric, bytes(kLatelyNs / 4), 0, now);
  EXPECT_FALSE(loaded());
  publish_load(kFabric, bytes(kLatelyNs / 4) + 2, 0, now);
  EXPECT_TRUE(loaded());
  publish_load(kFabric, 0, bytes(kLatelyNs / 2) - 2, now + kTellNs);
  EXPECT_FALSE(loaded());
  publish_load(kFabric, 0, bytes(kLatelyNs / 2) + 2, now + kTellNs);
  EXPECT_TRUE(loaded());
}

TEST_F(PortLoadsTest, WhatANeighbourTellsStandsOnTheBoard) {
  Packet* packet = nullptr;
  control_pool_.allocate(&packet, 1);
  start_records(*packet, HEDDLE_LOAD);
  append_record(*packet, LoadRecord{3, kLossy, 7, 0x8000, 0xffff, 12345});
  append_record(*packet, LoadRecord{9, kLossy, 1, 0, 0xffff, 1});
  finish_records(*packet, 1, 1, 1);
  LinkFrame frame{};
  ASSERT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
  loads_.hear(fabric_, frame, kSecond);
  EXPECT_EQ(board_.loaded_behind(kFabric, 0, kSecond), PortSet{1} << 3 | PortSet{1} << 9);
  EXPECT_EQ(board_.behind(kFabric, 3, 0).waiting_ns, 12345u);
  EXPECT_EQ(board_.behind(kFabric, 3, 0).flows, 7u);
  EXPECT_EQ(board_.behind(kFabric, 3, 0).sent_ns, kLatelyNs / 2);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::load_heard), 1u);
  control_pool_.release(&packet, 1);
}

TEST_F(PortLoadsTest, WhatItTellsOfOneClassIsNoNewsOfOthers) {
  const auto hear = [&](std::initializer_list<LoadRecord> records, Nanos now) {
    Packet* packet = nullptr;
    control_pool_.allocate(&packet, 1);
    start_records(*packet, HEDDLE_LOAD);
    for (const LoadRecord& record : records) append_record(*packet, record);
    finish_records(*packet, 1, 1, 1);
    LinkFrame frame{};
    ASSERT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
    loads_.hear(fabric_, frame, now);
    control_pool_.release(&packet, 1);
  };
  const uint8_t lossless = site_.lanes.class_of(kLossless);
  hear({{3, kLossy, 7, 0, 0xffff, 100}, {3, kLossless, 2, 0xffff, 0x4000, 50}, {9, kLossless, 1, 0, 0xffff, 10}},
       kSecond);
  EXPECT_EQ(board_.loaded_behind(kFabric, 0, kSecond), PortSet{1} << 3);
  EXPECT_EQ(board_.loaded_behind(kFabric, lossless, kSecond), PortSet{1} << 3 | PortSet{1} << 9);
  EXPECT_EQ(board_.behind(kFabric, 3, 0).waiting_ns, 100u);
  EXPECT_EQ(board_.behind(kFabric, 3, lossless).waiting_ns, 50u);
  EXPECT_EQ(board_.behind(kFabric, 3, lossless).flows, 2u);
  EXPECT_NEAR(board_.behind(kFabric, 3, lossless).part, 0.25, 0.001);
  hear({{9, kLossless, 1, 0, 0xffff, 10}, {5, 15, 1, 0, 0xffff, 10}}, kSecond + 1);
  EXPECT_EQ(board_.loaded_behind(kFabric, lossless, kSecond + 1), PortSet{1} << 9);
  EXPECT_EQ(board_.loaded_behind(kFabric, 0, kSecond + 1), PortSet{1} << 3) << "said before, and not over";
}

}  // namespace
}  // namespace heddle::test::port_loads_test
