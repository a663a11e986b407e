// SPDX-License-Identifier: Apache-2.0
// A DPDK device with frames: a ring whose end is its beginning, so what is sent is received.
#include <gtest/gtest.h>

#include <string>

#include "io/ethdev_device.h"

namespace heddle::io_ethdev_device_test {
namespace {

class EthdevDeviceTest : public testing::Test {
 protected:
  static constexpr uint32_t kBuffers = 4096;  // the ring holds less

  EthdevDeviceTest() { device_.start(); }
  ~EthdevDeviceTest() override {
    while (receive() != 0) {
    }
  }
  // Frames with the next lengths; the room that there is then.
  uint32_t transmit(uint32_t count) {
    Packet* burst[kBurst];
    EXPECT_EQ(pool_.allocate(burst, count), count);
    for (uint32_t i = 0; i < count; ++i) burst[i]->length = static_cast<uint16_t>(60 + sent_++ % 1000);
    return device_.transmit(burst, count, now_);
  }
  // How many, all in the order in which they were sent.
  uint32_t receive() {
    Packet* burst[kBurst];
    const uint32_t count = device_.receive(burst, kBurst, now_);
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(burst[i]->length, 60 + received_++ % 1000);
    pool_.release(burst, count);
    return count;
  }
  void fill() {
    while (transmit(kBurst) != 0) ASSERT_LT(sent_, kBuffers - kBurst);
  }

  MempoolPool pool_{"ethdev", kBuffers};
  EthdevDevice device_{{.device = "net_ring" + std::to_string(next_ring_++),
                        .mtu_bytes = 1500,
                        .receive_descriptors = 1024,
                        .transmit_descriptors = 1024},
                       pool_};
  Nanos now_ = kSecond;
  uint32_t sent_ = 0, received_ = 0;

 private:
  static inline unsigned next_ring_ = 0;  // one is there for good
};

TEST_F(EthdevDeviceTest, WhatIsSentArrives) {
  EXPECT_EQ(device_.driver(), "net_ring");
  EXPECT_EQ(transmit(0), kBurst);
  EXPECT_EQ(transmit(3), kBurst);
  EXPECT_EQ(receive(), 3u);
  EXPECT_EQ(pool_.in_use(), 0u);
}

// Its queue takes a part of the last burst.
TEST_F(EthdevDeviceTest, WhatItsQueueHasNoRoomForIsSentWhenItHas) {
  fill();
  EXPECT_EQ(transmit(0), 0u) << "it asks for nothing meanwhile";
  EXPECT_EQ(receive(), kBurst);
  EXPECT_EQ(transmit(0), kBurst);
  while (receive() != 0) {
  }
  EXPECT_EQ(received_, sent_);
  EXPECT_EQ(device_.driver_counters().refused_frames, 0u);
}

TEST_F(EthdevDeviceTest, WhatItNeverHasRoomForIsGivenUpAndCounted) {
  fill();
  now_ += Backlog::kKeptNsMax;
  EXPECT_EQ(transmit(0), 1u) << "it is tried with one";
  while (receive() != 0) {
  }
  EXPECT_NE(received_, sent_);
  EXPECT_EQ(device_.driver_counters().refused_frames, sent_ - received_);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(EthdevDeviceTest, WhatIsKeptWhenItStopsIsGivenUpAndCounted) {
  fill();
  const uint32_t all = pool_.in_use();
  device_.stop();
  EXPECT_GT(device_.driver_counters().refused_frames, 0u);
  EXPECT_EQ(pool_.in_use(), all - device_.driver_counters().refused_frames);
  device_.start();
}

}  // namespace
}  // namespace heddle::io_ethdev_device_test
