// SPDX-License-Identifier: Apache-2.0
#include "node/host_control.h"

#include "component_fixture.h"
#include "wire/pause.h"

namespace heddle::test::host_control_test {
namespace {

class HostControlTest : public ComponentTest {
 protected:
  // What the host has been told since the last time: the priorities that are to wait.
  std::optional<PauseFrame> told() {
    if (edge_.output.control.empty()) return std::nullopt;
    Packet* packet = edge_.output.control.pop();
    --edge_.output.control_packets;
    EXPECT_EQ(packet->flags, 0u);
    PauseFrame frame;
    EXPECT_TRUE(read_pause(packet->data, packet->length, frame));
    return frame;
  }
  // Is it told to wait now, having been told otherwise?
  bool pauses(Nanos now) {
    const uint64_t before = count_of(edge_, ProtocolEvent::pause_sent);
    control_of_hosts_.run(edge_, now);
    return count_of(edge_, ProtocolEvent::pause_sent) != before;
  }
  // A frame of the host with which it asks that all wait for some milliseconds.
  Packet* pause_of_host() {
    Packet* frame = packet(0);
    PauseFrame pause;
    pause.quanta[0] = 0xffff;
    write_pause(*frame, pause, 0x020000000001);
    return frame;
  }

  HostControl control_of_hosts_{site_, turn_, control_, events_};
  const uint32_t mark_ = site_.settings.input_drop_mark_packets;
};

TEST_F(HostControlTest, AHostWaitsPastHalfOfTheMarkUntilAQuarter) {
  count_waiting(edge_, mark_ / 2);
  EXPECT_FALSE(pauses(kSecond));
  count_waiting(edge_, mark_ / 2 + 1);
  EXPECT_TRUE(pauses(2 * kSecond));
  EXPECT_TRUE(edge_.input.lossless_full);
  count_waiting(edge_, mark_ / 4 + 1);
  control_of_hosts_.run(edge_, 2 * kSecond + 1);
  EXPECT_TRUE(edge_.input.lossless_full);
  count_waiting(edge_, mark_ / 4);
  control_of_hosts_.run(edge_, 3 * kSecond);
  EXPECT_FALSE(edge_.input.lossless_full);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_ended), 2u) << "and at first, whatever held before";
}

TEST_F(HostControlTest, SoItIsWithFramesThatWaitForAFlowId) {
  const auto make_wait = [this](uint32_t frames) {
    WaitingFrames& waiting = edge_.input.waiting;
    while (waiting.count() < frames) waiting.push(0, packet(64));
    while (waiting.count() > frames) turn_.discard(waiting.pop_any());
  };
  make_wait(site_.waiting_max / 2);
  EXPECT_FALSE(pauses(kSecond));
  make_wait(site_.waiting_max / 2 + 1);
  EXPECT_TRUE(pauses(2 * kSecond));
  make_wait(site_.waiting_max / 4 + 1);
  control_of_hosts_.run(edge_, 3 * kSecond);
  EXPECT_TRUE(edge_.input.lossless_full);
  make_wait(site_.waiting_max / 4);
  control_of_hosts_.run(edge_, 4 * kSecond);
  EXPECT_FALSE(edge_.input.lossless_full);
}

TEST_F(HostControlTest, OneFlowPastItsMarkPausesItsClass) {
  poke(edge_.input.flows_full[kLossless], 1);
  control_of_hosts_.run(edge_, kSecond);
  const auto frame = told();
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->by_priority);
  for (unsigned priority = 0; priority < 8; ++priority)
    EXPECT_EQ(frame->quanta[priority] != 0, priority == 3) << priority;
  poke(edge_.input.flows_full[kLossless], 0);
  poke(edge_.input.flows_full[kLossy], 1);
  control_of_hosts_.run(edge_, 2 * kSecond);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_ended), 1u) << "no lossy class is paused";
}

