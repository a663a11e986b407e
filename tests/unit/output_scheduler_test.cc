// SPDX-License-Identifier: Apache-2.0
#include "egress/output_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>

namespace heddle::output_scheduler_test {
namespace {

constexpr PortBytes kBytes{.overhead = kWireExtraBytes, .largest = 1524, .turn_max = 8 * 1524};
constexpr PortIndex kInputs = 4;

// Two lossy classes and a lossless one with two channels of its own: lanes 0 to 2 in channel 0, 3 and 4 in 1 and 2.
class OutputSchedulerTest : public testing::Test {
 protected:
  static Topology topology() {
    Topology topology;
    topology.classes.resize(3);
    for (uint8_t ftag = 0; ftag < 3; ++ftag) topology.classes[ftag].ftag = ftag;
    topology.classes[2].lossless = true;
    topology.lossless_channels = 2;
    return topology;
  }
  Packet* push(LaneIndex lane, uint16_t bytes = 1500, PortIndex input = 1) {
    Packet& packet = packets_.emplace_back();
    packet.lane = lane;
    packet.input.port = input;
    packet.payload = packet.length = bytes;
    packet.cost = static_cast<uint16_t>((bytes + 2047) / 2048);
    scheduler_.push(&packet);
    return &packet;
  }
  // It may have a microsecond for each byte.
  void shape_class(size_t position) {
    scheduler_.set_pace(TokenBucket(0.1, kMillisecond));
    ShaperPolicy policy;
    policy.configured = true;
    policy.leaves[position].bandwidth.maximum_bps = 8'000'000;
    scheduler_.set_shaper(policy);
  }
  // What a port does with a turn: notes who leaves; `refused` lanes are held, and packets of `dead` bytes dropped.
  struct Sender {
    void begin(const OutputScheduler::Turn& turn) { turns += static_cast<char>('a' + turn.lane()); }
    Packet* take(OutputScheduler::Turn& turn) {
      if (refused >> turn.lane() & 1) {
        turn.hold();
        return nullptr;
      }
      const uint32_t before = turn.bytes();
      Packet* packet = turn.take();
      EXPECT_EQ(turn.bytes(), before + packet->payload);
      return packet->payload == dead ? nullptr : packet;
    }
    LaneSet refused = 0;
    uint16_t dead = 0;
    std::string turns;
  };
  // Lanes in the order that their packets leave, a letter each, until nothing may go any more or so many have gone.
  std::string leave(LaneSet lanes, size_t most = 10000) {
    std::string order;
    Packet* burst[kBurst];
    while (order.size() < most) {
      const uint32_t skipped = kBurst - static_cast<uint32_t>(std::min<size_t>(kBurst, most - order.size()));
      const uint32_t count = scheduler_.fill(burst, skipped, kBurst, lanes, now_, sender_);
      if (count == skipped) break;
      for (uint32_t i = skipped; i < count; ++i) order += static_cast<char>('a' + burst[i]->lane);
    }
    return order;
  }

  // The same, as the inputs that they came from.
  std::string inputs(size_t most) {
    std::string order;
    Packet* burst[kBurst];
    for (; order.size() < most; order += static_cast<char>('0' + burst[kBurst - 1]->input.port))
      if (scheduler_.fill(burst, kBurst - 1, kBurst, ~LaneSet{0}, now_, sender_) != kBurst) break;
    return order;
  }

