// SPDX-License-Identifier: Apache-2.0
#include "node/control_frames.h"

#include "component_fixture.h"

namespace heddle::test::control_frames_test {
namespace {

using ControlFramesTest = ComponentTest;

TEST_F(ControlFramesTest, AFrameMadeHereBelongsToNoInput) {
  Packet* packet = control_.make(edge_);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(packet->input.port, kNoPort);
  EXPECT_EQ(packet->flags, kPacketRecords);
  EXPECT_EQ(edge_.counters.originated_frames, 1u);
  EXPECT_EQ(drops_of(edge_, DropReason::no_buffer), 0u);
  turn_.discard(packet);
}

TEST_F(ControlFramesTest, TheyLeaveInTheOrderInWhichTheyWereQueued) {
  Packet* first = control_.make(edge_);
  Packet* second = control_.make(edge_);
  control_.queue(edge_, second);
  control_.queue(edge_, first);
  EXPECT_EQ(edge_.output.control_packets, 2u);
  for (Packet* expected : {second, first}) {
    Packet* next = edge_.output.control.pop();
    EXPECT_EQ(next, expected);
    turn_.discard(next);
  }
}

TEST_F(ControlFramesTest, WithoutABufferThereIsNoneAndThatIsCounted) {
  control_pool_.empty = true;
  EXPECT_EQ(control_.make(edge_), nullptr);
  EXPECT_EQ(drops_of(edge_, DropReason::no_buffer), 1u);
  EXPECT_EQ(edge_.counters.originated_frames, 1u) << "all that is dropped was made";
}

TEST_F(ControlFramesTest, SoManyWaitAtAPort) {
  for (uint32_t frames = 0; frames < 64; ++frames) {
    Packet* packet = control_.make(edge_);
    ASSERT_NE(packet, nullptr);
    control_.queue(edge_, packet);
  }
  EXPECT_EQ(control_.make(edge_), nullptr);
  EXPECT_EQ(drops_of(edge_, DropReason::no_buffer), 1u);
  EXPECT_EQ(edge_.counters.originated_frames, 65u);
  Packet* of_another = control_.make(output_);
  EXPECT_NE(of_another, nullptr);
  turn_.discard(of_another);
}

}  // namespace
}  // namespace heddle::test::control_frames_test
