// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "test_fabric.h"

namespace heddle::test::metered_flow_test {
namespace {

//  h1 - n1 ---- n2 --(1 Gb/s)-- n3 - h2: what h1 sends queues at n2, which grants it to n1 by credit (C6).
struct MeteredFlow : testing::Test {
  MeteredFlow() {
    fabric.run(100 * kMillisecond);
    h1.incoming.push_back(broadcast(1, 0));
    h2.incoming.push_back(broadcast(2, 0));
    fabric.run(5 * kMillisecond);
  }

  static Topology three_switches() {
    Topology topology;
    topology.classes.push_back({.congestion_control = false});
    add_node(topology, 1, 1);
    add_node(topology, 2, 0);
    add_node(topology, 3, 1);
    add_link(topology, 0, 1);
    add_link(topology, 1, 2);
    topology.nodes[1].ports[1].rate_bps = 1'000'000'000;
    return topology;
  }
  void send(Nanos duration) {
    for (const Nanos end = fabric.now + duration; fabric.now < end;) {
      h1.incoming.push_back(frame(2, 1, 0, 1000));
      h1.incoming.push_back(frame(2, 1, 0, 1000));
      fabric.run(10 * kMicrosecond);
    }
  }
  bool held() const {
    const Port& port = fabric.nodes[0]->port(1);
    for (uint32_t id = 1; id <= port.output.flows.size(); ++id) {
      const OutputFlow& entry = port.output.flows[FlowId::of(id)];
      if ((entry.flags & kOutputMetered) && entry.extent() != 0) return true;
    }
    return false;
  }

  TestFabric fabric{three_switches()};
  MemoryDevice& h1 = fabric.device(0, 0);
  MemoryDevice& h2 = fabric.device(2, 0);
  MemoryDevice& to_n1 = fabric.device(1, 0);
};

// K7: all that n2 told n1 is lost while its queue runs empty, so no ACK will tell it again.
TEST_F(MeteredFlow, HearsOfLostCreditWithinTwoMilliseconds) {
  send(3 * kMillisecond);
  ASSERT_GT(fabric.events(ProtocolEvent::flow_metered), 0u);
  ASSERT_TRUE(held());
  to_n1.carries = false;
  send(5 * kMillisecond);
  const size_t before = h2.delivered.size();
  send(kMillisecond);
  ASSERT_EQ(h2.delivered.size(), before);  // at a halt
  to_n1.carries = true;
  send(2100 * kMicrosecond);
  EXPECT_GT(h2.delivered.size(), before);
  EXPECT_GT(fabric.events(ProtocolEvent::flow_credit_asked), 0u);
}

// Whoever hears news with its ACKs does not ask.
TEST_F(MeteredFlow, DoesNotAskWhileCreditComes) {
  send(20 * kMillisecond);
  ASSERT_GT(fabric.events(ProtocolEvent::flow_metered), 0u);
  EXPECT_GT(h2.delivered.size(), 2000u);
  EXPECT_EQ(fabric.events(ProtocolEvent::flow_credit_asked), 0u);
}

}  // namespace
}  // namespace heddle::test::metered_flow_test
