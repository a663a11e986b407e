// SPDX-License-Identifier: Apache-2.0
// Frames that a port's device has taken and its queue or socket has not yet: the end of a burst at most, sent before
// all else. A queue that takes nothing for a while is stuck, as that of a guest that is not there: what is kept is
// given up and counted then, and so is each single frame with which it is tried, until it takes one. Owned by the
// device, used by the worker of its port, or while there is none; no allocation.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

#include "wire/packet.h"

namespace heddle {

class Backlog {
 public:
  static constexpr Nanos kKeptNsMax = 50 * kMillisecond;  // without any that is taken

  // `pool`: where given-up frames go, whichever they came from.
  explicit Backlog(PacketPool& pool) : pool_(pool) {}

  // As Device::transmit(). `send(packets, count)` says how many it has taken, from the front. While anything is left
  // there is no room, so nothing is handed over.
  template <typename Send>
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now, const Send& send) {
    assert(count <= kBurst && (count == 0 || count_ == 0));
    if (count_ != 0) {
      if (now - since_ns_ >= kKeptNsMax) {
        stuck_ = true;
        give_up();
      } else if (const uint32_t sent = send(frames_.data(), count_); sent != 0) {
        keep(frames_.data() + sent, count_ - sent, now);
      }
    } else if (count != 0) {
      const uint32_t sent = send(packets, count);
      stuck_ &= sent == 0;
      keep(packets + sent, count - sent, now);
    }
    if (count_ != 0) return 0;
    return stuck_ ? 1 : kBurst;
  }
  // Nobody takes them any more.
  void give_up() {
    if (count_ != 0) pool_.release(frames_.data(), count_);
    given_up_.store(given_up() + count_, std::memory_order_relaxed);
    count_ = 0;
  }
  // So far; from any thread.
  uint64_t given_up() const { return given_up_.load(std::memory_order_relaxed); }

 private:
  void keep(Packet** packets, uint32_t count, Nanos now) {
    std::copy(packets, packets + count, frames_.begin());  // perhaps some of it: towards its beginning
    count_ = count;
    since_ns_ = now;
  }

  PacketPool& pool_;
  std::array<Packet*, kBurst> frames_;
  uint32_t count_ = 0;
  bool stuck_ = false;
  Nanos since_ns_ = 0;  // one was taken, or they came
  std::atomic<uint64_t> given_up_{0};
};

}  // namespace heddle
