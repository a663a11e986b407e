// SPDX-License-Identifier: Apache-2.0
// A port with nothing plugged in: nothing comes, and what is sent is gone.
#pragma once

#include <atomic>

#include "node/device.h"

namespace heddle {

class UnpluggedDevice : public Device {
 public:
  explicit UnpluggedDevice(PacketPool& pool) : pool_(pool) {}
  uint32_t receive(Packet**, uint32_t, Nanos) override { return 0; }
  uint32_t transmit(Packet** packets, uint32_t count, Nanos) override {
    pool_.release(packets, count);
    lost_frames_.store(lost_frames() + count, std::memory_order_relaxed);
    return kBurst;
  }
  uint64_t lost_frames() const { return lost_frames_.load(std::memory_order_relaxed); }

 private:
  PacketPool& pool_;
  std::atomic<uint64_t> lost_frames_{0};  // written by the worker
};

}  // namespace heddle
