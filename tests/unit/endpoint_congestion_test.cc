// SPDX-License-Identifier: Apache-2.0
// The level that an edge port tells against senders that obey it, in the simplest fabric there can be: a fixed round
// trip and one queue.
#include "egress/endpoint_congestion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <vector>

namespace heddle::endpoint_congestion_test {
namespace {

constexpr uint32_t kFrame = 1514;

struct Fabric {
  Fabric(uint32_t senders, uint64_t rate_bps, Nanos round_trip)
      : port(rate_bps, kFrame, 1),
        round_trip_ns(round_trip),
        frame_ns(kFrame * 8e9 / static_cast<double>(rate_bps)),
        flows(senders) {}

  struct Flow {
    uint8_t level = 0;
    double next_ns = 0;
    uint64_t delivered = 0;
  };
  struct Frame {
    uint32_t flow;
    double at_ns;
  };

  // Every sender sends at its share, as much as its own link of the same rate takes.
  void run(Nanos until) {
    for (; now < until; now += step_ns) {
      for (uint32_t index = 0; index < flows.size(); ++index) {
        Flow& flow = flows[index];
        if (index >= active) continue;
        while (flow.next_ns <= static_cast<double>(now)) {
          way.push_back({index, static_cast<double>(now + round_trip_ns / 2)});
          flow.next_ns =
              std::max(flow.next_ns, static_cast<double>(now) - frame_ns) + frame_ns / kCongestionShares[flow.level];
        }
      }
      while (!way.empty() && way.front().at_ns <= static_cast<double>(now)) {
        const uint32_t flow = way.front().flow;
        way.pop_front();
        queue.push_back(flow);
        if (port.congested()) tell(flow);
      }
      while (!queue.empty() && static_cast<double>(now) >= free_ns) {
        const uint32_t flow = queue.front();
        queue.pop_front();
        left += kFrame;
        free_ns = std::max(free_ns, static_cast<double>(now - step_ns)) + frame_ns * slowness;
        flows[flow].delivered += kFrame;
        tell(flow);
      }
      while (!told.empty() && told.front().first <= now) {
        const auto [flow, level] = told.front().second;
        flows[flow].level = level;
        told.pop_front();
      }
      // What others in other classes get of the port, which they use up.
      if (others_send) others_left += static_cast<double>(step_ns) / frame_ns * kFrame * (1 - 1 / slowness);
      const uint64_t port_left = left + static_cast<uint64_t>(others_left);
      port.look({.now = now,
                 .queued_bytes = static_cast<uint32_t>(queue.size()) * kFrame,
                 .queued_packets = static_cast<uint32_t>(queue.size()),
                 .left_bytes = left,
                 .port_left_bytes = port_left,
                 .flows = active,
                 .idle = queue.empty() && !others_wait,
                 .priority = static_cast<uint8_t>(round_trip_code(round_trip_ns) << 4)});
      deepest = std::max<size_t>(deepest, queue.size());
    }
  }
  void tell(uint32_t flow) {
    const uint8_t level = port.congested() ? port.next_level() : uint8_t{0};
    told.push_back({now + round_trip_ns / 2, {flow, level}});
  }
  uint64_t delivered() const {
    uint64_t sum = 0;
    for (const Flow& flow : flows) sum += flow.delivered;
    return sum;
  }

