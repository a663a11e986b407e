// SPDX-License-Identifier: Apache-2.0
#include "node/transmitter.h"

#include <gtest/gtest.h>

#include "memory_ports.h"

namespace heddle::test::transmitter_test {
namespace {

// Has `accepts` room, and counts how often it is asked.
class AskedDevice : public MemoryDevice {
 public:
  using MemoryDevice::MemoryDevice;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override {
    asked += count == 0;
    return MemoryDevice::transmit(packets, count, now);
  }
  uint32_t asked = 0;
};

class TransmitterTest : public testing::Test {
 protected:
  void send(uint32_t frames) {
    Packet* burst[kBurst];
    pool_.allocate(burst, frames);
    transmitter_.send(burst, frames, 0);
  }

  HeapPool pool_;
  AskedDevice device_{pool_};
  Transmitter transmitter_;
};

TEST_F(TransmitterTest, KnowsTheRoomThatItsDeviceToldLast) {
  device_.accepts = 7;
  transmitter_.attach(device_);
  EXPECT_EQ(transmitter_.room(), 0u) << "nobody has looked";
  EXPECT_EQ(transmitter_.next_wake(5), 5 + kMicrosecond);
  transmitter_.look(0);
  EXPECT_EQ(transmitter_.room(), 7u);
  device_.accepts = 3;
  EXPECT_EQ(transmitter_.room(), 7u) << "and may send so many";
  send(7);
  EXPECT_EQ(device_.delivered.size(), 7u);
  EXPECT_EQ(transmitter_.room(), 3u);
}

TEST_F(TransmitterTest, AnotherDeviceHasRoomOfItsOwn) {
  transmitter_.attach(device_);
  transmitter_.look(0);
  EXPECT_EQ(transmitter_.room(), kBurst);
  AskedDevice other(pool_);
  other.accepts = 3;
  transmitter_.attach(other);
  EXPECT_EQ(transmitter_.room(), 0u);
  transmitter_.look(0);
  EXPECT_EQ(transmitter_.room(), 3u);
}

TEST_F(TransmitterTest, IsLookedAtOnlyWhereABurstHasNoRoom) {
  transmitter_.attach(device_);
  transmitter_.look(0);
  const uint32_t before = device_.asked;
  transmitter_.look(0);
  EXPECT_EQ(device_.asked, before);
  device_.accepts = kBurst - 1;
  send(1);
  device_.accepts = kBurst;
  transmitter_.look(0);
  EXPECT_EQ(device_.asked, before + 1);
  EXPECT_EQ(transmitter_.room(), kBurst);
}

TEST_F(TransmitterTest, AFullDeviceIsAskedAgainSoon) {
  transmitter_.attach(device_);
  transmitter_.look(0);
  EXPECT_EQ(transmitter_.next_wake(5), kNever);
  device_.accepts = 1;
  send(1);
  EXPECT_EQ(transmitter_.next_wake(5), kNever);
  device_.accepts = 0;
  send(1);
  EXPECT_EQ(transmitter_.next_wake(5), 5 + kMicrosecond);
}

}  // namespace
}  // namespace heddle::test::transmitter_test
