// SPDX-License-Identifier: Apache-2.0
#include "node/buffer_shares.h"

#include <algorithm>

namespace heddle {

uint64_t BufferShares::free_bytes_below(const Voq& voq) const {
  const uint8_t channel = site_.lanes.channel(voq.lane);
  const Port* output = ports_.find(voq.output);
  const uint64_t free = output != nullptr ? free_buffers(*output, channel) : board_.free_buffers(voq.output, channel);
  return free * std::min(site_.frame_bytes, kBufferBytes);
}

void BufferShares::publish(Port& port) {
  for (uint32_t channel = kFirstLosslessChannel; channel < port.channels && port.is_fabric(); ++channel)
    publish_free(port, channel);
}

// What the next hop has free in a channel, less what waits here.
uint32_t BufferShares::free_buffers(const Port& port, uint32_t channel) {
  const uint32_t left = port.credits[channel].left();
  return left - std::min(left, port.output.scheduler.buffers(channel));
}

void BufferShares::publish_free(Port& port, uint32_t channel) {
  const uint32_t free = free_buffers(port, channel);
  Owned<uint32_t, BufferShares>& published = port.output.published_free[channel];
  if (free == published) return;
  published = free;
  board_.publish_free(port.index, channel, free);
}

}  // namespace heddle
