// SPDX-License-Identifier: Apache-2.0
#include "node/waiting_load.h"

#include <gtest/gtest.h>

namespace heddle::test::waiting_load_test {
namespace {

class WaitingLoadTest : public testing::Test {
 protected:
  static constexpr PortIndex kPort = 3, kOther = 5;

  WaitingLoadTest() {
    for (const PortIndex port : {kPort, kOther}) board_.set_rate(port, 8'000'000'000, 1518);  // a nanosecond a byte
    flow_.branch.set_output(kPort);
    flow_.ftag = 1;
  }
  void join(uint16_t bytes) {
    Packet& packet = packets_[flow_.queued_packets++];
    packet.payload = bytes;
    flow_.queue.push(&packet);
    flow_.next_data_flow += bytes;
    waiting_.joined(flow_, bytes);
  }
  void leave() {
    const Packet* packet = flow_.queue.pop();
    --flow_.queued_packets;
    flow_.data_flow += packet->payload;
    waiting_.left(flow_, packet->payload);
  }
  Load load(PortIndex port = kPort) const { return board_.load(port, 0); }
  void expect(uint64_t bytes, uint32_t flows, PortIndex port = kPort) const {
    EXPECT_EQ(load(port).waiting_ns, bytes);
    EXPECT_EQ(load(port).flows, flows);
  }

  static Topology two_classes() {
    Topology topology;
    topology.classes = {{.name = "bulk", .ftag = 3}, {.name = "urgent", .ftag = 1}};
    return topology;
  }

  const Topology topology_ = two_classes();
  const Lanes lanes_{topology_};
  LoadBoard board_{8, 2, 2};
  WaitingLoad waiting_{board_, lanes_, 1};
  InputFlow flow_{};
  Packet packets_[4];
};

TEST_F(WaitingLoadTest, AFlowCountsOnceAndItsBytesAll) {
  join(100);
  expect(100, 1);
  join(50);
  expect(150, 1);
  leave();
  expect(50, 1);
  leave();
  expect(0, 0);
}

TEST_F(WaitingLoadTest, ItCountsForItsClass) {
  join(100);
  EXPECT_EQ(board_.load(kPort, 1, 0).waiting_ns, 100u);
  EXPECT_EQ(board_.load(kPort, 1, 0).flows, 1u);
  EXPECT_EQ(board_.load(kPort, 0, 0).waiting_ns, 0u);
  EXPECT_EQ(board_.load(kPort, 0, 0).flows, 0u);
  leave();
  EXPECT_EQ(board_.load(kPort, 1, 0).waiting_ns, 0u);
}

TEST_F(WaitingLoadTest, ItGoesAlongToAnotherOutput) {
  join(100);
  join(50);
  waiting_.end(flow_);
  expect(0, 0);
  flow_.branch.set_output(kOther);
  waiting_.begin(flow_);
  expect(0, 0);
  expect(150, 1, kOther);
}

TEST_F(WaitingLoadTest, OneThatIsHeldToItsShareDoesNotCount) {
  join(100);
  waiting_.end(flow_);
  flow_.flags |= kFlowLimited;
  join(50);
  leave();
  expect(0, 0);
  waiting_.end(flow_);
  expect(0, 0);
  flow_.flags &= static_cast<uint16_t>(~kFlowLimited);
  waiting_.begin(flow_);
  expect(50, 1);
}

TEST_F(WaitingLoadTest, OneWithoutAnOutputOrAQueueDoesNotCount) {
  waiting_.begin(flow_);
  waiting_.end(flow_);
  expect(0, 0);
  flow_.branch.set_output(kNoPort);
  join(100);
  waiting_.end(flow_);
  expect(0, 0);
}

}  // namespace
}  // namespace heddle::test::waiting_load_test