  Lanes lanes_{topology()};
  OutputScheduler scheduler_{lanes_, kInputs, kBytes};
  std::deque<Packet> packets_;
  Sender sender_;
  Nanos now_ = kSecond;
};

TEST_F(OutputSchedulerTest, CountWhatTheyHold) {
  EXPECT_TRUE(scheduler_.empty());
  EXPECT_EQ(scheduler_.lane_count(), 5u);
  Packet* first = push(1, 100);
  push(1, 3000);
  push(3, 5000);
  EXPECT_EQ(scheduler_.lanes(), 0b01010u);
  EXPECT_EQ(scheduler_.packets(), 3u);
  EXPECT_EQ(scheduler_.bytes(), 8100u);
  EXPECT_EQ(scheduler_.buffers(1), 3u);
  EXPECT_EQ(scheduler_.buffers(2), 0u);
  EXPECT_EQ(scheduler_.buffers(kLossyChannel), 0u);
  EXPECT_EQ(scheduler_.packets_of(1, 1).head, first);
  EXPECT_EQ(scheduler_.packets_of(1, 0).head, nullptr);
  EXPECT_EQ(scheduler_.inputs(1), 0b0010u);
  EXPECT_EQ(scheduler_.take(1, 1), first);
  EXPECT_EQ(scheduler_.lanes(), 0b01010u);
  EXPECT_EQ(scheduler_.bytes(), 8000u);
  scheduler_.take_any();
  EXPECT_EQ(scheduler_.inputs(1), 0u);
  EXPECT_EQ(scheduler_.lanes(), 0b01000u);
  EXPECT_EQ(scheduler_.buffers(1), 3u);
  scheduler_.take_any();
  EXPECT_TRUE(scheduler_.empty());
  EXPECT_EQ(scheduler_.packets(), 0u);
  EXPECT_EQ(scheduler_.bytes(), 0u);
  EXPECT_EQ(scheduler_.buffers(1), 0u);
}

TEST_F(OutputSchedulerTest, RememberTheMostThatEachClassHadQueued) {
  push(1, 1000);
  push(1, 500);
  push(3, 700);
  leave(1 << 1);
  push(1, 200);
  const auto is = [this](uint8_t of_class) {
    const QueueMark& mark = scheduler_.queue_of(of_class);
    return std::vector<uint64_t>{mark.bytes, mark.most_bytes, mark.dropped_frames};
  };
  using Mark = std::vector<uint64_t>;
  scheduler_.dropped(3, DropReason::life_ended);
  scheduler_.dropped(4, DropReason::output_too_long);  // which says nothing of queues
  EXPECT_EQ(is(0), (Mark{0, 0, 0}));
  EXPECT_EQ(is(1), (Mark{200, 1500, 0}));
  EXPECT_EQ(is(2), (Mark{700, 700, 1}));
  scheduler_.restart_marks();
  EXPECT_EQ(is(1), (Mark{200, 200, 0}));
  EXPECT_EQ(is(2), (Mark{700, 700, 0}));
}

TEST_F(OutputSchedulerTest, ALaneKeepsItsOrder) {
  const Packet* expected[] = {push(4), push(4), push(4)};
  Packet* burst[kBurst];
  ASSERT_EQ(scheduler_.fill(burst, 2, kBurst, ~LaneSet{0}, now_, sender_), 5u) << "behind two that were there";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(burst[2 + i], expected[i]);
  EXPECT_EQ(sender_.turns, "ee") << "a turn is two of the largest frames";
  EXPECT_TRUE(scheduler_.empty());
  EXPECT_EQ(scheduler_.bytes(), 0u);
  EXPECT_EQ(scheduler_.buffers(2), 0u);
}

TEST_F(OutputSchedulerTest, TheFirstDeathIsThatOfAHead) {
  EXPECT_EQ(scheduler_.first_death(), kNever);
  push(0)->dies_ns = 50;
  push(0)->dies_ns = 10;  // behind another one
  push(3)->dies_ns = 40;
  EXPECT_EQ(scheduler_.first_death(), 40u);
}

// X5: equal bytes, whatever the size of the packets.
TEST_F(OutputSchedulerTest, LanesShareByBytes) {
  for (uint32_t i = 0; i < 100; ++i) push(0, 1500);
  for (uint32_t i = 0; i < 400; ++i) push(1, 357);
  const std::string order = leave(~LaneSet{0}, 300);
  const auto of = [&order](char lane) { return static_cast<size_t>(std::count(order.begin(), order.end(), lane)); };
  EXPECT_EQ(of('a') * 4, of('b'));
  EXPECT_EQ(order.substr(0, 20), "aabbbbbbbbaabbbbbbbb") << "a turn is two of the largest frames: " << order;
}

// X5: a class with three channels has as much as one with a single one, and its channels share that.
TEST_F(OutputSchedulerTest, AClassHasOneShareWhateverItsChannels) {
  for (uint32_t i = 0; i < 200; ++i)
    for (const unsigned lane : {0, 2, 3, 4}) push(LaneIndex::of(lane));
  const std::string order = leave(~LaneSet{0}, 240);
  const auto of = [&order](char lane) { return std::count(order.begin(), order.end(), lane); };
  EXPECT_NEAR(static_cast<double>(of('a')), 120, 2);
  for (const char lane : {'c', 'd', 'e'}) EXPECT_NEAR(static_cast<double>(of(lane)), 40, 2);
}

// X4: a class that may not go holds up nobody, and it is known when it may.
TEST_F(OutputSchedulerTest, AShapedClassWaitsByItself) {
  shape_class(1);
  for (uint32_t i = 0; i < 10; ++i) push(1);
  EXPECT_EQ(leave(~LaneSet{0}), "bb") << "a burst";
  push(0);
  EXPECT_EQ(leave(~LaneSet{0}), "a");
  const Nanos ready = scheduler_.ready_at(~LaneSet{0} & scheduler_.lanes(), now_);
  EXPECT_EQ(ready, now_ + 1524 * kMicrosecond);
  now_ = ready - 1;
  EXPECT_EQ(leave(~LaneSet{0}), "");
  now_ = ready;
  EXPECT_EQ(leave(~LaneSet{0}), "b");
  EXPECT_EQ(scheduler_.slow_lanes(0), 0b10u);
  EXPECT_EQ(scheduler_.packets_of(1), 7u);
  EXPECT_EQ(scheduler_.bytes_of(1), 7u * 1500);
  EXPECT_EQ(scheduler_.left_bytes(1), 3u * 1500);
  EXPECT_EQ(scheduler_.packets_of(0), 0u);
  scheduler_.set_shaper({});
  EXPECT_EQ(leave(~LaneSet{0}), "bbbbbbb");
  EXPECT_EQ(scheduler_.ready_at(scheduler_.lanes(), now_), kNever);
}

// X4: a byte is one that the port sends, with a tag that the host's frame did not have.
TEST_F(OutputSchedulerTest, AMaximumIsOfBytesOnTheWire) {
  shape_class(0);
  for (uint32_t i = 0; i < 10; ++i) push(0, 60)->length = 64;
  for (size_t i = 0; !leave(~LaneSet{0}).empty(); ++i) ASSERT_LT(i, 10u);
  const uint64_t sent = scheduler_.shaper().sent_bytes(0, Shaper::kRest);
  EXPECT_EQ(sent, 10u * (64 + kWireExtraBytes));
}

// Decision 6: a thread that comes back once in 8 us to a port of 100 Gb/s, with one frame ahead, loses nothing of it;
// one that comes in time has no more than that frame ahead.
TEST_F(OutputSchedulerTest, TheDeviceGetsAheadWhatALateThreadWouldLose) {
  constexpr double kByteNs = 0.08;
  const auto frames_ahead = [&](Nanos every) {
    scheduler_.set_pace(TokenBucket(kByteNs, static_cast<Nanos>(1524 * kByteNs)), 20 * kMicrosecond);
    double wire_free_ns = 0, idle_ns = 0, ahead_ns = 0;  // of the device
    const Nanos from = now_ + kMillisecond, until = from + kMillisecond;
    for (now_ = from - kMillisecond; now_ < until; now_ += every) {
      while (scheduler_.packets() < 200) push(0);
      const auto at = static_cast<double>(now_);
      if (now_ > from) idle_ns += std::max(0.0, at - wire_free_ns);
      wire_free_ns = std::max(wire_free_ns, at);
      Packet* burst[kBurst];
      while (const uint32_t count = scheduler_.fill(burst, 0, kBurst, ~LaneSet{0}, now_, sender_))
        wire_free_ns += count * 1524 * kByteNs;
      if (now_ > from) ahead_ns = std::max(ahead_ns, wire_free_ns - at);
    }
    EXPECT_LE(idle_ns, 0.01 * kMillisecond) << every;
    return ahead_ns / (1524 * kByteNs);
  };
  EXPECT_LE(frames_ahead(20), 3);
  EXPECT_NEAR(frames_ahead(8 * kMicrosecond), 67, 2) << "8 us are 66 frames";
  EXPECT_LE(frames_ahead(20), 3) << "and less again";
}

// A turn goes on in the next burst where it was broken off.
TEST_F(OutputSchedulerTest, ATurnLastsOverBursts) {
  for (uint32_t i = 0; i < 4; ++i) {
    push(0);
    push(1);
  }
  std::string order;
  for (int burst = 0; burst < 8; ++burst) order += leave(~LaneSet{0}, 1);
  EXPECT_EQ(order, "aabbaabb");
}

// Whatever comes, a turn has something to send: of a packet longer than the largest no more than a share is owed.
TEST_F(OutputSchedulerTest, PacketsLongerThanTheLargestGoToo) {
  for (uint32_t i = 0; i < 6; ++i) {
    push(0, 9000);
    push(1, 1500);
  }
  const std::string order = leave(~LaneSet{0});
  EXPECT_EQ(order.size(), 12u);
  EXPECT_EQ(order.substr(0, 6), "abbabb");
  EXPECT_TRUE(scheduler_.empty());
}

// What a lane's last packet took beyond its share is missing in its own next turn, and in nobody else's.
TEST_F(OutputSchedulerTest, WhoTakesMoreHasLessNextTime) {
  for (uint32_t i = 0; i < 100; ++i) push(0, 1119);  // 3 of them are 3,429 bytes of 3,048
  for (uint32_t i = 0; i < 100; ++i) push(1, 1500);
  for (uint32_t i = 0; i < 100; ++i) push(3, 1500);
  const std::string order = leave(~LaneSet{0}, 160);
  const auto bytes = [&order](char lane, int64_t each) { return each * std::count(order.begin(), order.end(), lane); };
  EXPECT_NEAR(bytes('b', 1524), bytes('d', 1524), 3048) << order;
  EXPECT_NEAR(bytes('a', 1143), bytes('b', 1524), 3048) << order;
}

// The same among the channels of a class.
TEST_F(OutputSchedulerTest, AChannelThatTakesMoreHasLessNextTime) {
  for (uint32_t i = 0; i < 100; ++i) push(2, 1119);
  for (uint32_t i = 0; i < 100; ++i) push(3, 1500);
  const std::string order = leave(~LaneSet{0}, 140);
  EXPECT_NEAR(1143 * std::count(order.begin(), order.end(), 'c'), 1524 * std::count(order.begin(), order.end(), 'd'),
              3048)
      << order;
}

// A debt is not forgiven because the lane was empty meanwhile.
TEST_F(OutputSchedulerTest, ADebtOutlivesAnEmptyQueue) {
  for (int i = 0; i < 3; ++i) push(0, 1480);  // 1,460 bytes more than a share
  for (uint32_t i = 0; i < 10; ++i) push(1, 1500);
  EXPECT_EQ(leave(~LaneSet{0}, 5), "aaabb");
  for (uint32_t i = 0; i < 10; ++i) push(0, 1560);
  EXPECT_EQ(leave(~LaneSet{0}, 7), "abbaabb") << "1,580 bytes are what is left of its second share";
}

// A10: inputs share a lane by bytes.
TEST_F(OutputSchedulerTest, InputsOfALaneShareByBytes) {
  for (uint32_t i = 0; i < 50; ++i) push(0, 1500, 0);
  for (uint32_t i = 0; i < 200; ++i) push(0, 357, 3);
  const std::string order = inputs(100);
  EXPECT_EQ(std::count(order.begin(), order.end(), '0'), 20) << order;
  EXPECT_EQ(order.substr(0, 10), "0333303333") << "a turn is one of the largest frames: " << order;
}

// X3: an input has as many turns as flows wait there.
TEST_F(OutputSchedulerTest, InputsShareByTheirFlows) {
  EXPECT_EQ(scheduler_.most_waiting(0), 0u);
  scheduler_.set_waiting(0, 0, 5);
  scheduler_.set_waiting(2, 0, 1);
  EXPECT_EQ(scheduler_.most_waiting(0), 5u);
  EXPECT_EQ(scheduler_.most_waiting(1), 0u) << "another lane";
  for (uint32_t i = 0; i < 70; ++i) push(0, 1500, 0);
  for (uint32_t i = 0; i < 70; ++i) push(0, 1500, 2);
  for (uint32_t i = 0; i < 70; ++i) push(0, 1500, 3);
  EXPECT_EQ(inputs(14), "00000230000023");
  scheduler_.set_waiting(0, 0, 0);
  EXPECT_EQ(scheduler_.most_waiting(0), 1u);
  EXPECT_EQ(inputs(6), "023023") << "who waits no more counts as one flow at once";
}

// The others' frames live on meanwhile (K8).
TEST_F(OutputSchedulerTest, ATurnHasABound) {
  scheduler_.set_waiting(0, 0, 1000);
  for (uint32_t i = 0; i < 30; ++i) push(0, 1500, 0);
  for (uint32_t i = 0; i < 30; ++i) push(0, 1500, 2);
  EXPECT_EQ(inputs(18), "000000002000000002");
}

// K8: from half of its life on a lossless packet goes with the turn that its input has, however small its share.
TEST_F(OutputSchedulerTest, NoLosslessPacketDiesOfASmallShare) {
  constexpr LaneIndex kLossless = 1, kLossy = 0;
  scheduler_.set_life(kLossless, 50 * kMillisecond);
  for (const LaneIndex lane : {kLossless, kLossy}) {
    const Nanos begun = now_;
    scheduler_.set_waiting(0, lane, 1000);
    for (uint32_t i = 0; i < 40; ++i) push(lane, 1500, 0)->dies_ns = begun + kSecond;
    for (uint32_t i = 0; i < 5; ++i) push(lane, 1500, 2)->dies_ns = begun + 50 * kMillisecond;
    EXPECT_EQ(inputs(9), "000000002");
    now_ = begun + 25 * kMillisecond;
    EXPECT_EQ(inputs(9), "000000002") << "half of it is left";
    now_ += 1;
    EXPECT_EQ(inputs(12), lane == kLossless ? "222000000000" : "000000002000");
    while (!scheduler_.empty()) scheduler_.take_any();
  }
}

// What comes with most of its life behind it has no more than two turns of it for one of the others.
TEST_F(OutputSchedulerTest, WhoIsAlwaysOldKeepsNobodyOut) {
  constexpr LaneIndex kLossless = 1;
  scheduler_.set_life(kLossless, 50 * kMillisecond);
  const auto push_old = [&] { push(kLossless, 1500, 2)->dies_ns = now_ + kMillisecond; };
  push_old();
  for (uint32_t i = 0; i < 10; ++i) push(kLossless, 1500, 0)->dies_ns = now_ + kSecond;
  std::string order;
  for (uint32_t i = 0; i < 40; ++i) {
    push_old();
    order += inputs(1);
  }
  EXPECT_EQ(order.substr(0, 10), "2222222220") << "its share, and the most that a turn may have";
  EXPECT_GE(std::count(order.begin(), order.end(), '0'), 4) << order;
}

// An input whose flows wait is empty only until its room has come back: the others go on, and it catches up.
TEST_F(OutputSchedulerTest, WhoRunsEmptyWhileFlowsWaitKeepsItsShare) {
  scheduler_.set_waiting(0, 0, 5);
  for (uint32_t i = 0; i < 20; ++i) push(0, 1500, 2);
  for (uint32_t i = 0; i < 2; ++i) push(0, 1500, 0);
  EXPECT_EQ(inputs(6), "200222") << "it had 3 frames left";
  for (uint32_t i = 0; i < 30; ++i) push(0, 1500, 0);
  EXPECT_EQ(inputs(14), "00000000200000") << "and has them now";
}

// Who comes waits for a turn of each that was there before, and for none that came later: who sends little has little
// to wait for.
TEST_F(OutputSchedulerTest, InputsStandInLineAsTheyCome) {
  for (const PortIndex input : {PortIndex::of(3), PortIndex::of(1), PortIndex::of(2), PortIndex::of(0)})
    push(0, 1500, input);
  push(0, 1500, 3);
  EXPECT_EQ(inputs(3), "312");
  push(0, 1500, 1);
  EXPECT_EQ(inputs(3), "031");
  EXPECT_TRUE(scheduler_.empty());
}

// One whose packets went elsewhere meanwhile has no turn, and comes back behind the others.
TEST_F(OutputSchedulerTest, WhoHasBeenEmptiedIsPassedOver) {
  for (const PortIndex input : {PortIndex::of(3), PortIndex::of(1), PortIndex::of(2)}) push(0, 1500, input);
  scheduler_.take(0, 3);
  scheduler_.take(0, 1);
  EXPECT_EQ(scheduler_.inputs(0), 0b0100u);
  EXPECT_EQ(inputs(1), "2");
  push(0, 1500, 1);
  push(0, 1500, 3);
  EXPECT_EQ(inputs(9), "13");
}

// Who has nothing to send and nobody waiting gathers no share for later.
TEST_F(OutputSchedulerTest, WhoHasNothingToSendSavesNothing) {
  for (uint32_t i = 0; i < 20; ++i) push(0, 1500, 2);
  push(0, 357, 0);
  EXPECT_EQ(inputs(4), "2022");
  for (uint32_t i = 0; i < 5; ++i) push(0, 1500, 0);
  EXPECT_EQ(inputs(4), "0202");
}

// A packet that dies here is no part of its input's share: many that are dead do not keep it from sending.
TEST_F(OutputSchedulerTest, TheDeadTakeNoShare) {
  for (uint32_t i = 0; i < 20; ++i) push(0, 1500, 2);
  for (uint32_t i = 0; i < 10; ++i) push(0, 60, 0);
  for (uint32_t i = 0; i < 10; ++i) push(0, 1500, 0);
  sender_.dead = 60;
  EXPECT_EQ(inputs(4), "2020");
}

// One that may not send (paused) is passed over, and its packets stay.
TEST_F(OutputSchedulerTest, OnlyThoseThatMaySendHaveTurns) {
  push(0);
  push(1);
  push(4);
  EXPECT_EQ(leave(0b10010), "be");
  EXPECT_EQ(scheduler_.lanes(), 0b00001u);
  EXPECT_EQ(leave(~LaneSet{0}), "a");
}

// One without credit is looked at once in a burst, and does not hold up the others.
TEST_F(OutputSchedulerTest, AHeldLaneKeepsItsPackets) {
  push(0);
  Packet* held = push(1);
  push(3);
  sender_.refused = 0b00010;
  EXPECT_EQ(leave(~LaneSet{0}, 2), "ad");
  EXPECT_EQ(sender_.turns, "abd");
  EXPECT_EQ(scheduler_.packets_of(1, 1).head, held);
  EXPECT_EQ(scheduler_.packets(), 1u);
  sender_.refused = 0;
  EXPECT_EQ(leave(~LaneSet{0}), "b");
}

// A packet that dies on its way to the device takes no place in the burst.
TEST_F(OutputSchedulerTest, ADroppedPacketLeavesItsPlaceToTheNext) {
  for (uint32_t i = 0; i < kBurst; ++i) push(0, i % 2 == 0 ? 60 : 1500);
  push(1);
  sender_.dead = 60;
  EXPECT_EQ(leave(~LaneSet{0}), "aab" + std::string(kBurst / 2 - 2, 'a'));
  EXPECT_TRUE(scheduler_.empty());
  EXPECT_EQ(scheduler_.bytes(), 0u);
}

// Decision 6: 1,000 bytes a microsecond, and a burst of two packets.
TEST_F(OutputSchedulerTest, APortsRateHoldsItsPackets) {
  EXPECT_FALSE(scheduler_.has_rate());
  scheduler_.set_pace(TokenBucket(1, 1 * kMicrosecond));
  EXPECT_TRUE(scheduler_.has_rate());
  for (int i = 0; i < 4; ++i) push(0, 1000 - kWireExtraBytes);
  EXPECT_EQ(leave(~LaneSet{0}), "aa") << "the second one begins within the burst";
  EXPECT_FALSE(scheduler_.may_send(now_));
  EXPECT_EQ(scheduler_.pace_ready_at(), now_ + 1 * kMicrosecond);
  now_ += 1 * kMicrosecond;
  EXPECT_TRUE(scheduler_.may_send(now_));
  EXPECT_EQ(leave(~LaneSet{0}), "a");
  Packet control{};  // beside the lanes
  control.length = 2000 - kWireExtraBytes;
  scheduler_.sent(control, now_);
  now_ += 2 * kMicrosecond;
  EXPECT_EQ(leave(~LaneSet{0}), "");
  now_ += 1 * kMicrosecond;
  EXPECT_EQ(leave(~LaneSet{0}), "a");
}

// While packets wait, frames beside the lanes that could go on for ever have half of the rate; else all of it.
TEST_F(OutputSchedulerTest, FramesBesideTheLanesLeaveHalfOfTheRateToPackets) {
  Packet control{};
  control.length = 100 - kWireExtraBytes;
  EXPECT_TRUE(scheduler_.may_send_beside(now_)) << "no rate";
  scheduler_.set_pace(TokenBucket(1, 1 * kMicrosecond));
  const auto beside_frames = [&](Nanos time, auto&& each) {
    uint32_t frames = 0;
    for (const Nanos end = now_ + time; now_ < end; now_ += 10) {
      for (; scheduler_.may_send_beside(now_); ++frames) scheduler_.sent(control, now_);
      each();
    }
    return frames;
  };
  EXPECT_NEAR(beside_frames(100 * kMicrosecond, [] {}), 1010, 2) << "nothing else waits";
  const Nanos ready = scheduler_.beside_ready_at();
  EXPECT_FALSE(scheduler_.may_send_beside(ready - 1));
  EXPECT_TRUE(scheduler_.may_send_beside(ready));

  for (int i = 0; i < 100; ++i) push(0, 1000 - kWireExtraBytes);
  uint32_t packets = 0;
  const uint32_t frames = beside_frames(100 * kMicrosecond, [&] { packets += leave(~LaneSet{0}).size(); });
  EXPECT_NEAR(packets, 50, 2);
  EXPECT_NEAR(frames, 500, 20);
  EXPECT_EQ(scheduler_.slow_lanes(0), 0b1u) << "they may live to their end meanwhile (K8)";
}

}  // namespace
}  // namespace heddle::output_scheduler_test
