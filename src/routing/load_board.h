// SPDX-License-Identifier: Apache-2.0
// Load and link state of a node's ports, one cache line each (decision 2). The worker that owns a port writes its line,
// all workers of the node read it; relaxed, because nothing else is read by it, and old news are as good.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "topology/virtual_channels.h"
#include "wire/types.h"

namespace heddle {

struct alignas(64) PortLoad {
  std::atomic<uint32_t> queue_bytes{0};
  std::atomic<bool> up{false};
  std::atomic<bool> takes_at_once{false};
  std::array<std::atomic<uint16_t>, kVirtualChannels> free_buffers{};  // of the next hop, by virtual channel
};

class LoadBoard {
 public:
  explicit LoadBoard(size_t ports) : ports_(ports) {}
  void publish_load(PortIndex port, uint32_t queue_bytes) {
    ports_[port].queue_bytes.store(queue_bytes, std::memory_order_relaxed);
  }
  void publish_state(PortIndex port, bool up) {
    ports_[port].up.store(up, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_release);
  }
  void publish_free(PortIndex port, uint32_t channel, uint32_t buffers) {
    ports_[port].free_buffers[channel].store(static_cast<uint16_t>(std::min(buffers, 0xffffu)),
                                             std::memory_order_relaxed);
  }
  // Of an edge port: may frames cross to it without a flow?
  void publish_at_once(PortIndex port, bool takes) {
    ports_[port].takes_at_once.store(takes, std::memory_order_relaxed);
  }
  bool takes_at_once(PortIndex port) const { return ports_[port].takes_at_once.load(std::memory_order_relaxed); }
  uint32_t free_buffers(PortIndex port, uint32_t channel) const {
    return ports_[port].free_buffers[channel].load(std::memory_order_relaxed);
  }
  uint32_t queue_bytes(PortIndex port) const { return ports_[port].queue_bytes.load(std::memory_order_relaxed); }
  bool up(PortIndex port) const { return ports_[port].up.load(std::memory_order_relaxed); }

  // Grows with each change of a port's state.
  uint32_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  std::atomic<uint32_t> version_{1};
  std::vector<PortLoad> ports_;
};

}  // namespace heddle
