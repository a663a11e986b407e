// SPDX-License-Identifier: Apache-2.0
// Frames that a port's device has taken and its queue or socket has not yet: the end of a burst at most, sent before
// all else. Owned by the device, used by the worker of its port; no allocation.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "wire/packet.h"

namespace heddle {

class Backlog {
 public:
  // As Device::transmit(). `send(packets, count)` says how many it has taken, from the front. While anything is left
  // there is no room, so nothing is handed over.
  template <typename Send>
  uint32_t transmit(Packet** packets, uint32_t count, const Send& send) {
    if (count_ != 0) {
      const uint32_t sent = send(frames_.data(), count_);
      std::copy(frames_.begin() + sent, frames_.begin() + count_, frames_.begin());
      count_ -= sent;
    }
    if (count != 0) {
      const uint32_t sent = send(packets, count);
      count_ = count - sent;
      std::copy_n(packets + sent, count_, frames_.begin());
    }
    return count_ == 0 ? kBurst : 0;
  }
  // Back to their pool: nobody takes them any more.
  void release(PacketPool& pool) {
    if (count_ != 0) pool.release(frames_.data(), count_);
    count_ = 0;
  }

 private:
  std::array<Packet*, kBurst> frames_;
  uint32_t count_ = 0;
};

}  // namespace heddle
