// SPDX-License-Identifier: Apache-2.0
// A port with nothing plugged in: nothing comes, and what is sent is gone.
#pragma once

#include "node/device.h"

namespace heddle {

class UnpluggedDevice : public Device {
 public:
  explicit UnpluggedDevice(PacketPool& pool) : pool_(pool) {}
  uint32_t receive(Packet**, uint32_t, Nanos) override { return 0; }
  uint32_t transmit(Packet** packets, uint32_t count, Nanos) override {
    pool_.release(packets, count);
    return count;
  }

 private:
  PacketPool& pool_;
};

}  // namespace heddle
