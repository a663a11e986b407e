// SPDX-License-Identifier: Apache-2.0
// R3, R8, R9: what a port says of itself, and whom it asks to take another way.
#include "node/port_loads.h"

#include "flow_fixture.h"

namespace heddle::test {
namespace {

class PortLoadsTest : public FlowTest {
 protected:
  OutputFlow& reserve() {
    id_ = fabric_.output.flows.reserve(edge_.input.ref.with(7), kLossy);
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

}  // namespace
}  // namespace heddle::test
