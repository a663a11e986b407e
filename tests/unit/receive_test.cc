// SPDX-License-Identifier: Apache-2.0
#include "node/receive.h"

#include "flow_fixture.h"

namespace heddle::test::receive_test {
namespace {

// A device that says what it knows of the frames that it holds.
class KnowingDevice : public MemoryDevice {
 public:
  using MemoryDevice::MemoryDevice;
  bool receive_queue_empty() const override { return empty; }
  Nanos next_arrival() const override { return arrival; }
  bool empty = true;
  Nanos arrival = kNever;
};

class ReceiveTest : public FlowTest {
 protected:
  ReceiveTest() {
    output_.device = &quiet_;
    edge_.device = &host_;
    fabric_.device = &link_;
  }
  // A turn at that time.
  void run(Nanos now) {
    turn_.begin(now);
    receive_.run(now);
  }
  void come(MemoryDevice& device, uint32_t count) {
    for (uint32_t number = 0; number < count; ++number) device.incoming.push_back(frame(7, 1, number));
  }
  // A frame over the fabric that lives for a while, for port 2: when does it die?
  Nanos end_of_life(Nanos now) {
    link_.incoming.push_back(forged(fabric_, frame(2, 1, 0), {.destination = {1, kOutput}}));
    run(now);
    if (output_.output.scheduler.packets() != 1) ADD_FAILURE() << "it has not come through";
    Packet* packet = output_.output.scheduler.take_any();
    const Nanos dies = packet->dies_ns;
    turn_.discard(packet);
    return dies - 100 * HEDDLE_LIFE_UNIT_NS;
  }

  KnowingDevice host_{pool_}, link_{pool_}, quiet_{pool_};
  Receive receive_{ports_, turn_, edge_flows_, edge_receive_, fabric_receive_};
};

TEST_F(ReceiveTest, ABurstOfEachPortIsCountedAndHandedOn) {
  come(host_, 3);
  link_.incoming.push_back(frame(7, 1, 0));
  run(kMillisecond);
  EXPECT_EQ(turn_.packets(), 4u);
  EXPECT_EQ(edge_.counters.received_frames, 3u);
  EXPECT_EQ(edge_.counters.received_bytes, 300u);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::flooded), 3u) << "a host's frame";
  EXPECT_EQ(fabric_.counters.received_frames, 1u);
  EXPECT_EQ(drops_of(fabric_, DropReason::not_fabric), 1u) << "that is none on a link";
  EXPECT_FALSE(turn_.busy());
}

TEST_F(ReceiveTest, BehindAFullBurstThereMayBeMore) {
  come(host_, kBurst + 1);
  run(kMillisecond);
  EXPECT_EQ(edge_.counters.received_frames, kBurst);
  EXPECT_TRUE(turn_.busy());
  run(kMillisecond);
  EXPECT_EQ(edge_.counters.received_frames, kBurst + 1);
  EXPECT_FALSE(turn_.busy());
}

TEST_F(ReceiveTest, WhatWaitsForAFlowIdComesBeforeWhatIsNew) {
  edge_input_.stations().learn(0x020000000001, 1, {1, kEdge}, 9, 0);
  edge_input_.stations().learn(0x020000000002, 1, {1, kOutput}, 9, 0);
  std::vector<FlowId> taken;
  while (edge_.input.flows.available() != 0) taken.push_back(edge_.input.flows.take());
  host_.incoming.push_back(frame(2, 1, 0));
  run(kMillisecond);
  ASSERT_EQ(edge_.input.waiting.count(), 1u);
  EXPECT_EQ(receive_.next_wake(edge_, 5), kNever) << "there is none";
  edge_.input.flows.put(taken.back());
  EXPECT_EQ(receive_.next_wake(edge_, 5), 5u);
  host_.incoming.push_back(frame(2, 1, 1));
  run(kMillisecond);
  EXPECT_EQ(edge_.input.waiting.count(), 0u);
  ASSERT_EQ(output_.output.scheduler.packets(), 2u);
  const Packet* first = first_queued(output_.output);
  EXPECT_EQ(number_of(Frame(first->data, first->data + first->length)), 0u);
}

TEST_F(ReceiveTest, ItWakesForWhatIsUnderWayToTheDevice) {
  EXPECT_EQ(receive_.next_wake(edge_, 5), kNever);
  host_.arrival = 77;
  EXPECT_EQ(receive_.next_wake(edge_, 5), 77u);
}

TEST_F(ReceiveTest, StationsAgeMeanwhile) {
  run(kMillisecond);
  EXPECT_GT(edge_receive_.next_wake(), kMillisecond);
}

// K8: what comes out of a queue that was empty has come in since.
TEST_F(ReceiveTest, ALifeIsCountedFromWhenTheQueueWasSeenEmpty) {
  bring_up();
  run(10 * kMillisecond);
  EXPECT_EQ(end_of_life(11 * kMillisecond), 10 * kMillisecond);
  link_.empty = false;
  run(12 * kMillisecond);
  EXPECT_EQ(end_of_life(13 * kMillisecond), 10 * kMillisecond) << "frames may have waited for a buffer";
  link_.empty = true;
  run(14 * kMillisecond);
  EXPECT_EQ(end_of_life(15 * kMillisecond), 14 * kMillisecond);
}

TEST_F(ReceiveTest, OrFromWhenTheDeviceSaysThatItCame) {
  bring_up();
  run(10 * kMillisecond);
  link_.arrival = 10 * kMillisecond + 500;
  EXPECT_EQ(end_of_life(11 * kMillisecond), 10 * kMillisecond + 500);
  link_.arrival = 99 * kMillisecond;
  EXPECT_EQ(end_of_life(11 * kMillisecond), 11 * kMillisecond) << "that is not later than now";
  link_.arrival = 5 * kMillisecond;
  EXPECT_EQ(end_of_life(12 * kMillisecond), 11 * kMillisecond) << "it was seen empty since";
}

TEST_F(ReceiveTest, AQueuesLengthAfterALookAllThatWasThereHasBeenTaken) {
  bring_up();
  link_.empty = false;
  fabric_.receive_room = 0;
  run(10 * kMillisecond);  // looks
  fabric_.receive_room = 2;
  const Nanos before = fabric_.arrivals.seen_empty_ns();
  EXPECT_EQ(end_of_life(11 * kMillisecond), before);
  EXPECT_EQ(end_of_life(12 * kMillisecond), before) << "one more may have been there";
  EXPECT_EQ(end_of_life(13 * kMillisecond), 10 * kMillisecond);
  EXPECT_EQ(end_of_life(14 * kMillisecond), 10 * kMillisecond);
  EXPECT_EQ(end_of_life(15 * kMillisecond), 13 * kMillisecond) << "it looked again then";
}

}  // namespace
}  // namespace heddle::test::receive_test
