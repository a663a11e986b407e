// SPDX-License-Identifier: Apache-2.0
// May a flow go on: its limit (C3-C5, K10), its credits (C6) and its part of the buffers (C8).
#include "flow/flow_gate.h"

#include <gtest/gtest.h>

namespace heddle::flow_gate_test {
namespace {

constexpr Nanos kRoundTrip = 10 * kMicrosecond;

FlowLimit limit_of(double ns_per_byte, Nanos now) {
  FlowLimit limit;
  limit.begin(now);
  limit.set_share(ns_per_byte, kRoundTrip, 5 * kMicrosecond, now);
  return limit;
}

constexpr uint32_t kTarget = 6000, kFrame = 1514;

class FlowGate : public testing::Test {
 protected:
  FlowGate() {
    flow_.data_flow = flow_.next_data_flow = 5000;
    flow_.ack_flow = 3000;  // 2000 bytes under way
    meter_.set_limit(6000);
  }
  Gate gate(uint32_t bytes, Nanos now, uint64_t free_bytes = kNoShare, bool may_inject = true) const {
    return gate_of(flow_, limit_, meter_, free_bytes, may_inject, bytes, now);
  }

  InputFlow flow_{};
  FlowLimit limit_;
  FlowMeter meter_;
};

TEST_F(FlowGate, IsOpenWhereNothingHolds) {
  EXPECT_EQ(gate(1500, 0), Gate::open);  // the meter's limit is not in force
  EXPECT_TRUE(is_open(Gate::open));
  EXPECT_TRUE(is_open(Gate::lapsed));
  for (const Gate closed : {Gate::leaving, Gate::no_share, Gate::injection, Gate::no_credit, Gate::paced, Gate::window})
    EXPECT_FALSE(is_open(closed));
}

TEST_F(FlowGate, LetsAFlowHaveAQuarterOfWhatIsFree) {
  EXPECT_EQ(gate(1500, 0, 8000), Gate::open);
  EXPECT_EQ(gate(1500, 0, 7999), Gate::no_share);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1500, 0, 0), Gate::open) << "who has nothing under way may always send";
}

TEST_F(FlowGate, WaitsForItsApplicationsLimit) { EXPECT_EQ(gate(1500, 0, kNoShare, false), Gate::injection); }

TEST_F(FlowGate, WaitsForWhatIsUnderWayOnThePathThatItLeaves) {
  flow_.flags = kFlowLeaving;
  EXPECT_EQ(gate(1500, 0), Gate::leaving);
}

TEST_F(FlowGate, WaitsForCredit) {
  flow_.flags = kFlowMetered;
  EXPECT_EQ(gate(1000, 0), Gate::open);
  EXPECT_EQ(gate(1001, 0), Gate::no_credit);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1001, 0), Gate::open) << "nothing is under way that could bring it";
}

TEST_F(FlowGate, WaitsForItsTimeAndItsWindow) {
  flow_.flags = kFlowLimited;
  limit_ = limit_of(10, kMillisecond);  // window 2500
  limit_.spend(1500, kMillisecond);
  limit_.spend(1500, kMillisecond);
  EXPECT_EQ(limit_.release_ns(), kMillisecond + 15 * kMicrosecond);
  EXPECT_EQ(gate(1500, kMillisecond + 14999), Gate::paced);
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::open);
  flow_.ack_flow = 2500;
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::open);
  flow_.ack_flow = 2499;
  EXPECT_EQ(gate(1500, kMillisecond + 15000), Gate::window);
  flow_.ack_flow = 5000;
  EXPECT_EQ(gate(1500, kSecond), Gate::lapsed);
}

// What the next switch says comes before what the host's port says.
TEST_F(FlowGate, NamesTheFirstReason) {
  flow_.flags = kFlowLimited | kFlowMetered;
  limit_ = limit_of(1000, kMillisecond);
  limit_.spend(1500, kMillisecond);
  limit_.spend(1500, kMillisecond);
  EXPECT_EQ(gate(1500, kMillisecond, 1, false), Gate::injection);
  EXPECT_EQ(gate(1500, kMillisecond, 1), Gate::no_share);
  EXPECT_EQ(gate(1500, kMillisecond, 1 << 20), Gate::no_credit);
  EXPECT_EQ(gate(500, kMillisecond, 1 << 20), Gate::paced);
}

}  // namespace
}  // namespace heddle::flow_gate_test
