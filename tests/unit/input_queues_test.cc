// SPDX-License-Identifier: Apache-2.0
#include "ingress/input_queues.h"

#include <gtest/gtest.h>

namespace heddle::test::input_queues_test {
namespace {

constexpr uint8_t kBulk = 2, kStorage = 3;  // FTAGs

Packet packet(uint8_t ftag, uint16_t bytes) {
  Packet packet{};
  packet.ftag = ftag;
  packet.payload = bytes;
  return packet;
}

TEST(InputQueues, CountWhatWaitsByClassAndGroup) {
  InputQueues queues(4);
  const Packet bulk = packet(kBulk, 100), storage = packet(kStorage, 1000), without_flow = packet(kStorage, 500);
  queues.joined(bulk, 1, false);
  queues.joined(bulk, 2, false);
  queues.joined(storage, 1, true);
  queues.joined(without_flow);
  EXPECT_EQ(queues.packets(), 4u);
  EXPECT_EQ(queues.lossless_packets(), 2u);
  EXPECT_EQ(queues.packets(1, false), 1u);
  EXPECT_EQ(queues.packets_of_class(kBulk), 2u);
  EXPECT_EQ(queues.packets_of_class(kStorage), 2u);
  EXPECT_EQ(queues.of_class(kBulk).bytes, 200u);
  EXPECT_EQ(queues.of_class(kStorage).bytes, 1500u);
  EXPECT_EQ(queues.of_group(1).bytes, 1100u);
  EXPECT_EQ(queues.of_group(2).bytes, 100u);
  queues.left(bulk, 1, false);
  queues.left(storage, 1, true);
  queues.left(without_flow);
  EXPECT_EQ(queues.packets(), 1u);
  EXPECT_EQ(queues.lossless_packets(), 0u);
  EXPECT_EQ(queues.packets(1, false), 0u);
  EXPECT_EQ(queues.packets_of_class(kBulk), 1u);
  EXPECT_EQ(queues.packets_of_class(kStorage), 0u);
  EXPECT_EQ(queues.of_class(kStorage).bytes, 0u);
  EXPECT_EQ(queues.of_group(1).bytes, 0u);
  EXPECT_EQ(queues.of_group(1).most_bytes, 1100u) << "the high water stays";
  EXPECT_EQ(queues.of_class(kStorage).most_bytes, 1500u);
}

TEST(InputQueues, WhatWaitsGoesToAnotherGroupWithItsFlow) {
  InputQueues queues(4);
  const Packet bulk = packet(kBulk, 100), storage = packet(kStorage, 1000);
  for (int i = 0; i < 3; ++i) queues.joined(bulk, 1, false);
  queues.joined(storage, 1, true);
  queues.regrouped(1, 3, 3, 300, false);
  EXPECT_EQ(queues.packets(1, false), 0u);
  EXPECT_EQ(queues.packets(3, false), 3u);
  EXPECT_EQ(queues.of_group(3).bytes, 300u);
  EXPECT_EQ(queues.of_group(3).most_bytes, 0u) << "until all are moved";
  queues.end_regrouping(4, false);
  EXPECT_EQ(queues.of_group(3).most_bytes, 300u);
  queues.regrouped(1, 3, 1, 1000, true);
  EXPECT_EQ(queues.packets(3, false), 3u);
  EXPECT_EQ(queues.of_group(1).bytes, 0u);
  EXPECT_EQ(queues.of_class(kBulk).bytes, 300u) << "the class is the same";
}

TEST(InputQueues, CountDropsThatTellOfQueues) {
  InputQueues queues(2);
  for (unsigned i = 0; i < kDropReasons; ++i) {
    queues.dropped(kBulk, static_cast<DropReason>(i));
    queues.dropped_of_group(1, static_cast<DropReason>(i));
  }
  EXPECT_EQ(queues.of_class(kBulk).dropped_frames, 10u);
  EXPECT_EQ(queues.of_group(1).dropped_frames, 10u);
  EXPECT_EQ(queues.of_class(kStorage).dropped_frames, 0u);
  EXPECT_EQ(queues.of_group(0).dropped_frames, 0u);
}

TEST(InputQueues, MarksBeginAnewWhereTheQueuesStand) {
  InputQueues queues(2);
  const Packet bulk = packet(kBulk, 100);
  queues.joined(bulk, 1, false);
  queues.joined(bulk, 1, false);
  queues.left(bulk, 1, false);
  queues.dropped(kBulk, DropReason::input_full);
  queues.dropped_of_group(1, DropReason::input_full);
  queues.restart_marks();
  for (const QueueMark& mark : {queues.of_class(kBulk), queues.of_group(1)}) {
    EXPECT_EQ(mark.bytes, 100u);
    EXPECT_EQ(mark.most_bytes, 100u);
    EXPECT_EQ(mark.dropped_frames, 0u);
  }
}

TEST(InputQueues, AreEmptyWhenTheLinkHasEnded) {
  InputQueues queues(1);
  queues.joined(packet(kBulk, 100), 0, false);
  queues.joined(packet(kStorage, 100));
  queues.empty();
  EXPECT_EQ(queues.packets() + queues.lossless_packets() + queues.packets(0, false), 0u);
  EXPECT_EQ(queues.of_class(kBulk).bytes + queues.of_class(kStorage).bytes + queues.of_group(0).bytes, 0u);
  EXPECT_EQ(queues.of_class(kBulk).most_bytes, 100u);
}

}  // namespace
}  // namespace heddle::test::input_queues_test