  EndpointCongestion port;
  Nanos round_trip_ns, now = 0;
  Nanos step_ns = 500;
  double frame_ns, free_ns = 0, slowness = 1;
  bool others_send = false;  // in other classes, what this one does not get
  bool others_wait = false;  // and always have more
  double others_left = 0;
  uint32_t active = ~0u;
  size_t deepest = 0;
  uint64_t left = 0;
  std::vector<Flow> flows;
  std::deque<Frame> way;
  std::deque<uint32_t> queue;
  std::deque<std::pair<Nanos, std::pair<uint32_t, uint8_t>>> told;
};

constexpr uint64_t kRate = 10'000'000'000;

EndpointCongestion::Look queued(uint32_t bytes, uint32_t packets, uint32_t flows) {
  return {.now = 0,
          .queued_bytes = bytes,
          .queued_packets = packets,
          .left_bytes = 0,
          .port_left_bytes = 0,
          .flows = flows,
          .idle = false,
          .priority = 0};
}

// Full use of the port and a short queue, whatever the number of senders.
TEST(EndpointCongestion, SendersShareThePortAndTheQueueStaysShort) {
  for (const uint32_t senders : {2u, 4u, 16u, 64u, 256u}) {
    Fabric fabric(senders, kRate, 20 * kMicrosecond);
    fabric.run(40 * kMillisecond);
    const uint64_t before = fabric.delivered();
    fabric.deepest = 0;
    fabric.run(80 * kMillisecond);
    const double used = static_cast<double>(fabric.delivered() - before) * 8 / 40e6 / 10;
    EXPECT_GE(used, 0.97) << senders << " senders";
    EXPECT_LE(fabric.deepest, 64u + senders) << senders << " senders";
  }
}

TEST(EndpointCongestion, OneSenderIsNotHeld) {
  Fabric fabric(1, kRate, 20 * kMicrosecond);
  fabric.run(20 * kMillisecond);
  EXPECT_FALSE(fabric.port.congested());
}

// A queue of many round trips is made by as many senders as there are flows: two are not held to a tenth each.
TEST(EndpointCongestion, TheFirstLevelIsThatOfTheFlows) {
  const auto first_position = [](uint32_t flows) {
    EndpointCongestion port(kRate, kFrame, 1);
    port.look(queued(600'000, 400, flows));
    return port.position();
  };
  EXPECT_NEAR(first_position(2), 1 + 4.0 / 3, 1e-9);
  EXPECT_GT(first_position(1000), 5);
}

// The same with a tenth of the rate and ten times the round trip.
TEST(EndpointCongestion, FollowsRateAndRoundTrip) {
  Fabric fabric(32, kRate / 10, 200 * kMicrosecond);
  fabric.step_ns = 5 * kMicrosecond;
  fabric.run(400 * kMillisecond);
  const uint64_t before = fabric.delivered();
  fabric.run(800 * kMillisecond);
  EXPECT_GE(static_cast<double>(fabric.delivered() - before) * 8 / 400e6, 0.97);
}

// A host that takes a hundredth of its port's rate.
TEST(EndpointCongestion, SlowReceiver) {
  Fabric fabric(2, kRate, 20 * kMicrosecond);
  fabric.slowness = 100;
  fabric.run(100 * kMillisecond);
  fabric.deepest = 0;
  fabric.run(200 * kMillisecond);
  EXPECT_GE(fabric.port.position(), 9);
  EXPECT_LE(fabric.deepest, 64u);
}

// X4: a class that has a part of the port, while others take the rest. Whether the part is its maximum, or what they
// leave of the port, it is used, and the queue stays short.
TEST(EndpointCongestion, AShapedClassUsesItsPart) {
  for (const bool is_maximum : {true, false}) {
    for (const uint32_t part : {2u, 5u, 10u}) {
      for (const uint32_t senders : {4u, 16u, 64u}) {
        Fabric fabric(senders, kRate, 20 * kMicrosecond);
        fabric.slowness = part;
        fabric.others_send = fabric.others_wait = true;
        if (is_maximum) fabric.port.set_rate(kRate / part, kRate);
        fabric.run(80 * kMillisecond);
        const uint64_t before = fabric.delivered();
        fabric.deepest = 0;
        fabric.run(160 * kMillisecond);
        const double used = static_cast<double>(fabric.delivered() - before) * 8 / 80e6 / 10 * part;
        EXPECT_GE(used, 0.97) << senders << " senders, a class with 1/" << part << ", its maximum: " << is_maximum;
        EXPECT_LE(fabric.deepest, 64u + senders) << senders << " senders, 1/" << part << ", maximum: " << is_maximum;
      }
    }
  }
}

// The same where others have a queue now and then only: what they take of the port is not this class's.
TEST(EndpointCongestion, AnIdleMomentIsNoIdlePort) {
  for (const uint32_t senders : {16u, 64u}) {
    Fabric fabric(senders, kRate, 20 * kMicrosecond);
    fabric.slowness = 5;
    fabric.others_send = true;
    fabric.run(80 * kMillisecond);
    fabric.deepest = 0;
    fabric.run(160 * kMillisecond);
    EXPECT_LE(fabric.deepest, 64u + senders) << senders << " senders";
  }
}

// When its senders have gone but one, that one has the whole part soon, though the port always has something to send.
TEST(EndpointCongestion, InAShapedClassItEndsWithItsCause) {
  Fabric fabric(64, kRate, 20 * kMicrosecond);
  fabric.slowness = 2;
  fabric.others_send = fabric.others_wait = true;
  fabric.run(40 * kMillisecond);
  fabric.active = 1;
  fabric.run(41 * kMillisecond);
  const uint64_t before = fabric.delivered();
  fabric.run(51 * kMillisecond);
  EXPECT_GE(static_cast<double>(fabric.delivered() - before) * 8 / 10e6, 0.9 * 5);
}

TEST(EndpointCongestion, TheFirstLevelOfAShapedClassIsThatOfItsPart) {
  EndpointCongestion port(kRate, kFrame, 1);
  port.set_rate(kRate / 8, kRate);
  port.look(queued(600'000, 400, 2));
  EXPECT_NEAR(port.position(), 1 + 4.0 / 3 * 4, 1e-9) << "a half of an eighth";
}

// When the senders have gone but one, it has the whole rate again soon.
TEST(EndpointCongestion, EndsWithItsCause) {
  Fabric fabric(64, kRate, 20 * kMicrosecond);
  fabric.run(20 * kMillisecond);
  EXPECT_GE(fabric.port.position(), 6);
  fabric.active = 1;
  fabric.run(21 * kMillisecond);
  EXPECT_LE(fabric.port.position(), 1);
  fabric.run(24 * kMillisecond);
  EXPECT_FALSE(fabric.port.congested());
}

// Wherever in an epoch they go: the first step follows when an empty queue has shown it for half an epoch, so that all
// of the way back takes less than two epochs of the old share.
TEST(EndpointCongestion, TheyMayGoAtAnyTime) {
  for (Nanos phase = 0; phase < 200 * kMicrosecond; phase += 20 * kMicrosecond) {
    Fabric fabric(64, kRate, 20 * kMicrosecond);
    fabric.run(20 * kMillisecond + phase);
    const double before = fabric.port.position();
    fabric.active = 2;
    const auto epoch = static_cast<Nanos>(20e3 + 2 * fabric.frame_ns * std::exp2(0.75 * (before - 1)));
    fabric.run(20 * kMillisecond + phase + 2 * epoch);
    EXPECT_LE(fabric.port.position(), 4) << phase << " ns, from " << before;
  }
}

TEST(EndpointCongestion, LevelsAreMixedToThePosition) {
  EndpointCongestion port(kRate, kFrame, 1);
  port.look(queued(200'000, 140, 140));
  ASSERT_TRUE(port.congested());
  double sum = 0;
  for (int i = 0; i < 1000; ++i) sum += port.next_level();
  EXPECT_NEAR(sum / 1000, port.position(), 0.05);
}

// One look at a time, at a port that 200,000 bytes have made congested.
class EpochTest : public testing::Test {
 protected:
  EpochTest() {
    EXPECT_EQ(port_.position(), 0);
    EXPECT_EQ(port_.since_ns(), 0);
    EndpointCongestion::Look full = queued(200'000, 140, 140);
    full.now = kBegun;
    port_.look(full);
    const double share = std::exp2(-0.75 * (port_.position() - 1));
    epoch_ns_ = kRoundTripUnknownNs + static_cast<Nanos>(2 * kFrame / (1.25 * share));
  }
  // So long after it began the queue is empty, and so much has left. What is not here and has not left was dropped.
  void empty(Nanos after, uint64_t left_bytes) {
    EndpointCongestion::Look look = queued(0, 0, 140);
    look.now = kBegun + after;
    look.left_bytes = look.port_left_bytes = left_bytes;
    look.idle = true;
    port_.look(look);
  }

  static constexpr Nanos kBegun = 5 * kMillisecond;
  EndpointCongestion port_{kRate, kFrame, 1};
  Nanos epoch_ns_;
};

TEST_F(EpochTest, ItIsCongestedFromTheFirstLookAtAQueueBeyondTheMarks) {
  EXPECT_TRUE(port_.congested());
  EXPECT_EQ(port_.since_ns(), kBegun);
}

TEST_F(EpochTest, WhoeverMadeItHasGoneWhenNothingHasComeInHalfAnEpoch) {
  empty(epoch_ns_ / 2 - 1, 0);
  EXPECT_TRUE(port_.congested());
  empty(epoch_ns_ / 2, 0);
  EXPECT_FALSE(port_.congested());
  EXPECT_EQ(port_.position(), 0);
}

TEST_F(EpochTest, WhereMoreHasLeftTheWholeEpochCounts) {
  const double before = port_.position();
  const auto left = static_cast<uint64_t>(0.3 * 1.25 * static_cast<double>(epoch_ns_));
  empty(epoch_ns_ / 2, left);
  EXPECT_EQ(port_.position(), before);
  empty(epoch_ns_ - 1, left);
  EXPECT_EQ(port_.position(), before);
  empty(epoch_ns_, left);
  EXPECT_NE(port_.position(), before);
}

}  // namespace
}  // namespace heddle::endpoint_congestion_test
