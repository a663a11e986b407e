// SPDX-License-Identifier: Apache-2.0
#include "config/memory_budget.h"
#include "switch_process_fixture.h"

namespace heddle::io_switch_process_test {
namespace {

TEST_F(SwitchProcessTest, PortsWithoutDeviceAreLinksOrUnplugged) {
  const ProcessNode& left = process->nodes()[0];
  ASSERT_EQ(process->links().size(), 1u);
  EXPECT_EQ(left.ports[0].link, process->links()[0].get());
  EXPECT_EQ(left.ports[1].link, nullptr);
  EXPECT_EQ(left.ports[1].outward, nullptr);
  EXPECT_NE(left.ports[1].device, nullptr);
  EXPECT_EQ(process->links()[0]->impairment[0].delay_ns, 3000u);
  EXPECT_EQ(process->links()[0]->impairment[1].delay_ns, 0u);
}

TEST_F(SwitchProcessTest, LinksComeUpAndBuffersGoHome) {
  run_for(kSecond);
  EXPECT_TRUE(session(0).up());
  EXPECT_TRUE(session(1).up());
  process.reset();  // the pool asserts nothing, but valgrind and ASan would
}

TEST_F(SwitchProcessTest, ACutLinkGoesDownAndComesBack) {
  run_for(kSecond);
  process->change_link({1, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  run_for(kSecond);
  EXPECT_FALSE(session(0).up());
  EXPECT_EQ(session(0).down_reason(), LinkDownReason::no_carrier);
  process->change_link({0, 0}, {.up = true, .loss_ppm = {}, .delay_ns = {}});
  run_for(3 * kSecond);
  EXPECT_TRUE(session(0).up());
  EXPECT_TRUE(session(1).up());
}

TEST_F(SwitchProcessTest, TotalLossBringsALinkDownAndTheDelayStays) {
  run_for(kSecond);
  process->change_link({0, 0}, {.up = {}, .loss_ppm = 1'000'000, .delay_ns = {}});
  run_for(kSecond);
  EXPECT_FALSE(session(0).up());
  EXPECT_EQ(process->links()[0]->impairment[0].delay_ns, 3000u);
  EXPECT_EQ(process->links()[0]->impairment[1].loss_ppm, 1'000'000u);
}

TEST_F(SwitchProcessTest, ANodeThatCrashedKnowsNothingAndItsLinkComesBack) {
  run_for(kSecond);
  process->set_node_up(1, false);
  EXPECT_EQ(process->nodes()[1].node, nullptr);
  run_for(kSecond);
  EXPECT_FALSE(session(0).up());
  process->set_node_up(1, false);  // it is down
  process->set_node_up(1, true);
  EXPECT_EQ(process->nodes()[1].starts, 2u);
  EXPECT_FALSE(session(1).up());
  run_for(3 * kSecond);
  EXPECT_TRUE(session(0).up());
  EXPECT_TRUE(session(1).up());
}

TEST_F(SwitchProcessTest, ALinkThatWasCutStaysSoWhileItsNodeRestarts) {
  process->change_link({0, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  process->set_node_up(0, false);
  process->set_node_up(0, true);
  EXPECT_FALSE(process->links()[0]->link->up());
  process->change_link({0, 0}, {.up = true, .loss_ppm = {}, .delay_ns = {}});
  EXPECT_TRUE(process->links()[0]->link->up());
}

TEST_F(SwitchProcessTest, WhatIsNoLinkIsRefused) {
  EXPECT_THROW(process->change_link({0, 1}, {}), std::runtime_error);
  EXPECT_THROW(process->set_node_up(7, false), std::runtime_error);
}

TEST(BufferRoom, IsACreditsWorthOrTheLargestFrame) {
  ProcessConfig config;
  TopologyPort port;
  port.mtu_bytes = 1500;
  config.topology.nodes.push_back({.name = "n", .address = 1, .ports = {port}});
  EXPECT_EQ(buffer_room_bytes(config), kBufferBytes);
  config.topology.nodes[0].ports[0].mtu_bytes = 9000;
  EXPECT_EQ(buffer_room_bytes(config), 16384u);
}

}  // namespace
}  // namespace heddle::io_switch_process_test
