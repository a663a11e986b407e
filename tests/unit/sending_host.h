// SPDX-License-Identifier: Apache-2.0
// A host at an edge port of a process that the test polls.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "io/mempool_pool.h"
#include "node/device.h"

namespace heddle::test {

// A host that sends so many frames, and takes all.
class SendingHost : public Device {
 public:
  SendingHost(const MempoolPool& pool, std::vector<uint8_t> frame, uint32_t frames)
      : pool_(const_cast<MempoolPool&>(pool)), frame_(std::move(frame)), frames_(frames) {}
  uint32_t receive(Packet** packets, uint32_t count, Nanos) override {
    count = pool_.allocate(packets, std::min(count, frames_));
    for (uint32_t i = 0; i < count; ++i) {
      std::copy(frame_.begin(), frame_.end(), packets[i]->data);
      packets[i]->length = static_cast<uint16_t>(frame_.size());
    }
    frames_ -= count;
    return count;
  }
  uint32_t transmit(Packet** packets, uint32_t count, Nanos) override {
    pool_.release(packets, count);
    return kBurst;
  }
  bool is_done() const { return frames_ == 0; }

 private:
  MempoolPool& pool_;
  std::vector<uint8_t> frame_;
  uint32_t frames_;
};

}  // namespace heddle::test