TEST_F(HostControlTest, WithoutAPacketItIsToldNextTurn) {
  poke(edge_.input.flows_full[kLossless], 1);
  control_pool_.empty = true;
  EXPECT_FALSE(pauses(kSecond));
  control_pool_.empty = false;
  EXPECT_TRUE(pauses(kSecond));
}

TEST_F(HostControlTest, WhatTheHostAsksIsObeyedUntilItIsOver) {
  Packet* frame = pause_of_host();
  ASSERT_TRUE(control_of_hosts_.hear(edge_, frame, kSecond));
  EXPECT_TRUE(gone(frame));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_heard), 1u);
  EXPECT_EQ(edge_.counters.consumed_frames, 1u);
  EXPECT_EQ(edge_.output.paused_lanes, (LaneSet{1} << site_.lanes.count()) - 1);
  ASSERT_NE(edge_.output.pause_look_ns, kNever);
  control_of_hosts_.run(edge_, edge_.output.pause_look_ns - 1);
  EXPECT_NE(edge_.output.paused_lanes, 0u);
  control_of_hosts_.run(edge_, kSecond + 10 * site_.settings.pause_watchdog_ns);
  EXPECT_EQ(edge_.output.paused_lanes, 0u);
}

// E2: as the host gets its frames, not as they were sent.
TEST_F(HostControlTest, AClassWaitsForThePriorityThatIsWrittenInItsFrames) {
  const auto held_by = [this](uint8_t priority) {
    Packet* frame = packet(0);
    PauseFrame pause{.by_priority = true, .enabled = static_cast<uint8_t>(1 << priority), .quanta = {}};
    pause.quanta[priority] = 0xffff;
    write_pause(*frame, pause, 0x020000000001);
    edge_.pause = HostPause(0, kMillisecond);
    EXPECT_TRUE(control_of_hosts_.hear(edge_, frame, kSecond));
    return edge_.output.paused_lanes;
  };
  EXPECT_EQ(held_by(6), LaneSet{1} << site_.lanes.of(kUncontrolled, kLossyChannel) |
                            LaneSet{1} << site_.lanes.of(kLossy, kLossyChannel))
      << "and of the class that has that priority";
  EXPECT_EQ(held_by(0), LaneSet{1} << site_.lanes.of(kLossy, kLossyChannel)) << "which is that of untagged frames";
}

TEST_F(HostControlTest, AHostThatAsksTooLongIsOverruled) {
  Nanos now = kSecond;
  for (; count_of(edge_, ProtocolEvent::pause_overruled) == 0 && now < 2 * kSecond; now += kMillisecond)
    ASSERT_TRUE(control_of_hosts_.hear(edge_, pause_of_host(), now));
  EXPECT_EQ(now - kMillisecond, kSecond + site_.settings.pause_watchdog_ns);
  EXPECT_EQ(edge_.output.paused_lanes, 0u);
  NodeEvent event;
  ASSERT_TRUE(events_.take(event));
  EXPECT_EQ(event.kind, NodeEventKind::pause_overruled);
  EXPECT_EQ(event.port, kEdge);
  EXPECT_FALSE(events_.take(event)) << "once";
}

TEST_F(HostControlTest, APortMayDoWithout) {
  count_waiting(output_, mark_);
  control_of_hosts_.run(output_, kSecond);
  EXPECT_EQ(output_.output.control_packets, 0u);
  Packet* frame = pause_of_host();
  EXPECT_FALSE(control_of_hosts_.hear(output_, frame, kSecond));
  EXPECT_FALSE(gone(frame));
  EXPECT_EQ(output_.output.paused_lanes, 0u);
}

TEST_F(HostControlTest, OtherFramesAreNotForIt) {
  Packet* frame = packet(64);
  EXPECT_FALSE(control_of_hosts_.hear(edge_, frame, kSecond));
  EXPECT_FALSE(gone(frame));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::pause_heard), 0u);
}

}  // namespace
}  // namespace heddle::test::host_control_test
